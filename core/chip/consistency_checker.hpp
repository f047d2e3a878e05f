#pragma once
#include <array>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/chip/context.hpp"

namespace atl {

/// Follows the data that the simulator does not carry, and says when a read would have returned a stale one.
///
/// Every store of an SM gives its sectors a new version. The checker carries versions along with requests, fills,
/// write-backs and answers, through L1s, slices and memories, and compares what an SM reads with what it may expect:
/// nothing older than what the last kernel boundary made visible (software coherence, SAC section 2.1; the release and
/// acquire of home directories, REC section 2.3), and nothing older than the SM's own last store. For programs in which no
/// SM reads what another writes in the same kernel that is exact. Sectors that several SMs write in one kernel, or that
/// atomics change, are left out until one SM writes them anew.
///
/// Sees all chips; so all must be in one process, driven by one thread. Where it takes hardware to be cleverer than the
/// model's timing, it follows the hardware (tests/validation/DEVIATIONS.md) and counts how often.
class ConsistencyChecker : public ChipObserver {
 public:
  struct Counts {
    std::uint64_t checked = 0;    ///< sectors read and compared
    std::uint64_t unchecked = 0;  ///< sectors read of which nothing is known
    // Sectors that would have been stale but for what the hardware is taken to do:
    std::uint64_t forwarded = 0;  ///< fetched while their write-back waited in the slice's write buffer
    std::uint64_t merged = 0;     ///< written in the slice after they were fetched
    std::uint64_t l1_merged = 0;  ///< stored by the SM after it asked for them
  };
  const Counts& counts() const { return counts_; }

  /// After the run: memory, under the dirty lines of the home slices, holds the last store to every sector.
  void check_final_image() const;

  void on_kernel_start(const Context& c, std::uint64_t kernel) override;
  void on_request(const Context& c, const Packet& p) override;
  void on_l1_load(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors, L1Cache::Outcome) override;
  void on_event(const Context& c, const Event& e) override;
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome outcome) override;
  void on_llc_fetch(const Context& c, std::uint32_t slice, const Packet& below) override;
  void on_llc_answer(const Context& c, std::uint32_t slice, const Packet& request) override;
  void on_llc_leave(const Context& c, std::uint32_t slice, LineAddr line, std::uint8_t dirty) override;
  void on_memory(const Context& c, std::uint32_t channel, const Packet& p) override;

 private:
  using Version = std::uint32_t;  ///< 0: as it was before the run
  static constexpr Version kUnknown = ~Version{0};
  static constexpr unsigned kSectors = 8;
  using Versions = std::array<Version, kSectors>;
  using Agent = std::uint32_t;  ///< chip << 16 | SM
  static Agent agent(std::uint32_t chip, std::uint32_t sm) { return chip << 16 | sm; }

  /// What the program did to a sector.
  struct Sector {
    Version latest = 0;
    Version settled = 0;  ///< written in earlier kernels than `kernel`
    std::uint64_t kernel = 0;
    Agent writer = 0;
    bool racy = false;  ///< several wrote it in `kernel`: which of the versions stays is not known
  };
  struct Request {
    Versions floor{};  ///< read: what it may expect
    Versions data{};   ///< write: what it carries; read: what it is answered with
    Versions newer{};  ///< read: what the SM stored since
    bool fills_l1 = false;
  };
  /// A load that waits in an L1.
  struct Load {
    Agent reader;
    std::uint8_t sectors;
    Versions floor;
  };
  /// What a slice has asked for below.
  struct Fetch {
    std::uint8_t chip, sectors;
    std::uint32_t entry;
    bool answered = false;
    Versions data{};
    Versions newer{};          ///< what this slice had in its write buffer, or was written there since
    std::uint8_t written = 0;  ///< those of the latter kind
  };
  struct WriteBack {
    std::uint8_t sectors;
    bool departed;  ///< from the slice's write buffer
    Versions data;
  };
  /// A line's sectors in a slice. Those that the tags no longer call valid keep the version they had.
  struct Copy {
    Versions data{};
    std::uint8_t dirty = 0;
    std::deque<WriteBack> leaving;  ///< until they are in memory, or under split at the home slice
  };
  enum class What : std::uint8_t {
    store,
    atomic,
    send_read,
    l1_hit,
    answer,
    write,
    write_back,
    fetch,
    fill,
    memory_read,
    memory_write
  };
  struct Note {
    Cycle cycle;
    What what;
    std::uint8_t chip, sectors;
    std::uint32_t unit;  ///< SM, slice or channel
    Versions data;
  };
  struct Line {
    std::array<Sector, kSectors> sector;
    std::uint8_t home = 0;
    Versions memory{};
    std::map<Agent, Versions> l1;
    std::map<std::uint8_t, Copy> llc;  ///< by chip: a line has the same slice in all
    std::map<std::uint64_t, Request> requests;
    std::vector<Load> loads;
    std::vector<Fetch> fetches;
    std::deque<Note> notes;
  };

  void store(Sector& s, Agent writer, std::uint64_t kernel, bool atomic);
  Versions floors(const Context& c, const Line& l, std::uint32_t sm, std::uint8_t sectors) const;
  void check_read(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors, const Versions& data,
                  const Versions& floor);
  void expect(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors, const Versions& data,
              const Versions& floor) const;
  void serve_loads(const Context& c, Line& l, const Packet& p);
  void response(const Context& c, const Packet& p);
  void fill(const Context& c, const Packet& p);
  void put(const Context& c, Line& l, const Packet& p, const Versions& data, bool allocates, bool hit);
  WriteBack arrive(const Context& c, const Packet& p);
  Fetch& fetch_of(const Context& c, const Packet& p);
  Request& request_of(const Context& c, const Packet& p);
  void note(const Context& c, Line& l, What what, std::uint32_t unit, std::uint8_t sectors, const Versions& data);
  [[noreturn]] void fail(const std::string& what, LineAddr line) const;

  std::unordered_map<std::uint64_t, Line> lines_;
  std::vector<std::uint64_t> kernel_;  ///< [chip]
  Version last_ = 0;
  std::uint32_t line_bytes_ = 0;
  Counts counts_;
};

}  // namespace atl
