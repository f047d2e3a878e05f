#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

#include "resumable.hpp"

/// What new memory holds: whatever was there before, which a test chooses here.
namespace {
std::atomic<unsigned char> garbage = 0;

void* filled(void* memory, std::size_t size) {
  if (memory == nullptr) throw std::bad_alloc();
  return std::memset(memory, garbage, size);
}
}  // namespace

// Not inline: gcc warns where it inlines one of a pair and not the other.
[[gnu::noinline]] void* operator new(std::size_t size) { return filled(std::malloc(std::max<std::size_t>(size, 1)), size); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t align) {
  const auto a = static_cast<std::size_t>(align);
  return filled(std::aligned_alloc(a, (size + a) / a * a), size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace atl::test {
namespace {

/// Where two states of one cycle differ, or nothing. How many windows were run is the layout's affair.
std::string difference(const SystemState& a, const SystemState& b) {
  for (std::size_t p = 0; p < a.processes.size(); ++p) {
    const std::string &x = a.processes[p], &y = b.processes.at(p);
    for (std::size_t i = 0; i < std::max(x.size(), y.size()); ++i)
      if (i >= std::min(x.size(), y.size()) || x[i] != y[i]) return fmt::format("process {}, byte {}", p, i);
  }
  return "";
}

/// Checkpoints of a run by their cycle, made while new memory holds `byte`.
std::map<Cycle, SystemState> states_of(const StressCase& c, std::uint32_t seed, int ranks, unsigned char byte,
                                       const SystemState* from = nullptr) {
  garbage = byte;
  ScriptedWorkload w = stress_workload(c.system, c.shape, seed);
  Resumable r{.every = 3000, .from = from};
  run_on(c.system, w, ranks, r);
  garbage = 0;
  std::map<Cycle, SystemState> states;
  for (SystemState& s : r.states) states.emplace(s.boundary, std::move(s));
  return states;
}

TEST_CASE("equal states are equal bytes, whatever memory held before, of a run that went on and one resumed on two ranks" *
          doctest::test_suite("stress")) {
  int twice = 0, resumed = 0;
  for (std::uint32_t seed = 1; seed <= 16; ++seed) {
    const StressCase c = resume_case(seed);
    CAPTURE(c.name);
    validate(c.system);
    const auto first = states_of(c, seed, 1, 0x00);
    REQUIRE(!first.empty());
    for (const auto& [cycle, state] : states_of(c, seed, 1, 0xA5)) {
      CAPTURE(cycle);
      REQUIRE(first.contains(cycle));
      CHECK(difference(state, first.at(cycle)) == "");
      ++twice;
    }
    for (const auto& [cycle, state] : states_of(c, seed, 2, 0x5A, &first.begin()->second)) {
      CAPTURE(cycle);
      if (!first.contains(cycle)) continue;  // two ranks meet at other cycles, too
      CHECK(difference(state, first.at(cycle)) == "");
      ++resumed;
    }
  }
  CHECK(twice > 100);
  CHECK(resumed > 50);
}

}  // namespace
}  // namespace atl::test
