#pragma once
#include <array>
#include <cstdint>

#include "inputs/ptx/opcode.hpp"

namespace atl::ptx {

/// What a program's CUtensorMap holds here: NVIDIA's encoding is not published, and programs pass it on as it is. Copies of
/// tensors (cp.async.bulk.tensor) go by it.
struct TensorMap {
  static constexpr std::uint32_t kMagic = 0x70616D74;
  static constexpr unsigned kMostDimensions = 5;
  enum class Fill : std::uint8_t { zero, nan };

  std::uint32_t magic = kMagic;
  Type type = Type::u8;
  std::uint8_t dimensions = 1;
  std::uint8_t swizzle = 0;                                        ///< 0 none; n: of chunks of 16 bytes within 16 << n bytes
  Fill fill = Fill::zero;                                          ///< of elements out of bounds
  std::uint64_t address = 0;                                       ///< of element 0
  std::array<std::uint64_t, kMostDimensions> size{1, 1, 1, 1, 1};  ///< elements
  std::array<std::uint64_t, kMostDimensions - 1> stride{};         ///< bytes, of dimension 1 and up
  std::array<std::uint32_t, kMostDimensions> box{1, 1, 1, 1, 1};   ///< elements
  std::array<std::uint32_t, kMostDimensions> reserved{};

  unsigned element() const { return size_of(type); }
  std::uint64_t box_bytes() const {
    std::uint64_t n = element();
    for (const std::uint32_t b : box) n *= b;
    return n;
  }
};
static_assert(sizeof(TensorMap) == 128);

}  // namespace atl::ptx
