#include <algorithm>

#include "inputs/cuda/runtime/launch.hpp"
#include "inputs/cuda/runtime/runtime.hpp"
#include "inputs/ptx/register_pressure.hpp"

// What programs ask about their kernels: attributes and occupancy.
namespace atl::cudart {
namespace {

enum FunctionAttribute : int {
  kMaxDynamicShared = 8,
  kSharedCarveout = 9,
  kClusterMustBeSet = 10,  // can be asked for only
  kClusterWidth = 11,
  kClusterHeight = 12,
  kClusterDepth = 13,
  kWideClusters = 14,
  kClusterPolicy = 15
};

std::size_t static_shared(const ptx::Function& f) { return f.shared_bytes; }

/// Estimated; the module is loaded.
int registers(const Kernel& kernel) {
  return static_cast<int>(ptx::estimate_registers(*kernel.binary->module, kernel.function));
}

/// A dimension of the kernel's clusters. Whether all of them make one is looked at when it is launched.
int set_cluster(Kernel& kernel, const ptx::Function& f, int attribute, int value) {
  if (f.cluster[0] != 0) return kNotPermitted;
  if (value < 0) return kInvalidValue;
  Dim3& c = kernel.cluster;
  (attribute == kClusterWidth ? c.x : attribute == kClusterHeight ? c.y : c.z) = static_cast<std::uint32_t>(value);
  return kSuccess;
}

}  // namespace

std::uint64_t most_threads(const ptx::Function& f) {
  const auto limit = std::uint64_t{f.max_threads[0]} * std::max(f.max_threads[1], 1u) * std::max(f.max_threads[2], 1u);
  return limit == 0 ? cuda::DeviceModel::kMaxThreadsPerBlock : limit;
}

std::size_t most_dynamic_shared(const Kernel& kernel, const ptx::Function& f) {
  constexpr std::size_t kUnlessSet = 48 * 1024;
  return kernel.max_dynamic_shared.value_or(kUnlessSet - std::min(kUnlessSet, static_shared(f)));
}

std::uint64_t most_cluster_blocks(const Kernel& kernel) {
  constexpr std::uint64_t kPortable = 8;
  return kernel.wide_clusters ? ptx::kMostClusterCtas : kPortable;
}

std::uint32_t resident_blocks(const Runtime& r, const Kernel& kernel, const ptx::Function& function,
                              const LaunchRequest& q) {
  const auto threads = static_cast<int>(q.block.x * q.block.y * q.block.z);
  const std::size_t shared = static_shared(function) + q.dynamic_shared;
  const int blocks = cuda::resident_blocks(r.model, shared, registers(kernel), threads);
  return static_cast<std::uint32_t>(std::max(blocks, 1) * r.model.sms);
}

extern "C" {

int cudaFuncGetAttributes(FunctionAttributes* out, const void* host) {
  return call([&](Runtime& r) -> int {
    if (!out) return kInvalidValue;
    Kernel* kernel = r.code.find_kernel(host);
    if (!kernel) return kInvalidDeviceFunction;
    const ptx::Function& f = r.code.function(*kernel);
    *out = {};
    out->shared_bytes = static_shared(f), out->local_bytes = f.local_frame;
    // Which of them the kernel reads is not known: a module's are loaded together.
    for (const ptx::Variable& v : kernel->binary->module->variables)
      if (v.space == ptx::Space::constant) out->constant_bytes += v.size;
    out->max_threads = static_cast<int>(most_threads(f));
    out->registers = registers(*kernel), out->ptx_version = static_cast<int>(kernel->binary->module->target);
    out->binary_version = static_cast<int>(r.model.arch);
    out->max_dynamic_shared = static_cast<int>(most_dynamic_shared(*kernel, f)), out->carveout = -1;
    const Dim3 cluster = required_cluster(*kernel, f);
    out->required_cluster[0] = static_cast<int>(cluster.x), out->required_cluster[1] = static_cast<int>(cluster.y);
    out->required_cluster[2] = static_cast<int>(cluster.z);
    out->wide_clusters = kernel->wide_clusters ? 1 : 0;
    return kSuccess;
  });
}

int cudaFuncSetAttribute(const void* host, int attribute, int value) {
  return call([&](Runtime& r) -> int {
    Kernel* kernel = r.code.find_kernel(host);
    if (!kernel) return kInvalidDeviceFunction;
    if (attribute < kMaxDynamicShared || attribute > kClusterPolicy) return kInvalidValue;
    if (attribute == kSharedCarveout && (value < -1 || value > 100)) return kInvalidValue;  // percent, or no preference
    if (attribute == kClusterMustBeSet) return kInvalidValue;
    if (attribute >= kClusterWidth && attribute <= kClusterDepth)
      return set_cluster(*kernel, r.code.function(*kernel), attribute, value);
    if (attribute == kWideClusters) kernel->wide_clusters = value != 0;
    if (attribute != kMaxDynamicShared) return kSuccess;
    const auto in_all = static_cast<std::int64_t>(static_shared(r.code.function(*kernel))) + value;
    if (value < 0 || in_all > r.model.shared_per_block_optin()) return kInvalidValue;
    kernel->max_dynamic_shared = static_cast<std::size_t>(value);
    return kSuccess;
  });
}

int cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value, int) {
  return cudaFuncSetAttribute(kernel, attribute, value);
}

int cudaFuncSetCacheConfig(const void* host, int config) {
  return call([&](Runtime& r) -> int {
    if (!r.code.find_kernel(host)) return kInvalidDeviceFunction;
    return is_cache_config(config) ? kSuccess : kInvalidValue;
  });
}

int cudaFuncSetSharedMemConfig(const void* host, int config) {
  return call([&](Runtime& r) -> int {
    if (!r.code.find_kernel(host)) return kInvalidDeviceFunction;
    return is_bank_size(config) ? kSuccess : kInvalidValue;
  });
}

int cudaFuncGetName(const char** name, const void* host) {
  return call([&](Runtime& r) -> int {
    Kernel* kernel = r.code.find_kernel(host);
    if (!name) return kInvalidValue;
    if (!kernel) return kInvalidDeviceFunction;
    *name = kernel->name.c_str();
    return kSuccess;
  });
}

int cudaFuncGetParamInfo(const void* host, std::size_t index, std::size_t* offset, std::size_t* size) {
  return call([&](Runtime& r) -> int {
    Kernel* kernel = r.code.find_kernel(host);
    if (!kernel) return kInvalidDeviceFunction;
    const ptx::Function& f = r.code.function(*kernel);
    if (index >= f.params.size()) return kInvalidValue;
    if (offset) *offset = f.params[index].offset;
    if (size) *size = f.params[index].size;
    return kSuccess;
  });
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads, std::size_t dynamic) {
  return call([&](Runtime& r) -> int {
    if (!blocks || threads <= 0) return kInvalidValue;
    Kernel* kernel = r.code.find_kernel(host);
    if (!kernel) return kInvalidDeviceFunction;
    const ptx::Function& f = r.code.function(*kernel);
    const std::size_t shared = static_shared(f) + dynamic;
    *blocks = threads > static_cast<int>(most_threads(f))
                  ? 0
                  : cuda::resident_blocks(r.model, shared, registers(*kernel), threads);
    return kSuccess;
  });
}

int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads, std::size_t dynamic,
                                                           unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, threads, dynamic);
}

/// Clusters of the launch that the whole device holds at a time.
int cudaOccupancyMaxActiveClusters(int* clusters, const void* host, const LaunchConfig* config) {
  return call([&](Runtime& r) -> int {
    if (!clusters || !config) return kInvalidValue;
    Kernel* kernel = r.code.find_kernel(host);
    if (!kernel) return kInvalidDeviceFunction;
    LaunchRequest q{host, config->grid, config->block, nullptr, config->shared_bytes, false, {}};
    if (const int status = q.take(config->attributes, config->attribute_count); status != kSuccess) return status;
    const ptx::Function& function = r.code.function(*kernel);
    const Dim3 cluster = cluster_of(q, *kernel, function);
    const std::uint64_t each = std::uint64_t{cluster.x} * cluster.y * cluster.z;
    const std::uint32_t blocks = resident_blocks(r, *kernel, function, q);
    *clusters = static_cast<int>(blocks / std::max<std::uint64_t>(each, 1));
    return kSuccess;
  });
}

int cudaOccupancyMaxPotentialClusterSize(int* size, const void* host, const LaunchConfig*) {
  return call([&](Runtime& r) -> int {
    if (!size) return kInvalidValue;
    const Kernel* kernel = r.code.find_kernel(host);
    if (!kernel) return kInvalidDeviceFunction;
    *size = static_cast<int>(most_cluster_blocks(*kernel));
    return kSuccess;
  });
}

int cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, const void* host, int blocks, int) {
  return call([&](Runtime& r) -> int {
    if (!bytes || blocks <= 0) return kInvalidValue;
    Kernel* kernel = r.code.find_kernel(host);
    if (!kernel) return kInvalidDeviceFunction;
    const auto reserved = static_cast<std::size_t>(r.model.reserved_shared);
    const ptx::Function& f = r.code.function(*kernel);
    const std::size_t used = static_shared(f) + reserved;
    const std::size_t each = static_cast<std::size_t>(r.model.shared_per_sm) / static_cast<std::size_t>(blocks);
    *bytes = each > used ? std::min(each - used, most_dynamic_shared(*kernel, f)) : 0;
    return kSuccess;
  });
}

}  // extern "C"
}  // namespace atl::cudart
