#pragma once
#include "inputs/ptx/exec_warp.hpp"

namespace atl::ptx::exec {

/// Shared memory that sm_80 and later keep for system software; cooperative groups of several warps meet in it
/// (%reserved_smem_offset_1). On a GPU it lies below the kernel's own; here behind, and only for kernels that name it.
inline constexpr std::uint32_t kReservedSharedBytes = 1024;
std::uint32_t reserved_shared_offset(const LaunchSpec& spec);
bool uses_reserved_shared(const Image& image);

/// Sets a CTA up for its first instruction; the object may have run another one before. `cluster`: the one that it joins;
/// null: it has one of its own.
void start_cta(Cta& cta, Launch& launch, std::uint64_t number, const std::shared_ptr<Cluster>& cluster = nullptr);

enum class CtaState { done, moved, waiting };  ///< moved: it changed memory, but has not ended

/// Runs a CTA until its end, or until all that its warps do is look at memory that nobody in it changes. `patient`: CTAs
/// that wait for each other are expected, so it stops after one round.
CtaState run_cta(Cta& cta, bool patient);

/// The same in one short turn of each warp.
CtaState step_cta(Cta& cta);

/// How many of its turns are short when a warp leaves a barrier, as all leave it together.
std::uint32_t turns_after_barrier(const Warp& w);

/// Ends the launch because of a warp of this CTA that polls: nothing else goes on. `proved`: and it is always the same.
[[noreturn]] void raise_livelock(const Cta& cta, bool proved, const std::string& who);

/// Runs all CTAs on LaunchSpec::threads threads.
LaunchStats run_parallel(const Launch& launch);

/// Bytes that a live CTA occupies, about.
std::size_t footprint(const Launch& launch);

}  // namespace atl::ptx::exec
