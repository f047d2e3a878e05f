#pragma once
#include <cstdint>
#include <vector>

#include "inputs/workload/workload.hpp"

namespace atl {

/// Which loads of a kernel are reads of data that the kernel never writes, for traces that carry no program to analyse
/// (SASS): those all of whose 128-byte blocks no store and no atomic of the kernel touches. It knows what the kernel did,
/// where a compiler must prove what it might do: an upper bound of what SelRep's data-flow analysis (MICRO 2020) marks, by
/// block instead of by data structure. Local memory is nobody's but its thread's, and is never marked.
class ReadOnlyOracle {
 public:
  void clear() { written_.clear(), settled_ = 0; }
  /// First pass: what the CTA writes. In any order of CTAs.
  void note(const CtaProgram& cta);
  /// Second pass, after all CTAs were noted. Marks that the program itself made stay.
  void mark(CtaProgram& cta);

 private:
  void settle();

  std::vector<std::uint64_t> written_;  ///< blocks; the first settled_ are sorted and distinct
  std::size_t settled_ = 0;
};

}  // namespace atl
