/* What programs older than CUDA 13 expect of CUDA and no longer find: removed calls, members of cudaDeviceProp, calls whose
 * parameters changed, and texture references. Their sources stay as they are:
 *
 *     nvcc -include .../inputs/cuda/atoll_cuda_compat.h -o program program.cu
 *
 * or, without a change to somebody's makefile, NVCC_PREPEND_FLAGS="-include .../atoll_cuda_compat.h" make.
 *
 * A program that uses the word `texture` for something else: -D ATOLL_NO_TEXTURE_REFERENCES. */
#ifndef ATOLL_CUDA_COMPAT_H
#define ATOLL_CUDA_COMPAT_H

#if defined(__cplusplus) && !defined(__CUDACC_RTC__)
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000

/* ---- calls that were renamed ---- */

static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
static inline cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
static inline cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
static inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
static inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }

/* ---- warp functions without a mask: of the lanes that are active together ---- */

#ifdef __CUDACC__
template <typename T> static __device__ __forceinline__ T __shfl(T value, int lane, int width = 32) {
  return __shfl_sync(__activemask(), value, lane, width);
}
template <typename T> static __device__ __forceinline__ T __shfl_up(T value, unsigned delta, int width = 32) {
  return __shfl_up_sync(__activemask(), value, delta, width);
}
template <typename T> static __device__ __forceinline__ T __shfl_down(T value, unsigned delta, int width = 32) {
  return __shfl_down_sync(__activemask(), value, delta, width);
}
template <typename T> static __device__ __forceinline__ T __shfl_xor(T value, int mask, int width = 32) {
  return __shfl_xor_sync(__activemask(), value, mask, width);
}
/* Templates, for the compiler takes functions of these names for instructions that newer architectures lack. */
template <typename T> static __device__ __forceinline__ int __any(T predicate) {
  return __any_sync(__activemask(), predicate != 0);
}
template <typename T> static __device__ __forceinline__ int __all(T predicate) {
  return __all_sync(__activemask(), predicate != 0);
}
template <typename T> static __device__ __forceinline__ unsigned __ballot(T predicate) {
  return __ballot_sync(__activemask(), predicate != 0);
}
#endif

/* ---- members of cudaDeviceProp that became attributes ---- */

struct AtollDeviceProp : cudaDeviceProp {
  int clockRate, deviceOverlap, computeMode, kernelExecTimeoutEnabled, memoryClockRate;
  int maxTexture1DLinear, singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
};

static inline cudaError_t cudaGetDeviceProperties(AtollDeviceProp* out, int device) {
  const cudaError_t status = cudaGetDeviceProperties(static_cast<cudaDeviceProp*>(out), device);
  if (status != cudaSuccess) return status;
  out->cooperativeMultiDeviceLaunch = 0;
  cudaDeviceGetAttribute(&out->clockRate, cudaDevAttrClockRate, device);
  cudaDeviceGetAttribute(&out->deviceOverlap, cudaDevAttrGpuOverlap, device);
  cudaDeviceGetAttribute(&out->computeMode, cudaDevAttrComputeMode, device);
  cudaDeviceGetAttribute(&out->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout, device);
  cudaDeviceGetAttribute(&out->memoryClockRate, cudaDevAttrMemoryClockRate, device);
  cudaDeviceGetAttribute(&out->maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth, device);
  return cudaDeviceGetAttribute(&out->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
}
#define cudaDeviceProp AtollDeviceProp

/* ---- a device number where there is a memory location now ---- */

static inline cudaMemLocation atoll_location(int device) {
  cudaMemLocation where;
  where.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  where.id = device == cudaCpuDeviceId ? 0 : device;
  return where;
}
static inline cudaError_t cudaMemPrefetchAsync(const void* at, size_t bytes, int device, cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(at, bytes, atoll_location(device), 0u, stream);
}
static inline cudaError_t cudaMemAdvise(const void* at, size_t bytes, cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(at, bytes, advice, atoll_location(device));
}

/* ---- texture references: a device variable that holds a texture object, which binding creates ---- */

#if defined(__CUDACC__) && !defined(ATOLL_NO_TEXTURE_REFERENCES)

#ifndef cudaTextureType1D
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#endif

/* Setting a reference's members on the host is what programs do; the compiler warns that it does not reach the device. */
#pragma nv_diag_suppress 20092

template <typename T, int D = 1, cudaTextureReadMode M = cudaReadModeElementType> struct AtollTexture {
  /* As before, the program sets these on the host before it binds; they are zero until then. */
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
  int sRGB;
  cudaTextureObject_t object; /* of the copy on the device: what fetches use. On the host: to destroy it */
};

template <typename T> struct AtollComponents { static const int value = 1; };
template <> struct AtollComponents<char2> { static const int value = 2; };
template <> struct AtollComponents<uchar2> { static const int value = 2; };
template <> struct AtollComponents<short2> { static const int value = 2; };
template <> struct AtollComponents<ushort2> { static const int value = 2; };
template <> struct AtollComponents<char4> { static const int value = 4; };
template <> struct AtollComponents<uchar4> { static const int value = 4; };
template <> struct AtollComponents<short4> { static const int value = 4; };
template <> struct AtollComponents<ushort4> { static const int value = 4; };

/* Integers read as numbers in [0, 1] come out as float vectors of the same length. */
template <typename T, cudaTextureReadMode M> struct AtollTexel { typedef T type; };
template <typename T> struct AtollTexel<T, cudaReadModeNormalizedFloat> {
  template <int N, int Dummy = 0> struct Floats { typedef float type; };
  template <int Dummy> struct Floats<2, Dummy> { typedef float2 type; };
  template <int Dummy> struct Floats<4, Dummy> { typedef float4 type; };
  typedef typename Floats<AtollComponents<T>::value>::type type;
};

template <typename T, int D, cudaTextureReadMode M>
static inline cudaError_t atoll_bind(AtollTexture<T, D, M>& texture, const cudaResourceDesc& resource) {
  cudaTextureDesc how = {};
  for (int i = 0; i < 3; ++i) {
    /* Wrapping needs normalised coordinates; the default of a reference was to clamp. */
    how.addressMode[i] = texture.normalized ? texture.addressMode[i] : cudaAddressModeClamp;
    if (texture.addressMode[i] == cudaAddressModeBorder) how.addressMode[i] = cudaAddressModeBorder;
  }
  how.filterMode = texture.filterMode, how.readMode = M, how.normalizedCoords = texture.normalized, how.sRGB = texture.sRGB;
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
static inline cudaError_t atoll_align(size_t* offset, void** at, size_t* more) {
  const size_t beyond = reinterpret_cast<size_t>(*at) % 512;
  if (beyond != 0 && !offset) return cudaErrorInvalidValue;
  if (offset) *offset = beyond;
  *at = static_cast<char*>(*at) - beyond, *more = beyond;
  return cudaSuccess;
}

#define ATOLL_TEXTURE_CALL template <typename T, int D, cudaTextureReadMode M> static inline cudaError_t
#define ATOLL_TEXTURE AtollTexture<T, D, M>

ATOLL_TEXTURE_CALL cudaBindTexture(size_t* offset, ATOLL_TEXTURE& texture, const void* at, const cudaChannelFormatDesc& format,
                                   size_t bytes = 0xFFFFFFFFu) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<void*>(at);
  resource.res.linear.desc = format;
  size_t before = 0;
  if (atoll_align(offset, &resource.res.linear.devPtr, &before) != cudaSuccess) return cudaErrorInvalidValue;
  resource.res.linear.sizeInBytes = bytes + before;
  return atoll_bind(texture, resource);
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
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = const_cast<void*>(at);
  resource.res.pitch2D.desc = format;
  size_t before = 0;
  if (atoll_align(offset, &resource.res.pitch2D.devPtr, &before) != cudaSuccess) return cudaErrorInvalidValue;
  const size_t texel = size_t(format.x + format.y + format.z + format.w) / 8;
  resource.res.pitch2D.width = width + (texel ? before / texel : 0), resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  return atoll_bind(texture, resource);
}
ATOLL_TEXTURE_CALL cudaBindTexture2D(size_t* offset, ATOLL_TEXTURE& texture, const void* at, size_t width, size_t height,
                                     size_t pitch) {
  return cudaBindTexture2D(offset, texture, at, cudaCreateChannelDesc<T>(), width, height, pitch);
}

ATOLL_TEXTURE_CALL cudaBindTextureToArray(ATOLL_TEXTURE& texture, cudaArray_const_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = const_cast<cudaArray_t>(array);
  return atoll_bind(texture, resource);
}
ATOLL_TEXTURE_CALL cudaBindTextureToArray(ATOLL_TEXTURE& texture, cudaArray_const_t array, const cudaChannelFormatDesc&) {
  return cudaBindTextureToArray(texture, array);
}
ATOLL_TEXTURE_CALL cudaBindTextureToArray(ATOLL_TEXTURE* texture, cudaArray_const_t array, const cudaChannelFormatDesc*) {
  return cudaBindTextureToArray(*texture, array);
}

ATOLL_TEXTURE_CALL cudaUnbindTexture(ATOLL_TEXTURE& texture) {
  if (texture.object) cudaDestroyTextureObject(texture.object);
  texture.object = 0;
  return cudaSuccess;
}
ATOLL_TEXTURE_CALL cudaUnbindTexture(ATOLL_TEXTURE* texture) { return cudaUnbindTexture(*texture); }
ATOLL_TEXTURE_CALL cudaGetTextureAlignmentOffset(size_t* offset, const ATOLL_TEXTURE&) { return *offset = 0, cudaSuccess; }

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

#undef ATOLL_TEXTURE_FETCH
#undef ATOLL_TEXTURE_CALL
#undef ATOLL_TEXTURE
#define texture __device__ AtollTexture

#endif /* texture references */
#endif /* CUDA 13 */
#endif /* C++ */
#endif
