#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"
#include "inputs/config/system_config.hpp"
#include "inputs/workload/workload.hpp"
#include "partition/device_homes.hpp"

/// Which chip, and which SM in it, runs a CTA.
namespace atl {

/// CTAs of a kernel that an SM holds at a time; 0: not one fits.
std::uint32_t resident_ctas(const SmConfig& sm, const KernelInfo& kernel);
/// Throws InputError, with the keys to raise, if none does. `number`: which kernel it is.
void require_fit(const SmConfig& sm, std::size_t number, const KernelInfo& kernel);

/// The CTAs of one kernel that a chip runs, in the order in which it starts them. Fixed at launch, no stealing.
class ChipCtas {
 public:
  using PlainState = void;
  ChipCtas() = default;  ///< none
  /// `chips`: that have SMs, the first of the system; `sms`: of a chip.
  ChipCtas(CtaToChip kind, std::uint64_t ctas, LpId chip, std::uint32_t chips, std::uint32_t sms);
  /// What a chip runs of a kernel of several devices' launches: a row of CTAs.
  ChipCtas(std::uint64_t first, std::uint64_t count) : first_(first), step_(1), count_(count) {}
  std::uint64_t count() const { return count_; }
  std::uint64_t nth(std::uint64_t i) const { return first_ + i * step_; }
  bool operator==(const ChipCtas&) const = default;

 private:
  std::uint64_t first_ = 0, step_ = 0, count_ = 0;
};

/// Of a kernel that is launches of several devices: what a chip runs; null: nothing.
const DevicePart* part_of(const KernelInfo& kernel, const DeviceHomes& devices, LpId chip);
/// The kernel as this chip runs it: with its own CTAs where a launch is of several devices.
KernelInfo kernel_on(const KernelInfo& kernel, const DeviceHomes& devices, LpId chip);
/// What a chip runs of any kernel.
ChipCtas ctas_of(const KernelInfo& kernel, const SystemConfig& config, const DeviceHomes& devices, LpId chip);

/// Chooses the SM that receives a chip's next CTA. Asked whenever slots are free: at launch until it
/// declines, then once or more per completed CTA.
class CtaDispatcher {
 public:
  CtaDispatcher(CtaToSm kind, std::uint32_t sms, std::uint32_t sms_per_router, std::uint32_t bcs_block);

  /// A new kernel with `ctas` CTAs on this chip, of which an SM holds `slots_per_sm`. Rotation starts at SM 0 again.
  void begin_kernel(std::uint64_t ctas, std::uint32_t slots_per_sm);

  /// The SM for the next CTA, given the free CTA slots of each SM; nothing when no SM can take it yet, or none is left.
  /// The caller must place the CTA there.
  std::optional<std::uint32_t> next_sm(std::span<const std::uint32_t> free);
  /// `free`: as next_sm().
  void check(std::span<const std::uint32_t> free) const {
    require_state(next_ < (kind_ == CtaToSm::two_level ? in_router_.size() : sms_) && block_ != 0);
    require_state(block_left_ == 0 || (block_sm_ < sms_ && block_left_ <= free[block_sm_]));
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, block_, left_, next_, fixed(in_router_), block_sm_, block_left_);
  }

 private:
  std::optional<std::uint32_t> round_robin(std::span<const std::uint32_t> free, std::uint32_t wanted);
  std::optional<std::uint32_t> two_level(std::span<const std::uint32_t> free);
  std::optional<std::uint32_t> block(std::span<const std::uint32_t> free);

  CtaToSm kind_;
  std::uint32_t sms_, per_router_, bcs_block_;
  std::uint32_t block_ = 1;               ///< CTAs per block: bcs_block, unless an SM holds fewer
  std::uint64_t left_ = 0;                ///< CTAs not yet dispatched
  std::uint32_t next_ = 0;                ///< SM (round_robin, bcs) or router (two_level) to try first
  std::vector<std::uint32_t> in_router_;  ///< two_level: SM of each router to try first
  std::uint32_t block_sm_ = 0, block_left_ = 0;
};

}  // namespace atl
