#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "inputs/ptx/ir.hpp"

namespace atl::ptx {

/// Something that a kernel asked of the runtime on the device (CUDA Dynamic Parallelism 2): it happens after that kernel.
struct DeviceWork {
  enum class Kind : std::uint8_t { launch, set, copy };
  Kind kind = Kind::launch;
  bool tail = false;  ///< after everything else that the kernel asked for, and what came of that

  const Module* module = nullptr;
  std::uint32_t kernel = kNone;  ///< Module::functions
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t dynamic_shared = 0;
  std::vector<std::byte> params;

  std::uint64_t to = 0, from = 0, bytes = 0;  ///< of `set` and `copy`
  std::uint8_t value = 0;
};

/// What the kernels of one launch ask for. No kernel can wait for what it asks for, so that all of it may come after it.
struct DeviceQueue {
  std::vector<DeviceWork> work;                           ///< in order
  std::unordered_map<std::uint64_t, DeviceWork> buffers;  ///< launches that lack their parameters, by where these go
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> errors;  ///< of a thread: CTA, number in it
  std::uint64_t last_handle = 0x1000;                                       ///< of streams and events
  std::uint32_t runtime_version = 0;
  unsigned devices = 1;
  const char* (*error_string)(int) = nullptr;  ///< as the host's; null: empty texts
  const char* (*error_name)(int) = nullptr;
  std::function<std::uint32_t(const DeviceWork&)> check;  ///< the status of a launch, as the host's; null: none is refused
  std::function<bool(std::uint32_t, std::int32_t&)> attribute;  ///< of cudaDeviceGetAttribute; false: none of that number
};

}  // namespace atl::ptx
