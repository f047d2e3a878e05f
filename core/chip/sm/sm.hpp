#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/chip/base/census.hpp"
#include "core/chip/base/fifo.hpp"
#include "core/chip/base/state_check.hpp"
#include "core/chip/context.hpp"
#include "core/chip/sm/l1_cache.hpp"
#include "core/chip/sm/local_memory.hpp"
#include "core/chip/sm/warp.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/prefetch.hpp"

namespace atl {

class ClusterSharing;
class RequestNetwork;

/// Streaming multiprocessor: resident CTAs, warp schedulers, load-store unit and L1.
///
/// A warp is in order: its next op issues when its scoreboard slots are free and its scheduler picks it. Loads, stores
/// and atomics pass through the load-store unit, which presents one coalesced access per cycle to the L1; a warp goes on
/// once all accesses of its op are presented, so memory-level parallelism within a warp is what the program allows. Hits
/// within an op take no events of their own (sm_hits.cpp).
class Sm {
 public:
  Sm(Context& c, RequestNetwork& network, std::uint16_t id);

  // Kernel life: slots, placement, end.
  void begin_kernel(std::uint32_t warps_per_cta);
  /// Slot that the next CTA's program is to be loaded into.
  CtaProgram& next_program();
  /// Starts CTA `cta` of the kernel, which was loaded there.
  void start_cta(std::uint64_t cta);
  L1Cache& l1() { return l1_; }
  /// Lets the L1 ask the others of its cluster, and answer them.
  void join(ClusterSharing& cluster) { cluster_ = &cluster; }

  // Events.
  void on_warp_ready(std::uint32_t warp);
  void on_issue(std::uint32_t scheduler);
  void on_access_done(std::uint32_t warp, std::uint32_t slot) { part_done(warp, slot); }
  void on_load_store_unit();
  void on_response(const Packet& p, bool from_neighbour);
  /// A credit that the load-store unit lined up for.
  void on_credit();
  /// What the load-store unit was refused may go by now.
  void retry();
  /// A read left the cluster for the network: a store to its line may follow.
  void on_read_gone();
  /// A neighbour's read came into the access queue.
  void on_neighbour() { ++neighbours_, serve_neighbours(); }
  /// Looks up in the L1 what neighbours asked for, as soon as its turn comes.
  void serve_neighbours();
  /// Hits that were due before now, as far as they have not been presented: whoever reads counters asks for it first.
  void catch_up() {
    if (hits_ahead_ != 0) present_hits();
  }
  /// The organisation is about to change: nothing is presented from now on.
  void pause();

  /// What the next event will touch: a response, or a warp that issues.
  void prefetch(const Packet& p) const {
    if (p.has(kDirect)) return;
    l1_.prefetch(p.token & 0xFFFF, p.line);
    const std::uint32_t warp = p.token >> 16;
    prefetch_address(&warp_[warp]);
    prefetch_address(code_.data() + warp / warps_per_cta_);
  }
  void prefetch(std::uint32_t warp) const;

  /// CTAs that ended since the last call.
  std::uint32_t take_finished() { return std::exchange(finished_, 0); }
  /// No request of this SM is under way.
  bool quiet() const { return unacknowledged_ == 0 && l1_.outstanding() == 0; }
  /// What stands still here, for the deadlock report; empty if nothing.
  std::string describe_stall() const;
  // census.cpp
  void count_requests(Census& census) const;
  void count_slots(Census& census) const;

  /// Cycles that must pass before a warp can leave; counts no further than `enough`, or a little.
  Cycle least_time_left(std::uint32_t warp, Cycle enough) const;
  std::uint32_t warps() const { return static_cast<std::uint32_t>(warp_.size()); }

  // state_check.cpp
  /// `ready`: [warp] pending events that say it is. `free`: CTAs that the chip believes fit besides.
  void check(StateCheck& s, const std::vector<std::uint32_t>& ready, std::uint32_t free) const;
  bool empty() const { return resident_ == 0; }
  std::uint32_t neighbours() const { return neighbours_; }

  template <class F> void for_each_wait(F&& f) { f(credit_wanted_), f(credit_held_); }
  /// Calls load(cta, program) for the CTAs that are resident.
  template <class Load> void reload(Load&& load) {
    code_.resize(cta_.size());
    for (std::uint32_t slot = 0; slot < cta_.size(); ++slot) {
      if (cta_[slot].live_warps == 0) continue;
      load(cta_[slot].cta, cta_[slot].program);
      locate_code(slot);
    }
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, l1_, fixed(warp_), cta_, fixed(scheduler_), warps_per_cta_, resident_, finished_, next_age_, loading_, lsu_,
          lsu_at_);
    state(a, lsu_free_, lsu_due_, lsu_timed_, lsu_stalled_, behind_read_, neighbours_, own_last_, stalled_from_);
    state(a, hits_ahead_, op_hits_, last_hit_);
    state(a, unacknowledged_, awaited_, passing_, shared_free_, replies_free_);
  }

 private:
  friend struct ChipTestAccess;  // names what reload() restores
  struct Scheduler {
    std::uint64_t ready = 0;  ///< warps that may issue
    Cycle free_at = 0;
    std::uint32_t last = 0;  ///< issued last (GTO: goes on first; LRR: goes last)
    bool timed = false;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, ready, free_at, last, timed); }
  };

  /// A line in an op: number of the access, and of the line in it (lines smaller than 128 bytes).
  struct Place {
    using PlainState = void;
    std::uint32_t access = 0, part = 0;
  };
  static constexpr std::uint32_t kHitsAhead = 32, kUnknown = TagArray::kMiss;
  /// Entries in the L1 that were found for lines to come.
  struct Found {
    Found() { hit.fill(kUnknown); }
    std::array<std::uint32_t, kHitsAhead> hit;  ///< of hits ahead, from `first` on
    std::uint32_t first = 0;
    std::uint32_t next = 0;   ///< of what is presented next
    bool next_known = false;  ///< `next` is right
  };
  /// What an access touches of a line.
  struct Part {
    LineAddr line{};
    std::uint8_t sectors = 0;
  };

  const Op& op_of(const Warp& w) const { return code_[w.cta].ops[w.op]; }
  std::uint32_t scheduler_of(std::uint32_t warp) const { return warp % static_cast<std::uint32_t>(scheduler_.size()); }

  void try_issue(std::uint32_t s);
  bool greedy_comes(const Scheduler& s) const;
  std::uint32_t pick(const Scheduler& s) const;
  std::uint32_t oldest(const Scheduler& s) const;
  void execute(std::uint32_t warp);
  void look_at_op(Warp& w);
  void prefetch_op(const Warp& w) const;
  void locate_code(std::uint32_t slot);
  void advance(std::uint32_t warp, Cycle at);
  void wake(std::uint32_t warp);
  void part_begins(std::uint32_t warp, std::uint32_t slot);
  void part_done(std::uint32_t warp, std::uint32_t slot);
  void part_done_at(Cycle at, std::uint8_t warp, std::uint32_t slot);
  void shared_access(std::uint32_t warp, const Op& op);
  void barrier(std::uint32_t warp);
  void release_barrier(CtaSlot& cta, std::uint32_t slot);
  void exit_warp(std::uint32_t warp);
  void leave(std::uint32_t warp);
  void on_store_done(std::uint32_t warp);

  void run_load_store_unit();
  void await_load_store_unit();
  Access access_of(std::uint32_t warp, const Op& op, std::uint32_t access) const;
  Part part_of(Access a, std::uint32_t& part) const;
  Place behind(Access a, Place at) const;
  bool present(std::uint32_t warp, const Op& op, Access a);
  bool load(std::uint32_t warp, const Op& op, LineAddr line, std::uint8_t sectors);
  bool looks_ahead(const Op& op) const;
  template <class Visit> std::uint32_t find_hits(Visit&& visit) const;
  std::uint32_t hits_ahead() const;
  void look_ahead();
  void look_ahead_again();
  void on_replaced(std::uint32_t entry);
  void present_hits();
  void take_hits(std::uint32_t warp, const Op& op, std::uint32_t hits, Cycle at);
  void end_hits(std::uint32_t warp, const Op& op);
  bool send_unacknowledged(std::uint32_t warp, const Op& op, PacketKind kind, LineAddr line, std::uint8_t sectors);
  void store_in_l1(const Op& op, LineAddr line, std::uint8_t sectors);
  bool credit_for(Packet& p);
  Packet make_request(PacketKind kind, LineAddr line, std::uint8_t sectors, std::uint32_t token, std::uint8_t flags) const;
  void stall();
  void deliver(const L1Cache::Waiter& w);
  bool neighbours_turn() const;
  bool neighbours_first() const;
  bool own_first() const;
  void look_up_for_neighbour();
  bool waits_for_memory(const Warp& w) const;
  Wait load_store_wait() const;

  Context& c_;
  RequestNetwork& network_;
  ClusterSharing* cluster_ = nullptr;  ///< absent where L1s are on their own
  const std::uint16_t id_;
  const LocalMemory local_;
  L1Cache l1_;
  std::vector<Warp> warp_;
  std::vector<CtaSlot> cta_;
  std::vector<CtaCode> code_;  ///< of cta_; no part of a checkpoint
  std::vector<Scheduler> scheduler_;
  std::uint32_t warps_per_cta_ = 1, resident_ = 0, finished_ = 0, next_age_ = 0, loading_ = 0;

  // Load-store unit.
  Fifo<std::uint8_t> lsu_;  ///< warps whose memory op is being presented
  Place lsu_at_;            ///< what it presents next of the head's op
  Cycle lsu_free_ = 0;      ///< from when it may present the next
  Cycle lsu_due_ = 0;       ///< when its event comes, if lsu_timed_; others are of plans that were given up
  bool lsu_timed_ = false;
  bool op_hits_ = false;           ///< a line of the head's op was a hit
  std::uint32_t hits_ahead_ = 0;   ///< lines of the head's op that hit, one a cycle from lsu_free_ on, before lsu_due_
  Cycle last_hit_ = 0;             ///< of the head's op, if op_hits_
  bool lsu_stalled_ = false;       ///< the L1 has no MSHR, merge place or store credit for the head
  Gate* credit_wanted_ = nullptr;  ///< in line for a credit of this gate
  Gate* credit_held_ = nullptr;    ///< holds a credit of this gate
  bool behind_read_ = false;       ///< the head writes a line that a read of this SM asks for within the cluster
  std::uint32_t neighbours_ = 0;   ///< reads in the access queue
  bool own_last_ = false;          ///< the L1's last access was the SM's own
  Cycle stalled_from_ = 0;         ///< since when lsu_stalled_, or waiting for a credit
  std::uint32_t unacknowledged_ = 0;
  std::uint32_t awaited_ = 0;  ///< of these: loads and atomics with a result
  std::uint32_t passing_ = 0;  ///< of these: loads, which pass the L1 by
  Cycle shared_free_ = 0;
  Cycle replies_free_ = 0;  ///< of the port by which loads take what arrives, in parts of a cycle: its sectors
  Found found_;             ///< no part of a checkpoint
};

}  // namespace atl
