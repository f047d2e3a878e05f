#pragma once
#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>

#include "policies/policy.hpp"

namespace atl {

/// A policy `P` that remembers something: it lists its state as the components of a chip do (core/engine/archive.hpp).
template <class P> class PolicyWithState : public Policy {
 public:
  void save(SaveArchive& a) override { static_cast<P&>(*this).serialize(a, 0); }
  void load(LoadArchive& a) override { static_cast<P&>(*this).serialize(a, 0); }
};

/// The policy that another one asks, in the same archive.
inline void carry_policy(SaveArchive& a, Policy& p) { p.save(a); }
inline void carry_policy(LoadArchive& a, Policy& p) { p.load(a); }

}  // namespace atl
