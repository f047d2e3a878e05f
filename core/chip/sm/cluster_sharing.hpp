#pragma once
#include <string>
#include <vector>

#include "core/chip/base/census.hpp"
#include "core/chip/base/fifo.hpp"
#include "core/chip/base/state_check.hpp"
#include "core/chip/context.hpp"
#include "core/chip/sm/ownership_table.hpp"
#include "core/engine/archive.hpp"

namespace atl {

class RequestNetwork;
class Sm;

/// COLAB (2022/2023): serves L1 read misses from the other L1s of a cluster.
///
/// A miss enters the input queue of the cluster's ownership table; what the table sends on waits in the owner's access queue
/// for that SM's L1 port; what is found there crosses the cluster to the requester, which does not keep the line. Whoever
/// finds a queue full, no owner, or no line, goes to the network. Between chips nothing changes: to the network such a read
/// is an ordinary miss, only later.
///
/// A read keeps its place in a queue until it has gone on, waiting for a place in the cluster's request port included
/// (inferred: the published storage has no other queue). So waiting is bounded, and nobody in here waits for anything but
/// the network, which never waits for an L1: queues of any size drain.
///
/// Stores and atomics pass by and end the table's entry of their line, but for stores of its owner; replies to reads that
/// were under way then do not bring it back (inferred). Else an SM could be given a copy older than its own store.
class ClusterSharing {
 public:
  ClusterSharing(Context& c, RequestNetwork& network);
  void connect(std::vector<Sm>& sms);
  /// There is something to do when an L1 misses.
  bool watches() const { return shares_ || oracle_; }
  void begin_kernel();

  // What an SM's load-store unit tells and asks.
  /// The input queue of the SM's cluster has a place.
  bool has_room(std::uint32_t sm) const { return shares_ && waiting_[cluster_of(sm)] < config_.input_queue; }
  /// A read misses, and goes to take() or, if there was no room, to the network.
  void on_miss(const Packet& p, bool taken);
  void take(const Packet& p);
  /// A read of this line by this SM is in here. Its store to the line must wait, as it may not pass it in the network
  /// either.
  bool holds(std::uint32_t sm, LineAddr line) const;
  /// A store or an atomic goes to the network. `stays`: the SM's own copy has the new data.
  void on_write(std::uint32_t sm, LineAddr line, bool stays);
  /// The network answered a read. `is_new`: the SM's L1 had no part of the line.
  void on_fill(const Packet& p, bool is_new);
  /// The SM has the line that another L1 answered with.
  void on_arrival(const Packet& p);

  // What the L1 of an owner does for its neighbours.
  /// From when on the next look-up's data would find a place in the response buffer.
  Cycle room_from(std::uint32_t sm) const;
  /// The L1's port is free for the next look-up not before `at`.
  void call_at(std::uint32_t sm, Cycle at);
  /// The L1 looks the first read up.
  void look_up(std::uint32_t sm);

  /// What a look-up or an answer will touch.
  void prefetch(std::uint32_t sm, LineAddr line) const {
    if (shares_) table_[cluster_of(sm)].prefetch(line);
  }

  // Events.
  void on_table(std::uint32_t cluster, const Packet& p);
  void on_access(std::uint32_t sm);
  void on_miss_at_owner(std::uint32_t sm, const Packet& p) { to_network({p, static_cast<std::uint16_t>(sm)}); }
  void on_credit(std::uint32_t place);

  bool idle() const;
  std::string describe_stall() const;
  void take_census(Census& census) const;  // census.cpp

  void check(StateCheck& s) const;  // state_check.cpp
  void check_event(const StateCheck& s, const Event& e) const;

  template <class F> void for_each_wait(F&& f) {
    for (Leaving& l : leaving_) f(l.gate);
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, table_, fixed(waiting_), fixed(next_look_), fixed(written_), fixed(member_), leaving_, free_leaving_);
  }

 private:
  static constexpr std::uint16_t kInput = 0xFFFF;
  static constexpr std::size_t kWriteStamps = 1024;
  /// One SM, as an owner and as a requester.
  struct Member {
    Fifo<Packet> access;             ///< reads of neighbours that its L1 has not looked up yet
    std::uint32_t places = 0;        ///< taken in its access queue
    bool timed = false;              ///< an event is scheduled for the next look-up
    std::vector<Cycle> departures;   ///< ring: when the last lines of its response buffer have left
    std::size_t next_departure = 0;  ///< the oldest of them
    Cycle out_free = 0, in_free = 0;
    std::vector<LineAddr> reads;  ///< its own that are in here
    template <class Archive> void serialize(Archive& a, unsigned) {
      state(a, access, places, timed, fixed(departures), next_departure, out_free, in_free, reads);
    }
  };
  /// A read on its way to the network, and the queue in which it keeps its place: the owner's access queue or kInput.
  struct Leaving {
    Packet p;
    std::uint16_t queue = kInput;
    Gate* gate = nullptr;  ///< that it lined up for
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, p, queue); }
  };

  std::uint32_t cluster_of(std::uint32_t sm) const { return sm / sms_; }
  bool another_has(const Packet& p) const;
  bool another_asked(const Packet& p) const;
  void to_network(Leaving l);
  void leave(const Leaving& l);
  void forget(const Packet& p);
  Cycle& stamp(std::uint32_t cluster, LineAddr line) {
    return written_[cluster * kWriteStamps + (line.value * 0x9E3779B97F4A7C15ull >> 54)];
  }

  Context& c_;
  RequestNetwork& network_;
  std::vector<Sm>* all_sms_ = nullptr;
  const ClusterConfig& config_;
  const bool shares_, oracle_;
  const std::uint32_t sms_;  ///< per cluster
  std::vector<OwnershipTable> table_;
  std::vector<std::uint32_t> waiting_;  ///< [cluster] places taken in the input queue
  std::vector<Cycle> next_look_;        ///< [cluster] when the table can begin its next look-up
  std::vector<Cycle> written_;          ///< [cluster][hash of line] 1 + the cycle of the last store or atomic
  std::vector<Member> member_;
  std::vector<Leaving> leaving_;  ///< those that wait for a credit of the request port
  std::vector<std::uint32_t> free_leaving_;
};

}  // namespace atl
