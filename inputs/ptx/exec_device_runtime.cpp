#include <fmt/format.h>

#include "inputs/ptx/device_queue.hpp"
#include "inputs/ptx/exec_warp.hpp"

/// The runtime on the device (CUDA Dynamic Parallelism 2): it notes what kernels ask for (device_queue.hpp).
namespace atl::ptx::exec {
namespace {

constexpr std::uint64_t kTailStream = 3;
constexpr std::uint32_t kSuccess = 0, kInvalidValue = 1, kInvalidDeviceFunction = 98;

/// One thread's call.
class DeviceCall {
 public:
  DeviceCall(Warp& w, const CallSite& site, unsigned lane)
      : w_(w), site_(site), lane_(lane), device_(*w.launch->device), queue_(*device_.queue) {}

  std::uint64_t parameter_buffer_v2() {
    DeviceWork work;
    if (!describe(work, argument(0), 1, 2, 3)) return 0;
    const std::uint64_t at = allocate(std::max<std::uint64_t>(1, function(work).param_block));
    if (at != 0) queue_.buffers[at] = std::move(work);
    return at;
  }
  std::uint64_t parameter_buffer() { return allocate(std::max<std::uint64_t>(1, argument(1))); }

  std::uint64_t launch_v2() {
    const std::uint64_t at = argument(0);
    const auto found = queue_.buffers.find(at);
    if (found == queue_.buffers.end()) return fail(kInvalidValue);
    DeviceWork work = std::move(found->second);
    queue_.buffers.erase(found);
    return launch(std::move(work), at, argument(1));
  }
  std::uint64_t launch_v1() {
    DeviceWork work;
    return describe(work, argument(0), 2, 3, 4) ? launch(std::move(work), argument(1), argument(5)) : error();
  }

  std::uint64_t set() {
    DeviceWork work;
    work.kind = DeviceWork::Kind::set, work.tail = argument(3) == kTailStream;
    work.to = argument(0), work.value = static_cast<std::uint8_t>(argument(1)), work.bytes = argument(2);
    if (own(work.to)) return fail(kInvalidValue);
    queue_.work.push_back(std::move(work));
    return kSuccess;
  }
  std::uint64_t copy() {
    DeviceWork work;
    work.kind = DeviceWork::Kind::copy, work.tail = argument(4) == kTailStream;
    work.to = argument(0), work.from = argument(1), work.bytes = argument(2);
    if (own(work.to) || own(work.from)) return fail(kInvalidValue);
    queue_.work.push_back(std::move(work));
    return kSuccess;
  }

  std::uint64_t allocate_memory() {
    const std::uint64_t at = allocate(argument(1));
    store(argument(0), at);
    return at != 0 ? kSuccess : fail(2);
  }
  std::uint64_t free_memory() {
    release_memory(w_, argument(0));
    return kSuccess;
  }

  std::uint64_t new_handle() { return store(argument(0), ++queue_.last_handle); }
  std::uint64_t device_number() { return store(argument(0), std::uint32_t{w_.launch->spec->device}); }
  std::uint64_t device_count() { return store(argument(0), std::uint32_t{queue_.devices}); }
  std::uint64_t version() { return store(argument(0), queue_.runtime_version); }
  std::uint64_t attribute() {
    std::int32_t value = 0;
    if (!queue_.attribute || !queue_.attribute(static_cast<std::uint32_t>(argument(1)), value)) return fail(kInvalidValue);
    return store(argument(0), value);
  }
  std::uint64_t nothing() { return kSuccess; }
  std::uint64_t error() {
    const auto found = queue_.errors.find(thread());
    return found == queue_.errors.end() ? kSuccess : found->second;
  }
  std::uint64_t take_error() {
    const std::uint64_t was = error();
    queue_.errors.erase(thread());
    return was;
  }
  std::uint64_t error_string() { return text(queue_.error_string); }
  std::uint64_t error_name() { return text(queue_.error_name); }

 private:
  /// Shared or local memory of the thread, which is gone by the time of the copy.
  static bool own(std::uint64_t address) { return (address & kWindowMask) != 0; }
  std::pair<std::uint64_t, std::uint32_t> thread() const { return {w_.cta->number, w_.number * kLanes + lane_}; }
  std::uint64_t argument(std::size_t n, std::uint32_t at, std::uint32_t bytes) const {
    if (n >= site_.arguments.size())
      throw Fault{ExecutionError::Kind::unsupported, lane_, "a call passes too few parameters"};
    CallArgument a = site_.arguments[n];
    if (bytes != 0) a.offset += at, a.size = bytes;
    return read_argument(w_, w_.frame(), a, lane_);
  }
  std::uint64_t argument(std::size_t n) const { return argument(n, 0, 0); }
  template <class T> std::uint64_t store(std::uint64_t to, T value) {
    std::memcpy(translate(w_, lane_, to, sizeof value, sizeof value), &value, sizeof value);
    return kSuccess;
  }
  std::uint64_t text(const char* (*of)(int)) {
    const std::string_view found = of ? of(static_cast<int>(argument(0))) : "";
    const std::uint64_t at = allocate(found.size() + 1);
    if (at != 0) std::memcpy(translate(w_, lane_, at, found.size() + 1, 1), std::string(found).c_str(), found.size() + 1);
    return at;
  }
  std::uint64_t fail(std::uint32_t status) {
    queue_.errors[thread()] = status;
    return status;
  }
  std::uint64_t allocate(std::uint64_t bytes) {
    return device_.allocate ? device_.allocate(bytes) : device_.default_allocate(bytes);
  }

  const Function& function(const DeviceWork& work) const { return work.module->functions[work.kernel]; }

  /// Kernel, grid, block and shared memory from those arguments. False: there is no such launch, which is the thread's
  /// error.
  bool describe(DeviceWork& work, std::uint64_t kernel, std::size_t grid, std::size_t block, std::size_t shared) {
    const std::uint64_t index = (kernel & ~kWindowMask) >> kCodeShift;
    work.module = w_.launch->spec->module;
    if ((kernel & kWindowMask) != kCodeWindow || index >= work.module->functions.size() ||
        !work.module->functions[index].entry) {
      fail(kInvalidDeviceFunction);
      return false;
    }
    work.kernel = static_cast<std::uint32_t>(index);
    for (std::uint32_t n = 0; n < 3; ++n) {
      work.grid[n] = static_cast<std::uint32_t>(argument(grid, 4 * n, 4));
      work.block[n] = static_cast<std::uint32_t>(argument(block, 4 * n, 4));
    }
    work.dynamic_shared = static_cast<std::uint32_t>(argument(shared));
    const std::uint32_t status = queue_.check ? queue_.check(work) : kSuccess;
    if (status != kSuccess) fail(status);
    return status == kSuccess;
  }

  std::uint64_t launch(DeviceWork work, std::uint64_t buffer, std::uint64_t stream) {
    work.tail = stream == kTailStream;
    work.params.resize(function(work).param_block);
    if (!work.params.empty())
      std::memcpy(work.params.data(), translate(w_, lane_, buffer, work.params.size(), 1), work.params.size());
    release_memory(w_, buffer);
    queue_.work.push_back(std::move(work));
    return kSuccess;
  }

  Warp& w_;
  const CallSite& site_;
  unsigned lane_;
  Device& device_;
  DeviceQueue& queue_;
};

struct Entry {
  std::string_view name;
  std::uint64_t (DeviceCall::*run)();
};
constexpr std::string_view kPrefix = "__cudaCDP2", kPerThread = "_ptsz";
constexpr Entry kEntries[] = {
    {"GetParameterBufferV2", &DeviceCall::parameter_buffer_v2},
    {"GetParameterBuffer", &DeviceCall::parameter_buffer},
    {"LaunchDeviceV2", &DeviceCall::launch_v2},
    {"LaunchDevice", &DeviceCall::launch_v1},
    {"MemsetAsync", &DeviceCall::set},
    {"MemcpyAsync", &DeviceCall::copy},
    {"Malloc", &DeviceCall::allocate_memory},
    {"Free", &DeviceCall::free_memory},
    {"StreamCreateWithFlags", &DeviceCall::new_handle},
    {"EventCreateWithFlags", &DeviceCall::new_handle},
    {"StreamDestroy", &DeviceCall::nothing},
    {"StreamWaitEvent", &DeviceCall::nothing},
    {"EventRecord", &DeviceCall::nothing},
    {"EventRecordWithFlags", &DeviceCall::nothing},
    {"EventDestroy", &DeviceCall::nothing},
    {"GetDevice", &DeviceCall::device_number},
    {"GetDeviceCount", &DeviceCall::device_count},
    {"RuntimeGetVersion", &DeviceCall::version},
    {"DeviceGetAttribute", &DeviceCall::attribute},
    {"GetLastError", &DeviceCall::take_error},
    {"PeekAtLastError", &DeviceCall::error},
    {"GetErrorString", &DeviceCall::error_string},
    {"GetErrorName", &DeviceCall::error_name},
};

}  // namespace

bool is_device_runtime(std::string_view function) { return function.starts_with(kPrefix); }

std::uint64_t call_device_runtime(Warp& w, std::string_view function, const CallSite& site, unsigned lane) {
  std::string_view name = function.substr(kPrefix.size());
  if (name.ends_with(kPerThread)) name.remove_suffix(kPerThread.size());
  if (w.launch->device->queue == nullptr)
    throw Fault{
        ExecutionError::Kind::unsupported, lane,
        fmt::format("dynamic parallelism is not supported here: the kernel calls the runtime on the device ({})", function)};
  DeviceCall call(w, site, lane);
  for (const Entry& e : kEntries)
    if (e.name == name) return (call.*e.run)();
  throw Fault{ExecutionError::Kind::unsupported, lane,
              fmt::format("the runtime on the device has no {} here ({})", name, function)};
}

}  // namespace atl::ptx::exec
