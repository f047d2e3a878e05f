#include "inputs/cuda/runtime/launch.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "inputs/cuda/runtime/copy.hpp"
#include "inputs/cuda/runtime/driver.hpp"
#include "inputs/cuda/runtime/graph.hpp"
#include "inputs/cuda/runtime/marks.hpp"
#include "inputs/cuda/runtime/runtime.hpp"
#include "inputs/ptx/device_queue.hpp"
#include "inputs/ptx/exec.hpp"

namespace atl::cudart {

extern "C" {
int cudaDeviceGetAttribute(int* value, int attribute, int device);
const char* cudaGetErrorString(int status);
const char* cudaGetErrorName(int status);
int cudaEventRecord(void* event, void* stream);
int atoll_cudart_unsupported(const char* name);
}

namespace {

struct Pushed {
  Dim3 grid, block;
  std::size_t shared = 0;
  void* stream = nullptr;
};

// Between <<<...>>> and the stub that it calls; of the thread, as two threads may launch at a time.
thread_local std::vector<Pushed> pushed;

/// Within the limits of every kernel.
bool fits(const LaunchRequest& q) {
  using Limits = cuda::DeviceModel;
  const auto threads = std::uint64_t{q.block.x} * q.block.y * q.block.z;
  const bool some = threads > 0 && q.grid.x > 0 && q.grid.y > 0 && q.grid.z > 0;
  return some && threads <= Limits::kMaxThreadsPerBlock && q.block.x <= Limits::kMaxBlockXY &&
         q.block.y <= Limits::kMaxBlockXY && q.block.z <= Limits::kMaxBlockZ &&
         q.grid.x <= std::uint32_t{Limits::kMaxGridX} && q.grid.y <= Limits::kMaxGridYZ && q.grid.z <= Limits::kMaxGridYZ;
}

/// The block that the kernel was made for (.reqntid), if it was made for one alone: its code may count on no other.
bool fits_exactly(const LaunchRequest& q, const ptx::Function& f) {
  return !f.exact_threads ||
         (q.block.x == f.max_threads[0] && q.block.y == f.max_threads[1] && q.block.z == f.max_threads[2]);
}

std::uint64_t blocks_of(const LaunchRequest& q) { return std::uint64_t{q.grid.x} * q.grid.y * q.grid.z; }

/// A grid that can be divided into its clusters, which have no more blocks than the kernel may ask for, and are those that
/// it was made for.
bool fits_cluster(const LaunchRequest& q, const Kernel& kernel, const ptx::Function& f) {
  const Dim3 own = required_cluster(kernel, f), c = cluster_of(q, kernel, f);
  if (c.x == 0 && c.y == 0 && c.z == 0) return true;
  if (c.x == 0 || c.y == 0 || c.z == 0 || (own.x != 0 && (c.x != own.x || c.y != own.y || c.z != own.z))) return false;
  return std::uint64_t{c.x} * c.y * c.z <= most_cluster_blocks(kernel) && q.grid.x % c.x == 0 && q.grid.y % c.y == 0 &&
         q.grid.z % c.z == 0;
}

/// What is beyond a limit, for the user.
std::string why_refused(const Runtime& r, const LaunchRequest& q, const Kernel& kernel, const ptx::Function& function,
                        int status) {
  using Limits = cuda::DeviceModel;
  const auto threads = std::uint64_t{q.block.x} * q.block.y * q.block.z;
  if (threads > Limits::kMaxThreadsPerBlock)
    return fmt::format("{} threads per block, at most {}", threads, Limits::kMaxThreadsPerBlock);
  if (threads > most_threads(function))
    return fmt::format("{} threads per block, at most {} (its launch bounds)", threads, most_threads(function));
  if (!fits_exactly(q, function))
    return fmt::format("a block of {} x {} x {} threads, made for {} x {} x {} alone", q.block.x, q.block.y, q.block.z,
                       function.max_threads[0], function.max_threads[1], function.max_threads[2]);
  if (q.dynamic_shared > most_dynamic_shared(kernel, function))
    return fmt::format("{} bytes of dynamic shared memory, at most {} (cudaFuncSetAttribute can raise it)", q.dynamic_shared,
                       most_dynamic_shared(kernel, function));
  if (status == kInvalidConfiguration)
    return fmt::format("a grid of {} x {} x {} blocks of {} x {} x {} threads", q.grid.x, q.grid.y, q.grid.z, q.block.x,
                       q.block.y, q.block.z);
  if (status == kInvalidClusterSize) {
    const Dim3 c = cluster_of(q, kernel, function);
    const std::uint64_t blocks = std::uint64_t{c.x} * c.y * c.z;
    if (blocks > most_cluster_blocks(kernel) && blocks <= ptx::kMostClusterCtas)
      return fmt::format("clusters of {} blocks (cudaFuncAttributeNonPortableClusterSizeAllowed would allow them)", blocks);
    return fmt::format("a grid of {} x {} x {} blocks in clusters of {} x {} x {}", q.grid.x, q.grid.y, q.grid.z, c.x, c.y,
                       c.z);
  }
  if (status == kCooperativeLaunchTooLarge)
    return fmt::format("{} blocks that wait for each other, of which the device holds {} at a time", blocks_of(q),
                       resident_blocks(r, kernel, function, q));
  return "too few parameters";
}

int check_form(Runtime& r, const LaunchRequest& q, Kernel& kernel) {
  if (!fits(q)) return kInvalidConfiguration;
  const ptx::Function& function = r.code.function(kernel);
  if (!fits_cluster(q, kernel, function)) return kInvalidClusterSize;
  const auto threads = std::uint64_t{q.block.x} * q.block.y * q.block.z;
  if (!fits_exactly(q, function)) return kInvalidValue;
  if (threads > most_threads(function) || q.dynamic_shared > most_dynamic_shared(kernel, function)) return kInvalidValue;
  // Blocks that are not resident would be waited for in vain.
  if (q.cooperative && blocks_of(q) > resident_blocks(r, kernel, function, q)) return kCooperativeLaunchTooLarge;
  return q.arguments || q.parameters.size() >= function.param_block ? kSuccess : kInvalidValue;
}

/// A function that nothing registered as a kernel. Its library may have registered it with a runtime of its own before that
/// was redirected: another one has to be initialised first, too, as libpthread has before glibc 2.34.
int refuse_unknown(Runtime& r, const void* host) {
  const std::string library = owner_of(host);
  if (library.empty() || !r.complained_about.insert(library).second) return kInvalidDeviceFunction;
  std::fflush(stdout);
  std::fprintf(stderr,
               "atoll: warning: %s launches a kernel that it has not registered with the recorder: the launch fails and is "
               "not recorded; if the CUDA runtime is linked into it, rebuild it with nvcc -cudart shared\n",
               library.c_str());
  r.recording.note_lost(library);
  return kInvalidDeviceFunction;
}

}  // namespace

Dim3 required_cluster(const Kernel& kernel, const ptx::Function& f) {
  return f.cluster[0] != 0 ? Dim3{f.cluster[0], f.cluster[1], f.cluster[2]} : kernel.cluster;
}

Dim3 cluster_of(const LaunchRequest& q, const Kernel& kernel, const ptx::Function& f) {
  return q.cluster.x != 0 ? q.cluster : required_cluster(kernel, f);
}

int LaunchRequest::take(const LaunchAttribute& attribute) {
  switch (attribute.id) {
    case kAttributeCooperative:
      cooperative = attribute.number != 0;
      break;
    case kAttributeClusterDimension:
      cluster = attribute.dimensions;
      break;
    case kAttributeProgrammaticEvent:  // when blocks trigger it is open, which behind the launch they all have
    case kAttributeLaunchCompletionEvent:
      event = attribute.event;
      break;
    case kAttributeDeviceUpdatableNode:  // gives back a handle
      if (attribute.number != 0) return atoll_cudart_unsupported("cudaLaunchAttributeDeviceUpdatableKernelNode");
      break;
    default:  // hints, and when the launch may begin
      break;
  }
  return kSuccess;
}

int LaunchRequest::take(const LaunchAttribute* attributes, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    if (const int status = take(attributes[i]); status != kSuccess) return status;
  return kSuccess;
}

std::vector<std::byte> parameter_block(const ptx::Function& function, void** arguments) {
  std::vector<std::byte> out(function.param_block);
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const ptx::Param& p = function.params[i];
    std::memcpy(out.data() + p.offset, arguments[i], p.size);
  }
  return out;
}

bool parameters_from_extra(void** extra, std::vector<std::byte>& out) {
  enum : std::uintptr_t { kEnd = 0, kPointer = 1, kSize = 2 };
  const void* from = nullptr;
  std::size_t size = 0;
  for (; reinterpret_cast<std::uintptr_t>(*extra) != kEnd; extra += 2) {
    const auto what = reinterpret_cast<std::uintptr_t>(*extra);
    if (what == kPointer)
      from = extra[1];
    else if (what == kSize)
      size = *static_cast<const std::size_t*>(extra[1]);
    else
      return false;
  }
  if (!from && size != 0) return false;
  const auto* bytes = static_cast<const std::byte*>(from);
  out.assign(bytes, bytes + size);
  return true;
}

int check_launch(Runtime& r, const LaunchRequest& q) {
  Kernel* kernel = r.code.find_kernel(q.kernel);
  if (!kernel) return refuse_unknown(r, q.kernel);
  const int status = check_form(r, q, *kernel);
  if (status != kSuccess)
    r.recording.note_refused(kernel->name, why_refused(r, q, *kernel, r.code.function(*kernel), status));
  return status;
}

namespace {

int give(Runtime& r, void* stream, LaunchRequest q) {
  Capture* capture = r.graphs.capture_of(stream);
  const InStream in(r, stream);
  if (!capture) return launch(r, std::move(q));
  if (const int status = check_launch(r, q); status != kSuccess) return status;
  own_parameters(r, q);
  return r.graphs.add(*capture, stream, NodeType::kernel, KernelWork{std::move(q), {}});
}

}  // namespace

int launch_in_stream(Runtime& r, void* stream, LaunchRequest q) {
  if (!is_default_stream(stream) && device_of(r, stream) != q.device) return kInvalidResourceHandle;
  void* const event = std::exchange(q.event, nullptr);
  if (event && !r.events.contains(event)) return kInvalidResourceHandle;
  const int status = give(r, stream, std::move(q));
  return status == kSuccess && event ? cudaEventRecord(event, stream) : status;
}

void own_parameters(Runtime& r, LaunchRequest& q) {
  if (q.arguments) q.parameters = parameter_block(r.code.function(*r.code.find_kernel(q.kernel)), q.arguments);
  q.arguments = nullptr;
}

namespace {

std::unique_ptr<RecordedLaunch> begin(Runtime& r, const LaunchRequest& q) {
  Kernel* kernel = r.code.find_kernel(q.kernel);
  const ptx::Function& function = r.code.function(*kernel, q.device);
  ptx::LaunchSpec spec;
  spec.module = kernel->binary->module.get();
  spec.kernel = kernel->function;
  spec.grid = {q.grid.x, q.grid.y, q.grid.z};
  spec.block = {q.block.x, q.block.y, q.block.z};
  const Dim3 cluster = cluster_of(q, *kernel, function);
  spec.cluster = {cluster.x, cluster.y, cluster.z};
  spec.dynamic_shared = static_cast<std::uint32_t>(q.dynamic_shared);
  spec.cooperative = q.cooperative;
  spec.device = q.device, spec.visible = r.peers[q.device] | r.pool_peers[q.device];
  spec.sms = static_cast<std::uint32_t>(r.model.sms), spec.shared_unit = r.model.shared_unit();
  spec.shared_reserved = static_cast<std::uint32_t>(r.model.reserved_shared);
  spec.threads = r.recording.threads();
  if (r.recording.interleaves()) {
    spec.schedule = ptx::Schedule::interleaved, spec.schedule_seed = r.recording.schedule_seed();
    spec.resident_ctas = resident_blocks(r, *kernel, function, q);
  }
  spec.params = q.parameters;
  const InStream::Place place = InStream::now();
  const LaunchPlace placement{q.device, r.order.next(place.stream, place.device, {q.device})};
  const LaunchMarks marks(*kernel->binary, spec, r.code.device());
  spec.read_only_marks = marks.hold(), spec.nc_holds = marks.nc_holds(), spec.textures_hold = marks.textures_hold();
  return r.recording.begin(std::move(spec), marks.claims(), r.code.device(), placement);
}

/// A launch with all that its kernels ask for, which comes after them, depth first: each with all that it asks for itself
/// before the next one.
class LaunchTask final : public StreamTask {
 public:
  explicit LaunchTask(LaunchRequest request) : request_(std::move(request)) {}

  State turn(Runtime& r) override {
    r.code.device().queue = &queue_;
    State state = State::done;
    try {
      if (!begun_) begin_kernel(r, request_);
      state = kernel_->turn();
      if (state == State::done) state = next(r);
    } catch (const ptx::ExecutionError& e) {
      if (e.kind() != ptx::ExecutionError::Kind::assertion) throw;
      // A failed assertion is the program's own message: it goes on, as on a GPU, and every later call fails.
      std::fflush(stdout);
      std::fprintf(stderr, "%s\n", e.what());
      r.sticky = kAssert;
      kernel_.reset();
    }
    r.code.device().queue = nullptr;
    return state;
  }

  ptx::Execution* execution() override { return kernel_ ? &kernel_->execution() : nullptr; }
  void fail() override {
    if (kernel_) kernel_->fail();
  }

 private:
  void begin_kernel(Runtime& r, const LaunchRequest& q) {
    begun_ = true;
    queue_ = ptx::DeviceQueue{};
    queue_.devices = r.devices, queue_.runtime_version = cuda::DeviceModel::kRuntimeVersion;
    queue_.error_string = cudaGetErrorString, queue_.error_name = cudaGetErrorName;
    queue_.check = [this, &r](const ptx::DeviceWork& work) {
      LaunchRequest asked = request_of(r, work);
      asked.parameters.resize(work.module->functions[work.kernel].param_block);  // which come later
      return static_cast<std::uint32_t>(check_launch(r, asked));
    };
    queue_.attribute = [device = q.device](std::uint32_t number, std::int32_t& value) {
      return cudaDeviceGetAttribute(&value, static_cast<int>(number), static_cast<int>(device)) == kSuccess;
    };
    kernel_ = begin(r, q);
  }

  /// A kernel has ended: what it, or one before it, asked for, up to the next kernel.
  State next(Runtime& r) {
    kernel_.reset();
    std::vector<ptx::DeviceWork>& work = queue_.work;
    std::stable_partition(work.begin(), work.end(), [](const ptx::DeviceWork& w) { return !w.tail; });
    std::move(work.rbegin(), work.rend(), std::back_inserter(left_));
    while (!left_.empty() && !kernel_) {
      const ptx::DeviceWork now = std::move(left_.back());
      left_.pop_back();
      if (const int status = do_work(r, now); status != kSuccess)
        std::fprintf(stderr, "atoll: what a kernel asked the runtime on the device for fails (error %d)\n", status);
    }
    return kernel_ ? State::moved : State::done;
  }

  int do_work(Runtime& r, const ptx::DeviceWork& work) {
    void* const to = reinterpret_cast<void*>(work.to);
    if (work.kind == ptx::DeviceWork::Kind::set)
      return set_elements(r, SetWork{to, work.bytes, work.value, 1, work.bytes, 1});
    if (work.kind == ptx::DeviceWork::Kind::copy)
      return copy_bytes(r, to, reinterpret_cast<const void*>(work.from), work.bytes, kDefaultCopy);
    const LaunchRequest q = request_of(r, work);
    const int status = check_launch(r, q);
    if (status == kSuccess) begin_kernel(r, q);
    return status;
  }

  LaunchRequest request_of(Runtime& r, const ptx::DeviceWork& work) const {
    const auto dim = [](const std::array<std::uint32_t, 3>& n) { return Dim3{n[0], n[1], n[2]}; };
    LaunchRequest q;
    q.kernel = kernel_named(r, r.code.binary_of(*work.module), work.module->functions[work.kernel].name);
    q.grid = dim(work.grid), q.block = dim(work.block), q.dynamic_shared = work.dynamic_shared;
    q.parameters = work.params, q.device = request_.device;
    return q;
  }

  LaunchRequest request_;
  bool begun_ = false;
  ptx::DeviceQueue queue_;
  std::unique_ptr<RecordedLaunch> kernel_;
  std::vector<ptx::DeviceWork> left_;  // the next one is the last
};

}  // namespace

int launch(Runtime& r, LaunchRequest q) {
  if (const int status = check_launch(r, q); status != kSuccess) return status;
  own_parameters(r, q);
  r.backlog.give(r, std::make_unique<LaunchTask>(std::move(q)));
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
    return *out ? kSuccess : refuse_unknown(r, host);
  });
}

int cudaGetKernel(void** out, const void* host) { return __cudaGetKernel(out, host); }
int cudaGetFuncBySymbol(void** out, const void* host) { return __cudaGetKernel(out, host); }

int cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, void* stream) {
  return call([&](Runtime& r) { return launch_in_stream(r, stream, {kernel, grid, block, arguments, shared, false, {}}); });
}

int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

int cudaLaunchCooperativeKernel(const void* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared,
                                void* stream) {
  return call([&](Runtime& r) { return launch_in_stream(r, stream, {kernel, grid, block, arguments, shared, true, {}}); });
}

int cudaLaunchKernelExC(const LaunchConfig* config, const void* kernel, void** arguments) {
  return call([&](Runtime& r) -> int {
    if (!config) return kInvalidValue;
    LaunchRequest q{kernel, config->grid, config->block, arguments, config->shared_bytes, false, {}};
    if (const int status = q.take(config->attributes, config->attribute_count); status != kSuccess) return status;
    return launch_in_stream(r, config->stream, std::move(q));
  });
}

}  // extern "C"
}  // namespace atl::cudart
