#pragma once
#include <cstdint>

#include "core/engine/split_mix.hpp"

/// Which CTAs of a launch are read to know all of them: a stratified sample, one of each part (Cochran, Sampling Techniques,
/// chapter 5).
namespace atl {

/// Two CTAs, or launches, are alike if their amounts of work are within this factor (sampling_plan.hpp says why).
inline constexpr double kAlikeFactor = 1.35;

/// Of `all` CTAs in `parts` equal parts, the place of the one that is read of part `part`: by a hash of the part's number,
/// the same on every rank and in every launch of as many CTAs. Equal distances would never look at CTAs of a grid whose
/// pattern has a period that divides them (a systematic sample of a periodic population; Cochran, chapter 8). `stream`:
/// samples of different streams are independent.
inline std::uint64_t place_in_part(std::uint64_t part, std::uint64_t parts, std::uint64_t all, std::uint64_t stream = 0) {
  // No overflow: part x the number, in two terms.
  const auto begin = [&](std::uint64_t i) { return i * (all / parts) + i * (all % parts) / parts; };
  const std::uint64_t from = begin(part), number = split_mix(stream + kSplitMixStep) + (part + 1) * kSplitMixStep;
  return from + split_mix(number) % (begin(part + 1) - from);
}

/// Variance of the work of one CTA, of which `n` were read, at least: CTAs that were not read may differ even where all that
/// were are alike. By Laplace's rule of succession one of n + 2 does; it is taken to differ as much as CTAs that are alike
/// may from their `mean`.
inline double least_variance(double mean, double n) {
  const double differs = (kAlikeFactor - 1) * mean;
  return differs * differs / (n + 2);
}

}  // namespace atl
