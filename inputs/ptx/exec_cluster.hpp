#pragma once
#include <cstdint>
#include <vector>

/// CTAs that run at the same time and reach each other's shared memory.
namespace atl::ptx::exec {

struct Cta;
struct Warp;

struct Cluster {
  std::vector<Cta*> ctas;       ///< by rank; null: has ended
  std::uint32_t arrived = 0;    ///< threads, at barrier.cluster
  std::uint64_t completed = 0;  ///< how often all had arrived there
};

/// An address in shared memory names the own CTA, or the rank of a CTA of the cluster plus one in the bits from here on. No
/// CTA has that much shared memory.
inline constexpr unsigned kRankShift = 24;
inline constexpr std::uint64_t kOwnOffset = (std::uint64_t{1} << kRankShift) - 1;

/// Whose shared memory an offset in the shared window is in; null: of no CTA that runs.
Cta* shared_owner(const Warp& w, std::uint64_t offset);

/// Threads of a warp have exited: at the barrier of the cluster nobody waits for them any more.
void leave_cluster(Warp& w, std::uint32_t lanes);
/// Whether all that this CTA can do is to wait there.
bool waits_for_cluster(const Cta& cta);

}  // namespace atl::ptx::exec
