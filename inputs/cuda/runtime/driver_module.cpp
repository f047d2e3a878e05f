#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "inputs/cuda/runtime/driver.hpp"

// Modules, libraries and kernels that a program loads while it runs, of the driver and of the runtime.
namespace atl::cudart {
namespace {

enum JitOption : int { kErrorLog = 5, kErrorLogBytes = 6 };

void log_errors(unsigned count, const int* options, void** values, const std::string& why) {
  char* buffer = nullptr;
  std::size_t bytes = 0;
  find_error_log(count, options, values, buffer, bytes);
  write_error_log(buffer, bytes, why);
}

int take(Runtime& r, Binary* binary, Binary** out, std::string& why) {
  try {
    r.code.load(*binary);
    *out = binary;
    return kSuccess;
  } catch (const NoKernelImage& e) {
    r.code.unload(binary);
    return refuse_image(e.what(), why, kDriverNoBinaryForGpu);
  } catch (const InputError& e) {
    r.code.unload(binary);
    return refuse_image(e.what(), why, kDriverInvalidPtx);
  }
}

/// Runs `body` with the loaded module that a handle stands for.
template <typename Body> int with_module(Runtime& r, void* module, Body&& body) {
  Binary* binary = r.code.loaded_binary(module);
  return binary ? body(*binary) : int{kDriverInvalidHandle};
}

template <typename Address> int global(Runtime& r, void* module, const char* name, Address* address, std::size_t* bytes) {
  return with_module(r, module, [&](Binary& binary) -> int {
    std::uint64_t at = 0, size = 0;
    if (!name) return kInvalidValue;
    if (!variable_named(r, binary, name, at, size)) return kDriverNotFound;
    if (address) std::memcpy(address, &at, sizeof at);
    if (bytes) *bytes = size;
    return kSuccess;
  });
}

int function(Runtime& r, void** out, void* module, const char* name) {
  return with_module(r, module, [&](Binary& binary) -> int {
    if (!out || !name) return kInvalidValue;
    *out = kernel_named(r, binary, name);
    return *out ? kSuccess : int{kDriverNotFound};
  });
}

std::vector<std::string> entries(const Binary& binary) {
  std::vector<std::string> out;
  for (const ptx::Function& f : binary.module->functions)
    if (f.entry && f.defined) out.push_back(f.name);
  return out;
}

int count_entries(Runtime& r, unsigned* count, void* module) {
  return with_module(r, module, [&](Binary& binary) -> int {
    return count ? (*count = static_cast<unsigned>(entries(binary).size()), kSuccess) : kInvalidValue;
  });
}

int enumerate(Runtime& r, void** out, unsigned count, void* module) {
  return with_module(r, module, [&](Binary& binary) -> int {
    const std::vector<std::string> names = entries(binary);
    for (std::size_t i = 0; i < std::min<std::size_t>(count, names.size()); ++i) out[i] = kernel_named(r, binary, names[i]);
    return kSuccess;
  });
}

int unload(Runtime& r, void* module) {
  return with_module(r, module, [&](Binary& binary) -> int {
    r.backlog.finish(r, r.backlog.all());
    return r.code.unload(&binary), kSuccess;
  });
}

/// The runtime's error for the driver's.
int runtime_status(int status) { return status == kDriverInvalidPtx ? 218 : status; }

}  // namespace

int refuse_image(const std::string& what, std::string& why, int status) {
  why = what;
  std::fflush(stdout);
  std::fprintf(stderr, "atoll: %s\n", what.c_str());
  return status;
}

void find_error_log(unsigned count, const int* options, void** values, char*& buffer, std::size_t& bytes) {
  for (unsigned i = 0; i < count && options && values; ++i) {
    if (options[i] == kErrorLog) buffer = static_cast<char*>(values[i]);
    if (options[i] == kErrorLogBytes) bytes = reinterpret_cast<std::uintptr_t>(values[i]);
  }
}

void write_error_log(char* buffer, std::size_t bytes, const std::string& why) {
  if (buffer && bytes > 0) std::snprintf(buffer, bytes, "%s", why.c_str());
}

int load_image(Runtime& r, const void* image, Binary** out, std::string& why) {
  if (!image || !out) return kInvalidValue;
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic == cuda::kWrapperMagic)
    return take(r, r.code.add_binary(*static_cast<const cuda::FatbinWrapper*>(image)), out, why);
  if (magic == cuda::kContainerMagic) {
    const cuda::FatbinWrapper wrapper{cuda::kWrapperMagic, 1, static_cast<const std::uint8_t*>(image), nullptr};
    return take(r, r.code.add_binary(wrapper), out, why);
  }
  if (std::memcmp(image, "\177ELF", 4) == 0)
    return refuse_image(
        "the program loads a module of machine code, which the recorder cannot execute; give the driver PTX: of nvcc "
        "with -ptx instead of -cubin, of nvrtc for an architecture compute_75 to compute_90 instead of sm_.., by "
        "nvrtcGetPTX",
        why, kDriverNoBinaryForGpu);
  return take(r, r.code.add_texts(linked_texts(static_cast<const char*>(image))), out, why);
}

int load_file(Runtime& r, const char* path, Binary** out, std::string& why) {
  if (!path) return kInvalidValue;
  std::ifstream in(path, std::ios::binary);
  if (!in) return kDriverFileNotFound;
  std::string content{std::istreambuf_iterator<char>(in), {}};
  if (content.size() < 16) return refuse_image(std::string(path) + " is no PTX", why, kDriverInvalidPtx);
  // A container is read where it lies, as long as the module is there.
  return load_image(r, r.images.emplace_back(std::move(content)).c_str(), out, why);
}

Kernel* kernel_named(Runtime& r, Binary& binary, const std::string& name) {
  const std::uint32_t index = binary.module->find_function(name);
  if (index == ptx::kNone || !binary.module->functions[index].entry) return nullptr;
  for (const auto& kernel : binary.kernels)
    if (kernel->name == name) return kernel.get();
  return r.code.add_kernel(binary, nullptr, name);
}

bool variable_named(Runtime& r, Binary& binary, const std::string& name, std::uint64_t& address, std::uint64_t& size) {
  const std::uint32_t index = binary.module->find_variable(name);
  if (index == ptx::kNone) return false;
  r.code.load(binary);
  address = binary.variables[current_device()][index], size = binary.module->variables[index].size;
  return address != 0;
}

extern "C" {

int cuModuleLoadDataEx(Binary** out, const void* image, unsigned count, int* options, void** values) {
  return driver_call([&](Runtime& r) {
    std::string why;
    const int status = load_image(r, image, out, why);
    log_errors(count, options, values, why);
    return status;
  });
}

int cuModuleLoadData(Binary** out, const void* image) { return cuModuleLoadDataEx(out, image, 0, nullptr, nullptr); }
int cuModuleLoadFatBinary(Binary** out, const void* image) { return cuModuleLoadData(out, image); }

int cuModuleLoad(Binary** out, const char* path) {
  return driver_call([&](Runtime& r) {
    std::string why;
    return load_file(r, path, out, why);
  });
}

int cuModuleUnload(void* module) {
  return driver_call([&](Runtime& r) { return unload(r, module); });
}

int cuModuleGetFunction(void** out, void* module, const char* name) {
  return driver_call([&](Runtime& r) { return function(r, out, module, name); });
}

int cuModuleGetFunctionCount(unsigned* count, void* module) {
  return driver_call([&](Runtime& r) { return count_entries(r, count, module); });
}

int cuModuleEnumerateFunctions(void** out, unsigned count, void* module) {
  return driver_call([&](Runtime& r) { return enumerate(r, out, count, module); });
}

int cuModuleGetGlobal_v2(std::uint64_t* address, std::size_t* bytes, void* module, const char* name) {
  return driver_call([&](Runtime& r) { return global(r, module, name, address, bytes); });
}

/// Lazy: modules are read when they are loaded, their kernels when they are first launched.
int cuModuleGetLoadingMode(int* mode) { return mode ? (*mode = 2, 0) : int{kDriverInvalidValue}; }

int cuLibraryLoadData(Binary** out, const void* code, int* jit, void** jit_values, unsigned jit_count, int*, void**,
                      unsigned) {
  return cuModuleLoadDataEx(out, code, jit_count, jit, jit_values);
}

int cuLibraryLoadFromFile(Binary** out, const char* path, int*, void**, unsigned, int*, void**, unsigned) {
  return cuModuleLoad(out, path);
}

int cuLibraryUnload(void* library) { return cuModuleUnload(library); }
int cuLibraryGetKernel(void** out, void* library, const char* name) { return cuModuleGetFunction(out, library, name); }
int cuLibraryGetKernelCount(unsigned* count, void* library) { return cuModuleGetFunctionCount(count, library); }
int cuLibraryEnumerateKernels(void** out, unsigned count, void* lib) { return cuModuleEnumerateFunctions(out, count, lib); }
int cuLibraryGetModule(void** out, void* library) { return out ? (*out = library, 0) : int{kDriverInvalidValue}; }

int cuLibraryGetGlobal(std::uint64_t* address, std::size_t* bytes, void* library, const char* name) {
  return cuModuleGetGlobal_v2(address, bytes, library, name);
}

int cuLibraryGetManaged(std::uint64_t* address, std::size_t* bytes, void* library, const char* name) {
  return cuModuleGetGlobal_v2(address, bytes, library, name);
}

int cuKernelGetFunction(void** out, void* kernel) { return out ? (*out = kernel, 0) : int{kDriverInvalidValue}; }

int cudaLibraryLoadData(Binary** out, const void* code, int* jit, void** jit_values, unsigned jit_count, int*, void**,
                        unsigned) {
  return call([&](Runtime& r) {
    std::string why;
    const int status = load_image(r, code, out, why);
    log_errors(jit_count, jit, jit_values, why);
    return runtime_status(status);
  });
}

int cudaLibraryLoadFromFile(Binary** out, const char* path, int*, void**, unsigned, int*, void**, unsigned) {
  return call([&](Runtime& r) {
    std::string why;
    return runtime_status(load_file(r, path, out, why));
  });
}

int cudaLibraryUnload(void* library) {
  return call([&](Runtime& r) { return unload(r, library); });
}

int cudaLibraryGetKernel(void** out, void* library, const char* name) {
  return call([&](Runtime& r) { return function(r, out, library, name); });
}

int cudaLibraryGetKernelCount(unsigned* count, void* library) {
  return call([&](Runtime& r) { return count_entries(r, count, library); });
}

int cudaLibraryEnumerateKernels(void** out, unsigned count, void* library) {
  return call([&](Runtime& r) { return enumerate(r, out, count, library); });
}

int cudaLibraryGetGlobal(void** address, std::size_t* bytes, void* library, const char* name) {
  return call([&](Runtime& r) { return global(r, library, name, address, bytes); });
}

int cudaLibraryGetManaged(void** address, std::size_t* bytes, void* library, const char* name) {
  return cudaLibraryGetGlobal(address, bytes, library, name);
}

}  // extern "C"
}  // namespace atl::cudart
