#include "core/control/cta_profile.hpp"

#include <algorithm>

#include "inputs/sampling/cta_places.hpp"
#include "inputs/workload/count.hpp"

namespace atl {
namespace {

/// Independent sums: Satterthwaite's degrees of freedom, as of a stratified sample (Cochran, section 5.4).
CtaSum all_of(std::span<const CtaSum> sums) {
  CtaSum all;
  double squares = 0;
  for (const CtaSum& s : sums) {
    all.ctas += s.ctas, all.instructions += s.instructions, all.variance += s.variance, all.sectors += s.sectors;
    if (s.variance > 0) squares += s.variance * s.variance / s.freedom;
  }
  all.freedom = squares > 0 ? all.variance * all.variance / squares : 1;
  return all;
}

}  // namespace

CtaProfile::CtaProfile(Workload& workload, std::size_t kernel, std::span<const ChipCtas> chips) {
  CtaProgram program;
  for (std::size_t c = 0; c < chips.size(); ++c) {
    const ChipCtas& ctas = chips[c];
    OfChip& chip = chips_.emplace_back(OfChip{ctas.count(), {}});
    const std::uint64_t looked = std::min(chip.ctas, kCtas);
    for (std::uint64_t i = 0; i < looked; ++i) {
      Looked one{place_in_part(i, looked, chip.ctas, c), 0, 0};
      workload.load_cta(kernel, ctas.nth(one.place), program);
      for (const Op& op : program.ops) one.instructions += instructions_of(op), one.sectors += sectors_of(op, program);
      chip.looked.push_back(one);
    }
  }
}

CtaSum CtaProfile::sum(std::size_t chip, std::uint64_t from, std::uint64_t to) const {
  CtaSum out;
  const std::vector<Looked>& looked = chips_[chip].looked;
  to = std::min(to, chips_[chip].ctas);
  if (from >= to) return out;
  // The nearest before, if fewer than two lie between: they stand for these as well.
  const auto at_least = [&](std::uint64_t place) {
    return std::ranges::lower_bound(looked, place, {}, &Looked::place) - looked.begin();
  };
  std::ptrdiff_t first = at_least(from);
  const std::ptrdiff_t last = at_least(to);
  const auto within = static_cast<double>(last - first), all = static_cast<double>(to - from);
  while (first > 0 && last - first < 2) --first;
  const auto n = static_cast<double>(last - first);
  double instructions = 0, sectors = 0, squares = 0;
  for (std::ptrdiff_t i = first; i < last; ++i) {
    const Looked& one = looked[static_cast<std::size_t>(i)];
    instructions += one.instructions / n, sectors += one.sectors / n;
  }
  for (std::ptrdiff_t i = first; i < last; ++i) {
    const double e = looked[static_cast<std::size_t>(i)].instructions - instructions;
    squares += e * e;
  }
  out.ctas = all, out.instructions = instructions * all, out.sectors = sectors * all;
  out.freedom = std::max(1.0, n - 1);
  const double of_one = std::max(squares / out.freedom, least_variance(instructions, n));
  out.variance = all * all * (1 - within / all) * of_one / n;
  return out;
}

CtaSum CtaProfile::before(std::span<const std::uint64_t> ended) const {
  std::vector<CtaSum> sums;
  for (std::size_t c = 0; c < chips_.size(); ++c) sums.push_back(sum(c, 0, ended[c]));
  return all_of(sums);
}

CtaSum CtaProfile::behind(std::span<const std::uint64_t> ended) const {
  std::vector<CtaSum> sums;
  for (std::size_t c = 0; c < chips_.size(); ++c) sums.push_back(sum(c, ended[c], chips_[c].ctas));
  return all_of(sums);
}

}  // namespace atl
