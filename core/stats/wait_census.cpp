#include "core/stats/wait_census.hpp"

namespace atl {

std::vector<std::uint64_t> flatten(std::vector<WaitCensus> kernels) {
  std::vector<std::uint64_t> out;
  for (WaitCensus& k : kernels) k.each([&](std::uint64_t& x) { out.push_back(x); });
  return out;
}

std::vector<WaitCensus> unflatten(const std::vector<std::uint64_t>& numbers, std::size_t chips) {
  std::vector<WaitCensus> out;
  for (std::size_t i = 0; i < numbers.size();) {
    WaitCensus& k = out.emplace_back(chips);
    k.each([&](std::uint64_t& x) {
      require_state(i < numbers.size());
      x = numbers[i++];
    });
  }
  return out;
}

}  // namespace atl
