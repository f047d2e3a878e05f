#include <iterator>

#include "inputs/cuda/runtime/runtime.hpp"

namespace atl::cudart {

extern "C" int atoll_cudart_unsupported(const char* name);

namespace {

enum ResourceType : int { kArrayResource = 0, kLinearResource = 2, kPitchedResource = 3 };
enum AddressMode : int { kBorderMode = 3 };
enum ChannelKind : int { kSigned, kUnsigned, kFloat };
enum FilterMode : int { kLinearFilter = 1 };
enum ReadMode : int { kNormalisedFloat = 1 };

/// Texel type; ptx::Type::none: one that the interpreter has no texture for.
ptx::Type type_of(const ChannelFormat& f) {
  using ptx::Type;
  switch (f.x) {
    case 8:
      return f.kind == kSigned ? Type::s8 : f.kind == kUnsigned ? Type::u8 : Type::none;
    case 16:
      return f.kind == kSigned ? Type::s16 : f.kind == kUnsigned ? Type::u16 : f.kind == kFloat ? Type::f16 : Type::none;
    case 32:
      return f.kind == kSigned ? Type::s32 : f.kind == kUnsigned ? Type::u32 : f.kind == kFloat ? Type::f32 : Type::none;
    default:
      return Type::none;
  }
}

std::uint8_t channels_of(const ChannelFormat& f) {
  return static_cast<std::uint8_t>((f.x > 0) + (f.y > 0) + (f.z > 0) + (f.w > 0));
}

/// Wrapping and mirroring exist for normalised coordinates alone; with others CUDA clamps instead.
ptx::Texture::Address address_mode(int mode, bool normalised) {
  using Address = ptx::Texture::Address;
  if (!normalised && mode != kBorderMode) return Address::clamp;
  constexpr Address kModes[] = {Address::wrap, Address::clamp, Address::mirror, Address::border};
  return mode >= 0 && mode < 4 ? kModes[mode] : Address::clamp;
}

/// Where the texels lie. False: a resource of a kind that is not supported.
bool place(Runtime& r, const Resource& resource, ptx::Texture& t, ChannelFormat& format) {
  if (resource.type == kArrayResource) {
    const auto found = r.arrays.find(reinterpret_cast<std::uintptr_t>(resource.array));
    if (found == r.arrays.end()) return false;
    const Array& a = *found->second;
    format = a.format;
    t.array = true;
    t.address = a.address, t.width = a.width, t.height = a.height ? a.height : 1, t.depth = a.depth ? a.depth : 1;
    t.pitch = a.row_bytes(), t.slice = t.pitch * t.height;
    return true;
  }
  if (resource.type == kLinearResource) {
    format = resource.linear.format;
    if (format.bytes() == 0) return false;
    t.address = reinterpret_cast<std::uint64_t>(resource.linear.pointer);
    t.width = resource.linear.bytes / format.bytes();
    t.pitch = t.slice = resource.linear.bytes;
    return true;
  }
  if (resource.type != kPitchedResource) return false;
  format = resource.pitched.format;
  t.address = reinterpret_cast<std::uint64_t>(resource.pitched.pointer);
  t.width = resource.pitched.width, t.height = resource.pitched.height, t.pitch = resource.pitched.pitch;
  t.slice = t.pitch * t.height;
  return true;
}

/// Whether a view shows all of an array as what it is. Formats of views go on with compressed ones.
bool shows_all(const ResourceView& view, const Resource& resource, const ChannelFormat& format) {
  using ptx::Type;
  constexpr Type kTypes[] = {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::s32, Type::f16, Type::f32};
  constexpr unsigned kChannels[] = {1, 2, 4};
  const Array& a = *resource.array;
  const auto number = static_cast<unsigned>(view.format) - 1;  // of none: the largest
  const bool same_format = view.format == 0 || (number < 3 * std::size(kTypes) && kTypes[number / 3] == type_of(format) &&
                                                kChannels[number % 3] == channels_of(format));
  const bool all_layers = view.first_layer == 0 && (view.last_layer == 0 || view.last_layer + std::size_t{1} == a.depth);
  return same_format && all_layers && view.first_level == 0 && view.last_level == 0 && view.width == a.width &&
         view.height == a.height && view.depth == a.depth;
}

/// Where the device properties say that texels in memory may begin, and rows.
bool aligned(const Resource& resource) {
  const auto begins = [](const void* at) { return reinterpret_cast<std::uint64_t>(at) % kTextureAlignment == 0; };
  if (resource.type == kLinearResource) return begins(resource.linear.pointer);
  if (resource.type != kPitchedResource) return true;
  return begins(resource.pitched.pointer) && resource.pitched.pitch % kTexturePitchAlignment == 0;
}

/// What CUDA does not read as it is asked for.
int check_reading(const TextureDescription& d, const ChannelFormat& format) {
  if (format.kind == kFloat) return kSuccess;
  if (d.read_mode == kNormalisedFloat) return format.x == 32 ? kInvalidNormSetting : kSuccess;
  return d.filter == kLinearFilter ? kInvalidFilterSetting : kSuccess;
}

/// What textures and surfaces have in common. The call's error.
int describe(Runtime& r, const Resource& resource, ptx::Texture& t, ChannelFormat& format) {
  if (!place(r, resource, t, format)) return kInvalidValue;
  t.type = type_of(format);
  t.channels = channels_of(format);
  return t.type == ptx::Type::none ? kInvalidChannelDescriptor : kSuccess;
}

/// One part of what an object was made from.
template <class T>
int tell(const std::map<std::uint64_t, TextureSource>& objects, std::uint64_t handle, T* out, T TextureSource::*part) {
  const auto found = objects.find(handle);
  if (!out || found == objects.end()) return kInvalidValue;
  *out = found->second.*part;
  return kSuccess;
}

}  // namespace

extern "C" {

int cudaCreateTextureObject(unsigned long long* out, const Resource* resource, const TextureDescription* d,
                            const ResourceView* view) {
  return call([&](Runtime& r) -> int {
    if (!out || !resource || !d || !aligned(*resource)) return kInvalidValue;
    if (view && resource->type != kArrayResource) return kInvalidValue;
    ptx::Texture t;
    ChannelFormat format;
    if (const int error = describe(r, *resource, t, format)) return error;
    if (const int error = check_reading(*d, format)) return error;
    if (d->seamless_cubemap != 0 && d->filter == kLinearFilter && resource->type == kArrayResource &&
        (resource->array->flags & kCubeArray) != 0)
      return atoll_cudart_unsupported("cudaCreateTextureObject with seamlessCubemap and a linear filter");
    if (view && !shows_all(*view, *resource, format))
      return atoll_cudart_unsupported("cudaCreateTextureObject with a view of another format or size");
    t.srgb = d->srgb != 0;
    if (t.srgb && (t.type != ptx::Type::u8 || d->read_mode != kNormalisedFloat))
      return atoll_cudart_unsupported("cudaCreateTextureObject with sRGB but for bytes that are read as normalised floats");
    for (int i = 0; i < 3; ++i) t.mode[i] = address_mode(d->address_mode[i], d->normalised_coordinates != 0);
    for (int i = 0; i < 4; ++i) t.border[i] = d->border[i];
    // Of linear memory address modes are ignored (cuda_runtime_api.h), and what lies beyond it reads as 0.
    if (resource->type == kLinearResource) t.mode[0] = ptx::Texture::Address::border, std::fill_n(t.border, 4, 0.0F);
    t.linear = d->filter == kLinearFilter, t.normalized = d->normalised_coordinates != 0;
    t.read_as_normalized = d->read_mode == kNormalisedFloat && format.kind != kFloat;
    *out = ++r.last_texture;
    r.code.device().textures[*out] = t;
    r.textures[*out] = {*resource, *d, view ? std::optional(*view) : std::nullopt};
    return kSuccess;
  });
}

int cudaDestroyTextureObject(unsigned long long handle) {
  return call([&](Runtime& r) -> int {
    r.textures.erase(handle);
    return r.code.device().textures.erase(handle) ? kSuccess : kInvalidValue;
  });
}

int cudaCreateSurfaceObject(unsigned long long* out, const Resource* resource) {
  return call([&](Runtime& r) -> int {
    if (!out || !resource || resource->type != kArrayResource) return kInvalidValue;
    ptx::Texture t;
    ChannelFormat format;
    if (const int error = describe(r, *resource, t, format)) return error;
    if ((resource->array->flags & kSurfaceArray) == 0) return kInvalidValue;
    *out = ++r.last_texture;
    r.code.device().surfaces[*out] = t;
    r.surfaces[*out] = {*resource, {}, {}};
    return kSuccess;
  });
}

int cudaDestroySurfaceObject(unsigned long long handle) {
  return call([&](Runtime& r) -> int {
    r.surfaces.erase(handle);
    return r.code.device().surfaces.erase(handle) ? kSuccess : kInvalidValue;
  });
}

int cudaGetTextureObjectResourceDesc(Resource* out, unsigned long long handle) {
  return call([&](Runtime& r) { return tell(r.textures, handle, out, &TextureSource::resource); });
}

int cudaGetTextureObjectTextureDesc(TextureDescription* out, unsigned long long handle) {
  return call([&](Runtime& r) { return tell(r.textures, handle, out, &TextureSource::texture); });
}

int cudaGetTextureObjectResourceViewDesc(ResourceView* out, unsigned long long handle) {
  return call([&](Runtime& r) -> int {
    std::optional<ResourceView> view;
    if (const int status = tell(r.textures, handle, &view, &TextureSource::view); status != kSuccess) return status;
    return out && view ? (*out = *view, kSuccess) : kInvalidValue;
  });
}

int cudaGetSurfaceObjectResourceDesc(Resource* out, unsigned long long handle) {
  return call([&](Runtime& r) { return tell(r.surfaces, handle, out, &TextureSource::resource); });
}

}  // extern "C"
}  // namespace atl::cudart
