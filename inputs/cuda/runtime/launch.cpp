#include "inputs/cuda/runtime/launch.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

#include "inputs/cuda/runtime/device_model.hpp"
#include "inputs/cuda/runtime/marks.hpp"
#include "inputs/cuda/runtime/runtime.hpp"
#include "inputs/ptx/exec.hpp"

namespace atl::cudart {
namespace {

struct Pushed {
  Dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
};

// Between <<<...>>> and the stub that it calls; of the thread, as two threads may launch at a time.
thread_local std::vector<Pushed> pushed;

bool fits(const LaunchRequest& q, const Kernel& kernel) {
  using namespace device_model;
  const auto threads = std::uint64_t{q.block.x} * q.block.y * q.block.z;
  const bool some = threads > 0 && q.grid.x > 0 && q.grid.y > 0 && q.grid.z > 0;
  return some && threads <= kMaxThreadsPerBlock && q.block.x <= kMaxBlockXY && q.block.y <= kMaxBlockXY &&
         q.block.z <= kMaxBlockZ && q.grid.x <= std::uint32_t{kMaxGridX} && q.grid.y <= kMaxGridYZ &&
         q.grid.z <= kMaxGridYZ && q.dynamic_shared <= kernel.max_dynamic_shared;
}

/// Each argument is copied to where the PTX has its parameter.
std::vector<std::byte> parameter_block(const ptx::Function& function, void** arguments) {
  std::vector<std::byte> out(function.param_block);
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const ptx::Param& p = function.params[i];
    std::memcpy(out.data() + p.offset, arguments[i], p.size);
  }
  return out;
}

}  // namespace

int launch(Runtime& r, const LaunchRequest& q) {
  Kernel* kernel = r.code.find_kernel(q.kernel);
  if (!kernel) return kInvalidDeviceFunction;
  if (!fits(q, *kernel)) return kInvalidConfiguration;
  const ptx::Function& function = r.code.function(*kernel);
  ptx::LaunchSpec spec;
  spec.module = kernel->binary->module.get();
  spec.kernel = kernel->function;
  spec.grid = {q.grid.x, q.grid.y, q.grid.z};
  spec.block = {q.block.x, q.block.y, q.block.z};
  spec.dynamic_shared = static_cast<std::uint32_t>(q.dynamic_shared);
  spec.cooperative = q.cooperative;
  spec.threads = r.recording.threads();
  if (r.recording.interleaves()) {
    spec.schedule = ptx::Schedule::interleaved, spec.schedule_seed = r.recording.schedule_seed();
    spec.resident_ctas = resident_blocks(*kernel, function, q);
  }
  spec.params = parameter_block(function, q.arguments);
  const LaunchMarks marks(*kernel->binary, spec, r.code.device().memory);
  spec.read_only_marks = marks.hold();
  spec.check = r.recording.check();
  if (spec.check) spec.check->expect(marks.claims());
  try {
    r.recording.run(spec, r.code.device());
  } catch (const ptx::ExecutionError& e) {
    if (e.kind() != ptx::ExecutionError::Kind::assertion) throw;
    // A failed assertion is the program's own message: it goes on, as on a GPU, and every later call fails.
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", e.what());
    r.sticky = kAssert;
  }
  return kSuccess;
}

extern "C" {

unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared, void* stream) {
  pushed.push_back({grid, block, shared, stream});
  return 0;
}

int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared, void* stream) {
  if (pushed.empty()) return remember(kMissingConfiguration);
  const Pushed p = pushed.back();
  pushed.pop_back();
  *grid = p.grid, *block = p.block, *shared = p.shared;
  *static_cast<void**>(stream) = p.stream;
  return kSuccess;
}

int __cudaGetKernel(void** out, const void* host) {
  return call([&](Runtime& r) -> int {
    *out = r.code.find_kernel(host);
    return *out ? kSuccess : kInvalidDeviceFunction;
  });
}

int cudaGetKernel(void** out, const void* host) { return __cudaGetKernel(out, host); }
int cudaGetFuncBySymbol(void** out, const void* host) { return __cudaGetKernel(out, host); }

int cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, void*) {
  return call([&](Runtime& r) { return launch(r, {kernel, grid, block, arguments, shared, false}); });
}

int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

int cudaLaunchCooperativeKernel(const void* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, void*) {
  return call([&](Runtime& r) { return launch(r, {kernel, grid, block, arguments, shared, true}); });
}

int cudaLaunchKernelExC(const LaunchConfig* config, const void* kernel, void** arguments) {
  return call([&](Runtime& r) -> int {
    if (!config) return kInvalidValue;
    LaunchRequest q{kernel, config->grid, config->block, arguments, config->shared_bytes, false};
    for (unsigned i = 0; i < config->attribute_count; ++i) {
      const LaunchAttribute& a = config->attributes[i];
      if (a.id == kAttributeCooperative) q.cooperative = a.number != 0;
      const auto& cluster = a.dimensions;
      if (a.id == kAttributeClusterDimension && std::uint64_t{cluster.x} * cluster.y * cluster.z != 1) return kNotSupported;
    }
    return launch(r, q);
  });
}

}  // extern "C"
}  // namespace atl::cudart
