#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>

#include "core/control/controller.hpp"

namespace atl {

void Controller::save(SaveArchive& a) {
  serialize(a, 0);
  state(a, policy_.digest);
  policy_->save(a);
}

void Controller::load(LoadArchive& a) {
  serialize(a, 0);
  std::string digest;
  state(a, digest);
  if (digest != policy_.digest) throw InputError(config_.llc.policy, "has changed since the run began");
  policy_->load(a);
}

}  // namespace atl
