#pragma once
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"
#include "inputs/config/system_config.hpp"
#include "partition/home_lines.hpp"

namespace atl {

/// Numbers the lines of one home for hardware at that home which hashes their addresses (a coherence directory). Where the
/// address tells the home, as HomeLines does. By first touch a home has any pages, every fourth for instance: they get
/// frames in the order in which they are first asked for here, as a driver deals them out.
class HomePages {
 public:
  HomePages(const SystemConfig& config, std::uint8_t home);

  /// Number of the line; a page that was never asked for gets the next frame.
  LineAddr local(LineAddr line) {
    if (!frames_) return {lines_.local(line)};
    return {std::uint64_t{frame(line.value >> page_shift_)} << page_shift_ | in_page(line)};
  }
  /// The same where nothing may change: false if the page has no frame.
  bool find(LineAddr line, LineAddr& local) const;
  /// The line that has this number.
  LineAddr global(LineAddr local) const {
    if (!frames_) return lines_.global(local.value, home_);
    return {page_[local.value >> page_shift_] << page_shift_ | in_page(local)};
  }

  std::uint64_t frames() const { return page_.size(); }
  /// The number is of a line that was asked for here.
  bool has(LineAddr local) const { return !frames_ || local.value >> page_shift_ < page_.size(); }
  void check_state() const {
    if (!frames_) return require_state(slots_.empty() && page_.empty());
    require_state(slots_.size() >= 1024 && (slots_.size() & (slots_.size() - 1)) == 0 && 2 * page_.size() <= slots_.size());
    std::size_t found = 0;
    for (const std::uint32_t slot : slots_) {
      require_state(slot <= page_.size());
      found += slot != 0;
    }
    require_state(found == page_.size());
    for (std::size_t frame = 0; frame < page_.size(); ++frame) require_state(slots_[slot_of(page_[frame])] == frame + 1);
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, slots_, page_); }

 private:
  static constexpr std::size_t kFrames = std::size_t{1} << 24;  ///< of 4 KB: 64 GiB of one home
  std::uint64_t in_page(LineAddr line) const { return line.value & ((std::uint64_t{1} << page_shift_) - 1); }
  std::uint32_t frame(std::uint64_t page);
  /// The slot of the page, or the empty one where it belongs.
  std::size_t slot_of(std::uint64_t page) const;
  void grow();

  const HomeLines lines_;
  const bool frames_;
  const std::uint8_t home_, page_shift_;
  std::vector<std::uint32_t> slots_;  ///< by page: frame + 1; 0 is empty; at most half are taken
  std::vector<std::uint64_t> page_;   ///< [frame]
};

}  // namespace atl
