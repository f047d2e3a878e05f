#include "inputs/cuda/runtime/driver.hpp"

#include <cstdio>
#include <cstring>
#include <string_view>

#include "inputs/cuda/program_check.hpp"
#include "inputs/cuda/runtime/error_texts.hpp"

namespace atl::cudart {
namespace {

struct DriverName {
  const char* name;
  void (*function)();
};
extern "C" const DriverName atoll_cuda_names[];

/// Null: the driver has no such error.
const ErrorText* driver_error(int status) {
  const ErrorText* e = error_text(status);
  return e && e->driver_name ? e : nullptr;
}

void* exported(const std::string& name) {
  for (const DriverName* n = atoll_cuda_names; n->name; ++n)
    if (name == n->name) return reinterpret_cast<void*>(n->function);
  return nullptr;
}

/// Names that got other arguments in a version of CUDA: programs made for an older one mean the older function.
struct Since {
  const char *name, *exported;
  int version;
};
constexpr Since kChanged[] = {{"cuCtxCreate", "cuCtxCreate_v4", 13000},
                              {"cuCtxCreate", "cuCtxCreate_v3", 11040},
                              {"cuCtxCreate", "cuCtxCreate_v2", 3020},
                              {"cuMemAdvise", "cuMemAdvise_v2", 13000},
                              {"cuMemAdvise", "cuMemAdvise", 8000},
                              {"cuMemPrefetchAsync", "cuMemPrefetchAsync_v2", 13000},
                              {"cuMemPrefetchAsync", "cuMemPrefetchAsync", 8000},
                              {"cuGetProcAddress", "cuGetProcAddress_v2", 12000},
                              {"cuGetProcAddress", "cuGetProcAddress", 11030},
                              {"cuCtxGetDevice", "cuCtxGetDevice", 2000},
                              {"cuCtxSynchronize", "cuCtxSynchronize", 2000},
                              {"cuStreamGetCtx", "cuStreamGetCtx", 9020},
                              {"cuDeviceGetUuid", "cuDeviceGetUuid_v2", 11040}};

}  // namespace

int driver_status(int status) {
  switch (status) {
    case kInvalidConfiguration:
    case kInvalidPitchValue:
    case kInvalidDevicePointer:
    case kInvalidTexture:
    case kInvalidChannelDescriptor:
    case kInvalidMemcpyDirection:
    case kInvalidFilterSetting:
    case kInvalidNormSetting:
      return kDriverInvalidValue;
    case kInvalidSymbol:
      return kDriverNotFound;
    case kInvalidDeviceFunction:
      return kDriverInvalidHandle;
    default:
      return status;
  }
}

void* driver_function(const std::string& name, int version, std::uint64_t flags) {
  constexpr std::uint64_t kPerThreadStreams = 2;
  for (const Since& s : kChanged)
    if (name == s.name && version >= s.version) return exported(s.exported);
  for (const std::string suffix : {"_v4", "_v3", "_v2", ""}) {
    void* const twin = (flags & kPerThreadStreams) != 0 ? exported(name + suffix + "_ptsz") : nullptr;
    if (void* found = twin ? twin : exported(name + suffix)) return found;
  }
  return nullptr;
}

extern "C" {

int cuInit(unsigned flags) { return flags == 0 ? 0 : kDriverInvalidValue; }

int cudaDriverGetVersion(int* version);
int cuDriverGetVersion(int* version) { return driver_status(cudaDriverGetVersion(version)); }

int cuGetErrorName(int status, const char** out) {
  const ErrorText* e = driver_error(status);
  if (!out) return kDriverInvalidValue;
  *out = e ? e->driver_name : nullptr;
  return e ? 0 : kDriverInvalidValue;
}

int cuGetErrorString(int status, const char** out) {
  const ErrorText* e = driver_error(status);
  if (!out) return kDriverInvalidValue;
  *out = e ? e->text : nullptr;
  return e ? 0 : kDriverInvalidValue;
}

int cuGetProcAddress_v2(const char* name, void** out, int version, std::uint64_t flags, int* found) {
  if (!name || !out) return kDriverInvalidValue;
  *out = driver_function(name, version, flags);
  if (found) *found = *out ? 0 : 1;
  return *out ? 0 : kDriverNotFound;
}

int cuGetProcAddress(const char* name, void** out, int version, std::uint64_t flags) {
  return cuGetProcAddress_v2(name, out, version, flags, nullptr);
}

/// A name that is not there is no error, but a result.
int cudaGetDriverEntryPointByVersion(const char* name, void** out, unsigned version, std::uint64_t flags, int* result) {
  return call([&](Runtime&) -> int {
    if (!name || !out) return kInvalidValue;
    *out = driver_function(name, static_cast<int>(version), flags);
    if (result) *result = *out ? 0 : 1;
    return kSuccess;
  });
}

int cudaGetDriverEntryPoint(const char* name, void** out, std::uint64_t flags, int* result) {
  return cudaGetDriverEntryPointByVersion(name, out, cuda::DeviceModel::kRuntimeVersion, flags, result);
}

/// Tables of private functions. Libraries ask whether there are any (nvrtc does so), and go on without or say so themselves.
/// A CUDA runtime that was not redirected cannot, so that what its library launches is lost.
int cuGetExportTable(const void** out, const void*) {
  if (out) *out = nullptr;
  const std::string library = owner_of(__builtin_return_address(0));
  if (library.empty()) return kNotSupported;
  driver_call([&](Runtime& r) -> int {
    if (!r.complained_about.insert(library).second) return kNotSupported;
    const bool closed = cuda::only_machine_code(std::string_view(library).substr(library.rfind('/') + 1));
    std::fflush(stdout);
    std::fprintf(
        stderr,
        closed
            ? "atoll: warning: %s has kernels as machine code only: its functions fail, which the program may not look "
              "at, and nothing of them is in the trace\n"
            : "atoll: warning: %s has a CUDA runtime linked into it whose calls are not redirected (is it stripped?): they "
              "fail, and its kernels are not recorded; rebuild it with nvcc -cudart shared, or do not strip it\n",
        library.c_str());
    r.recording.note_lost(library);
    return kNotSupported;
  });
  return kNotSupported;
}

/// As for the runtime (unsupported.cpp).
int atoll_cuda_unsupported(const char* name) {
  return driver_call([&](Runtime& r) -> int {
    if (r.complained_about.insert(name).second) {
      std::fflush(stdout);
      std::fprintf(
          stderr, "atoll: the program calls %s, which the recorder does not have; it gets CUDA_ERROR_NOT_SUPPORTED\n", name);
    }
    return kNotSupported;
  });
}

}  // extern "C"
}  // namespace atl::cudart
