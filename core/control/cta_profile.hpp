#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "inputs/workload/workload.hpp"
#include "partition/cta_distribution.hpp"

namespace atl {

/// What CTAs come to, of which a part was looked at.
struct CtaSum {
  double ctas = 0;
  double instructions = 0, variance = 0;  ///< warp instructions, and the variance of their error
  double freedom = 1;                     ///< degrees of freedom of the variance
  double sectors = 0;                     ///< of loads, stores and atomics
};

/// What the CTAs of a launch have to do, read from the workload: at most kCtas of each chip's, one from each of as many
/// equal parts of the order in which it starts them (place_in_part). So work that grows or falls in the course of a launch
/// is known before it is simulated, and what repeats along a grid is looked at in all its phases. Looked-at CTAs stand for
/// their neighbours; the variance is that of a simple random sample without replacement (Cochran, Sampling Techniques,
/// theorem 2.2), and is too large where work changes evenly. It is never less than least_variance().
class CtaProfile {
 public:
  static constexpr std::uint64_t kCtas = 256;

  CtaProfile() = default;
  /// `chips`: what each runs of kernel `kernel`.
  CtaProfile(Workload& workload, std::size_t kernel, std::span<const ChipCtas> chips);

  std::size_t chips() const { return chips_.size(); }
  std::uint64_t ctas(std::size_t chip) const { return chips_[chip].ctas; }
  /// Of a chip's CTAs from the `from`th to before the `to`th.
  CtaSum sum(std::size_t chip, std::uint64_t from, std::uint64_t to) const;
  /// Of all chips' first `ended[chip]`.
  CtaSum before(std::span<const std::uint64_t> ended) const;
  /// Of all others.
  CtaSum behind(std::span<const std::uint64_t> ended) const;

 private:
  struct Looked {
    std::uint64_t place;
    double instructions, sectors;
  };
  struct OfChip {
    std::uint64_t ctas;
    std::vector<Looked> looked;
  };
  std::vector<OfChip> chips_;
};

}  // namespace atl
