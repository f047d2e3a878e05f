#include "partition/address_map.hpp"

#include <algorithm>
#include <bit>

#include "core/engine/error.hpp"
#include "partition/pae.hpp"

namespace atl {
namespace {

constexpr std::uint32_t kChunkBytes = 1u << PaeShape::kChunkBits;  // neighbouring chunks lie in different channels

unsigned log2_of(std::uint32_t value, const char* key) {
  if (!std::has_single_bit(value))
    throw InputError(key, std::to_string(value) + " is not a power of two, as partition.mapping = pae needs; use hashed");
  return static_cast<unsigned>(std::countr_zero(value));
}

}  // namespace

AddressMap::AddressMap(const SystemConfig& config)
    : lines_(config),
      parities_(config.partition.mapping == Mapping::pae),
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
  parities_ ? set_up_hash(config) : set_up_modulo(config);
}

void AddressMap::set_up_hash(const SystemConfig& config) {
  PaeShape shape;
  shape.channel_bits = log2_of(config.dram.channels, "dram.channels");
  shape.slice_bits = log2_of(config.llc.slices, "llc.slices");
  shape.sub_bits = shape.slice_bits > shape.channel_bits ? shape.slice_bits - shape.channel_bits : 0;
  shape.bank_bits = log2_of(config.dram.timing.banks, "dram.timing.banks");
  shape.column_bits = log2_of(config.dram.row_bytes, "dram.row_bytes") - PaeShape::kChunkBits;

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
