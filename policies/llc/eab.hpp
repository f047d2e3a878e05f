#pragma once

/// SAC's model of Effective Access Bandwidth (SAC section 3.3): a pure function of a profile.
namespace atl {

/// All bandwidths in one unit, for the whole system or, which gives the same ratios, for one chip.
struct EabInputs {
  double b_intra = 0;  ///< crossbars between SMs and LLC slices
  double b_inter = 0;  ///< raw bandwidth of the links; hops are not divided out
  double b_llc = 0;    ///< LLC slices
  double b_mem = 0;    ///< memory
  double r_local = 0;  ///< L1 misses whose home is the requester's chip, of all L1 misses
  struct Organisation {
    double hit = 0;  ///< LLC hit rate
    double lsu = 1;  ///< LLC slice uniformity: mean of the slices' requests over their maximum
  } memory_side, sm_side;
};

/// The terms of EAB = min(sm_llc, llc_hit + min(llc_miss, llc_mem, mem)) for local or remote requests.
struct EabTerms {
  double sm_llc = 0, llc_hit = 0, llc_miss = 0, llc_mem = 0, mem = 0;
  double value() const;
};

struct Eab {
  EabTerms local, remote;
  double total() const { return local.value() + remote.value(); }
};

Eab eab_memory_side(const EabInputs& in);
Eab eab_sm_side(const EabInputs& in);

}  // namespace atl
