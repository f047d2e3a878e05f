#pragma once
#include <array>
#include <cstdint>

namespace atl::cudart {
struct Runtime;

constexpr int kGreatestPriority = -5;  // of streams, as on real devices; the least is 0
constexpr std::uintptr_t kLegacyStream = 1;
constexpr std::uintptr_t kLastBuiltInStream = 2;  // null, legacy and per-thread stream are small numbers

inline bool is_default_stream(const void* stream) { return reinterpret_cast<std::uintptr_t>(stream) <= kLastBuiltInStream; }

/// The device that the calling thread has chosen (cudaSetDevice, or its current context).
unsigned current_device();
void choose_device(unsigned device);

/// Whether the program may name it: a default stream, or one that it made.
bool is_stream(const Runtime& r, const void* stream);

/// Of a stream; of the default stream the current one.
unsigned device_of(const Runtime& r, const void* stream);

/// cudaStreamAttrValue, as the program wrote it.
using StreamAttribute = std::array<std::uint8_t, 64>;

/// Another stream may get the address.
void forget_attributes(Runtime& r, const void* stream);

/// The stream that the calling thread's work goes into, and its device. Without one it is the current device's default
/// stream, and the program waits for what it moves to or from the host.
class InStream {
 public:
  struct Place {
    const void* stream = nullptr;
    unsigned device = 0;
    bool waits = true;
  };

  InStream(const Runtime& r, const void* stream);
  explicit InStream(Place place);
  ~InStream();
  InStream(const InStream&) = delete;
  InStream& operator=(const InStream&) = delete;

  static Place now();

 private:
  const InStream* outer_;
  Place place_;
};

}  // namespace atl::cudart
