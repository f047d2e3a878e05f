#include "inputs/cuda/runtime/runtime.hpp"

namespace atl::cudart {

Runtime& runtime() {
  static Runtime* const only = new Runtime;  // never destroyed: see Runtime
  return *only;
}

}  // namespace atl::cudart
