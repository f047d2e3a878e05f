#include <algorithm>
#include <cmath>

#include "inputs/ptx/exec_float.hpp"
#include "inputs/ptx/exec_memory.hpp"

/// tex on texture objects of one to three dimensions, in layers, and of cubes.
namespace atl::ptx::exec {
namespace {

/// One channel of a texel as tex delivers it, but for the type.
double element(const Texture& t, const std::byte* at) {
  const auto get = [&]<class T>(T v) {
    std::memcpy(&v, at, sizeof v);
    return v;
  };
  const double scale = t.read_as_normalized ? 1 : 0;
  switch (t.type) {
    case Type::u8:
      return scale != 0 ? get(std::uint8_t{}) / 255.0 : get(std::uint8_t{});
    case Type::s8:
      return scale != 0 ? std::max(get(std::int8_t{}) / 127.0, -1.0) : get(std::int8_t{});
    case Type::u16:
      return scale != 0 ? get(std::uint16_t{}) / 65535.0 : get(std::uint16_t{});
    case Type::s16:
      return scale != 0 ? std::max(get(std::int16_t{}) / 32767.0, -1.0) : get(std::int16_t{});
    case Type::u32:
      return get(std::uint32_t{});
    case Type::s32:
      return get(std::int32_t{});
    case Type::f16:
      return lane::F16::widen(get(std::uint16_t{}));
    default:
      return get(float{});
  }
}

/// IEC 61966-2-1: what an encoded value in [0, 1] means.
double linear_of_srgb(double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); }

/// The texel that an index means after the address mode; false: the border.
bool wrap(std::int64_t& at, std::uint64_t size, Texture::Address mode) {
  const auto n = static_cast<std::int64_t>(size);
  if (at >= 0 && at < n) return true;
  switch (mode) {
    case Texture::Address::clamp:
      at = std::clamp<std::int64_t>(at, 0, n - 1);
      return true;
    case Texture::Address::wrap:
      at = ((at % n) + n) % n;
      return true;
    case Texture::Address::mirror: {
      const std::int64_t r = ((at % (2 * n)) + 2 * n) % (2 * n);
      at = r < n ? r : 2 * n - 1 - r;
      return true;
    }
    default:
      return false;
  }
}

struct Texel {
  double v[4] = {0, 0, 0, 0};
  bool read = false;  ///< from memory: not all of it is border
};

/// As results of the texture's type have it: the bits of border colours of integers are integers.
double border_of(const Texture& t, unsigned channel) {
  const float colour = t.border[channel];
  if (t.read_as_normalized || is_float(t.type)) return colour;
  if (is_signed(t.type)) return std::bit_cast<std::int32_t>(colour);
  return std::bit_cast<std::uint32_t>(colour);
}

std::uint64_t address_of(const Texture& t, const std::int64_t at[3]) {
  return t.address + static_cast<std::uint64_t>(at[2]) * t.slice + static_cast<std::uint64_t>(at[1]) * t.pitch +
         static_cast<std::uint64_t>(at[0]) * size_of(t.type) * t.channels;
}

/// One of a lane's texels; 0 from beyond the memory that the texture was made from.
Texel fetch(Warp& w, unsigned lane, const Texture& t, std::int64_t x, std::int64_t y, std::int64_t z, unsigned dimensions) {
  std::int64_t at[3] = {x, y, z};
  const std::uint64_t size[3] = {t.width, t.height, t.depth};
  Texel texel;
  for (unsigned n = 0; n < dimensions; ++n)
    if (!wrap(at[n], size[n], t.mode[n])) {
      for (unsigned c = 0; c < 4; ++c) texel.v[c] = border_of(t, c);
      return texel;
    }
  const std::byte* const from = texel_at(w, lane, address_of(t, at), t.channels * size_of(t.type));
  texel.read = true;
  if (from == nullptr) return texel;
  for (unsigned c = 0; c < t.channels; ++c) texel.v[c] = element(t, from + c * size_of(t.type));
  constexpr unsigned kColours = 3;  // the fourth channel is not encoded
  for (unsigned c = 0; t.srgb && c < std::min<unsigned>(t.channels, kColours); ++c) texel.v[c] = linear_of_srgb(texel.v[c]);
  return texel;
}

/// Fixed-point weights with 8 fractional bits, as the CUDA programming guide gives them.
double weight(double v) { return std::floor(v * 256 + 0.5) / 256; }

/// Infinity is as far out as a number beyond all textures. What a card reads where none is given is open.
double finite(double coordinate) { return std::isnan(coordinate) ? 0 : std::clamp(coordinate, -1e15, 1e15); }

/// Behind one or two coordinates may stand a layer.
Texel sample(Warp& w, unsigned lane, const Texture& t, const double* coordinate, unsigned dimensions) {
  std::int64_t low[3] = {0, 0, static_cast<std::int64_t>(coordinate[2])};
  double part[3] = {0, 0, 0};
  for (unsigned n = 0; n < dimensions; ++n) {
    const double at = t.linear ? finite(coordinate[n]) - 0.5 : finite(coordinate[n]);
    low[n] = static_cast<std::int64_t>(std::floor(at));
    part[n] = t.linear ? weight(at - std::floor(at)) : 0;
  }
  if (!t.linear) return fetch(w, lane, t, low[0], low[1], low[2], dimensions);
  Texel sum;
  for (unsigned corner = 0; corner < 1u << dimensions; ++corner) {
    double factor = 1;
    for (unsigned n = 0; n < dimensions; ++n) factor *= (corner >> n & 1) != 0 ? part[n] : 1 - part[n];
    if (factor == 0) continue;
    const Texel texel =
        fetch(w, lane, t, low[0] + (corner & 1), low[1] + (corner >> 1 & 1), low[2] + (corner >> 2 & 1), dimensions);
    for (unsigned c = 0; c < 4; ++c) sum.v[c] += factor * texel.v[c];
    sum.read |= texel.read;
  }
  return sum;
}

std::uint32_t result_bits(double v, Type type) {
  if (type == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(v));
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(v));
}

const Texture& object(Warp& w, unsigned lane, std::uint64_t handle) {
  const auto& table = w.launch->device->textures;
  const auto found = table.find(handle);
  if (found == table.end())
    throw Fault{ExecutionError::Kind::illegal_address, lane,
                "texture handle " + std::to_string(handle) + " names no object"};
  return found->second;
}

/// The texel nearest to the coordinate stands for the access in the trace; if there is one: `read`.
void record(Warp& w, unsigned lane, const Texture& t, const double* coordinate, unsigned dimensions, bool read) {
  if (w.recorder == nullptr && w.launch->spec->check == nullptr) return;
  std::int64_t at[3] = {0, 0, static_cast<std::int64_t>(coordinate[2])};
  const std::uint64_t size[3] = {t.width, t.height, t.depth};
  for (unsigned n = 0; n < dimensions; ++n) {
    at[n] = static_cast<std::int64_t>(std::floor(finite(coordinate[n])));
    // A filter that read something has mixed the border with what is at the edge.
    if (!wrap(at[n], size[n], t.mode[n])) wrap(at[n], size[n], Texture::Address::clamp);
  }
  record_texel(w, lane, address_of(t, at), t.channels * size_of(t.type), read);
}

enum TextureOption : std::uint8_t { kIntegers = 1, kLayers = 2, kCube = 4 };

/// Face of a cube that a direction points to, and where on it: both in [0, 1] (CUDA C++ Programming Guide, "Cubemap
/// Textures"). Of components of the same size, z counts before y and y before x.
unsigned face_of(const double (&direction)[3], double (&at)[3]) {
  const double x = direction[0], y = direction[1], z = direction[2];
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  unsigned face = 0;
  double m = ax, s = 0, t = 0;
  if (az >= ax && az >= ay) {
    face = z < 0 ? 5 : 4, m = az, s = z < 0 ? -x : x, t = -y;
  } else if (ay >= ax) {
    face = y < 0 ? 3 : 2, m = ay, s = x, t = y < 0 ? -z : z;
  } else {
    face = x < 0 ? 1 : 0, s = x < 0 ? z : -z, t = -y;
  }
  at[0] = (s / m + 1) / 2, at[1] = (t / m + 1) / 2;
  return face;
}

/// Faces of a cube end at their edges, whatever the address mode.
Texture clamped_at_edges(Texture t) {
  std::fill(std::begin(t.mode), std::end(t.mode), Texture::Address::clamp);
  return t;
}

/// Inst: src[0] handle, src[1..3] coordinates, refs[extra..] the four results and perhaps the layer.
void texture(Warp& w, const Inst& i) {
  const auto* handle = w.at<std::uint64_t>(i.src[0]);
  const auto type = static_cast<Type>(i.value);
  const Ref* refs = w.frame().code->refs.data() + i.extra;
  std::uint32_t out[4][kLanes];
  Texture clamped;
  for_active(w.active, [&](unsigned l) {
    const Texture& of_handle = object(w, l, handle[l]);
    const Texture& t = (i.option & kCube) != 0 ? clamped = clamped_at_edges(of_handle) : of_handle;
    double at[3] = {0, 0, 0};
    const std::uint64_t size[3] = {t.width, t.height, t.depth};
    std::uint64_t layer = (i.option & kLayers) != 0 ? w.at<std::uint32_t>(refs[4])[l] : 0;
    if ((i.option & kCube) != 0) {
      const double direction[3] = {w.at<float>(i.src[1])[l], w.at<float>(i.src[2])[l], w.at<float>(i.src[3])[l]};
      layer = std::min(layer, std::max<std::uint64_t>(t.depth / 6, 1) - 1) * 6 + face_of(direction, at);
      at[0] *= static_cast<double>(size[0]), at[1] *= static_cast<double>(size[1]);
    }
    for (unsigned n = 0; n < i.count && (i.option & kCube) == 0; ++n) {
      if ((i.option & kIntegers) != 0) {
        at[n] = w.at<std::int32_t>(i.src[1 + n])[l];
      } else {
        at[n] = w.at<float>(i.src[1 + n])[l];
        if (t.normalized) at[n] *= static_cast<double>(size[n]);
      }
    }
    if (i.count < 3) at[2] = static_cast<double>(std::min(layer, t.depth - 1));
    const Texel texel = (i.option & kIntegers) != 0
                            ? fetch(w, l, t, static_cast<std::int64_t>(at[0]), static_cast<std::int64_t>(at[1]),
                                    static_cast<std::int64_t>(at[2]), i.count)
                            : sample(w, l, t, at, i.count);
    record(w, l, t, at, i.count, texel.read);
    for (unsigned c = 0; c < 4; ++c) out[c][l] = result_bits(texel.v[c], type);
  });
  for (unsigned c = 0; c < 4; ++c) each_lane<std::uint32_t>(w, refs[c], [&](unsigned l) { return out[c][l]; });
}

/// Coordinates, without a layer; of a cube's faces two. 0: not supported.
unsigned dimensions_of(Geometry g) {
  switch (g) {
    case Geometry::d1:
    case Geometry::a1d:
      return 1;
    case Geometry::d2:
    case Geometry::a2d:
    case Geometry::cube:
    case Geometry::acube:
      return 2;
    case Geometry::d3:
      return 3;
    default:
      return 0;
  }
}

}  // namespace

bool decode_texture(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  if (in.op != Op::tex || in.has(kGrad)) return false;
  // Offsets, a depth to compare with, and whether the texture is resident there.
  if (in.sources != (in.has(kLevel) ? 3 : 2) || !in.dst[1].is(Operand::none)) return false;
  const unsigned dimensions = dimensions_of(in.geometry);
  const bool cube = in.geometry == Geometry::cube || in.geometry == Geometry::acube;
  const bool layers = in.geometry == Geometry::a1d || in.geometry == Geometry::a2d || in.geometry == Geometry::acube;
  const std::vector<Operand> results = d.elements(in.dst[0]), given = d.elements(in.src[1]);
  const unsigned first = layers ? 1 : 0, coordinates = cube ? 3 : dimensions;
  if (dimensions == 0 || results.size() != 4 || given.size() < first + coordinates || size_of(in.type) != 4) return false;
  d.take(0, Type::u64);
  for (unsigned n = 0; n < coordinates; ++n) out.src[1 + n] = d.source(given[first + n], Type::b32);
  std::vector<Ref> refs;
  for (const Operand& r : results) refs.push_back(d.result(r, Type::b32));
  if (layers) refs.push_back(d.source(given[0], Type::b32));
  out.extra = static_cast<std::uint32_t>(d.code().refs.size());
  d.code().refs.insert(d.code().refs.end(), refs.begin(), refs.end());
  out.count = static_cast<std::uint8_t>(dimensions), out.bytes = 4, out.traced = 1;
  out.option =
      static_cast<std::uint8_t>((in.source_type == Type::s32 ? kIntegers : 0) | (layers ? kLayers : 0) | (cube ? kCube : 0));
  out.value = static_cast<std::int64_t>(in.type);
  out.run = &texture;
  return true;
}

}  // namespace atl::ptx::exec
