#include "policies/llc/eab.hpp"

#include <algorithm>
#include <limits>

namespace atl {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// The terms that both organisations form alike, for the share `r` of the requests.
EabTerms shared_terms(const EabInputs& in, const EabInputs::Organisation& o, double r) {
  EabTerms t;
  t.llc_hit = in.b_llc * o.lsu * o.hit * r;
  t.llc_miss = in.b_llc * o.lsu * (1 - o.hit) * r;
  t.mem = in.b_mem * r;
  t.llc_mem = kUnlimited;
  return t;
}

}  // namespace

double EabTerms::value() const { return std::min(sm_llc, llc_hit + std::min({llc_miss, llc_mem, mem})); }

/// A remote request crosses the links on its way to the home's slice, whether it hits there or not.
Eab eab_memory_side(const EabInputs& in) {
  Eab e{shared_terms(in, in.memory_side, in.r_local), shared_terms(in, in.memory_side, 1 - in.r_local)};
  e.local.sm_llc = in.b_intra;
  e.remote.sm_llc = in.b_inter;
  return e;
}

/// Every request goes to a slice of its own chip; only remote misses cross the links.
Eab eab_sm_side(const EabInputs& in) {
  Eab e{shared_terms(in, in.sm_side, in.r_local), shared_terms(in, in.sm_side, 1 - in.r_local)};
  e.local.sm_llc = in.b_intra * in.r_local;
  e.remote.sm_llc = in.b_intra * (1 - in.r_local);
  e.remote.llc_mem = in.b_inter;
  return e;
}

}  // namespace atl
