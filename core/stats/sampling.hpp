#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a sampled run says of the whole workload. Everything else in its result is of what was simulated.
namespace atl {

/// A metric of the whole workload (core/stats/metric.hpp), with half of its confidence interval.
struct SampledFigure {
  std::string name;
  double value = 0, half_width = 0;
};

struct SampledLaunch {
  std::uint64_t cluster = 0;
  bool simulated = false;
  double cycles = 0, half_width = 0;  ///< from launch to end; simulated, or extrapolated with half of the interval
};

struct SamplingResult {
  double error = 0, confidence = 0;  ///< as asked for; the interval that was reached stands at the figure `cycles`
  std::vector<SampledFigure> figures;
  std::vector<SampledLaunch> launches;  ///< [kernel]
  double work = 0, simulated_work = 0;  ///< warp instructions, about: of all launches, and of those simulated
  const SampledFigure* find(std::string_view name) const {
    for (const SampledFigure& f : figures)
      if (f.name == name) return &f;
    return nullptr;
  }
  /// Half of the interval of cycles, of these; 0 where none were.
  double cycles_within() const {
    const SampledFigure* cycles = find("cycles");
    return cycles == nullptr || cycles->value <= 0 ? 0 : cycles->half_width / cycles->value;
  }
  bool as_certain_as_asked() const { return cycles_within() <= error; }
  std::size_t simulated() const {
    std::size_t n = 0;
    for (const SampledLaunch& l : launches) n += l.simulated;
    return n;
  }
};

}  // namespace atl
