#include "partition/address_map.hpp"

#include <algorithm>
#include <bit>

#include "core/engine/error.hpp"
#include "partition/ipoly.hpp"
#include "partition/pae.hpp"

namespace atl {
namespace {

constexpr std::uint32_t kChunkBytes = 1u << PaeShape::kChunkBits;  // neighbouring chunks lie in different channels

unsigned log2_of(std::uint32_t value, const char* key) {
  if (!std::has_single_bit(value))
    throw InputError(
        key, std::to_string(value) + " is not a power of two, as partition.mapping = pae and ipoly need; use hashed");
  return static_cast<unsigned>(std::countr_zero(value));
}

}  // namespace

AddressMap::AddressMap(const SystemConfig& config)
    : lines_(config),
      parities_(config.partition.mapping == Mapping::pae || config.partition.mapping == Mapping::ipoly),
      turned_(config.partition.mapping == Mapping::hashed) {
  const std::uint32_t slices = config.llc.slices, channels = config.dram.channels;
  if (slices % channels && channels % slices)
    throw InputError("llc.slices", std::to_string(slices) + " slices and " + std::to_string(channels) +
                                       " channels: one must be a multiple of the other");
  if (!std::has_single_bit(config.line_bytes) || config.line_bytes > kChunkBytes)
    throw InputError("line_bytes", std::to_string(config.line_bytes) + " is not a power of two up to 256");
  chunk_shift_ = static_cast<std::uint8_t>(PaeShape::kChunkBits - std::countr_zero(config.line_bytes));
  const std::uint32_t routers = std::min(config.noc.memory_routers, slices);
  slices_per_router_ = FastDiv((slices + routers - 1) / routers);
  switch (config.partition.mapping) {
    case Mapping::pae:
      set_up_pae(config);
      break;
    case Mapping::ipoly:
      set_up_ipoly(config);
      break;
    case Mapping::interleaved:
    case Mapping::hashed:
      set_up_modulo(config);
      break;
  }
}

void AddressMap::set_up_pae(const SystemConfig& config) {
  PaeShape shape;
  shape.channel_bits = log2_of(config.dram.channels, "dram.channels");
  shape.slice_bits = log2_of(config.llc.slices, "llc.slices");
  shape.sub_bits = shape.slice_bits > shape.channel_bits ? shape.slice_bits - shape.channel_bits : 0;
  shape.bank_bits = log2_of(config.dram.timing.banks, "dram.timing.banks");
  shape.column_bits = log2_of(config.dram.row_bytes, "dram.row_bytes") - PaeShape::kChunkBits;
  const unsigned extra = shape.sub_bits - std::min(shape.sub_bits, shape.bank_bits);  // sub-slice bits that address columns
  if (extra > shape.column_bits)
    throw InputError("llc.slices", std::to_string(config.llc.slices) + " slices of " + std::to_string(config.dram.channels) +
                                       " channels: partition.mapping = pae has at most one for each 256 bytes of a row "
                                       "(dram.row_bytes) in each bank of a channel; use hashed");
  shape.column_bits -= extra;

  const unsigned line_bits = PaeShape::kChunkBits - chunk_shift_;
  const PaeMasks masks = pae_masks(shape);
  const auto store = [&](const std::vector<std::uint64_t>& from, auto& to, std::uint8_t& count) {
    std::transform(from.begin(), from.end(), to.begin(), [&](std::uint64_t mask) { return mask >> line_bits; });
    count = static_cast<std::uint8_t>(from.size());
  };
  store(masks.slice(), slice_masks_, slice_bits_);
  store(masks.channel(), channel_masks_, channel_bits_);
  store(masks.bank(), bank_masks_, bank_bits_);
  row_shift_ = static_cast<std::uint8_t>(shape.row_shift() - line_bits);
}

void AddressMap::set_up_ipoly(const SystemConfig& config) {
  IpolyShape shape;
  shape.channel_bits = log2_of(config.dram.channels, "dram.channels");
  shape.slice_bits = log2_of(config.llc.slices, "llc.slices");
  shape.bank_bits = log2_of(config.dram.timing.banks, "dram.timing.banks");
  shape.line_bits = log2_of(config.line_bytes, "line_bytes");
  shape.column_bits = log2_of(config.dram.row_bytes, "dram.row_bytes") - shape.first();  // beside the lines of a chunk
  // They have the lines of a chunk and the banks to be told apart by.
  const unsigned most_sub_bits = std::min(shape.bank_bits, IpolyShape::kChannelFrom - shape.line_bits);
  if (shape.sub_bits() > most_sub_bits)
    throw InputError("llc.slices", std::to_string(config.llc.slices) + " slices of " + std::to_string(config.dram.channels) +
                                       " channels: partition.mapping = ipoly has at most " +
                                       std::to_string(1u << most_sub_bits) + " for a channel here; use pae or hashed");

  chunk_shift_ = static_cast<std::uint8_t>(shape.first() - shape.line_bits);
  slice_bits_ = static_cast<std::uint8_t>(shape.slice_bits), channel_bits_ = static_cast<std::uint8_t>(shape.channel_bits);
  bank_bits_ = static_cast<std::uint8_t>(shape.bank_bits);
  row_shift_ = static_cast<std::uint8_t>(shape.row_from() - shape.line_bits);
  polynomial_bits_ = static_cast<std::uint8_t>(shape.outputs());
  bits_below_slice_ = static_cast<std::uint8_t>(shape.outputs() - shape.slice_bits);
  const auto mask = [&](unsigned output) { return ipoly_mask(shape, output) >> shape.line_bits; };
  for (unsigned i = 0; i < shape.slice_bits; ++i) slice_masks_[i] = mask(shape.outputs() - shape.slice_bits + i);
  for (unsigned i = 0; i < shape.channel_bits; ++i) channel_masks_[i] = mask(shape.sub_bits() + i);
  for (unsigned i = 0; i < shape.bank_bits; ++i) {
    const bool sub = i < shape.sub_bits();
    bank_masks_[i] =
        std::uint64_t{1} << ((sub ? shape.first() + i : shape.column_from() + shape.column_bits + i - shape.sub_bits()) -
                             shape.line_bits);
  }
}

bool AddressMap::folds_to_slice(std::uint32_t sets) const {
  // x has the order 2^n - 1 modulo a primitive polynomial of degree n.
  return polynomial_bits_ != 0 && std::has_single_bit(sets) &&
         static_cast<unsigned>(std::countr_zero(sets)) % ((1u << polynomial_bits_) - 1) == 0;
}

void AddressMap::set_up_modulo(const SystemConfig& config) {
  const std::uint32_t slices = config.llc.slices, channels = config.dram.channels, banks = config.dram.timing.banks;
  channels_ = FastDiv(channels);
  slices_per_channel_ = FastDiv(std::max(1u, slices / channels));
  channels_per_slice_ = FastDiv(std::max(1u, channels / slices));
  columns_ = FastDiv(std::max(1u, config.dram.row_bytes / kChunkBytes));
  // The sub-slice is the low bank bit, wherever the banks can be divided so.
  const std::uint32_t subs = slices_per_channel_.divisor();
  bank_subs_ = FastDiv(banks % subs == 0 ? subs : 1);
  banks_per_sub_ = FastDiv(banks / bank_subs_.divisor());
}

}  // namespace atl
