#include <cstdio>

#include "inputs/cuda/runtime/runtime.hpp"

namespace atl::cudart {

/// What every exported name without an implementation of its own comes to (generated/cudart_names.cpp). Says the name once:
/// programs that can do without a feature ask for it again and again.
extern "C" int atoll_cudart_unsupported(const char* name) {
  return call([&](Runtime& r) -> int {
    if (r.complained_about.insert(name).second) {
      std::fflush(stdout);
      std::fprintf(stderr, "atoll: the program calls %s, which the recorder does not have; it gets cudaErrorNotSupported\n",
                   name);
    }
    return kNotSupported;
  });
}

}  // namespace atl::cudart
