#include <cstdint>
#include <cstring>
#include <iterator>

#include "inputs/cuda/runtime/driver.hpp"
#include "inputs/ptx/tensor_map.hpp"

// Tensor maps in the driver API: what copies of tensors go by (inputs/ptx/exec_tensor_copy.cpp).
namespace atl::cudart {
namespace {

using ptx::TensorMap;
using ptx::Type;

/// CUtensorMapDataType, by number: none for those that a copy changes (tf32, and f32 without denormals) and of less than
/// eight bits.
constexpr Type kTypes[] = {Type::u8,  Type::u16, Type::u32, Type::s32, Type::u64,
                           Type::s64, Type::f16, Type::f32, Type::f64, Type::bf16};
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 32, kMostStride = std::uint64_t{1} << 40;
constexpr std::uint32_t kMostBox = 256;
enum : int { kNoInterleave = 0, kMostSwizzle = 3 };

bool encode(TensorMap& map, unsigned dimensions, const std::uint64_t* sizes, const std::uint64_t* strides,
            const std::uint32_t* box) {
  const bool real = map.type == Type::f16 || map.type == Type::bf16 || map.type == Type::f32 || map.type == Type::f64;
  if (map.address % 16 != 0 || (map.fill == TensorMap::Fill::nan && !real)) return false;
  for (unsigned d = 0; d < dimensions; ++d) {
    if (sizes[d] == 0 || sizes[d] > kMostElements || box[d] == 0 || box[d] > kMostBox) return false;
    map.size[d] = sizes[d], map.box[d] = box[d];
    if (d == 0) continue;
    if (strides[d - 1] % 16 != 0 || strides[d - 1] >= kMostStride) return false;
    map.stride[d - 1] = strides[d - 1];
  }
  const std::uint64_t row = std::uint64_t{box[0]} * map.element();
  return row % 16 == 0 && (map.swizzle == 0 || row <= std::uint64_t{16} << map.swizzle);
}

}  // namespace

extern "C" {

/// Boxes that leave elements out and interleaved layouts are refused, and elements as above.
int cuTensorMapEncodeTiled(void* out, int type, unsigned dimensions, void* address, const std::uint64_t* sizes,
                           const std::uint64_t* strides, const std::uint32_t* box, const std::uint32_t* element_strides,
                           int interleave, int swizzle, int /*l2_promotion*/, int fill) {
  return driver_call([&](Runtime&) -> int {
    if (!out || !sizes || !box || !element_strides || type < 0 || dimensions == 0 ||
        dimensions > TensorMap::kMostDimensions || (dimensions > 1 && !strides))
      return kInvalidValue;
    bool known =
        type < static_cast<int>(std::size(kTypes)) && interleave == kNoInterleave && swizzle >= 0 && swizzle <= kMostSwizzle;
    for (unsigned d = 0; d < dimensions; ++d) known &= element_strides[d] == 1;
    if (!known) return kNotSupported;
    TensorMap map;
    map.type = kTypes[type], map.dimensions = static_cast<std::uint8_t>(dimensions);
    map.swizzle = static_cast<std::uint8_t>(swizzle);
    map.fill = fill != 0 ? TensorMap::Fill::nan : TensorMap::Fill::zero;
    map.address = reinterpret_cast<std::uint64_t>(address);
    if (!encode(map, dimensions, sizes, strides, box)) return kInvalidValue;
    std::memcpy(out, &map, sizeof map);
    return kSuccess;
  });
}

int cuTensorMapReplaceAddress(void* map, void* address) {
  return driver_call([&](Runtime&) -> int {
    TensorMap m;
    if (!map || reinterpret_cast<std::uintptr_t>(address) % 16 != 0) return kInvalidValue;
    std::memcpy(&m, map, sizeof m);
    if (m.magic != TensorMap::kMagic) return kInvalidValue;
    m.address = reinterpret_cast<std::uint64_t>(address);
    std::memcpy(map, &m, sizeof m);
    return kSuccess;
  });
}

}  // extern "C"
}  // namespace atl::cudart
