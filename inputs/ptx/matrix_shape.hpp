#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace atl::ptx {

/// d (m x n) = a (m x k) * b (k x n) + c (m x n).
struct MatrixShape {
  std::string_view name;
  int m = 0, n = 0, k = 0;
};

/// Instruction::shape counts these from 1.
inline constexpr std::array<MatrixShape, 10> kShapes{{
    {"m16n16k16", 16, 16, 16},
    {"m32n8k16", 32, 8, 16},
    {"m8n32k16", 8, 32, 16},
    {"m16n16k8", 16, 16, 8},
    {"m8n8k4", 8, 8, 4},
    {"m16n8k4", 16, 8, 4},
    {"m16n8k8", 16, 8, 8},
    {"m16n8k16", 16, 8, 16},
    {"m16n8k32", 16, 8, 32},
    {"m8n8k16", 8, 8, 16},
}};

/// 0: none of these.
constexpr std::uint8_t shape_of(std::string_view name) {
  for (std::size_t n = 0; n < kShapes.size(); ++n)
    if (kShapes[n].name == name) return static_cast<std::uint8_t>(n + 1);
  return 0;
}
constexpr std::string_view name_of_shape(std::uint8_t shape) { return kShapes[shape - 1].name; }

}  // namespace atl::ptx
