#pragma once
#include <bit>
#include <cstdint>
#include <span>

#include "inputs/ptx/exec.hpp"

namespace atl::ptx {

namespace exec {
struct Image;
}

/// How the addresses lie that the lanes of an instruction access.
enum class Spread : std::uint32_t {
  apart,  ///< anywhere
  row,    ///< of all 32 lanes, each as far behind the one before as it accesses bytes
  same,   ///< of all 32 lanes
};

/// One executed warp instruction.
struct WarpEvent {
  std::uint32_t id : 30 = 0;  ///< of the instruction in its image
  Spread spread : 2 = Spread::apart;
  std::uint32_t mask = 0;  ///< lanes that executed it; 0: all were predicated off

  WarpEvent() = default;
  WarpEvent(std::uint32_t instruction, std::uint32_t lanes) : id(instruction), mask(lanes) {}
  bool operator==(const WarpEvent&) const = default;
  /// How many it has, in so many pieces: one where the others follow from it.
  unsigned addresses(unsigned pieces) const {
    return spread == Spread::apart ? static_cast<unsigned>(std::popcount(mask)) * pieces : 1;
  }
};
static_assert(sizeof(WarpEvent) == 8);

/// Instead of the global address of a lane whose asynchronous copy writes zeros only, or whose texel or element of a surface
/// lies in no memory: beyond the edge.
inline constexpr std::uint64_t kReadsNothing = ~std::uint64_t{0};

/// Hears what warps execute, in batches: a virtual call per some thousand instructions. Between begin_kernel() and
/// end_kernel() calls for different CTAs come from several threads at the same time.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void begin_kernel(const LaunchSpec& spec, const exec::Image& image, const Device& device) = 0;
  /// Whether the events of a CTA are wanted.
  virtual bool wants(std::uint64_t cta) = 0;
  /// The next instructions of a warp. Each event with an access (Inst::traced) has popcount(mask) generic addresses in
  /// `addresses`, in the order of the lanes, or only the first one (Spread); asynchronous copies have the shared and then
  /// the global ones, bulk copies the global ones and then how many bytes.
  virtual void events(std::uint64_t cta, std::uint32_t warp, std::span<const WarpEvent> events,
                      std::span<const std::uint64_t> addresses) = 0;
  virtual void end_cta(std::uint64_t cta) = 0;
  virtual void end_kernel() = 0;
};

}  // namespace atl::ptx
