#pragma once
#include <array>
#include <string>
#include <vector>

#include "core/chip/base/census.hpp"
#include "core/chip/base/state_check.hpp"
#include "core/chip/context.hpp"
#include "core/engine/archive.hpp"

namespace atl {

/// DRAM timing in fixed-point core cycles.
struct DramCycles {
  explicit DramCycles(const Machine& m);
  static constexpr unsigned kBits = 16;
  std::int64_t ccd, ccdl, rrd, rcd, ras, rp, rc, cl, wl, cdlr, wr, rtp, faw;
  std::int64_t starvation;  ///< age from which a request goes before younger ones that fit better
};

/// A memory controller with one DRAM channel: banks with open rows, one data bus, first-ready first-come-first-served.
///
/// Each bank prepares (precharges, activates) for the request it will serve next as soon as it may; the bus then goes to
/// the prepared request whose data can start first. Row hits go before older requests of the same bank, at most
/// `row_hit_cap` in a row.
class DramChannel {
 public:
  DramChannel(Context& c, std::uint16_t id);

  Gate& gate() { return gate_; }
  /// A request whose sender holds a credit. Reads and remote chips' write-backs are answered by a dram_done event.
  void push(const Packet& p);
  void on_pick();

  std::uint64_t reads() const { return reads_; }
  std::uint64_t writes() const { return writes_; }
  std::string describe_stall() const;
  void take_census(Census& census) const;  // census.cpp
  bool credits_home() const { return gate_.full() && free_.size() == pool_.size(); }
  void check(StateCheck& s) const;  // state_check.cpp
  template <class F> void for_each_gate(F&& f) { f(gate_); }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, gate_, fixed(pool_), free_, fixed(bank_), fixed(candidate_), waiting_, writes_chosen_, looked_, first_, oldest_,
          activates_, next_activate_, last_activate_, bus_free_, busy_, wanted_, last_column_);
    state(a, last_write_end_, fixed(group_column_), writing_, order_, reads_, writes_, pick_at_);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr unsigned kBankBits = 6, kMostBanks = 1u << kBankBits;
  using Time = std::int64_t;  ///< core cycles << DramCycles::kBits
  static_assert(~std::uint64_t{0} >> 1 >> DramCycles::kBits >= 2 * kCycleLimit - 1, "times of the longest run fit");
  struct Request {
    Packet packet;
    std::uint64_t order = 0;
    Time arrived = 0;
    std::uint32_t row = 0, next = kNone;
    bool write = false;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, packet, order, arrived, row, next, write); }
  };
  struct Bank {
    std::uint32_t first = kNone, last = kNone;  ///< requests, oldest first
    std::uint32_t chosen = kNone;               ///< request the bank is prepared for
    std::uint32_t row = 0;
    bool open = false;
    std::uint32_t hits = 0;  ///< picks in a row that passed an older request by
    Time activated = -(Time{1} << 40), precharge_from = 0;
    template <class Archive> void serialize(Archive& a, unsigned) {
      state(a, first, last, chosen, row, open, hits, activated, precharge_from);
    }
  };
  /// What a pick looks at in every bank that has a chosen request: side by side, apart from the banks and the requests.
  struct Candidate {
    using PlainState = void;
    Time ready = 0;           ///< the bank's row is open
    std::uint64_t order = 0;  ///< of the chosen request
  };

  Time now() const { return static_cast<Time>(c_.now()) << DramCycles::kBits; }
  static Cycle up(Time t) { return static_cast<Cycle>((t + (Time{1} << DramCycles::kBits) - 1) >> DramCycles::kBits); }
  void choose(std::uint32_t bank);
  void look();
  void prepare(std::uint32_t bank);
  Time bus_time(bool write) const;
  Time column_time(std::uint32_t bank) const;
  Time column_time(std::uint32_t bank, Time bus) const {
    return std::max({bus, candidate_[bank].ready, group_column_[group_[bank]] + t_.ccdl});
  }
  /// Serves the bank's chosen request. `waiting_since`: arrival of the oldest request that a bank is prepared for.
  void serve(std::uint32_t bank, Time at, Time waiting_since);
  /// Time up to `bytes_move` in which the bus stood still although a request waited for longer than an idle channel takes.
  Time lost(Time waiting_since, Time bytes_move) const;
  void wake(Time at);

  Context& c_;
  const std::uint16_t id_;
  const DramCycles t_;
  const std::uint32_t row_hit_cap_, bank_groups_;
  std::array<std::uint8_t, 256> bursts_{};  ///< by sectors (bit mask)
  Gate gate_;
  std::vector<Request> pool_;
  std::vector<std::uint32_t> free_;
  std::vector<Bank> bank_;
  std::vector<Candidate> candidate_;  ///< by bank
  std::vector<std::uint32_t> group_;  ///< by bank: which bank group it is in
  std::uint64_t waiting_ = 0;         ///< banks with a chosen request (bit mask)
  std::uint64_t writes_chosen_ = 0;   ///< those of them whose chosen request is a write
  bool looked_ = false;               ///< and these are what look() found:
  std::uint32_t first_ = 0, oldest_ = 0;
  std::array<Time, 4> activates_{};
  std::uint32_t next_activate_ = 0;
  Time last_activate_ = -(Time{1} << 40);
  Time bus_free_ = 0;  ///< end of the last data burst
  Time busy_ = 0;      ///< part of a cycle of bus use not yet counted
  Time wanted_ = 0;    ///< likewise, of bus use and of time lost
  Time last_column_ = -(Time{1} << 40), last_write_end_ = -(Time{1} << 40);
  std::vector<Time> group_column_;  ///< last column command, by bank group
  bool writing_ = false;            ///< direction of the last column command
  std::uint64_t order_ = 0, reads_ = 0, writes_ = 0;
  Cycle pick_at_ = kNever;
};

}  // namespace atl
