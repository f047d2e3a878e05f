#include <algorithm>
#include <array>
#include <cstring>

#include "inputs/cuda/runtime/driver.hpp"

// Devices and contexts. A context is nothing but a handle of its device.
namespace atl::cudart {

extern "C" {
int cudaGetDeviceCount(int* count);
int cudaDeviceSynchronize();
int cudaDeviceGetAttribute(int* value, int number, int device);
int cudaDeviceSetLimit(int limit, std::size_t value);
int cudaDeviceGetLimit(std::size_t* value, int limit);
int cudaDeviceSetCacheConfig(int config);
int cudaDeviceSetSharedMemConfig(int config);
int cudaDeviceGetSharedMemConfig(int* config);
int cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
int cudaDeviceGetPCIBusId(char* text, int length, int device);
int cudaDeviceCanAccessPeer(int* can, int device, int peer);
int cudaDeviceEnablePeerAccess(int peer, unsigned flags);
int cudaDeviceDisablePeerAccess(int peer);
int cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer);
int cudaDeviceGetByPCIBusId(int* device, const char* text);
int cudaStreamGetDevice(void* stream, int* device);
}

namespace {

struct Context {
  unsigned flags = 0, device = 0;
  unsigned uses = 1;  // by cuCtxAttach
};

// Guarded by the runtime's lock.
std::array<Context, cuda::kMostDevices> primary = [] {
  std::array<Context, cuda::kMostDevices> all;
  for (unsigned d = 0; d < all.size(); ++d) all[d].device = d;
  return all;
}();
std::array<unsigned, cuda::kMostDevices> primary_uses{};
std::set<Context*> contexts;
thread_local std::vector<Context*> current;  // a stack; the last one counts

bool known(Context* c) { return (c >= primary.begin() && c < primary.end()) || contexts.count(c) != 0; }

/// The current context has changed.
void follow_context() {
  if (!current.empty()) choose_device(current.back()->device);
}

int enable_peer(Context* peer, unsigned flags, bool enable) {
  return driver_call([&](Runtime&) -> int {
    if (!known(peer) || current.empty()) return kDriverInvalidContext;
    const auto device = static_cast<int>(peer->device);
    return enable ? cudaDeviceEnablePeerAccess(device, flags) : cudaDeviceDisablePeerAccess(device);
  });
}

int create(Context** out, unsigned flags, int device) {
  return driver_call([&](Runtime& r) -> int {
    if (!out) return kInvalidValue;
    if (!has_device(r, device)) return kInvalidDevice;
    *out = new Context{flags, static_cast<unsigned>(device)};
    contexts.insert(*out);
    current.push_back(*out);
    follow_context();
    return kSuccess;
  });
}

}  // namespace

void use_primary_context(unsigned device) {
  if (current.empty())
    current.push_back(&primary[device]);
  else
    current.back() = &primary[device];
  follow_context();
}

void have_context() {
  if (current.empty()) current.push_back(&primary[current_device()]);
}

void* primary_context(unsigned device) { return &primary[device]; }

extern "C" {

int cuDeviceGetCount(int* count) {
  return driver_call([&](Runtime&) { return cudaGetDeviceCount(count); });
}

int cuDeviceGet(int* device, int ordinal) {
  return driver_call([&](Runtime& r) -> int {
    if (!device) return kInvalidValue;
    *device = ordinal;
    return known_device(r, ordinal);
  });
}

int cuDeviceGetName(char* name, int length, int device) {
  return driver_call([&](Runtime& r) -> int {
    if (!name || length <= 0) return kInvalidValue;
    if (!has_device(r, device)) return kInvalidDevice;
    const std::size_t size = std::min<std::size_t>(r.model.name.size(), static_cast<std::size_t>(length) - 1);
    std::memcpy(name, r.model.name.data(), size);
    name[size] = 0;
    return kSuccess;
  });
}

int cuDeviceGetUuid_v2(void* uuid, int device) {
  return driver_call([&](Runtime& r) -> int {
    if (!uuid) return kInvalidValue;
    if (has_device(r, device)) write_uuid(uuid, static_cast<unsigned>(device));
    return known_device(r, device);
  });
}

int cuDeviceGetUuid(void* uuid, int device) { return cuDeviceGetUuid_v2(uuid, device); }

int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return driver_call([&](Runtime& r) -> int {
    if (!bytes) return kInvalidValue;
    *bytes = r.arena.capacity();
    return known_device(r, device);
  });
}

int cuDeviceGetAttribute(int* value, int number, int device) {
  return driver_call([&](Runtime&) { return cudaDeviceGetAttribute(value, number, device); });
}

int cuDeviceComputeCapability(int* major, int* minor, int device) {
  return driver_call([&](Runtime& r) -> int {
    if (!major || !minor) return kInvalidValue;
    *major = r.model.major(), *minor = r.model.minor();
    return known_device(r, device);
  });
}

/// CUdevprop: the first fourteen attributes.
int cuDeviceGetProperties(int* out, int device) {
  return driver_call([&](Runtime& r) -> int {
    if (!out) return kInvalidValue;
    if (has_device(r, device))
      for (int number = 1; number <= 14; ++number) cudaDeviceGetAttribute(&out[number - 1], number, device);
    return known_device(r, device);
  });
}

int cuDeviceGetPCIBusId(char* text, int length, int device) {
  return driver_call([&](Runtime&) { return cudaDeviceGetPCIBusId(text, length, device); });
}

int cuDeviceGetByPCIBusId(int* device, const char* text) {
  return driver_call([&](Runtime&) { return cudaDeviceGetByPCIBusId(device, text); });
}

int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  return driver_call([&](Runtime&) { return cudaDeviceCanAccessPeer(can, device, peer); });
}

int cuDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  return driver_call([&](Runtime&) { return cudaDeviceGetP2PAttribute(value, attribute, device, peer); });
}

int cuCtxEnablePeerAccess(Context* peer, unsigned flags) { return enable_peer(peer, flags, true); }
int cuCtxDisablePeerAccess(Context* peer) { return enable_peer(peer, 0, false); }

int cuDevicePrimaryCtxRetain(Context** out, int device) {
  return driver_call([&](Runtime& r) -> int {
    if (!out) return kInvalidValue;
    if (!has_device(r, device)) return kInvalidDevice;
    *out = &primary[static_cast<unsigned>(device)], ++primary_uses[static_cast<unsigned>(device)];
    return kSuccess;
  });
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  return driver_call([&](Runtime& r) -> int {
    if (!has_device(r, device)) return kInvalidDevice;
    unsigned& uses = primary_uses[static_cast<unsigned>(device)];
    if (uses == 0) return kDriverInvalidContext;
    --uses;
    return kSuccess;
  });
}

int cuDevicePrimaryCtxReset_v2(int device) {
  return driver_call([&](Runtime& r) { return known_device(r, device); });
}

int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) {
  return driver_call([&](Runtime& r) -> int {
    if (has_device(r, device)) primary[static_cast<unsigned>(device)].flags = flags;
    return known_device(r, device);
  });
}

int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return driver_call([&](Runtime& r) -> int {
    if (!flags || !active) return kInvalidValue;
    if (!has_device(r, device)) return kInvalidDevice;
    *flags = primary[static_cast<unsigned>(device)].flags;
    *active = primary_uses[static_cast<unsigned>(device)] != 0 ? 1 : 0;
    return kSuccess;
  });
}

int cuCtxCreate_v2(Context** out, unsigned flags, int device) { return create(out, flags, device); }
int cuCtxCreate_v3(Context** out, void*, int, unsigned flags, int device) { return create(out, flags, device); }
int cuCtxCreate_v4(Context** out, void*, unsigned flags, int device) { return create(out, flags, device); }

int cuCtxDestroy_v2(Context* context) {
  return driver_call([&](Runtime&) -> int {
    if (contexts.erase(context) == 0) return kDriverInvalidContext;
    std::erase(current, context);
    follow_context();
    delete context;
    return kSuccess;
  });
}

/// One more use of the current context, which cuCtxDetach gives back.
int cuCtxAttach(Context** out, unsigned flags) {
  return driver_call([&](Runtime&) -> int {
    if (!out || flags != 0) return kInvalidValue;
    if (current.empty()) return kDriverInvalidContext;
    *out = current.back(), ++(*out)->uses;
    return kSuccess;
  });
}

int cuCtxDetach(Context* context) {
  return driver_call([&](Runtime&) -> int {
    if (!known(context) || context != (current.empty() ? nullptr : current.back())) return kDriverInvalidContext;
    return --context->uses == 0 ? cuCtxDestroy_v2(context) : int{kSuccess};
  });
}

int cuCtxPushCurrent_v2(Context* context) {
  return driver_call([&](Runtime&) -> int {
    if (!known(context)) return kDriverInvalidContext;
    current.push_back(context);
    follow_context();
    return kSuccess;
  });
}

int cuCtxPopCurrent_v2(Context** out) {
  return driver_call([&](Runtime&) -> int {
    if (current.empty()) return kDriverInvalidContext;
    if (out) *out = current.back();
    current.pop_back();
    follow_context();
    return kSuccess;
  });
}

int cuCtxSetCurrent(Context* context) {
  return driver_call([&](Runtime&) -> int {
    if (context && !known(context)) return kDriverInvalidContext;
    if (!current.empty()) current.pop_back();
    if (context) current.push_back(context);
    follow_context();
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
  *device = current.empty() ? 0 : static_cast<int>(current.back()->device);
  return current.empty() ? int{kDriverInvalidContext} : 0;
}

int cuStreamGetDevice(void* stream, int* device) {
  return driver_call([&](Runtime&) { return cudaStreamGetDevice(stream, device); });
}

/// Of the stream's device: the primary one.
int cuStreamGetCtx(void* stream, Context** out) {
  return driver_call([&](Runtime& r) -> int {
    if (!out) return kInvalidValue;
    const unsigned device = device_of(r, stream);
    *out = !current.empty() && current.back()->device == device ? current.back() : &primary[device];
    return kSuccess;
  });
}

int cuCtxGetFlags(unsigned* flags) {
  if (!flags || current.empty()) return flags ? kDriverInvalidContext : kDriverInvalidValue;
  *flags = current.back()->flags;
  return 0;
}

int cuCtxGetApiVersion(Context*, unsigned* version) { return version ? (*version = 3020, 0) : int{kDriverInvalidValue}; }

int cuCtxSynchronize() {
  return driver_call([](Runtime&) { return cudaDeviceSynchronize(); });
}

int cuCtxSetLimit(int limit, std::size_t value) {
  return driver_call([&](Runtime&) { return cudaDeviceSetLimit(limit, value); });
}

int cuCtxGetLimit(std::size_t* value, int limit) {
  return driver_call([&](Runtime&) { return cudaDeviceGetLimit(value, limit); });
}

int cuCtxSetCacheConfig(int config) {
  return driver_call([&](Runtime&) { return cudaDeviceSetCacheConfig(config); });
}

int cuCtxGetCacheConfig(int* config) { return config ? (*config = 0, 0) : int{kDriverInvalidValue}; }

int cuCtxSetSharedMemConfig(int config) {
  return driver_call([&](Runtime&) { return cudaDeviceSetSharedMemConfig(config); });
}

int cuCtxGetSharedMemConfig(int* config) {
  return driver_call([&](Runtime&) { return cudaDeviceGetSharedMemConfig(config); });
}

int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return driver_call([&](Runtime&) { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

int cuProfilerStart() { return 0; }
int cuProfilerStop() { return 0; }

}  // extern "C"
}  // namespace atl::cudart
