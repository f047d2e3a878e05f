#pragma once
#include <string>

namespace atl {

/// What `--sample` asks for (docs/sampling.md).
struct SamplingOptions {
  double error = 0.03;       ///< half of the interval of the run's cycles, as a part of them
  double confidence = 0.95;  ///< with which the interval holds the full run's
  bool warm = true;          ///< skipped launches leave their lines in the LLC
  bool early = true;         ///< launches end when their rate of progress is stable

  /// `error=3%,confidence=95%,early=yes,warm=yes`; what is left out is as above. Throws InputError, which names `where`.
  static SamplingOptions parse(const std::string& text, const std::string& where = "--sample");
  /// The same, with every key: tells whether two results were sampled alike.
  std::string text() const;
};

}  // namespace atl
