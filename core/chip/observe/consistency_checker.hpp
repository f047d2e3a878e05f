#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "core/chip/context.hpp"
#include "core/chip/observe/consistency_lines.hpp"

namespace atl {

class Chip;

/// Follows the data that the simulator does not carry, and says when a read would have returned a stale one.
///
/// Every store of an SM gives its sectors a new version. The checker carries versions along with requests, fills,
/// write-backs and answers, through L1s, slices and memories, and compares:
/// - what an SM reads with what it may expect: nothing older than what the last kernel boundary made visible, than its own
///   last store, and, of answers of the LLC, than what it has seen in earlier ones (scoped weak memory: L1 hits may be as
///   old as the L1's copy);
/// - what a slice is given with what its chip has written, what it has had, and what the home knew when it asked;
/// - what a slice hits with what was written elsewhere before the last invalidation that took effect there;
/// - who has a copy with whom the home tells when the line is written (hardware coherence; consistency_sharers.cpp);
/// - memory, at the end, with the last stores.
///
/// Where all stores to a line meet at its home, the order in which they arrive there decides, and any program can be
/// checked. Where they do not (write-back of remote lines or of an L2, Adaptive's private LLC), sectors that several SMs
/// write in one kernel, or that atomics change, are left out until one SM writes them anew.
///
/// Sees all chips; so all must be in one process, driven by one thread. Where it takes hardware to be cleverer than the
/// model's timing, it follows the hardware (docs/validation/DEVIATIONS.md) and counts how often.
class ConsistencyChecker : public ChipObserver {
 public:
  struct Counts {
    std::uint64_t checked = 0;    ///< sectors read by SMs and compared
    std::uint64_t unchecked = 0;  ///< sectors read of which nothing is known
    std::uint64_t slices = 0;     ///< sectors that a slice hit or was given, and compared
    std::uint64_t endings = 0;    ///< invalidations that took effect
    std::uint64_t copies = 0;     ///< lines in other chips' slices, compared with the home's directory between kernels
    std::uint64_t sharers_compared = 0;  ///< writes at which the home's knowledge of other chips' copies was compared
    // Sectors that would have been stale but for what the hardware is taken to do:
    std::uint64_t forwarded = 0;  ///< fetched while their write-back waited in the slice's write buffer
    std::uint64_t merged = 0;     ///< written in the slice after they were fetched
    std::uint64_t l1_merged = 0;  ///< stored by the SM after it asked for them
    std::uint64_t recalled = 0;   ///< full_map: dirty in the last owner's slice when the home heard of the next,
                                  ///< or on the way home when another chip had the owner's answer
  };
  /// Before the run, for each chip in order.
  void watch(Chip& chip);
  const Counts& counts() const { return counts_; }
  std::size_t notes_kept = 10;  ///< events of a line that a violation is reported with

  /// After the run: memory, under the dirty lines of the slices, holds the last store to every sector.
  void check_final_image() const;

  void on_kernel_start(const Context& c, std::uint64_t kernel) override;
  void on_request(const Context& c, const Packet& p) override;
  void on_l1_load(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors, L1Outcome) override;
  void on_cluster_request(const Context& c, const Packet& p) override;
  void on_cluster_answer(const Context& c, std::uint32_t owner, const Packet& p) override;
  void on_event(const Context& c, const Event& e) override;
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome outcome) override;
  void on_llc_fetch(const Context& c, std::uint32_t slice, const Packet& below) override;
  void on_llc_answer(const Context& c, std::uint32_t slice, const Packet& request) override;
  void on_llc_refer(const Context& c, std::uint32_t slice, const Packet& request, std::uint8_t chip) override;
  void on_llc_invalidate(const Context& c, std::uint32_t slice, LineAddr line, std::uint64_t chips) override;
  void on_llc_forget(const Context& c) override;
  void on_llc_obey(const Context& c, std::uint32_t slice, const Packet& invalidation) override;
  void on_llc_leave(const Context& c, std::uint32_t slice, LineAddr line, std::uint8_t dirty) override;
  void on_memory(const Context& c, std::uint32_t channel, const Packet& p) override;

 protected:
  /// What a slice holds of a line: for tests that break the way of the data, which is nowhere else.
  consistency::Versions& data_in_slice(std::uint32_t chip, std::uint32_t slice, LineAddr line) {
    return lines_[line.value].llc[consistency::place(chip, slice)].data;
  }

 private:
  using Version = consistency::Version;
  using Versions = consistency::Versions;
  using Line = consistency::Line;
  using Copy = consistency::Copy;
  using What = consistency::What;
  static constexpr Version kUnknown = consistency::kUnknown;
  static constexpr unsigned kSectors = consistency::kSectors;

  /// What becomes of a write in the slice that takes it.
  struct Taken {
    bool allocates, dirties, to_memory;
  };

  // The program, L1s (consistency_checker.cpp)
  void begin(const Context& c);
  void store(Line& l, unsigned sector, Versions& v, consistency::Agent writer, std::uint64_t kernel, bool atomic);
  void put_in_order(Line& l, std::uint8_t sectors, const Versions& data);
  void publish(Line& l, std::uint8_t sectors, const Versions& data);
  consistency::Reader& reader_of(const Context& c, Line& l, std::uint32_t sm);
  Versions floors(const Context& c, Line& l, std::uint32_t sm, std::uint8_t sectors, bool through_llc);
  void check_read(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors, const Versions& data,
                  const Versions& floor);
  void expect(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors, const Versions& data,
              const Versions& floor) const;
  void serve_loads(const Context& c, Line& l, const Packet& p);
  void response(const Context& c, const Packet& p);
  consistency::Request& request_of(const Context& c, const Packet& p);
  // Slices and memory (consistency_slices.cpp)
  void leave_slice(const Context& c, const Packet& p);
  void fill(const Context& c, const Packet& p, consistency::Place slice);
  Taken taken(const Context& c, std::uint32_t slice, const Packet& p) const;
  void put(const Context& c, std::uint32_t slice, Line& l, const Packet& p, const Versions& data, bool allocates, bool hit);
  void forward(const Context& c, const Line& l, consistency::Fetch& f);
  void check_slice(const Context& c, std::uint32_t slice, LineAddr line, std::uint8_t sectors, const Versions& data,
                   const Versions& floor, const char* does);
  void raise(const Line& l, Versions& floor, std::uint8_t sectors, const Versions& data) const;
  bool is_l2(const Context& c, std::uint32_t slice) const { return slice >= c.machine.llc.slices; }
  consistency::Place fetcher(const Context& c, const Packet& p) const;
  consistency::WriteBack arrive(const Context& c, const Packet& p, consistency::Place from);
  consistency::Fetch& fetch_of(const Context& c, const Packet& p, consistency::Place slice);
  // Who has a copy (consistency_sharers.cpp)
  bool tracks(const Context& c) const;
  std::uint64_t& sharers(Line& l);
  void add_sharer(const Context& c, Line& l, std::uint8_t chip);
  void written_at_home(const Context& c, LineAddr line, std::uint8_t writer);
  void check_awaited(const Context& c);
  void check_ended(const Context& c, LineAddr line, std::uint8_t writer);
  void check_copies();
  void take_notice(const Context& c, const Packet& p);
  void recall(Line& l, std::uint32_t writer);
  void bring_home(Line& l, const Copy& copy);
  // Messages (consistency_report.cpp)
  void note(const Context& c, Line& l, What what, std::uint32_t unit, std::uint8_t sectors, const Versions& data);
  [[noreturn]] void fail(const std::string& what, LineAddr line) const;

  std::vector<const Chip*> chips_;
  std::unordered_map<std::uint64_t, Line> lines_;
  consistency::VersionOrder order_;
  bool home_orders_ = false;           ///< all stores to a line meet at its home
  bool passed_by_ = false;             ///< memory may be newer than the home's slice that other chips ask (Adaptive)
  bool owners_keep_ = false;           ///< other chips than the home may hold dirty lines for good
  bool exact_sharers_ = false;         ///< the directory tells the sharers of a line from those of its neighbours
  std::vector<std::uint64_t> kernel_;  ///< [chip]
  struct Awaited {
    LineAddr line;
    std::uint8_t writer;
  };
  struct Home {
    std::uint32_t era = 0;         ///< times that its directory was emptied
    std::vector<Awaited> awaited;  ///< writes whose invalidations are sent next
  };
  std::vector<Home> homes_;                        ///< [chip]
  std::uint32_t line_bytes_ = 0, llc_slices_ = 0;  ///< llc_slices_: per chip, those of an L2 come behind them
  Counts counts_;
};

}  // namespace atl
