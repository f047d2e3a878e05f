#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>

#include "core/control/controller.hpp"

namespace atl {

void Controller::save(SaveArchive& a) {
  serialize(a, 0);
  policy_->save(a);
}

void Controller::load(LoadArchive& a) {
  serialize(a, 0);
  policy_->load(a);
}

}  // namespace atl
