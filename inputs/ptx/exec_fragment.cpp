#include "inputs/ptx/exec_fragment.hpp"

#include "inputs/ptx/exec_convert.hpp"
#include "inputs/ptx/exec_tiny.hpp"

namespace atl::ptx::exec {
namespace {

template <class T> T value_at(const std::byte* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

}  // namespace

bool take_fragment(Decoder& d, const Operand& operand, bool result, Fragment& f) {
  const std::vector<Operand> registers = d.elements(operand);
  const unsigned element = size_of(f.type);
  f.bytes = d.width(registers.front(), element);
  if (element == 0 || f.bytes == 0 || f.bytes % element != 0) return false;
  f.per_register = f.bytes / element;
  f.elements = f.per_register * static_cast<unsigned>(registers.size());
  f.refs = static_cast<unsigned>(d.code().refs.size());
  const Type bits = f.bytes == 2 ? Type::b16 : f.bytes == 4 ? Type::b32 : Type::b64;
  std::vector<Ref> refs;
  for (const Operand& o : registers) refs.push_back(result ? d.result(o, bits) : d.source(o, bits));
  d.code().refs.insert(d.code().refs.end(), refs.begin(), refs.end());
  const unsigned all = f.elements * kLanes, cells = f.rows * f.width;
  return cells != 0 && all >= cells && all % cells == 0;
}

bool has_fragments(const MatrixShape& s, Type type) {
  const bool large = s.k == 16 && s.m * s.n == 256;
  const bool tf32 = s.k == 8 && s.m == 16 && s.n == 16, twice = s.k == 4 && s.m == 8 && s.n == 8;
  switch (type) {
    case Type::f16:
    case Type::bf16:
    case Type::s8:
    case Type::u8:
    case Type::s32:
      return large;
    case Type::f32:
      return large || tf32;
    case Type::tf32:
      return tf32;
    default:
      return type == Type::f64 && twice;
  }
}

double element_of(Warp& w, const Fragment& f, unsigned lane, unsigned element) {
  const std::byte* at = w.at<std::byte>(f.ref(*w.frame().code, element)) + std::size_t{lane} * f.bytes +
                        element % f.per_register * size_of(f.type);
  switch (f.type) {
    case Type::f16:
      return lane::F16::widen(value_at<std::uint16_t>(at));
    case Type::bf16:
      return lane::Bf16::widen(value_at<std::uint16_t>(at));
    case Type::e4m3:
      return lane::E4m3::widen(value_at<std::uint8_t>(at));
    case Type::e5m2:
      return lane::E5m2::widen(value_at<std::uint8_t>(at));
    case Type::tf32:
      return std::bit_cast<float>(value_at<std::uint32_t>(at) & ~0x1FFFu);
    case Type::f32:
      return value_at<float>(at);
    case Type::f64:
      return value_at<double>(at);
    case Type::s8:
      return value_at<std::int8_t>(at);
    case Type::u8:
      return value_at<std::uint8_t>(at);
    default:
      return value_at<std::int32_t>(at);
  }
}

void want_whole_warp(const Warp& w) {
  if (w.active == kFullMask) return;
  const auto lane = static_cast<unsigned>(std::countr_zero(w.active));
  throw Fault{ExecutionError::Kind::unsupported, lane, "all 32 lanes of a warp must execute this instruction together"};
}

}  // namespace atl::ptx::exec
