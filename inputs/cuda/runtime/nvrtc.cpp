#include <dlfcn.h>

#include <cstddef>
#include <cstdio>

// A program that compiles kernels for `sm_..` with nvrtc takes machine code from it, which the recorder cannot execute.
// nvrtc keeps the PTX as well; the driver loads either. So these two functions of nvrtc hand out the PTX.
namespace atl::cudart {
namespace {

enum NvrtcStatus : int { kNvrtcInvalidProgram = 4, kNvrtcInternalError = 11 };

/// nvrtc's own function; it may be where only the library that opened it looks.
void* nvrtc_function(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return found;
  void* library = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return nullptr;
  void* found = dlsym(library, name);
  dlclose(library);
  return found;
}

template <typename Out> int forward(const char* name, void* program, Out* out) {
  const auto function = reinterpret_cast<int (*)(void*, Out*)>(nvrtc_function(name));
  if (function) return function(program, out);
  std::fflush(stdout);
  std::fprintf(stderr, "atoll: nvrtc has no %s, which would hand out PTX instead of machine code\n", name);
  return kNvrtcInternalError;
}

}  // namespace

extern "C" {

int nvrtcGetCUBINSize(void* program, std::size_t* out) {
  return program ? forward("nvrtcGetPTXSize", program, out) : int{kNvrtcInvalidProgram};
}

int nvrtcGetCUBIN(void* program, char* out) {
  return program ? forward("nvrtcGetPTX", program, out) : int{kNvrtcInvalidProgram};
}

}  // extern "C"
}  // namespace atl::cudart
