#include <exception>

#include "inputs/cuda/fatbin.hpp"
#include "inputs/cuda/runtime/runtime.hpp"

// What the constructors that nvcc puts into every translation unit call, before main().
namespace atl::cudart {
namespace {

Binary* binary_of(void** handle) { return reinterpret_cast<Binary*>(handle); }

template <typename Body> void during_start(Body&& body) {
  const BesideRuntime here;
  call([&](Runtime& r) {
    body(r);
    return kSuccess;
  });
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  Binary* binary = nullptr;
  during_start([&](Runtime& r) { binary = r.code.add_binary(*static_cast<const cuda::FatbinWrapper*>(wrapper)); });
  return reinterpret_cast<void**>(binary);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  during_start([&](Runtime& r) { r.code.remove(binary_of(handle)); });
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, void*, void*, void*, void*,
                            int*) {
  during_start([&](Runtime& r) { r.code.add_kernel(*binary_of(handle), host, name); });
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, std::size_t size, int, int) {
  during_start([&](Runtime& r) { r.code.add_symbol(*binary_of(handle), host, name, size, nullptr); });
}

void __cudaRegisterHostVar(void** handle, char* host, char* name, std::size_t size) {
  during_start([&](Runtime& r) { r.code.add_symbol(*binary_of(handle), host, name, size, nullptr); });
}

void __cudaRegisterManagedVar(void** handle, void** shadow, char*, const char* name, int, std::size_t size, int, int) {
  during_start([&](Runtime& r) { r.code.add_symbol(*binary_of(handle), shadow, name, size, shadow); });
}

void __cudaRegisterTexture(void**, const void*, const void**, const char* name, int, int, int) {
  end_program(std::make_exception_ptr(
      InputError(name, "is a texture reference, which CUDA 13 no longer has; build with -include atoll_cuda_compat.h")));
}

/// Before the program's first touch of a managed variable.
char __cudaInitModule(void** handle) {
  during_start([&](Runtime& r) {
    if (r.code.knows(binary_of(handle))) r.code.load(*binary_of(handle));  // else it is of a runtime not redirected in time
  });
  return 1;
}

}  // extern "C"
}  // namespace atl::cudart
