#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "inputs/ptx/exec_narrow.hpp"
#include "inputs/ptx/exec_warp.hpp"

namespace atl::ptx::exec {

/// Makes the Code of one function after the other. The decode_*() functions of the instruction groups look at `in` and
/// fill `out`; each returns false for an instruction that is not of its group or has no such form.
class Decoder {
 public:
  Decoder(const Module& module, Image& image, const std::vector<std::uint64_t>& variables);
  void function(std::uint32_t index);

  const Module& module() const { return module_; }
  Image& image() { return image_; }
  const Function& function() const { return *code_->function; }
  Code& code() { return *code_; }

  const Instruction* in = nullptr;
  Inst* out = nullptr;

  /// A value of size_of(type) bytes per lane; predicates are masks.
  Ref source(const Operand& operand, Type type);
  /// Source `n` of the instruction as src[n].
  void take(unsigned n, Type type) { out->src[n] = source(in->src[n], type); }
  Ref result(const Operand& operand, Type type);
  void give(unsigned n, Type type) { out->dst[n] = result(in->dst[n], type); }
  /// Whether anything reads what the instruction gives as dst[0].
  bool wanted() const;
  Ref constant(std::uint64_t bits, unsigned bytes);
  /// Bytes of a register, of a literal those of `otherwise`.
  unsigned width(const Operand& operand, unsigned otherwise) const;
  /// Elements of a vector operand, or the operand itself.
  std::vector<Operand> elements(const Operand& operand) const;
  /// Offset in the kernel's window of a .shared variable, else the address.
  std::uint64_t address_of(std::uint32_t variable) const;
  /// Whether a compare-and-swap compares what this load gives with what is at the same address.
  bool begins_swap(const Instruction& load) const;
  /// Of an address: the variable, or the register and the literals added to it, of which its register is made for good;
  /// else the operand itself. A load has the offset in its operand, the compare-and-swap beside it in a sum of its own.
  Operand base(Operand address) const;
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  /// The instruction that writes the register, if there is one alone.
  const Instruction* only_writer(std::uint32_t reg) const;
  void layout();
  void formals();
  void calls();
  Ref special(const Operand& operand, unsigned bytes);
  Ref param_address(std::uint32_t offset, unsigned bytes);
  Ref new_special(SpecialSlot slot);
  Ref frame_address(std::uint64_t offset, unsigned bytes);

  const Module& module_;
  Image& image_;
  const std::vector<std::uint64_t>& variables_;
  Code* code_ = nullptr;
  std::vector<const Instruction*> swaps_;  ///< compare-and-swaps of the function
  std::vector<bool> read_;                 ///< its registers that anything reads
  std::map<std::pair<unsigned, std::uint64_t>, Ref> constants_;
};

bool decode_integer(Decoder& d);
bool decode_bits(Decoder& d);
bool decode_float(Decoder& d);
bool decode_half(Decoder& d);
bool decode_compare(Decoder& d);
bool decode_move(Decoder& d);
bool decode_convert(Decoder& d);
bool decode_memory(Decoder& d);
bool decode_atomic(Decoder& d);
bool decode_warp(Decoder& d);
bool decode_barrier(Decoder& d);
bool decode_control(Decoder& d);
bool decode_call(Decoder& d);
bool decode_texture(Decoder& d);
bool decode_surface(Decoder& d);
bool decode_matrix(Decoder& d);
bool decode_matrix_memory(Decoder& d);
bool decode_video(Decoder& d);
bool decode_mbarrier(Decoder& d);
bool decode_cluster(Decoder& d);
bool decode_bulk(Decoder& d);
bool decode_copy(Decoder& d);

/// Calls f.operator()<T>() with the C++ type of an integer type; false for other types.
template <class F> bool with_integer(Type type, F f) {
  switch (type) {
    case Type::s16:
      f.template operator()<std::int16_t>();
      return true;
    case Type::u16:
      f.template operator()<std::uint16_t>();
      return true;
    case Type::b16:
      f.template operator()<std::uint16_t>();
      return true;
    case Type::s32:
      f.template operator()<std::int32_t>();
      return true;
    case Type::u32:
      f.template operator()<std::uint32_t>();
      return true;
    case Type::b32:
      f.template operator()<std::uint32_t>();
      return true;
    case Type::s64:
      f.template operator()<std::int64_t>();
      return true;
    case Type::u64:
      f.template operator()<std::uint64_t>();
      return true;
    case Type::b64:
      f.template operator()<std::uint64_t>();
      return true;
    default:
      return false;
  }
}

/// How a result is rounded, to a float or to an integral value.
lane::Round rounding(Round round);

/// Of what has no effect here.
inline void nothing(Warp&, const Inst&) {}

template <class T, auto kF> void unary_lanes(Warp& w, const Inst& i) {
  const T* a = w.at<T>(i.src[0]);
  each_lane<decltype(kF(T{}))>(w, i.dst[0], [=](unsigned l) { return kF(a[l]); });
}
template <class T, auto kF> void binary_lanes(Warp& w, const Inst& i) {
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]);
  each_lane<T>(w, i.dst[0], [=](unsigned l) { return kF(a[l], b[l]); });
}
template <class T, auto kF> void ternary_lanes(Warp& w, const Inst& i) {
  const T *a = w.at<T>(i.src[0]), *b = w.at<T>(i.src[1]), *c = w.at<T>(i.src[2]);
  each_lane<T>(w, i.dst[0], [=](unsigned l) { return kF(a[l], b[l], c[l]); });
}

}  // namespace atl::ptx::exec
