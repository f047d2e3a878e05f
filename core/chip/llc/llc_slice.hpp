#pragma once
#include <array>
#include <optional>
#include <vector>

#include "core/chip/base/census.hpp"
#include "core/chip/base/mshr.hpp"
#include "core/chip/base/occupancy.hpp"
#include "core/chip/base/state_check.hpp"
#include "core/chip/base/tag_array.hpp"
#include "core/chip/llc/flush.hpp"
#include "core/chip/llc/protocol/full_map.hpp"
#include "core/chip/llc/protocol/home.hpp"
#include "core/chip/noc/out_port.hpp"
#include "core/engine/archive.hpp"
#include "inputs/workload/workload.hpp"
#include "partition/set_indexer.hpp"

namespace atl {

class DramChannel;
class Links;
class ResponseNetwork;

/// The counters of a level of shared caches.
struct LevelCounters {
  Counter accesses, sector_accesses, reads, writes, hits, merges, misses, sector_misses, writebacks, writeback_sectors,
      stalls, flushed_lines, lookup_bytes;
};

/// One slice of a shared cache, the last level (LLC) or the L2 in front of it: write-back, LRU, with MSHRs and, in the LLC,
/// a path past the tags (SAC section 3.1).
///
/// Requests of the chip's own SMs and those from the links queue separately, and the latter never wait for a link: a
/// slice that waits for a remote chip still serves the remote chip's requests. That, and responses that are always taken
/// in, keeps the system free of deadlock at any buffer size.
///
/// What slices of different chips say to each other is the protocol's: FullMap or Home, which the run has from its start, or
/// neither (software coherence).
///
/// An L2 slice serves its own chip's SMs, whoever is the home, and asks the home's LLC for what it misses: a slice of this
/// chip as it asks those of others, by packets that name it. Atomics pass it by.
class LlcSlice {
 public:
  /// kFromSms: of this chip's SMs or, where there is an L2, of its slices; kFill: data from below, not a queue.
  enum Queue : std::uint32_t { kFromSms, kFromLinks, kFill };

  /// `id`: among the slices of the chip, of which an L2's come behind those of the LLC.
  /// `packets`: of all slices of the chip.
  LlcSlice(Context& c, PacketQueues& packets, std::uint16_t id, std::uint32_t directions);
  /// `agent`: keeps the chip's home directory, if there is one.
  void connect(std::vector<DramChannel>& channels, Links& links, ResponseNetwork& responses, HomeAgent* agent) {
    channels_ = &channels, links_ = &links, responses_ = &responses;
    if (home_) home_->connect(*agent);
  }
  /// Of a chip with an L2: the first slice of the other level.
  void connect(LlcSlice* other) { other_ = other; }
  Gate& gate(std::uint32_t queue) { return in_[queue].gate; }
  /// A packet reaches the slice at `at`: a request whose sender holds a credit of gate(queue), or data (kFill). What the
  /// slice takes until it looks at the packet is charged here.
  void reach(Cycle at, Queue queue, const Packet& p);

  // Events.
  void on_arrive(std::uint32_t queue, const Packet& p);
  void on_look() { lookup_timed_ = false, pump(); }
  void on_out() { out_.timed = false, pump_out(); }
  void on_write() { write_.timed = false, pump_write(); }
  void on_queue_credit(std::uint32_t queue);
  void on_out_credit(std::uint32_t lane) { out_.grant(lane), pump_out(); }
  void on_acknowledge() { home_->acknowledge(*this); }
  void on_write_credit(std::uint32_t lane) { write_.grant(lane), pump_write(); }
  /// DRAM has the data of one of this slice's reads, of a bypassing read, or has taken a remote chip's write-back.
  void on_memory(const Packet& p);

  /// What an arriving request, or a fill of MSHR `p.entry`, will touch.
  void prefetch(const Packet& p) const { tags_.prefetch(set(p.line), p.line); }
  /// Where the answer to an arriving request will queue.
  void prefetch_answer(const Packet& p) const { out_.prefetch(lane_of(response(p, 0))); }

  /// A line of this chip is there, as if it had been read. Between kernels; what it replaces is gone.
  void warm(LineAddr line, std::uint8_t sectors);
  void begin_flush(Flush scope);
  void on_flush();
  bool flushing() const { return flush_next_ != kNotFlushing; }
  /// Write-backs that have left the tags and are not yet in memory, and notices of writes that the home has not yet taken.
  std::uint32_t writebacks() const { return writebacks_; }
  /// A flush goes on, or what was written back is on its way.
  bool busy() const { return flushing() || writebacks_ != 0; }
  /// Invalidations that the sharers have not yet acknowledged.
  std::uint32_t invalidations() const { return invalidations_; }
  /// Lines are missing, if only some that nobody waits for any more.
  bool fetching() const { return mshr_.in_use() != 0; }
  /// The home agent's (Home::send_invalidations).
  void send_invalidations(LineAddr line, std::uint64_t chips, std::uint64_t told, InvalidationCause cause) {
    home_->send_invalidations(*this, line, chips, told, cause);
  }
  /// full_map: chips that may have the line, one bit each: for checks, as is for_each_line(see), see(line, home chip).
  std::uint64_t sharers(LineAddr line) const { return full_map_ ? full_map_->directory().sharers_of(line) : 0; }
  template <class See> void for_each_line(See&& see) const {
    for (std::uint32_t i = 0; i < tags_.entries(); ++i)
      if (tags_.occupied(i)) see(tags_.line(i), home_of_[i]);
  }
  /// No other chip holds a line of this one any more.
  void forget_sharers() {
    if (full_map_) full_map_->forget_sharers();
  }

  std::uint64_t accesses() const { return accesses_; }
  std::uint64_t hits() const { return hits_; }
  /// Reads, writes and atomics that have left the queues; what they waited there from their arrival, look-up latency behind
  /// them; and what reads and atomics, merged ones each for itself, waited for missing data.
  std::uint64_t requests() const { return requests_; }
  std::uint64_t queue_cycles() const { return queued_.cycles(); }
  std::uint64_t miss_cycles() const { return missing_.cycles(); }
  /// Lines of this chip and of others, as they are now.
  std::uint32_t local_lines() const { return held_[false]; }
  std::uint32_t remote_lines() const { return held_[true]; }
  std::string describe_stall() const;
  // census.cpp
  void take_census(Census& census) const;
  /// What the requests of this queue wait for.
  Wait wait_of(std::uint32_t queue) const;
  void check(StateCheck& s) const;  // state_check.cpp
  bool credits_home() const {
    const auto idle = [](const Input& in) {
      return in.gate.full() && in.granted == nullptr && in.lined_up == nullptr && !in.stalled;
    };
    return idle(in_[0]) && idle(in_[1]) && out_.idle() && write_.idle() && bypassing_ == 0 && invalidations_ == 0;
  }
  template <class F> void for_each_queue(F&& f) const { out_.for_each_queue(f), write_.for_each_queue(f); }
  template <class F> void for_each_gate(F&& f) {
    for (Input& in : in_) f(in.gate);
    out_.for_each_gate(f), write_.for_each_gate(f);
  }
  /// Calls f(gate) for what it lined up at, or holds a credit of.
  template <class F> void for_each_wait(F&& f) {
    for (Input& in : in_) f(in.lined_up), f(in.granted);
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, tags_, fixed(home_of_), mshr_, remote_misses_, in_, lookup_, turn_, lookup_timed_, out_, write_, bypassing_,
          writebacks_);
    state(a, bypassing_reads_);
    state(a, invalidations_, flush_next_, flush_, accesses_, hits_, requests_, queued_, missing_);
    if (l2_) state(a, fill_port_);
    if (full_map_) state(a, *full_map_);
    if (home_) state(a, *home_);
    if constexpr (!Archive::is_saving::value) count_held();
  }

 private:
  friend struct ChipTestAccess;  // seeds faults
  friend class FullMap;          // the protocols work on tags, MSHRs and ports
  friend class Home;
  static constexpr std::uint32_t kNotFlushing = ~0u;
  struct Input {
    Fifo<Packet> fifo;
    Gate* lined_up = nullptr;  ///< waits for a credit of this gate
    Gate* granted = nullptr;   ///< holds a credit of this gate
    bool stalled = false;      ///< waits for something of this slice: MSHR, response queue, write buffer, bypass entry
    alignas(64) Gate gate;     ///< of SMs' requests their ports work on it, maybe in another thread
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, fifo, gate, stalled); }
  };

  void pump();
  bool goes_past(std::uint32_t queue, const Packet& p) const;
  std::uint32_t look_up_bytes(const Packet& p) const;
  void take_lookup(std::uint32_t bytes);
  bool process(const Packet& p, std::uint32_t queue);
  bool read(const Packet& p, std::uint32_t queue);
  bool write(const Packet& p, std::uint32_t queue);
  bool write_through(const Packet& p, std::uint32_t queue);
  bool write_to_memory(const Packet& p, std::uint32_t queue);
  void pass_to_home(const Packet& p, bool hit);
  bool writes_through(const Packet& p) const;
  bool uses_full_map() const { return full_map_ && c_.sm_side(); }
  /// Of an L2's lines the LLC behind it keeps the directory.
  bool uses_home_directory() const { return home_ && (c_.machine.has_l2 ? !l2_ : c_.role != LlcRole::memory_side); }
  void end_copies(const Packet& atomic);
  void put_written(std::uint32_t i, const Packet& p);
  bool atomic(const Packet& p, std::uint32_t queue);
  bool pass_atomic(const Packet& p, std::uint32_t queue);
  bool miss(const Packet& p, std::uint32_t queue, std::uint8_t valid, LlcOutcome& outcome);
  bool finds_mshr(const Packet& p, std::uint32_t queue) const;
  std::uint32_t victim(std::uint32_t set, std::uint8_t home) const;
  bool bypass(const Packet& p, std::uint32_t queue);
  bool take(Gate& gate, std::uint32_t queue);
  // What the protocols share.
  Packet to_chip(std::uint8_t chip, PacketKind kind, LineAddr line) const;
  bool answer_chip(const Packet& p, std::uint32_t i);
  bool end_copy(LineAddr line);
  bool drop_copy(LineAddr line);
  void install(std::uint32_t i, LineAddr line, std::uint8_t home);

  Wait wait_below(const Packet& p) const;
  Wait wait_to_answer(std::uint32_t lane) const;
  Wait wait_to_write_back(std::uint32_t lane) const;

  bool stall(std::uint32_t queue);
  void return_granted(Input& in);
  void unstall();
  void fill(const Packet& p);
  void close_mshr(std::uint32_t entry, std::uint8_t home);
  std::uint32_t lane_of(const Packet& p) const;
  bool response_room(const Packet& request) const;
  void respond(const Packet& request, std::uint8_t flags);
  void pump_out();
  void pump_write();
  Gate& gate_below(const Packet& p);
  void send_below(const Packet& p, Cycle depart);
  void answer_l2(const Packet& p, std::uint32_t lane, Cycle depart);
  void make_room(std::uint32_t victim);
  void write_back(LineAddr line, std::uint8_t home, std::uint8_t sectors, std::uint8_t valid);
  bool write_room(std::uint32_t victim);
  void put(std::uint32_t i, LineAddr line, std::uint8_t home);
  void take_out(std::uint32_t i);
  void count_held();
  std::uint32_t set(LineAddr line) const { return sets_(map_.line_in_slice(line)); }
  DramChannel& channel(LineAddr line) const;
  static Packet response(const Packet& request, std::uint8_t flags);
  void count_access(const Packet& p, LlcOutcome outcome);
  void count_write(const Packet& p, bool hit);
  void count_degrees(const Packet& p);

  Context& c_;
  const std::uint16_t id_;
  const bool l2_, entry_, sectored_;  ///< entry: SMs ask this level
  const bool direct_;                 ///< `llc.bypass` is, and nothing is kept here that such a request might concern
  const std::uint8_t number_;         ///< among the slices of its level
  const SliceLevel& level_;
  const std::uint32_t remote_mshrs_;  ///< `llc.remote_mshrs`, or what 0 stands for
  const LevelCounters& n_;
  const AddressMap& map_;  ///< of its level
  SetIndexer sets_;
  TagArray tags_;
  std::vector<std::uint8_t> home_of_;  ///< [entry] home chip of the line there
  /// [of other chips] lines here, counted as they come and go: to look through the tags for each sample was most of a run in
  /// which little moves in large caches.
  std::array<std::uint32_t, 2> held_{};
  MshrFile<Packet> mshr_;
  std::uint32_t remote_misses_ = 0;  ///< MSHRs in use for lines of other chips
  std::optional<FullMap> full_map_;  ///< of these two the run's protocol
  std::optional<Home> home_;
  std::array<Input, 2> in_;
  Server lookup_;
  std::uint32_t turn_ = 0;
  bool lookup_timed_ = false;
  /// Responses. Look-ups stall while their lane is full; answers that come from memory always enter, so that memory is never
  /// blocked: their number is bounded by the MSHRs and their merges.
  OutPort out_;
  /// Write-backs, bounded by the level's write_buffer and one victim per MSHR, and full_map's messages. Under a home
  /// directory lanes more for invalidations, one for each direction of links. An L2's other messages to the memory side take
  /// their share of this port.
  OutPort write_;
  Server fill_port_;                                   ///< of an L2: what comes from the memory side
  std::uint32_t bypassing_ = 0, bypassing_reads_ = 0;  ///< requests of other chips' slices in memory, and reads among them
  std::uint32_t writebacks_ = 0, invalidations_ = 0, flush_next_ = kNotFlushing;
  Flush flush_{};
  std::uint64_t accesses_ = 0, hits_ = 0, requests_ = 0;
  Occupancy queued_, missing_;
  std::vector<DramChannel>* channels_ = nullptr;
  Links* links_ = nullptr;
  ResponseNetwork* responses_ = nullptr;
  LlcSlice* other_ = nullptr;  ///< of an L2 slice the LLC's, of a slice behind an L2 the L2's
};

}  // namespace atl
