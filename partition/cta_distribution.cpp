#include "partition/cta_distribution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "core/engine/error.hpp"
#include "core/engine/function_name.hpp"

namespace atl {

std::uint32_t resident_ctas(const SmConfig& sm, const KernelInfo& kernel) {
  const std::uint32_t warps = kernel.warps();
  std::uint32_t n = std::min(sm.ctas, sm.warps / warps);
  if (kernel.registers_per_thread != 0)
    n = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(n, sm.registers / (std::uint64_t{kernel.registers_per_thread} * warps * 32)));
  if (kernel.shared_bytes != 0) n = std::min(n, sm.shared_kib * 1024 / kernel.shared_bytes);
  return n;
}

void require_fit(const SmConfig& sm, std::size_t number, const KernelInfo& kernel) {
  if (resident_ctas(sm, kernel) != 0) return;
  const std::uint64_t threads = std::uint64_t{kernel.warps()} * 32;
  std::vector<std::string> beyond;
  if (kernel.warps() > sm.warps) beyond.push_back(fmt::format("{} warps (sm.warps = {})", kernel.warps(), sm.warps));
  if (kernel.registers_per_thread * threads > sm.registers)
    beyond.push_back(fmt::format("{} registers per thread, {} in all (sm.registers = {})", kernel.registers_per_thread,
                                 kernel.registers_per_thread * threads, sm.registers));
  if (kernel.shared_bytes > std::uint64_t{sm.shared_kib} * 1024)
    beyond.push_back(fmt::format("{} bytes of shared memory (sm.shared_kib = {})", kernel.shared_bytes, sm.shared_kib));
  throw InputError(
      fmt::format("kernel {} ({})", number, function_name(kernel.name)),
      fmt::format("a CTA of {} does not fit an SM; raise what is in brackets, or leave the kernel out (--kernels)",
                  fmt::join(beyond, " and ")));
}

KernelInfo kernel_on(const KernelInfo& kernel, const DeviceHomes& devices, LpId chip) {
  KernelInfo own = kernel;
  if (const DevicePart* part = part_of(kernel, devices, chip)) {
    own.block[0] = part->warps * 32, own.block[1] = own.block[2] = 1;
    own.registers_per_thread = part->registers_per_thread, own.shared_bytes = part->shared_bytes;
  }
  return own;
}

ChipCtas::ChipCtas(CtaToChip kind, std::uint64_t ctas, LpId chip, std::uint32_t chips, std::uint32_t sms) {
  if (chip >= chips) return;
  const auto start = [&](std::uint64_t c) {
    return c * (ctas / chips) + c * (ctas % chips) / chips;
  };  // c N / C, no overflow
  switch (kind) {
    case CtaToChip::contiguous:
      first_ = start(chip), step_ = 1, count_ = start(chip + 1) - first_;
      return;
    case CtaToChip::round_robin:
      first_ = chip, step_ = chips, count_ = ctas > chip ? (ctas - chip - 1) / chips + 1 : 0;
      return;
    case CtaToChip::per_sm:
      const std::uint64_t all = std::uint64_t{chips} * sms, per_chip = (ctas / all + (ctas % all != 0)) * sms;
      first_ = std::min(chip * per_chip, ctas), step_ = 1, count_ = std::min(per_chip, ctas - first_);
  }
}

const DevicePart* part_of(const KernelInfo& kernel, const DeviceHomes& devices, LpId chip) {
  const auto found = std::ranges::find_if(kernel.parts, [&](const DevicePart& p) { return devices.chip(p.device) == chip; });
  return found == kernel.parts.end() ? nullptr : &*found;
}

ChipCtas ctas_of(const KernelInfo& kernel, const SystemConfig& config, const DeviceHomes& devices, LpId chip) {
  if (kernel.parts.empty())
    return {config.partition.cta_to_chip, kernel.ctas(), chip, config.compute_chips(), config.sm.count};
  const DevicePart* part = part_of(kernel, devices, chip);
  return part != nullptr ? ChipCtas(part->first, part->ctas) : ChipCtas(0, 0);
}

CtaDispatcher::CtaDispatcher(CtaToSm kind, std::uint32_t sms, std::uint32_t sms_per_router, std::uint32_t bcs_block)
    : kind_(kind),
      sms_(sms),
      per_router_(std::max(1u, sms_per_router)),
      bcs_block_(std::max(1u, bcs_block)),
      in_router_((sms + per_router_ - 1) / per_router_) {}

void CtaDispatcher::begin_kernel(std::uint64_t ctas, std::uint32_t slots_per_sm) {
  left_ = ctas;
  block_ = std::clamp(bcs_block_, 1u, std::max(1u, slots_per_sm));  // a larger block would wait for ever
  next_ = block_left_ = 0;
  std::fill(in_router_.begin(), in_router_.end(), 0);
}

std::optional<std::uint32_t> CtaDispatcher::next_sm(std::span<const std::uint32_t> free) {
  if (left_ == 0) return std::nullopt;
  std::optional<std::uint32_t> sm;
  switch (kind_) {
    case CtaToSm::two_level:
      sm = two_level(free);
      break;
    case CtaToSm::bcs:
      sm = block(free);
      break;
    case CtaToSm::round_robin:
      sm = round_robin(free, 1);
  }
  left_ -= sm.has_value();
  return sm;
}

std::optional<std::uint32_t> CtaDispatcher::round_robin(std::span<const std::uint32_t> free, std::uint32_t wanted) {
  for (std::uint32_t i = 0, sm = next_; i < sms_; ++i, sm = sm + 1 == sms_ ? 0 : sm + 1)
    if (free[sm] >= wanted) return next_ = sm + 1 == sms_ ? 0 : sm + 1, sm;
  return std::nullopt;
}

std::optional<std::uint32_t> CtaDispatcher::two_level(std::span<const std::uint32_t> free) {
  const auto routers = static_cast<std::uint32_t>(in_router_.size());
  for (std::uint32_t i = 0, router = next_; i < routers; ++i, router = router + 1 == routers ? 0 : router + 1) {
    const std::uint32_t first = router * per_router_, size = std::min(per_router_, sms_ - first);
    for (std::uint32_t j = 0; j < size; ++j) {
      const std::uint32_t in = (in_router_[router] + j) % size;
      if (free[first + in] == 0) continue;
      in_router_[router] = (in + 1) % size;
      next_ = router + 1 == routers ? 0 : router + 1;
      return first + in;
    }
  }
  return std::nullopt;
}

std::optional<std::uint32_t> CtaDispatcher::block(std::span<const std::uint32_t> free) {
  if (block_left_ == 0) {
    const auto size = static_cast<std::uint32_t>(std::min<std::uint64_t>(block_, left_));  // the last block may be short
    const auto sm = round_robin(free, size);
    if (!sm) return std::nullopt;
    block_sm_ = *sm, block_left_ = size;
  }
  --block_left_;
  return block_sm_;
}

}  // namespace atl
