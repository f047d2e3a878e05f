#pragma once
#include <deque>
#include <map>
#include <vector>

#include "core/chip/observe/consistency_versions.hpp"
#include "core/engine/types.hpp"

/// What the consistency checker knows of one line: where which versions are, and who may expect which.
namespace atl::consistency {

using Agent = std::uint32_t;  ///< chip << 16 | SM
inline Agent agent(std::uint32_t chip, std::uint32_t sm) { return chip << 16 | sm; }
using Place = std::uint32_t;  ///< chip << 16 | slice
inline Place place(std::uint32_t chip, std::uint32_t slice) { return chip << 16 | slice; }
inline std::uint32_t chip_of(std::uint32_t agent_or_place) { return agent_or_place >> 16; }

/// What the program did to a sector.
struct Sector {
  Version latest = 0;   ///< in the order of versions
  Version settled = 0;  ///< written in earlier kernels than `kernel`
  std::uint64_t kernel = 0;
  Agent writer = 0;
  bool racy = false;  ///< several wrote it in `kernel`, and the order is not known
};

/// What an SM has stored in this kernel, and seen of others' stores in answers of the LLC: it never reads anything older.
struct Reader {
  std::uint64_t kernel = 0;
  Versions stored{}, seen{};
};

/// A request of an SM under way.
struct Request {
  Versions floor{};  ///< read: what it may expect
  Versions data{};   ///< write: what it carries; read: what it is answered with
  Versions newer{};  ///< read: what the SM stored since
  bool fills_l1 = false;
  bool neighbour = false;  ///< answered by an L1 of the cluster
};

/// A load that waits in an L1.
struct Load {
  Agent reader;
  std::uint8_t sectors;
  Versions floor;
};

/// What a slice has asked for below.
struct Fetch {
  Place slice;
  std::uint8_t sectors;
  std::uint32_t entry;
  Versions floor{};  ///< what the slice has had before
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
  Versions floor{};  ///< written there, fetched, or published when an invalidation took effect: no hit is older
  std::uint8_t dirty = 0;
  std::deque<WriteBack> leaving;  ///< until they are in memory, or under split at the home slice
};

/// A notice of a write under way, and what the writer's slice held when it left.
struct Notice {
  std::uint8_t chip;
  Versions data;
};

enum class What : std::uint8_t {
  store,
  atomic,
  send_read,
  l1_hit,
  l1_answer,
  answer,
  write,
  write_back,
  fetch,
  fill,
  refer,
  notice,
  end_copies,
  copy_ended,
  memory_read,
  memory_write
};
struct Note {
  Cycle cycle;
  What what;
  std::uint8_t chip, sectors;
  std::uint32_t unit;  ///< SM, slice, channel or chip
  Versions data;
};

struct Line {
  std::array<Sector, kSectors> sector;
  std::uint8_t home = 0;
  Versions memory{};
  std::map<Agent, Versions> l1;
  std::map<Agent, Reader> readers;
  std::map<Place, Copy> llc;
  std::map<std::uint64_t, Request> requests;
  std::vector<Load> loads;
  std::vector<Fetch> fetches;
  Versions published{};  ///< in memory, or known to the home: whoever asks there from now on gets nothing older
  // Hardware coherence:
  std::uint64_t sharers = 0;  ///< chips that were given the line and whose copies were not ended since, a bit each
  std::uint32_t era = 0;      ///< of the home, in which they were
  std::deque<Notice> notices;
  std::vector<std::uint8_t> ending;  ///< chips to which an invalidation is under way
  std::deque<Note> notes;
};

}  // namespace atl::consistency
