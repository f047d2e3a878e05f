#include <cstring>

#include "inputs/cuda/runtime/driver.hpp"

// Functions, their launches and occupancy, in the driver API.
namespace atl::cudart {

extern "C" {
int cudaFuncGetAttributes(FunctionAttributes* out, const void* host);
int cudaFuncSetAttribute(const void* host, int attribute, int value);
int cudaFuncSetCacheConfig(const void* host, int config);
int cudaFuncSetSharedMemConfig(const void* host, int config);
int cudaFuncGetName(const char** name, const void* host);
int cudaFuncGetParamInfo(const void* host, std::size_t index, std::size_t* offset, std::size_t* size);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads, std::size_t dynamic);
int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* host, int blocks, int threads);
int cudaLaunchHostFunc(void* stream, void (*function)(void*), void* data);
int cudaGraphLaunch(void* exec, void* stream);
int cudaGraphExecDestroy(void* exec);
int cudaGraphDestroy(Graph* graph);
int cudaGraphInstantiate(void** out, const Graph* graph, unsigned long long flags);
}

namespace {

/// CUlaunchConfig.
struct DriverLaunchConfig {
  Dim3 grid, block;
  unsigned shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(DriverLaunchConfig) == 56);

int launch_function(Runtime& r, const void* function, const DriverLaunchConfig& config, void** arguments, void** extra) {
  LaunchRequest q{function, config.grid, config.block, arguments, config.shared_bytes, false, {}};
  if (const int status = q.take(config.attributes, config.attribute_count); status != kSuccess) return status;
  if (arguments && extra) return kInvalidValue;
  if (extra && !parameters_from_extra(extra, q.parameters)) return kInvalidValue;
  return launch_in_stream(r, config.stream, std::move(q));
}

constexpr std::size_t kMostParameterBytes = 4096;  // before CUDA 12.1, as old as these calls

/// Calls `set` with what the program sets beforehand for launches of the function.
template <typename F> int set_beforehand(const void* function, F&& set) {
  return driver_call([&](Runtime& r) -> int {
    Kernel* kernel = r.code.find_kernel(function);
    return kernel ? set(kernel->next) : int{kInvalidDeviceFunction};
  });
}

int set_parameter(const void* function, int offset, const void* value, std::size_t bytes) {
  return set_beforehand(function, [&](auto& next) -> int {
    const auto at = static_cast<std::size_t>(offset);
    if (!value || offset < 0 || at > kMostParameterBytes || bytes > kMostParameterBytes - at) return kInvalidValue;
    if (next.parameters.size() < at + bytes) next.parameters.resize(at + bytes);
    std::memcpy(next.parameters.data() + at, value, bytes);
    return kSuccess;
  });
}

int launch_grid(const void* function, int width, int height, void* stream) {
  return driver_call([&](Runtime& r) -> int {
    const Kernel* kernel = r.code.find_kernel(function);
    if (!kernel) return kInvalidDeviceFunction;
    if (width <= 0 || height <= 0) return kInvalidValue;
    const auto& next = kernel->next;
    const Dim3 grid{static_cast<unsigned>(width), static_cast<unsigned>(height), 1};
    return launch_in_stream(r, stream, {function, grid, next.block, nullptr, next.shared, false, next.parameters});
  });
}

}  // namespace

extern "C" {

// Launches as before CUDA 4, whose block, shared memory and parameters are set by calls of their own.
int cuFuncSetBlockShape(const void* function, int x, int y, int z) {
  return set_beforehand(function, [&](auto& next) -> int {
    if (x <= 0 || y <= 0 || z <= 0) return kInvalidValue;
    next.block = {static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)};
    return kSuccess;
  });
}

int cuFuncSetSharedSize(const void* function, unsigned bytes) {
  return set_beforehand(function, [&](auto& next) -> int { return next.shared = bytes, kSuccess; });
}

int cuParamSetSize(const void* function, unsigned bytes) {
  return set_beforehand(function, [&](auto& next) -> int {
    if (bytes > kMostParameterBytes) return kInvalidValue;
    return next.parameters.resize(bytes), kSuccess;
  });
}

int cuParamSeti(const void* function, int offset, unsigned value) { return set_parameter(function, offset, &value, 4); }
int cuParamSetf(const void* function, int offset, float value) { return set_parameter(function, offset, &value, 4); }

int cuParamSetv(const void* function, int offset, const void* value, unsigned bytes) {
  return set_parameter(function, offset, value, bytes);
}

int cuLaunch(const void* function) { return launch_grid(function, 1, 1, nullptr); }
int cuLaunchGrid(const void* function, int width, int height) { return launch_grid(function, width, height, nullptr); }

int cuLaunchGridAsync(const void* function, int width, int height, void* stream) {
  return launch_grid(function, width, height, stream);
}

int cuLaunchKernel(const void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void* stream, void** arguments, void** extra) {
  return driver_call([&](Runtime& r) {
    return launch_function(r, function, {{gx, gy, gz}, {bx, by, bz}, shared, stream, nullptr, 0}, arguments, extra);
  });
}

int cuLaunchKernelEx(const DriverLaunchConfig* config, const void* function, void** arguments, void** extra) {
  return driver_call([&](Runtime& r) -> int {
    return config ? launch_function(r, function, *config, arguments, extra) : int{kInvalidValue};
  });
}

int cuLaunchCooperativeKernel(const void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                              unsigned bz, unsigned shared, void* stream, void** arguments) {
  return driver_call([&](Runtime& r) {
    return launch_in_stream(r, stream, {function, {gx, gy, gz}, {bx, by, bz}, arguments, shared, true, {}});
  });
}

// The program's function runs without the lock.
int cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return driver_status(cudaLaunchHostFunc(stream, function, data));
}

/// CUfunction_attribute.
int cuFuncGetAttribute(int* value, int attribute, const void* function) {
  return driver_call([&](Runtime&) -> int {
    FunctionAttributes a{};
    if (!value) return kInvalidValue;
    if (const int status = cudaFuncGetAttributes(&a, function); status != kSuccess) return status;
    const int values[] = {a.max_threads,
                          static_cast<int>(a.shared_bytes),
                          static_cast<int>(a.constant_bytes),
                          static_cast<int>(a.local_bytes),
                          a.registers,
                          a.ptx_version,
                          a.binary_version,
                          a.cache_mode,
                          a.max_dynamic_shared,
                          a.carveout,
                          a.cluster_must_be_set,
                          a.required_cluster[0],
                          a.required_cluster[1],
                          a.required_cluster[2],
                          a.wide_clusters,
                          a.cluster_scheduling};
    if (attribute < 0) return kInvalidValue;
    *value = attribute < static_cast<int>(std::size(values)) ? values[attribute] : 0;
    return kSuccess;
  });
}

int cuFuncSetAttribute(const void* function, int attribute, int value) {
  return driver_call([&](Runtime&) { return cudaFuncSetAttribute(function, attribute, value); });
}

int cuKernelGetAttribute(int* value, int attribute, const void* kernel, int) {
  return cuFuncGetAttribute(value, attribute, kernel);
}

int cuKernelSetAttribute(int attribute, int value, const void* kernel, int) {
  return cuFuncSetAttribute(kernel, attribute, value);
}

int cuFuncSetCacheConfig(const void* function, int config) {
  return driver_call([&](Runtime&) { return cudaFuncSetCacheConfig(function, config); });
}

int cuKernelSetCacheConfig(const void* kernel, int config, int) { return cuFuncSetCacheConfig(kernel, config); }

int cuFuncSetSharedMemConfig(const void* function, int config) {
  return driver_call([&](Runtime&) { return cudaFuncSetSharedMemConfig(function, config); });
}

int cuFuncLoad(const void*) { return 0; }
int cuFuncIsLoaded(int* loaded, const void*) { return loaded ? (*loaded = 1, 0) : int{kDriverInvalidValue}; }

int cuFuncGetName(const char** name, const void* function) {
  return driver_call([&](Runtime&) { return cudaFuncGetName(name, function); });
}

int cuKernelGetName(const char** name, const void* kernel) { return cuFuncGetName(name, kernel); }

int cuFuncGetParamInfo(const void* function, std::size_t index, std::size_t* offset, std::size_t* size) {
  return driver_call([&](Runtime&) { return cudaFuncGetParamInfo(function, index, offset, size); });
}

int cuKernelGetParamInfo(const void* kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
  return cuFuncGetParamInfo(kernel, index, offset, size);
}

int cuFuncGetModule(void** out, const void* function) {
  return driver_call([&](Runtime& r) -> int {
    const Kernel* kernel = r.code.find_kernel(function);
    if (!out || !kernel) return out ? kInvalidDeviceFunction : kInvalidValue;
    *out = kernel->binary;
    return kSuccess;
  });
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads, std::size_t dynamic) {
  return driver_call(
      [&](Runtime&) { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic); });
}

int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads, std::size_t dynamic,
                                                         unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic);
}

int cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* function, int blocks, int threads) {
  return driver_call([&](Runtime&) { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads); });
}

/// The block size with which the most threads are resident; of equal ones the largest.
int cuOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* function, std::size_t (*shared_of)(int),
                                     std::size_t dynamic, int limit) {
  return driver_call([&](Runtime& r) -> int {
    FunctionAttributes a{};
    if (!grid || !block) return kInvalidValue;
    if (const int status = cudaFuncGetAttributes(&a, function); status != kSuccess) return status;
    const int most = limit > 0 && limit < a.max_threads ? limit : a.max_threads;
    int best = 0;
    for (int threads = (most + 31) / 32 * 32; threads > 0; threads -= 32) {
      const int size = threads < most ? threads : most;
      int blocks = 0;
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, size, shared_of ? shared_of(size) : dynamic);
      if (blocks * size > best) best = blocks * size, *block = size, *grid = blocks * r.model.sms;
    }
    return best > 0 ? kSuccess : kInvalidValue;
  });
}

int cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, const void* function, std::size_t (*shared_of)(int),
                                              std::size_t dynamic, int limit, unsigned) {
  return cuOccupancyMaxPotentialBlockSize(grid, block, function, shared_of, dynamic, limit);
}

int cuGraphLaunch(void* exec, void* stream) { return driver_status(cudaGraphLaunch(exec, stream)); }

int cuGraphExecDestroy(void* exec) {
  return driver_call([&](Runtime&) { return cudaGraphExecDestroy(exec); });
}

int cuGraphDestroy(Graph* graph) {
  return driver_call([&](Runtime&) { return cudaGraphDestroy(graph); });
}

int cuGraphInstantiateWithFlags(void** out, const Graph* graph, unsigned long long flags) {
  return driver_call([&](Runtime&) { return cudaGraphInstantiate(out, graph, flags); });
}

}  // extern "C"
}  // namespace atl::cudart
