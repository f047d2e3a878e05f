#include <algorithm>

#include "inputs/ptx/exec_memory.hpp"

/// suld.b and sust.b: raw elements of surfaces. The first coordinate counts bytes. Out of bounds, .trap is an error, .clamp
/// accesses the nearest element, and otherwise loads give zero and stores do nothing. A cube is six layers.
namespace atl::ptx::exec {
namespace {

enum SurfaceOption : std::uint8_t { kClamps = 1, kTraps = 2, kLoads = 4, kInLayers = 8 };

/// Inst: src[0] handle, src[1..3] coordinates, refs[extra..] elements of `bytes`, value their number, count dimensions.
void access(Warp& w, const Inst& i) {
  const auto* handle = w.at<std::uint64_t>(i.src[0]);
  const Ref* refs = w.frame().code->refs.data() + i.extra;
  const auto elements = static_cast<unsigned>(i.value);
  const std::size_t in_register = std::max<std::size_t>(i.bytes, 2);  // bytes lie in 16-bit registers
  if ((i.option & kLoads) == 0) w.change();
  for_active(w.active, [&](unsigned l) {
    const auto found = w.launch->device->surfaces.find(handle[l]);
    if (found == w.launch->device->surfaces.end())
      throw Fault{ExecutionError::Kind::illegal_address, l,
                  "surface handle " + std::to_string(handle[l]) + " names no object"};
    const Texture& s = found->second;
    const auto row = static_cast<std::int64_t>(s.width * s.channels * size_of(s.type)),
               width = std::int64_t{i.bytes} * elements;
    const std::int64_t limit[3] = {row - width, static_cast<std::int64_t>(s.height) - 1,
                                   static_cast<std::int64_t>(s.depth) - 1};
    std::int64_t at[3] = {0, 0, 0};
    bool inside = true;
    const unsigned last = (i.option & kInLayers) != 0 ? i.count - 1u : 3u;  // the source that is a layer
    for (unsigned source = 0; source < i.count; ++source) {
      const unsigned n = source == last ? 2 : source;
      at[n] = w.at<std::int32_t>(i.src[1 + source])[l];
      inside &= at[n] >= 0 && at[n] <= limit[n];
      at[n] = std::clamp<std::int64_t>(at[n], 0, std::max<std::int64_t>(limit[n], 0));
    }
    if (!inside && (i.option & kTraps) != 0)
      throw Fault{ExecutionError::Kind::illegal_address, l, "surface access out of bounds"};
    const std::uint64_t address = s.address + static_cast<std::uint64_t>(at[2]) * s.slice +
                                  static_cast<std::uint64_t>(at[1]) * s.pitch + static_cast<std::uint64_t>(at[0]);
    const bool accessed = inside || (i.option & kClamps) != 0;
    record_texel(w, l, address, static_cast<unsigned>(width), accessed);
    std::byte* const place = accessed ? texel_at(w, l, address, static_cast<unsigned>(width)) : nullptr;
    for (unsigned e = 0; e < elements; ++e) {
      std::byte* reg = w.at<std::byte>(refs[e]) + std::size_t{l} * in_register;
      if ((i.option & kLoads) == 0) {
        if (place != nullptr) std::memcpy(place + e * i.bytes, reg, i.bytes);
        continue;
      }
      std::memset(reg, 0, in_register);
      if (place != nullptr) std::memcpy(reg, place + e * i.bytes, i.bytes);
    }
  });
}

}  // namespace

bool decode_surface(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  if ((in.op != Op::suld && in.op != Op::sust) || in.has(kFormatted)) return false;
  const bool layers = in.geometry == Geometry::a1d || in.geometry == Geometry::a2d;
  const unsigned dimensions = in.geometry == Geometry::d1                                   ? 1
                              : in.geometry == Geometry::d2 || in.geometry == Geometry::a1d ? 2
                              : in.geometry == Geometry::d3 || in.geometry == Geometry::a2d ? 3
                                                                                            : 0;
  const bool loads = in.op == Op::suld;
  const std::vector<Operand> coordinates = d.elements(in.src[1]), values = d.elements(loads ? in.dst[0] : in.src[2]);
  if (dimensions == 0 || coordinates.size() < dimensions) return false;
  d.take(0, Type::u64);
  for (unsigned n = 0; n < dimensions; ++n)  // the layer comes first in PTX, and last here
    out.src[1 + n] = d.source(coordinates[layers ? (n + 1) % dimensions : n], Type::b32);
  const Type type = bit_type(std::max(2u, size_of(in.type)));
  std::vector<Ref> refs;
  for (const Operand& v : values) refs.push_back(loads ? d.result(v, type) : d.source(v, type));
  out.extra = static_cast<std::uint32_t>(d.code().refs.size());
  d.code().refs.insert(d.code().refs.end(), refs.begin(), refs.end());
  out.value = static_cast<std::int64_t>(refs.size());
  out.count = static_cast<std::uint8_t>(dimensions), out.bytes = static_cast<std::uint8_t>(size_of(in.type)), out.traced = 1;
  out.option = static_cast<std::uint8_t>((in.has(kClamp) ? kClamps : 0) | (in.has(kTrap) ? kTraps : 0) |
                                         (loads ? kLoads : 0) | (layers ? kInLayers : 0));
  out.run = &access;
  return true;
}

}  // namespace atl::ptx::exec
