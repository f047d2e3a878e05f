#include <cstdio>

#include "inputs/cuda/runtime/copy.hpp"
#include "inputs/cuda/runtime/runtime.hpp"
#include "inputs/cuda/runtime/traffic.hpp"

// Several devices and each other's memory. An address tells whose it is, so a copy between devices is a copy.
namespace atl::cudart {

extern "C" int cudaMemcpyAsync(void* to, const void* from, std::size_t size, int kind, void* stream);
extern "C" int cudaMemcpy3DAsync(const Copy3D* p, void* stream);

namespace {

constexpr char kBusFormat[] = "0000:%02x:00.0";

/// cudaDeviceP2PAttr: every device reaches every other one alike.
enum P2PAttribute : int { kPerformanceRank = 1, kAccess = 2, kNativeAtomics = 3, kArrayAccess = 4 };

/// cudaMemcpy3DPeerParms.
struct PeerCopy3D {
  Array* from_array;
  Position from_position;
  PitchedPointer from;
  int from_device;
  Array* to_array;
  Position to_position;
  PitchedPointer to;
  int to_device;
  Extent extent;
};
static_assert(sizeof(PeerCopy3D) == 168);

Copy3D box_of(const PeerCopy3D& p) {
  return {p.from_array, p.from_position, p.from, p.to_array, p.to_position, p.to, p.extent, kDefaultCopy};
}

int check_devices(const Runtime& r, int to, int from) {
  return has_device(r, to) && has_device(r, from) ? int{kSuccess} : int{kInvalidDevice};
}

/// Waits until both devices are idle.
void settle_devices(Runtime& r, int to, int from) {
  for (const int device : {to, from}) r.backlog.finish(r, r.backlog.of_device(static_cast<unsigned>(device)));
}

}  // namespace

extern "C" {

int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](Runtime& r) -> int {
    if (!can) return kInvalidValue;
    *can = device != peer ? 1 : 0;
    return check_devices(r, device, peer);
  });
}

int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&](Runtime& r) -> int {
    if (flags != 0) return kInvalidValue;
    if (!has_device(r, peer) || static_cast<unsigned>(peer) == current_device()) return kInvalidDevice;
    std::uint64_t& peers = r.peers[current_device()];
    const std::uint64_t bit = std::uint64_t{1} << peer;
    if ((peers & bit) != 0) return kPeerAccessAlreadyEnabled;
    peers |= bit;
    return kSuccess;
  });
}

int cudaDeviceDisablePeerAccess(int peer) {
  return call([&](Runtime& r) -> int {
    if (!has_device(r, peer)) return kInvalidDevice;
    std::uint64_t& peers = r.peers[current_device()];
    const std::uint64_t bit = std::uint64_t{1} << peer;
    if (static_cast<unsigned>(peer) == current_device() || (peers & bit) == 0) return kPeerAccessNotEnabled;
    peers &= ~bit;
    return kSuccess;
  });
}

int cudaDeviceGetP2PAttribute(int* value, int attribute, int device, int peer) {
  return call([&](Runtime& r) -> int {
    if (!value || device == peer) return value ? kInvalidDevice : kInvalidValue;
    if (attribute < kPerformanceRank || attribute > kArrayAccess) return kInvalidValue;
    *value = attribute == kPerformanceRank ? 0 : 1;
    return check_devices(r, device, peer);
  });
}

int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call([&](Runtime& r) -> int {
    if (!text || length < 13) return kInvalidValue;
    std::snprintf(text, static_cast<std::size_t>(length), kBusFormat, static_cast<unsigned>(device) & 0xFF);
    return has_device(r, device) ? kSuccess : kInvalidDevice;
  });
}

int cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return call([&](Runtime& r) -> int {
    unsigned domain = 0, bus = 0, number = 0;
    if (!device || !text) return kInvalidValue;
    if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &number) != 3 && std::sscanf(text, "%x:%x", &bus, &number) != 2)
      return kInvalidValue;
    *device = static_cast<int>(bus);
    return bus < r.devices ? kSuccess : kInvalidDevice;
  });
}

/// Begins when both devices are idle, and the program does not wait for it.
int cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t size) {
  return call([&](Runtime& r) -> int {
    if (const int status = check_devices(r, to_device, from_device); status != kSuccess) return status;
    settle_devices(r, to_device, from_device);
    Traffic traffic(r, {static_cast<unsigned>(to_device), static_cast<unsigned>(from_device)});
    return traffic.end(copy_bytes(r, to, from, size, kDefaultCopy));
  });
}

int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, std::size_t size, void* stream) {
  return call([&](Runtime& r) -> int {
    const int status = check_devices(r, to_device, from_device);
    return status == kSuccess ? cudaMemcpyAsync(to, from, size, kDefaultCopy, stream) : status;
  });
}

int cudaMemcpy3DPeer(const PeerCopy3D* p) {
  return call([&](Runtime& r) -> int {
    if (!p) return kInvalidValue;
    if (const int status = check_devices(r, p->to_device, p->from_device); status != kSuccess) return status;
    settle_devices(r, p->to_device, p->from_device);
    Traffic traffic(r, {static_cast<unsigned>(p->to_device), static_cast<unsigned>(p->from_device)});
    return traffic.end(copy_box(r, box_of(*p)));
  });
}

int cudaMemcpy3DPeerAsync(const PeerCopy3D* p, void* stream) {
  return call([&](Runtime& r) -> int {
    if (!p) return kInvalidValue;
    if (const int status = check_devices(r, p->to_device, p->from_device); status != kSuccess) return status;
    const Copy3D box = box_of(*p);
    return cudaMemcpy3DAsync(&box, stream);
  });
}

}  // extern "C"
}  // namespace atl::cudart
