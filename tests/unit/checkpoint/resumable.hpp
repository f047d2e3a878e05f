#pragma once
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <mutex>
#include <sstream>

#include "comm/thread_transport.hpp"
#include "tests/unit/chip/coherence_stress.hpp"

/// Runs that leave checkpoints in memory, and runs that go on from them.
namespace atl::test {

/// Takes the state at the first meeting after every multiple of so many cycles.
struct Keeper : Checkpointer {
  Keeper(Cycle cycles, std::vector<SystemState>* kept, Cycle from = 0) : every(cycles), last(from), states(kept) {}
  Request request() override { return Request::none; }
  bool due(Cycle boundary, Cycle) override {
    if (boundary / every == last / every) return false;
    last = boundary;
    return true;
  }
  bool keep(SystemState state) override {
    if (states != nullptr) states->push_back(std::move(state));
    return true;
  }
  void not_kept(Cycle, const std::string& why) override { throw SimulationError(why); }
  Cycle every, last;
  std::vector<SystemState>* states;
};

struct Resumable {
  Cycle every = 0;  ///< 0: no checkpoints
  std::vector<SystemState> states{};
  const SystemState* from = nullptr;
  Cycle max_cycles = kNever;
  MoveRule moves{};
};

/// Chips move as early and as often as they may: a look at every meeting, whatever has happened since.
inline constexpr MoveRule kRestless{.first = 1, .most = 1, .least_events = 1};

/// As stress_case(), and every few seeds with L1s that serve each other, or with statistics on the side.
inline StressCase resume_case(std::uint32_t seed) {
  StressCase c = stress_case(seed);
  SystemConfig& s = c.system;
  if (seed % 3 == 0 && s.llc.replication == Replication::shared) share_l1s(s, seed);
  if (seed % 8 == 5) s.llc = {}, s.coherence = {}, s.llc.size_kib = 16, route_responses(s, seed);
  s.observe.sharing = seed % 5 == 0, s.observe.sm_sharing = seed % 5 == 1;
  s.observe.sharing_window_cycles = 700, s.observe.sm_window_cycles = 300;
  s.observe.neighbours = seed % 4 == 0;
  s.control.sample_cycles = 500;
  return c;
}

inline RunResult run_on(const SystemConfig& config, Workload& workload, int ranks, Resumable& r) {
  RunResult result;
  std::mutex mutex;
  run_threads(ranks, [&](Transport& t) {
    Keeper keeper(std::max<Cycle>(r.every, 1), &r.states, r.from != nullptr ? r.from->boundary : 0);
    SimulationOptions options;
    options.max_cycles = r.max_cycles;
    if (r.every != 0) options.checkpointer = &keeper;
    options.resume = r.from;
    options.moves = r.moves;
    auto mine = simulate(t, config, workload, RankMap::spread(config.chips, static_cast<std::uint32_t>(ranks)), options);
    const std::lock_guard lock(mutex);
    if (mine) result = std::move(*mine);
  });
  return result;
}

template <class T> std::string saved(T& value) {
  std::ostringstream out(std::ios::binary);
  boost::archive::binary_oarchive archive(out, boost::archive::no_header);
  carry(archive, value);
  return std::move(out).str();
}

/// Everything that a user reads from a result.
inline void check_same(RunResult got, RunResult wanted) {
  CHECK(got.digest == wanted.digest);
  CHECK(got.cycles == wanted.cycles);
  CHECK(got.provenance.events == wanted.provenance.events);
  CHECK(got.provenance.windows > 0);
  CHECK(got.sharing == wanted.sharing);
  CHECK(got.sm_sharing == wanted.sm_sharing);
  CHECK((saved(got) == saved(wanted)));
}

}  // namespace atl::test
