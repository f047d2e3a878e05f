#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "inputs/ptx/byte_book.hpp"
#include "inputs/ptx/exec.hpp"
#include "inputs/ptx/shared_races.hpp"

/// Compares what a kernel does with what the read-only analysis said of it, and watches its shared memory for races.
namespace atl::ptx {

namespace exec {
struct Warp;
}

/// Memory that a launch must leave as it is, because the analysis found that the kernel only reads it.
struct ReadOnlyClaim {
  std::string structure;  ///< "parameter p", "variable v"
  std::uint64_t address = 0, size = 0;
  std::vector<std::uint32_t> reads;  ///< lines of the loads
};

struct SharedRace {
  std::string kernel, first_place, second_place;
  std::array<std::uint32_t, 3> cta{};  ///< the first in which it was seen
  SharedRaces::Race race;              ///< as seen first
  std::uint64_t times = 0;
};
/// "kernel k, block (0, 0, 0): shared-memory race at byte 16: warp 0 writes (test.ptx:5), ...".
std::string text_of(const SharedRace& race);

/// What PTX leaves undefined about instructions with a member mask, at one line.
struct WarpMisuse {
  enum Kind : std::uint8_t {
    missed,     ///< lanes that the mask names were not there, and did not come
    strangers,  ///< shfl from a lane outside of the mask, or that has exited
    outside,    ///< lanes execute it that are not in their own mask
    apart,      ///< a barrier for whole warps, and lanes of the warp are elsewhere
  };
  std::string kernel, place, spelling;
  Kind kind = missed;
  std::uint32_t line = 0;              ///< which `place` is
  std::array<std::uint32_t, 3> cta{};  ///< the first in which it was seen
  std::uint32_t warp = 0, lanes = 0;   ///< there
  std::uint64_t times = 0;
};
std::string text_of(const WarpMisuse& misuse);

struct CheckCounts {
  std::uint64_t launches = 0;
  std::uint64_t loads = 0, marked = 0;  ///< executed by warps from global memory; of those, flagged as read-only
};

/// Goes into LaunchSpec::check of one launch after the other. A load with the read-only flag whose bytes the launch writes,
/// by whom and when ever, or a write into claimed memory ends the launch with an ExecutionError of kind wrong_mark.
class AccessCheck {
 public:
  /// What the next launch must not write.
  void expect(std::vector<ReadOnlyClaim> claims) { claims_ = std::move(claims); }
  /// Races of the last launch, one for each pair of lines.
  std::vector<SharedRace> races() const;
  /// Of the last launch, one for each line and kind.
  std::vector<WarpMisuse> misuses() const;
  const CheckCounts& counts() const { return counts_; }
  bool held() const { return held_; }  ///< so far, every mark
  /// Counts what one counted that watched launches beside those of this one.
  void add(const AccessCheck& other);

  // ---- for the executor ----
  void begin_kernel(const LaunchSpec& spec, const exec::Image& image);
  std::uint32_t granule() const { return granule_; }  ///< of shared memory: bytes of the narrowest access
  /// What the active lanes' current instruction accesses: generic addresses, once `window` is set in them.
  void access(exec::Warp& warp, const std::uint64_t* address, std::uint64_t window);
  /// The same for one lane, of an instruction with an address computation of its own.
  void access(exec::Warp& warp, unsigned lane, std::uint64_t address, std::uint32_t bytes);
  /// The instruction was executed although these lanes, which its mask names, were not there.
  void missed(exec::Warp& warp, std::uint32_t lanes) { misuse(warp, WarpMisuse::missed, lanes); }
  /// These lanes executed the instruction with a mask that they are not in.
  void not_members(exec::Warp& warp, std::uint32_t lanes) { misuse(warp, WarpMisuse::outside, lanes); }
  /// These lanes are elsewhere in the program, where the instruction is a barrier for whole warps.
  void apart(exec::Warp& warp, std::uint32_t lanes);
  /// These lanes asked others for values that are not members.
  void asked_strangers(exec::Warp& warp, std::uint32_t lanes) { misuse(warp, WarpMisuse::strangers, lanes); }

 private:
  void misuse(exec::Warp& warp, WarpMisuse::Kind kind, std::uint32_t lanes);
  struct Current;
  void global(const Current& now, unsigned lane, std::uint64_t address, std::uint32_t bytes);
  void shared(const Current& now, unsigned lane, std::uint32_t offset, std::uint32_t bytes);
  std::string owner(const Current& now, std::uint64_t address) const;
  [[noreturn]] void wrong(unsigned lane, const std::string& what);

  CheckCounts counts_;
  bool held_ = true;
  std::vector<ReadOnlyClaim> claims_;
  const LaunchSpec* spec_ = nullptr;
  std::uint32_t granule_ = 4;
  ByteBook book_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, SharedRace> races_;  // by lines
  std::map<std::pair<std::uint32_t, WarpMisuse::Kind>, WarpMisuse> misuses_;
};

}  // namespace atl::ptx
