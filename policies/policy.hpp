#pragma once
#include <cstddef>
#include <cstdint>

/// Decisions. A policy runs in the controller and is a function of what it is told: it knows no chip, no message, no file.
namespace atl {

/// Whose lines an LLC slice holds.
enum class LlcRole : std::uint8_t { memory_side, sm_side };

/// What chips obey. Plain values that travel with a kernel's launch; the chip's hot path reads them and asks nobody.
struct Modes {
  LlcRole llc = LlcRole::memory_side;
  template <class Archive> void serialize(Archive& a, unsigned) { a& llc; }
};

class Policy {
 public:
  virtual ~Policy() = default;
  /// Modes for kernel `kernel` of the workload, asked for once, right before its launch.
  virtual Modes at_kernel_start(std::size_t kernel) = 0;
};

}  // namespace atl
