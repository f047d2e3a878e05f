#pragma once
#include <array>
#include <cstdint>

#include "core/engine/types.hpp"
#include "inputs/config/system_config.hpp"
#include "partition/fast_div.hpp"
#include "partition/home_lines.hpp"
#include "partition/scatter.hpp"

namespace atl {

/// Which slice, channel, bank and row of its chip a line belongs to. The chip itself is never hashed: it is the home that
/// page placement decides, and the map is the same in every chip. It maps the line's number at its home (HomeLines), so that
/// every slice, channel, bank and set is reached evenly whichever chip that is.
///
/// A channel is a function of the address only. With more slices than channels, slice = channel * k + sub-slice; with
/// fewer, a slice serves channels / slices neighbouring channels. So a slice always talks to the fewest channels, and
/// the top bits of the slice are the memory stack (SelRep's MC).
///
/// Mappings pae and ipoly take parities of address bits and need powers of two; interleaved and hashed divide, by
/// multiplication with reciprocals, and take any numbers.
class AddressMap {
 public:
  /// Throws InputError when the shape cannot be mapped.
  explicit AddressMap(const SystemConfig& config);

  std::uint32_t slice(LineAddr address) const {
    const std::uint64_t line = lines_.local(address);
    if (parities_) return parities(line, slice_masks_.data(), slice_bits_);
    const Place p = place(line >> chunk_shift_);
    return static_cast<std::uint32_t>(channels_per_slice_.quotient(p.channel * slices_per_channel_.divisor() + p.sub));
  }

  std::uint32_t channel(LineAddr address) const {
    const std::uint64_t line = lines_.local(address);
    if (parities_) return parities(line, channel_masks_.data(), channel_bits_);
    return static_cast<std::uint32_t>(place(line >> chunk_shift_).channel);
  }

  std::uint32_t bank(LineAddr address) const {
    const std::uint64_t line = lines_.local(address);
    if (parities_) return parities(line, bank_masks_.data(), bank_bits_);
    const Place p = place(line >> chunk_shift_);
    const std::uint64_t run = column_run(p.in_channel), row = banks_per_sub_.quotient(run), banks = banks_per_sub_.divisor();
    std::uint64_t bank = run - row * banks;
    if (turned_) bank = turn(bank, row, banks);
    return static_cast<std::uint32_t>((bank_subs_.divisor() == 1 ? 0 : p.sub) + bank_subs_.divisor() * bank);
  }

  std::uint32_t row(LineAddr address) const {
    const std::uint64_t line = lines_.local(address);
    if (parities_) return static_cast<std::uint32_t>(line >> row_shift_);
    const std::uint64_t in_channel = channels_.quotient(line >> chunk_shift_);
    return static_cast<std::uint32_t>(banks_per_sub_.quotient(column_run(in_channel)));
  }

  /// Numbers the lines of one slice densely, so that a SetIndexer sees no bits that are constant inside a slice.
  std::uint64_t line_in_slice(LineAddr address) const {
    const std::uint64_t line = lines_.local(address);
    const std::uint64_t low = line & ((1ull << chunk_shift_) - 1), chunk = line >> chunk_shift_;
    if (parities_) {  // the bits that are left out are recoverable from the slice and the others
      const std::uint64_t below = chunk & ((1ull << bits_below_slice_) - 1);
      return (chunk >> (bits_below_slice_ + slice_bits_) << bits_below_slice_ | below) << chunk_shift_ | low;
    }
    const Place p = place(chunk);
    return (slices_per_channel_.quotient(p.in_channel) * channels_per_slice_.divisor() +
            channels_per_slice_.remainder(p.channel))
               << chunk_shift_ |
           low;
  }

  /// An ipoly slice is a remainder of polynomials, and xor_fold that of the line's number by x^k - 1, k = log2(sets). Where
  /// one divides the other, lines that are a power of two apart would meet in each slice only the sets of one remainder.
  /// The set's index is rotated there (SetIndexer), and only there: elsewhere folding alone reaches all sets.
  bool folds_to_slice(std::uint32_t sets) const;

  /// Memory-side router (stack) in front of a slice; slices are dealt out in contiguous blocks.
  std::uint32_t router_of_slice(std::uint32_t slice) const {
    return static_cast<std::uint32_t>(slices_per_router_.quotient(slice));
  }

 private:
  static std::uint32_t parities(std::uint64_t line, const std::uint64_t* masks, unsigned count) {
    std::uint32_t out = 0;
    for (unsigned i = 0; i < count; ++i) out |= static_cast<std::uint32_t>(__builtin_parityll(line & masks[i])) << i;
    return out;
  }

  /// A chunk's channel, its number there, and its slice among those of the channel.
  struct Place {
    std::uint64_t in_channel, channel, sub;
  };
  /// The rest of a division is turned by a hash of the quotient: for each quotient that is a permutation, so that nothing
  /// but a division says which chunks a channel, slice or bank has, and a stride that meets one of them only for want of a
  /// hash meets all alike.
  Place place(std::uint64_t chunk) const {
    const std::uint64_t in_channel = channels_.quotient(chunk), round = slices_per_channel_.quotient(in_channel);
    const std::uint64_t channels = channels_.divisor(), subs = slices_per_channel_.divisor();
    Place p{in_channel, chunk - in_channel * channels, in_channel - round * subs};
    if (turned_) p.channel = turn(p.channel, in_channel, channels), p.sub = turn(p.sub, round, subs);
    return p;
  }
  static std::uint64_t turn(std::uint64_t rest, std::uint64_t quotient, std::uint64_t n) {
    const std::uint64_t at = rest + scatter(quotient, n);
    return at < n ? at : at - n;
  }

  std::uint64_t column_run(std::uint64_t in_channel) const { return columns_.quotient(bank_subs_.quotient(in_channel)); }

  void set_up_pae(const SystemConfig& config);
  void set_up_ipoly(const SystemConfig& config);
  void set_up_modulo(const SystemConfig& config);

  HomeLines lines_;
  bool parities_ = true, turned_ = false;
  std::uint8_t polynomial_bits_ = 0;   ///< degree of ipoly's; 0: another mapping
  std::uint8_t bits_below_slice_ = 0;  ///< of a chunk's number, where a slice serves several channels by their high bits
  std::uint8_t slice_bits_ = 0, channel_bits_ = 0, bank_bits_ = 0, row_shift_ = 0, chunk_shift_ = 1;
  std::array<std::uint64_t, 8> slice_masks_{};  ///< over line-address bits
  std::array<std::uint64_t, 6> channel_masks_{}, bank_masks_{};
  FastDiv channels_, slices_per_channel_, channels_per_slice_, columns_, bank_subs_, banks_per_sub_, slices_per_router_;
};

}  // namespace atl
