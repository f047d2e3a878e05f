#include <algorithm>
#include <cstring>

#include "inputs/cuda/runtime/driver.hpp"

// Attributes of streams are hints: which lines to keep in an L2, how the host waits, what a fence covers, how urgent the
// stream is. They change nothing that is recorded, and who asks for one gets what was given.
namespace atl::cudart {
namespace {

enum Attribute : int {
  kAccessPolicyWindow = 1,
  kSynchronizationPolicy = 3,
  kPriority = 8,
  kMemSyncDomainMap = 9,
  kMemSyncDomain = 10,
  kNvlinkUtilCentricScheduling = 16
};
constexpr std::uint8_t kWaitAsTheDeviceSays = 1;
constexpr std::uint8_t kRemoteDomain = 1;

bool belongs_to_streams(int attribute) {
  constexpr int kAll[] = {kAccessPolicyWindow, kSynchronizationPolicy, kPriority,
                          kMemSyncDomainMap,   kMemSyncDomain,         kNvlinkUtilCentricScheduling};
  return std::ranges::find(kAll, attribute) != std::end(kAll);
}

/// What a new stream has (cudaLaunchAttributeValue in the CUDA runtime's manual).
StreamAttribute initial(int attribute) {
  StreamAttribute value{};
  if (attribute == kSynchronizationPolicy) value[0] = kWaitAsTheDeviceSays;
  if (attribute == kMemSyncDomainMap) value[1] = kRemoteDomain;
  return value;
}

StreamAttribute value_of(const Runtime& r, const void* stream, int attribute) {
  const auto found = r.stream_attributes.find({stream, attribute});
  return found == r.stream_attributes.end() ? initial(attribute) : found->second;
}

int priority_in(const StreamAttribute& value) {
  int priority = 0;
  std::memcpy(&priority, value.data(), sizeof priority);
  return priority;
}

/// Streams run in the order of their calls all the same. Beyond the range it is the nearest in it.
void set_priority(Runtime& r, const void* stream, int priority) {
  priority = std::clamp(priority, kGreatestPriority, 0);
  std::memcpy(r.stream_attributes[{stream, kPriority}].data(), &priority, sizeof priority);
}

}  // namespace

void forget_attributes(Runtime& r, const void* stream) {
  std::erase_if(r.stream_attributes, [&](const auto& entry) { return entry.first.first == stream; });
}

extern "C" {

int cudaStreamCreateWithFlags(void** out, unsigned flags);

int cudaStreamCreateWithPriority(void** out, unsigned flags, int priority) {
  return call([&](Runtime& r) -> int {
    const int status = cudaStreamCreateWithFlags(out, flags);
    if (status == kSuccess) set_priority(r, *out, priority);
    return status;
  });
}

int cudaStreamGetPriority(void* stream, int* priority) {
  return call([&](Runtime& r) -> int {
    if (priority) *priority = priority_in(value_of(r, stream, kPriority));
    return is_stream(r, stream) ? kSuccess : kInvalidResourceHandle;
  });
}

int cudaStreamSetAttribute(void* stream, int attribute, const StreamAttribute* value) {
  return call([&](Runtime& r) -> int {
    if (!is_stream(r, stream)) return kInvalidResourceHandle;
    if (!value || !belongs_to_streams(attribute)) return kInvalidValue;
    r.stream_attributes[{stream, attribute}] = *value;
    if (attribute == kPriority) set_priority(r, stream, priority_in(*value));
    return kSuccess;
  });
}

int cudaStreamGetAttribute(void* stream, int attribute, StreamAttribute* value) {
  return call([&](Runtime& r) -> int {
    if (!is_stream(r, stream)) return kInvalidResourceHandle;
    if (!value || !belongs_to_streams(attribute)) return kInvalidValue;
    *value = value_of(r, stream, attribute);
    return kSuccess;
  });
}

int cudaStreamCopyAttributes(void* to, void* from) {
  return call([&](Runtime& r) -> int {
    if (!is_stream(r, to) || !is_stream(r, from)) return kInvalidResourceHandle;
    if (to == from) return kSuccess;
    forget_attributes(r, to);
    const auto all = r.stream_attributes;
    for (const auto& [key, value] : all)
      if (key.first == from) r.stream_attributes[{to, key.second}] = value;
    return kSuccess;
  });
}

/// There is no L2 here whose lines could be kept.
int cudaCtxResetPersistingL2Cache() { return kSuccess; }

int cuStreamCreateWithPriority(void** out, unsigned flags, int priority) {
  return driver_call([&](Runtime&) { return cudaStreamCreateWithPriority(out, flags, priority); });
}

int cuStreamGetPriority(void* stream, int* priority) {
  return driver_call([&](Runtime&) { return cudaStreamGetPriority(stream, priority); });
}

int cuStreamSetAttribute(void* stream, int attribute, const StreamAttribute* value) {
  return driver_call([&](Runtime&) { return cudaStreamSetAttribute(stream, attribute, value); });
}

int cuStreamGetAttribute(void* stream, int attribute, StreamAttribute* value) {
  return driver_call([&](Runtime&) { return cudaStreamGetAttribute(stream, attribute, value); });
}

int cuStreamCopyAttributes(void* to, void* from) {
  return driver_call([&](Runtime&) { return cudaStreamCopyAttributes(to, from); });
}

int cuCtxResetPersistingL2Cache() { return 0; }

}  // extern "C"
}  // namespace atl::cudart
