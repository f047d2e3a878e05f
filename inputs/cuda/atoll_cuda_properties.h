/* Members that cudaDeviceProp and cudaPointerAttributes had before CUDA 13, where the two have reserved bytes: a file that
 * is compiled without this header, by g++ or gcc say, has all others at the same places and the same size. Functions that
 * take a cudaDeviceProp have other names for the linker there. */
#ifndef ATOLL_CUDA_PROPERTIES_H
#define ATOLL_CUDA_PROPERTIES_H
#include <cuda_runtime.h>

#include <cstddef>

/* cudaDeviceProp of CUDA 13.0, with what became attributes. */
struct AtollDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned int luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory, maxTexture1D, maxTexture1DMipmap, maxTexture2D[2],
      maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2], maxTexture3D[3], maxTexture3DAlt[3],
      maxTextureCubemap, maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D,
      maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap,
      maxSurfaceCubemapLayered[2];
  size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing,
      memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported,
      globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, hostNativeAtomicSupported,
      pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem,
      cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor,
      accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported, timelineSemaphoreInteropSupported,
      memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned int gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned int memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers, deviceNumaConfig,
      deviceNumaId, mpsEnabled, hostNumaId;
  unsigned int gpuPciDeviceID, gpuPciSubsystemID;
  int hostNumaMultinodeIpcSupported;
  int reserved[48];
  int clockRate, deviceOverlap, computeMode, kernelExecTimeoutEnabled, memoryClockRate, maxTexture1DLinear,
      singleToDoublePrecisionPerfRatio, cooperativeMultiDeviceLaunch;
};

/* cudaPointerAttributes, with what `type` replaced. */
struct AtollPointerAttributes {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
  long reserved[7];
  cudaMemoryType memoryType;
  int isManaged;
};

#if __cplusplus >= 201103L
#define ATOLL_SAME_PLACES(ours, theirs)                                                           \
  static_assert(sizeof(ours) == sizeof(theirs) && offsetof(ours, reserved) == offsetof(theirs, reserved), \
                "this toolkit's " #theirs " is not that of CUDA 13.0: give the program what it misses by hand")
ATOLL_SAME_PLACES(AtollDeviceProp, cudaDeviceProp);
ATOLL_SAME_PLACES(AtollPointerAttributes, cudaPointerAttributes);
#undef ATOLL_SAME_PLACES
#endif

static inline cudaError_t cudaGetDeviceProperties(AtollDeviceProp* out, int device) {
  const cudaError_t status = cudaGetDeviceProperties(reinterpret_cast<cudaDeviceProp*>(out), device);
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
static inline cudaError_t cudaChooseDevice(int* device, const AtollDeviceProp* wanted) {
  return cudaChooseDevice(device, reinterpret_cast<const cudaDeviceProp*>(wanted));
}
#define cudaDeviceProp AtollDeviceProp

static inline cudaError_t cudaPointerGetAttributes(AtollPointerAttributes* out, const void* at) {
  const cudaError_t status = cudaPointerGetAttributes(reinterpret_cast<cudaPointerAttributes*>(out), at);
  if (status != cudaSuccess) return status;
  out->isManaged = out->type == cudaMemoryTypeManaged;
  return out->memoryType = out->isManaged ? cudaMemoryTypeDevice : out->type, cudaSuccess;
}
#define cudaPointerAttributes AtollPointerAttributes

#endif
