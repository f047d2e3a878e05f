/* What programs older than CUDA 13 expect of CUDA and no longer find: removed calls, members of cudaDeviceProp, calls whose
 * parameters changed, bases of functors, and texture and surface references. Their sources stay as they are:
 *
 *     nvcc -include .../inputs/cuda/atoll_cuda_compat.h -o program program.cu
 *
 * or, without a change to somebody's makefile, NVCC_PREPEND_FLAGS="-include .../atoll_cuda_compat.h" make.
 *
 * A program that uses the word `texture` for something else: -D ATOLL_NO_TEXTURE_REFERENCES. One that has surface
 * references: -D ATOLL_SURFACE_REFERENCES, as more programs use the word `surface` for something else. One that brings an
 * old Thrust of its own: -D ATOLL_NO_THRUST_FUNCTIONS. */
#ifndef ATOLL_CUDA_COMPAT_H
#define ATOLL_CUDA_COMPAT_H

#if defined(__cplusplus) && !defined(__CUDACC_RTC__)
#include <cuda_runtime.h>

#include <cstring>

#if CUDART_VERSION >= 13000

/* ---- calls that were renamed ---- */

static inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
static inline cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
static inline cudaError_t cudaThreadGetLimit(size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
static inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
static inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }

/* ---- calls that have nothing to do ---- */

static inline cudaError_t cudaSetDoubleForDevice(double*) { return cudaSuccess; }
static inline cudaError_t cudaSetDoubleForHost(double*) { return cudaSuccess; }
enum cudaOutputMode { cudaKeyValuePair = 0, cudaCSV = 1 };
typedef cudaOutputMode cudaOutputMode_t;
static inline cudaError_t cudaProfilerInitialize(const char*, const char*, cudaOutputMode_t) { return cudaSuccess; }

/* ---- bases of functors, which name types and do nothing else ---- */

#ifndef ATOLL_NO_THRUST_FUNCTIONS
namespace thrust {
template <typename Argument, typename Result> struct unary_function {
  typedef Argument argument_type;
  typedef Result result_type;
};
template <typename First, typename Second, typename Result> struct binary_function {
  typedef First first_argument_type;
  typedef Second second_argument_type;
  typedef Result result_type;
};
}  // namespace thrust
#endif

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
/* Other names for all of the program, for the compiler takes functions of theirs for instructions that newer
 * architectures lack. No macros with parameters: libcu++ has a class `__any`, whose name may change, but nothing else. */
static __device__ __forceinline__ int atoll_any(int predicate) { return __any_sync(__activemask(), predicate); }
static __device__ __forceinline__ int atoll_all(int predicate) { return __all_sync(__activemask(), predicate); }
static __device__ __forceinline__ unsigned atoll_ballot(int predicate) { return __ballot_sync(__activemask(), predicate); }
#define __any atoll_any
#define __all atoll_all
#define __ballot atoll_ballot
#endif

/* ---- launches of three calls ---- */

struct AtollCall {
  unsigned grid[3], block[3];
  size_t shared;
  cudaStream_t stream;
  char bytes[4096];
  void* arguments[1024]; /* into `bytes` */
  size_t count;
};
inline AtollCall& atoll_call() {
  static __thread AtollCall call;
  return call;
}
static inline cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0) {
  const AtollCall call = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared, stream, {}, {}, 0};
  return atoll_call() = call, cudaSuccess;
}
static inline cudaError_t cudaSetupArgument(const void* argument, size_t bytes, size_t offset) {
  AtollCall& call = atoll_call();
  if (!argument || bytes > sizeof call.bytes || offset > sizeof call.bytes - bytes || call.count == 1024)
    return cudaErrorInvalidValue;
  memcpy(call.bytes + offset, argument, bytes);
  return call.arguments[call.count++] = call.bytes + offset, cudaSuccess;
}
template <typename T> static inline cudaError_t cudaSetupArgument(T argument, size_t offset) {
  return cudaSetupArgument(&argument, sizeof argument, offset);
}
template <typename T> static inline cudaError_t cudaLaunch(T* kernel) {
  AtollCall& call = atoll_call();
  return cudaLaunchKernel((const void*)kernel, dim3(call.grid[0], call.grid[1], call.grid[2]),
                          dim3(call.block[0], call.block[1], call.block[2]), call.arguments, call.shared, call.stream);
}

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

/* ---- graphs whose edges have no data ---- */

static inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                                   size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                      const cudaGraphNode_t* to, size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
static inline cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* of, size_t* count) {
  return cudaGraphNodeGetDependencies(node, of, nullptr, count);
}
static inline cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* by, size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, by, nullptr, count);
}

/* ---- contexts of the driver API without parameters of their creation ---- */

/* cuda.h comes later, if at all: programs that open the driver themselves declare its types on their own. What it calls
 * cuCtxCreate is found when this is called. */
#if __cplusplus >= 201103L
template <typename Context>
static inline auto cuCtxCreate_v4(Context** context, unsigned flags, int device)
    -> decltype(cuCtxCreate_v4(context, nullptr, flags, device)) {
  return cuCtxCreate_v4(context, nullptr, flags, device);
}
#endif

#include "atoll_cuda_properties.h"
#include "atoll_cuda_references.h"

#endif /* CUDA 13 */
#endif /* C++ */
#endif
