/* Texture and surface references, for programs older than CUDA 13: atoll_cuda_compat.h includes this, and says how to ask for
 * more of it or for less. */
#ifndef ATOLL_CUDA_REFERENCES_H
#define ATOLL_CUDA_REFERENCES_H

/* ---- texture references: a variable in constant memory that holds a texture object, which binding creates ---- */

#if defined(__CUDACC__) && !defined(ATOLL_NO_TEXTURE_REFERENCES)

#ifndef cudaTextureType1D
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#endif

/* Setting a reference's members on the host is what programs do; the compiler warns that it does not reach the device. */
#pragma nv_diag_suppress 20092

/* [texel] what a channel of it is. */
template <typename T> struct AtollChannel {
  static constexpr int bits = 0, components = 1;
  static constexpr cudaChannelFormatKind kind = cudaChannelFormatKindNone;
};
#define ATOLL_CHANNEL(T, BITS, COMPONENTS, KIND) \
  template <> struct AtollChannel<T> { \
    static constexpr int bits = BITS, components = COMPONENTS; \
    static constexpr cudaChannelFormatKind kind = cudaChannelFormatKind##KIND; \
  };
#define ATOLL_CHANNELS(T, VECTOR, BITS, KIND) \
  ATOLL_CHANNEL(T, BITS, 1, KIND) \
  ATOLL_CHANNEL(VECTOR##1, BITS, 1, KIND) \
  ATOLL_CHANNEL(VECTOR##2, BITS, 2, KIND) \
  ATOLL_CHANNEL(VECTOR##4, BITS, 4, KIND)
ATOLL_CHANNEL(char, 8, 1, Signed)
ATOLL_CHANNELS(signed char, char, 8, Signed)
ATOLL_CHANNELS(unsigned char, uchar, 8, Unsigned)
ATOLL_CHANNELS(short, short, 16, Signed)
ATOLL_CHANNELS(unsigned short, ushort, 16, Unsigned)
ATOLL_CHANNELS(int, int, 32, Signed)
ATOLL_CHANNELS(unsigned, uint, 32, Unsigned)
ATOLL_CHANNELS(float, float, 32, Float)
#undef ATOLL_CHANNELS
#undef ATOLL_CHANNEL

/* What a program has not set. The host's copy does not hear of a constructor's parameters: the device's does. */
#define ATOLL_UNSET -1

struct textureReference {
  /* As before, the program sets these on the host before it binds. */
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
  int sRGB;
  cudaTextureObject_t object; /* of the copy on the device: what fetches use. On the host: to destroy it */
  cudaTextureReadMode readMode;
  size_t offset; /* on the host: of the last binding */
};
template <typename T, int D = 1, cudaTextureReadMode M = cudaReadModeElementType> struct AtollTexture : textureReference {
  constexpr AtollTexture()
      : AtollTexture(ATOLL_UNSET, cudaTextureFilterMode(ATOLL_UNSET), cudaTextureAddressMode(ATOLL_UNSET)) {}
  constexpr AtollTexture(int norm, cudaTextureFilterMode filter = cudaFilterModePoint,
                         cudaTextureAddressMode address = cudaAddressModeClamp)
      : AtollTexture(norm, filter, address,
                     {AtollChannel<T>::bits, AtollChannel<T>::components > 1 ? AtollChannel<T>::bits : 0,
                      AtollChannel<T>::components > 2 ? AtollChannel<T>::bits : 0,
                      AtollChannel<T>::components > 2 ? AtollChannel<T>::bits : 0, AtollChannel<T>::kind}) {}
  constexpr AtollTexture(int norm, cudaTextureFilterMode filter, cudaTextureAddressMode address, cudaChannelFormatDesc format)
      : textureReference{norm, filter, {address, address, address}, format, 0, 0, M, 0} {}
};

/* Integers read as numbers in [0, 1] come out as float vectors of the same length. */
template <typename T, cudaTextureReadMode M> struct AtollTexel { typedef T type; };
template <typename T> struct AtollTexel<T, cudaReadModeNormalizedFloat> {
  template <int N, int Dummy = 0> struct Floats { typedef float type; };
  template <int Dummy> struct Floats<2, Dummy> { typedef float2 type; };
  template <int Dummy> struct Floats<4, Dummy> { typedef float4 type; };
  typedef typename Floats<AtollChannel<T>::components>::type type;
};

/* What the program has set, else what the reference began with. */
template <typename T> static inline void atoll_settle(T& set, T initial, T otherwise) {
  if (int(set) == ATOLL_UNSET) set = int(initial) == ATOLL_UNSET ? otherwise : initial;
}
static inline cudaError_t atoll_settle(textureReference& texture) {
  textureReference begun = texture;
  bool unset = texture.normalized == ATOLL_UNSET || int(texture.filterMode) == ATOLL_UNSET;
  for (int i = 0; i < 3; ++i) unset = unset || int(texture.addressMode[i]) == ATOLL_UNSET;
  if (!unset) return cudaSuccess;
  const cudaError_t status = cudaMemcpyFromSymbol(&begun, static_cast<const void*>(&texture), sizeof begun, 0, cudaMemcpyDeviceToHost);
  if (status != cudaSuccess) return status;
  atoll_settle(texture.normalized, begun.normalized, 0);
  atoll_settle(texture.filterMode, begun.filterMode, cudaFilterModePoint);
  for (int i = 0; i < 3; ++i) atoll_settle(texture.addressMode[i], begun.addressMode[i], cudaAddressModeClamp);
  return cudaSuccess;
}

static inline cudaError_t atoll_bind(textureReference& texture, const cudaResourceDesc& resource) {
  const cudaError_t settled = atoll_settle(texture);
  if (settled != cudaSuccess) return settled;
  cudaTextureDesc how = {};
  for (int i = 0; i < 3; ++i) {
    /* Wrapping needs normalised coordinates. */
    how.addressMode[i] = texture.normalized ? texture.addressMode[i] : cudaAddressModeClamp;
    if (texture.addressMode[i] == cudaAddressModeBorder) how.addressMode[i] = cudaAddressModeBorder;
  }
  how.filterMode = texture.filterMode, how.readMode = texture.readMode, how.normalizedCoords = texture.normalized;
  how.sRGB = texture.sRGB;
  if (texture.object) cudaDestroyTextureObject(texture.object);
  texture.object = 0;
  cudaTextureObject_t object = 0;
  const cudaError_t status = cudaCreateTextureObject(&object, &resource, &how, 0);
  if (status != cudaSuccess) return status;
  texture.object = object;
  const size_t offset = reinterpret_cast<char*>(&texture.object) - reinterpret_cast<char*>(&texture);
  return cudaMemcpyToSymbol(static_cast<const void*>(&texture), &object, sizeof object, offset, cudaMemcpyHostToDevice);
}

/* Memory that does not begin where textures may: the texture begins before it, and the program adds the offset. */
static inline cudaError_t atoll_align(size_t* offset, textureReference& texture, void** at) {
  const size_t beyond = reinterpret_cast<size_t>(*at) % 512;
  if (beyond != 0 && !offset) return cudaErrorInvalidValue;
  if (offset) *offset = beyond;
  *at = static_cast<char*>(*at) - beyond, texture.offset = beyond;
  return cudaSuccess;
}

/* The calls of C, whose references lose that they are constant: the runtime changed them as well. */
static inline cudaError_t cudaBindTexture(size_t* offset, const textureReference* reference, const void* at,
                                          const cudaChannelFormatDesc* format, size_t bytes = 0xFFFFFFFFu) {
  textureReference& texture = *const_cast<textureReference*>(reference);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<void*>(at);
  resource.res.linear.desc = *format;
  if (atoll_align(offset, texture, &resource.res.linear.devPtr) != cudaSuccess) return cudaErrorInvalidValue;
  resource.res.linear.sizeInBytes = bytes + texture.offset;
  return atoll_bind(texture, resource);
}
static inline cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* reference, const void* at,
                                            const cudaChannelFormatDesc* format, size_t width, size_t height, size_t pitch) {
  textureReference& texture = *const_cast<textureReference*>(reference);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = const_cast<void*>(at);
  resource.res.pitch2D.desc = *format;
  if (atoll_align(offset, texture, &resource.res.pitch2D.devPtr) != cudaSuccess) return cudaErrorInvalidValue;
  const size_t texel = size_t(format->x + format->y + format->z + format->w) / 8;
  resource.res.pitch2D.width = width + (texel ? texture.offset / texel : 0), resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  return atoll_bind(texture, resource);
}
static inline cudaError_t cudaBindTextureToArray(const textureReference* texture, cudaArray_const_t array,
                                                 const cudaChannelFormatDesc* = 0) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = const_cast<cudaArray_t>(array);
  const_cast<textureReference*>(texture)->offset = 0;
  return atoll_bind(*const_cast<textureReference*>(texture), resource);
}
static inline cudaError_t cudaUnbindTexture(const textureReference* texture) {
  if (texture->object) cudaDestroyTextureObject(texture->object);
  return const_cast<textureReference*>(texture)->object = 0, cudaSuccess;
}
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference* texture) {
  return *offset = texture->offset, cudaSuccess;
}

/* The calls of C++, of references that know how they are read. */
#define ATOLL_TEXTURE_CALL template <typename T, int D, cudaTextureReadMode M> static inline cudaError_t
#define ATOLL_TEXTURE AtollTexture<T, D, M>

/* For the calls of C: of a pointer to the whole reference those of C++ would call themselves. */
static inline const textureReference* atoll_reference(const textureReference& texture) { return &texture; }

ATOLL_TEXTURE_CALL cudaGetTextureReference(const textureReference** out, const ATOLL_TEXTURE* texture) {
  return *out = texture, cudaSuccess;
}
ATOLL_TEXTURE_CALL cudaGetTextureReference(const textureReference** out, const ATOLL_TEXTURE& texture) {
  return cudaGetTextureReference(out, &texture);
}

ATOLL_TEXTURE_CALL cudaBindTexture(size_t* offset, ATOLL_TEXTURE& texture, const void* at, const cudaChannelFormatDesc& format,
                                   size_t bytes = 0xFFFFFFFFu) {
  return cudaBindTexture(offset, atoll_reference(texture), at, &format, bytes);
}
ATOLL_TEXTURE_CALL cudaBindTexture(size_t* offset, ATOLL_TEXTURE& texture, const void* at, size_t bytes = 0xFFFFFFFFu) {
  return cudaBindTexture(offset, texture, at, cudaCreateChannelDesc<T>(), bytes);
}
ATOLL_TEXTURE_CALL cudaBindTexture(size_t* offset, ATOLL_TEXTURE* texture, const void* at, const cudaChannelFormatDesc* format,
                                   size_t bytes = 0xFFFFFFFFu) {
  return cudaBindTexture(offset, *texture, at, *format, bytes);
}

ATOLL_TEXTURE_CALL cudaBindTexture2D(size_t* offset, ATOLL_TEXTURE& texture, const void* at,
                                     const cudaChannelFormatDesc& format, size_t width, size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, atoll_reference(texture), at, &format, width, height, pitch);
}
ATOLL_TEXTURE_CALL cudaBindTexture2D(size_t* offset, ATOLL_TEXTURE& texture, const void* at, size_t width, size_t height,
                                     size_t pitch) {
  return cudaBindTexture2D(offset, texture, at, cudaCreateChannelDesc<T>(), width, height, pitch);
}
ATOLL_TEXTURE_CALL cudaBindTexture2D(size_t* offset, ATOLL_TEXTURE* texture, const void* at,
                                     const cudaChannelFormatDesc* format, size_t width, size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, *texture, at, *format, width, height, pitch);
}

ATOLL_TEXTURE_CALL cudaBindTextureToArray(ATOLL_TEXTURE& texture, cudaArray_const_t array) {
  return cudaBindTextureToArray(atoll_reference(texture), array);
}
ATOLL_TEXTURE_CALL cudaBindTextureToArray(ATOLL_TEXTURE& texture, cudaArray_const_t array, const cudaChannelFormatDesc&) {
  return cudaBindTextureToArray(texture, array);
}
ATOLL_TEXTURE_CALL cudaBindTextureToArray(ATOLL_TEXTURE* texture, cudaArray_const_t array, const cudaChannelFormatDesc*) {
  return cudaBindTextureToArray(*texture, array);
}

static inline cudaError_t cudaUnbindTexture(textureReference& texture) { return cudaUnbindTexture(&texture); }
static inline cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference& texture) {
  return cudaGetTextureAlignmentOffset(offset, &texture);
}

#define ATOLL_TEXTURE_FETCH \
  template <typename T, cudaTextureReadMode M> \
  static __device__ __forceinline__ typename AtollTexel<T, M>::type

ATOLL_TEXTURE_FETCH tex1Dfetch(const AtollTexture<T, 1, M>& t, int x) {
  return tex1Dfetch<typename AtollTexel<T, M>::type>(t.object, x);
}
ATOLL_TEXTURE_FETCH tex1D(const AtollTexture<T, 1, M>& t, float x) {
  return tex1D<typename AtollTexel<T, M>::type>(t.object, x);
}
ATOLL_TEXTURE_FETCH tex2D(const AtollTexture<T, 2, M>& t, float x, float y) {
  return tex2D<typename AtollTexel<T, M>::type>(t.object, x, y);
}
ATOLL_TEXTURE_FETCH tex3D(const AtollTexture<T, 3, M>& t, float x, float y, float z) {
  return tex3D<typename AtollTexel<T, M>::type>(t.object, x, y, z);
}
ATOLL_TEXTURE_FETCH tex1DLayered(const AtollTexture<T, cudaTextureType1DLayered, M>& t, float x, int layer) {
  return tex1DLayered<typename AtollTexel<T, M>::type>(t.object, x, layer);
}
ATOLL_TEXTURE_FETCH tex2DLayered(const AtollTexture<T, cudaTextureType2DLayered, M>& t, float x, float y, int layer) {
  return tex2DLayered<typename AtollTexel<T, M>::type>(t.object, x, y, layer);
}
ATOLL_TEXTURE_FETCH texCubemap(const AtollTexture<T, cudaTextureTypeCubemap, M>& t, float x, float y, float z) {
  return texCubemap<typename AtollTexel<T, M>::type>(t.object, x, y, z);
}
ATOLL_TEXTURE_FETCH texCubemapLayered(const AtollTexture<T, cudaTextureTypeCubemapLayered, M>& t, float x, float y, float z,
                                      int layer) {
  return texCubemapLayered<typename AtollTexel<T, M>::type>(t.object, x, y, z, layer);
}

#undef ATOLL_TEXTURE_FETCH
#undef ATOLL_TEXTURE_CALL
#undef ATOLL_TEXTURE
#define texture __constant__ AtollTexture

#endif /* texture references */

/* ---- surface references: a variable in constant memory that holds a surface object, which surf2Dread and the like get ---- */

#if defined(__CUDACC__) && defined(ATOLL_SURFACE_REFERENCES)

#pragma nv_diag_suppress 20092

template <typename T, int D = 1> struct AtollSurface {
  cudaSurfaceObject_t object; /* on the host: to destroy it */
  cudaChannelFormatDesc channelDesc; /* that programs set, though the array has it */
  __device__ operator cudaSurfaceObject_t() const { return object; }
};

template <typename T, int D> static inline cudaError_t cudaBindSurfaceToArray(AtollSurface<T, D>& to, cudaArray_const_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = const_cast<cudaArray_t>(array);
  if (to.object) cudaDestroySurfaceObject(to.object);
  to.object = 0;
  cudaSurfaceObject_t object = 0;
  const cudaError_t status = cudaCreateSurfaceObject(&object, &resource);
  if (status != cudaSuccess) return status;
  to.object = object;
  return cudaMemcpyToSymbol(static_cast<const void*>(&to), &object, sizeof object, 0, cudaMemcpyHostToDevice);
}
template <typename T, int D>
static inline cudaError_t cudaBindSurfaceToArray(AtollSurface<T, D>& to, cudaArray_const_t array, const cudaChannelFormatDesc&) {
  return cudaBindSurfaceToArray(to, array);
}
#define surface __constant__ AtollSurface

#endif /* surface references */

#endif
