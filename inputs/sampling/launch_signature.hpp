#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "inputs/workload/workload.hpp"

namespace atl {

/// What is known of a launch without simulating it. Nothing in it depends on the simulated machine, as in Principal Kernel
/// Analysis (MICRO 2021, section 3.1) and Sieve (ISPASS 2023, section 3).
struct LaunchSignature {
  /// Amounts, compared by their ratio.
  enum Amount : std::uint8_t {
    ctas,
    instructions,
    loads,
    stores,
    atomics,
    shared,
    barriers,
    sectors,
    lines,
    written,
    amounts
  };
  /// Parts of the launch's lines, compared by their difference.
  enum Part : std::uint8_t {
    fresh,   ///< no launch before touched them: from memory, and first touches
    recent,  ///< the launch just before touched them: may still be in a cache
    parts
  };
  std::string kind;  ///< name, block, registers and shared memory: equal, or another cluster
  std::array<double, amounts> amount{};
  std::array<double, parts> part{};
  std::vector<std::uint32_t> looked;  ///< instructions of each CTA that was read, in order; none: all CTAs were
};

/// Reads the signatures of a workload's launches, in their order. Of a launch at most kCtas CTAs are looked at, one of
/// each of as many equal parts of the grid (place_in_part), and of the lines those that a hash chooses, the same ones in all
/// launches.
class SignatureReader {
 public:
  static constexpr std::uint64_t kCtas = 256;
  static constexpr std::uint64_t kLinesPerChosen = 16;

  explicit SignatureReader(Workload& workload) : workload_(workload) {}
  /// Of the launch behind the last one that was read.
  LaunchSignature next();

 private:
  struct Touch {
    std::size_t last;  ///< launch that touched the line last
    bool written;      ///< by that launch
  };
  struct Lines {
    double all = 0, written = 0, fresh = 0, recent = 0;
  };
  void touch(std::uint64_t block, bool write, Lines& lines);

  Workload& workload_;
  std::size_t launch_ = 0;
  CtaProgram program_;
  std::unordered_map<std::uint64_t, Touch> lines_;  ///< never iterated over
};

}  // namespace atl
