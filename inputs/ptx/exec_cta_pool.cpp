#include "inputs/ptx/exec_cta_pool.hpp"

#include <utility>

namespace atl::ptx::exec {
namespace {

std::size_t bytes_of(const Cta& cta) {
  std::size_t bytes = sizeof(Cta) + cta.shared.capacity() + cta.standing.state.capacity();
  for (const auto& w : cta.warps)
    bytes += sizeof(Warp) + w->registers.capacity() + w->local.capacity() + w->specials.capacity() +
             w->spin.registers.capacity() + w->events.capacity() * sizeof(WarpEvent) +
             w->addresses.capacity() * sizeof(std::uint64_t);
  return bytes;
}

/// What start_cta() leaves for the next CTA of the same launch, but not for others: what was found of memory and races is
/// of the launch that found it.
void forget(Cta& cta) {
  cta.cluster = nullptr;
  cta.view = {};
  for (const auto& w : cta.warps) {
    w->specials.clear();
    w->seen.fill({}), w->seen_at = 0;
  }
}

}  // namespace

std::unique_ptr<Cta> CtaPool::take() {
  std::unique_ptr<Cta> cta;
  {
    const std::lock_guard lock(mutex_);
    if (kept_.empty()) return std::make_unique<Cta>();
    cta = std::move(kept_.back());
    kept_.pop_back();
    bytes_ -= bytes_of(*cta);
  }
  forget(*cta);
  return cta;
}

void CtaPool::give(std::unique_ptr<Cta> cta) {
  const std::size_t bytes = bytes_of(*cta);
  const std::lock_guard lock(mutex_);
  if (bytes_ + bytes > kMostBytes) return;
  bytes_ += bytes;
  kept_.push_back(std::move(cta));
}

}  // namespace atl::ptx::exec
