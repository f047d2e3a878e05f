#include "inputs/cuda/runtime/traffic.hpp"

#include <algorithm>

#include "inputs/cuda/runtime/runtime.hpp"

namespace atl::cudart {
namespace {

thread_local Traffic* outermost = nullptr;

}  // namespace

Traffic::Traffic(Runtime& r, std::initializer_list<unsigned> devices) : r_(r), outer_(outermost) {
  for (const unsigned d : devices) also_[count_++] = d;
  if (!outer_) outermost = this;
}

Traffic::~Traffic() {
  if (!outer_) outermost = nullptr;
}

void Traffic::add(const void* to, const void* from, std::size_t bytes) {
  if (r_.devices == 1) return;
  if (outer_) return outer_->add(to, from, bytes);
  const auto target = reinterpret_cast<std::uint64_t>(to), source = reinterpret_cast<std::uint64_t>(from);
  const unsigned there = r_.arena.device_of(target), here = r_.arena.device_of(source);
  host_ |= there == r_.devices || here == r_.devices;
  if (there != here && there < r_.devices && here < r_.devices) rows_.push_back({target, source, bytes});
}

int Traffic::end(int status) {
  if (outer_ || r_.devices == 1) return status;
  const InStream::Place place = InStream::now();
  if (host_ && place.waits) r_.order.host_waits(r_.order.last(place.stream, place.device));
  if (rows_.empty()) return status;
  const unsigned first = count_ > 0 ? also_[0] : place.device, second = count_ > 1 ? also_[1] : place.device;
  const std::uint64_t step = r_.order.next(place.stream, place.device, {place.device, first, second});
  r_.recording.copy(cuda::CopyKernel(std::move(rows_)), {place.device, step});
  return status;
}

}  // namespace atl::cudart
