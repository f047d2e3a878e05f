#include <algorithm>
#include <cstring>

#include "inputs/cuda/runtime/driver.hpp"

// Devices and contexts. There is one device, and a context is nothing but a handle of it.
namespace atl::cudart {
namespace {

struct Context {
  unsigned flags = 0;
};

Context primary;
unsigned primary_uses = 0;  // guarded by the runtime's lock
std::set<Context*> contexts;
thread_local std::vector<Context*> current;  // a stack; the last one counts

bool known(Context* c) { return c == &primary || contexts.count(c) != 0; }

int create(Context** out, unsigned flags, int device) {
  return driver_call([&](Runtime&) -> int {
    if (!out) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    *out = new Context{flags};
    contexts.insert(*out);
    current.push_back(*out);
    return kSuccess;
  });
}

}  // namespace

extern "C" {

int cudaDeviceGetAttribute(int* value, int number, int device);
int cudaDeviceSetLimit(int limit, std::size_t value);
int cudaDeviceGetLimit(std::size_t* value, int limit);
int cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
int cudaDeviceGetPCIBusId(char* text, int length, int device);

int cuDeviceGetCount(int* count) { return count ? (*count = 1, 0) : int{kDriverInvalidValue}; }

int cuDeviceGet(int* device, int ordinal) {
  if (!device) return kDriverInvalidValue;
  *device = ordinal;
  return ordinal == 0 ? 0 : kInvalidDevice;
}

int cuDeviceGetName(char* name, int length, int device) {
  return driver_call([&](Runtime& r) -> int {
    if (!name || length <= 0) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    const std::size_t size = std::min<std::size_t>(r.model.name.size(), static_cast<std::size_t>(length) - 1);
    std::memcpy(name, r.model.name.data(), size);
    name[size] = 0;
    return kSuccess;
  });
}

int cuDeviceGetUuid_v2(void* uuid, int device) {
  if (!uuid) return kDriverInvalidValue;
  std::memcpy(uuid, "atoll-recorder-0", 16);
  return device == 0 ? 0 : kInvalidDevice;
}

int cuDeviceGetUuid(void* uuid, int device) { return cuDeviceGetUuid_v2(uuid, device); }

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return driver_call([&](Runtime& r) -> int {
    if (!bytes) return kInvalidValue;
    *bytes = r.arena.capacity();
    return device == 0 ? kSuccess : kInvalidDevice;
  });
}

int cuDeviceGetAttribute(int* value, int number, int device) {
  return driver_call([&](Runtime&) { return cudaDeviceGetAttribute(value, number, device); });
}

int cuDeviceComputeCapability(int* major, int* minor, int device) {
  return driver_call([&](Runtime& r) -> int {
    if (!major || !minor) return kInvalidValue;
    *major = r.model.major(), *minor = r.model.minor();
    return device == 0 ? kSuccess : kInvalidDevice;
  });
}

int cuDeviceGetPCIBusId(char* text, int length, int device) {
  return driver_call([&](Runtime&) { return cudaDeviceGetPCIBusId(text, length, device); });
}

int cuDeviceCanAccessPeer(int* can, int, int) { return can ? (*can = 0, 0) : int{kDriverInvalidValue}; }

int cuDevicePrimaryCtxRetain(Context** out, int device) {
  return driver_call([&](Runtime&) -> int {
    if (!out) return kInvalidValue;
    if (device != 0) return kInvalidDevice;
    *out = &primary, ++primary_uses;
    return kSuccess;
  });
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  return driver_call([&](Runtime&) -> int {
    if (device != 0 || primary_uses == 0) return device != 0 ? int{kInvalidDevice} : int{kDriverInvalidContext};
    --primary_uses;
    return kSuccess;
  });
}

int cuDevicePrimaryCtxReset_v2(int device) { return device == 0 ? 0 : kInvalidDevice; }

int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  primary.flags = flags;
  return device == 0 ? 0 : kInvalidDevice;
}

int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return driver_call([&](Runtime&) -> int {
    if (!flags || !active) return kInvalidValue;
    *flags = primary.flags, *active = primary_uses != 0 ? 1 : 0;
    return device == 0 ? kSuccess : kInvalidDevice;
  });
}

int cuCtxCreate_v2(Context** out, unsigned flags, int device) { return create(out, flags, device); }
int cuCtxCreate_v3(Context** out, void*, int, unsigned flags, int device) { return create(out, flags, device); }
int cuCtxCreate_v4(Context** out, void*, unsigned flags, int device) { return create(out, flags, device); }

int cuCtxDestroy_v2(Context* context) {
  return driver_call([&](Runtime&) -> int {
    if (contexts.erase(context) == 0) return kDriverInvalidContext;
    std::erase(current, context);
    delete context;
    return kSuccess;
  });
}

int cuCtxPushCurrent_v2(Context* context) {
  return driver_call([&](Runtime&) -> int {
    if (!known(context)) return kDriverInvalidContext;
    current.push_back(context);
    return kSuccess;
  });
}

int cuCtxPopCurrent_v2(Context** out) {
  return driver_call([&](Runtime&) -> int {
    if (current.empty()) return kDriverInvalidContext;
    if (out) *out = current.back();
    current.pop_back();
    return kSuccess;
  });
}

int cuCtxSetCurrent(Context* context) {
  return driver_call([&](Runtime&) -> int {
    if (context && !known(context)) return kDriverInvalidContext;
    if (!current.empty()) current.pop_back();
    if (context) current.push_back(context);
    return kSuccess;
  });
}

int cuCtxGetCurrent(Context** out) {
  if (!out) return kDriverInvalidValue;
  *out = current.empty() ? nullptr : current.back();
  return 0;
}

int cuCtxGetDevice(int* device) {
  if (!device) return kDriverInvalidValue;
  *device = 0;
  return current.empty() ? int{kDriverInvalidContext} : 0;
}

int cuCtxGetFlags(unsigned* flags) {
  if (!flags || current.empty()) return flags ? kDriverInvalidContext : kDriverInvalidValue;
  *flags = current.back()->flags;
  return 0;
}

int cuCtxGetApiVersion(Context*, unsigned* version) { return version ? (*version = 3020, 0) : int{kDriverInvalidValue}; }

int cuCtxSynchronize() {
  return driver_call([](Runtime&) { return kSuccess; });
}

int cuCtxSetLimit(int limit, std::size_t value) {
  return driver_call([&](Runtime&) { return cudaDeviceSetLimit(limit, value); });
}

int cuCtxGetLimit(std::size_t* value, int limit) {
  return driver_call([&](Runtime&) { return cudaDeviceGetLimit(value, limit); });
}

int cuCtxSetCacheConfig(int) { return 0; }
int cuCtxGetCacheConfig(int* config) { return config ? (*config = 0, 0) : int{kDriverInvalidValue}; }

int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return driver_call([&](Runtime&) { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

int cuProfilerStart() { return 0; }
int cuProfilerStop() { return 0; }

}  // extern "C"
}  // namespace atl::cudart
