#pragma once
#include <cstdint>
#include <string>

namespace atl {

/// What is wrong with a kernel's trace, though it can be read: a tracer that lost records, or a file that was cut and
/// mended. Such a kernel does less than the program did.
struct TraceFindings {
  std::uint64_t warps = 0, ctas = 0;  ///< warps that the block's dimensions promise and the trace lacks; CTAs they are of
  std::uint64_t beyond = 0;           ///< instructions that name a register beyond those of the header (nregs)
  std::uint64_t sources = 0;          ///< instructions with more source registers than the tracer writes (4)

  bool any() const { return (warps | beyond | sources) != 0; }
  /// `2 warps of 1 CTA are missing; ...`
  std::string text() const;
};

}  // namespace atl
