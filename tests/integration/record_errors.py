"""What CUDA refuses is refused, with the same error: one program that checks every answer."""

import os
import shutil
import subprocess
import sys

import program

NVCC = shutil.which("nvcc")
RUNTIME = os.path.join(os.path.dirname(program.ATOLL), "cuda", "libcudart.so.13")

SOURCE = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>

static int failures = 0;
#define EXPECT(x) ((x) ? 0 : (++failures, printf("line %d: %s\n", __LINE__, #x)))
#define OK(x) EXPECT((x) == cudaSuccess)
#define INVALID(x) EXPECT((x) == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue)

__managed__ int managed_variable[1024];
__global__ void nothing() {}
__global__ void __cluster_dims__(16, 1, 1) sixteen() {}
__device__ unsigned seen_size;
__global__ void size_of_cluster() { asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(seen_size)); }

void flags() {
  cudaEvent_t event;
  for (unsigned f : {4u, 5u, 8u, 0x80u}) INVALID(cudaEventCreateWithFlags(&event, f));
  for (unsigned f : {0u, 1u, 3u, 6u}) OK(cudaEventCreateWithFlags(&event, f));
  INVALID(cudaEventRecordWithFlags(event, 0, 2));
  OK(cudaEventRecordWithFlags(event, 0, 0));
  INVALID(cudaStreamWaitEvent(0, event, 2));
  cudaStream_t stream;
  for (unsigned f : {2u, 77u}) INVALID(cudaStreamCreateWithFlags(&stream, f));
  INVALID(cudaStreamCreateWithPriority(&stream, 77, 0));
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  void* p;
  INVALID(cudaHostAlloc(&p, 64, 8));
  OK(cudaHostAlloc(&p, 64, 7));
  for (unsigned f : {0u, 3u, 4u, 77u}) INVALID(cudaMallocManaged(&p, 64, f));
  OK(cudaMallocManaged(&p, 64, cudaMemAttachHost));
  p = malloc(64);
  INVALID(cudaHostRegister(p, 64, 0x10));
  for (unsigned f : {3u, 5u, 6u, 0x100u}) INVALID(cudaSetDeviceFlags(f));
  for (unsigned f : {0u, 1u, 2u, 4u, 0x18u, 0x80u}) OK(cudaSetDeviceFlags(f));
  OK(cudaSetDeviceFlags(0));
  int value;
  INVALID(cudaDeviceGetAttribute(&value, cudaDevAttrMax, 0));
  INVALID(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)1000, 0));
  OK(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)(cudaDevAttrMax - 1), 0));
  for (int a : {7, 16, 99}) INVALID(cudaFuncSetAttribute(nothing, (cudaFuncAttribute)a, 1));
  INVALID(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
  OK(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, -1));
  INVALID(cudaStreamGetFlags(0, nullptr));
}

void preferences() {
  for (int c : {-1, 4, 9}) {
    INVALID(cudaDeviceSetCacheConfig((cudaFuncCache)c));
    INVALID(cudaFuncSetCacheConfig(nothing, (cudaFuncCache)c));
    INVALID(cudaDeviceSetSharedMemConfig((cudaSharedMemConfig)c));
    INVALID(cudaFuncSetSharedMemConfig(nothing, (cudaSharedMemConfig)c));
  }
  for (int c : {0, 1, 2, 3}) {
    OK(cudaDeviceSetCacheConfig((cudaFuncCache)c));
    OK(cudaFuncSetCacheConfig(nothing, (cudaFuncCache)c));
  }
  EXPECT(cudaFuncSetCacheConfig((const void*)&failures, cudaFuncCachePreferL1) == cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
}

void arrays() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  for (unsigned f : {1u, 4u, 0x100u}) INVALID(cudaMallocArray(&array, &format, 8, 8, f));
  for (unsigned f : {0u, 2u, 8u}) OK(cudaMallocArray(&array, &format, 8, 8, f));
  INVALID(cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 8, 2), 0x100));
  OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 8, 2), cudaArrayLayered));
}

void hints() {
  const cudaMemLocation first = {cudaMemLocationTypeDevice, 0}, other = {cudaMemLocationTypeDevice, 9};
  const cudaMemLocation host = {cudaMemLocationTypeHost, 0}, none = {cudaMemLocationTypeInvalid, 0};
  int *managed, *device, *locked, *own = (int*)malloc(4096);
  OK(cudaMallocManaged(&managed, 4096)), OK(cudaMalloc(&device, 4096)), OK(cudaMallocHost(&locked, 4096));
  for (int* p : {device, locked, own, (int*)nullptr}) {
    INVALID(cudaMemPrefetchAsync(p, 4096, first, 0));
    INVALID(cudaMemAdvise(p, 4096, cudaMemAdviseSetReadMostly, first));
  }
  for (int* p : {managed, managed + 1023, managed_variable}) {
    OK(cudaMemPrefetchAsync(p, 4, first, 0)), OK(cudaMemPrefetchAsync(p, 4, host, 0));
    for (int advice = 1; advice <= 6; advice++) OK(cudaMemAdvise(p, 4, (cudaMemoryAdvise)advice, first));
  }
  INVALID(cudaMemPrefetchAsync(managed, 0, first, 0));
  INVALID(cudaMemPrefetchAsync(managed, 4096, first, 1));
  INVALID(cudaMemPrefetchAsync(managed, 4096, none, 0));
  EXPECT(cudaMemPrefetchAsync(managed, 4096, other, 0) == cudaErrorInvalidDevice);
  INVALID(cudaMemAdvise(managed, 4096, (cudaMemoryAdvise)7, first));
  INVALID(cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, none));
  EXPECT(cudaMemAdvise(managed, 4096, cudaMemAdviseSetAccessedBy, other) == cudaErrorInvalidDevice);
  OK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, other));  // which says nothing of a place
}

void places() {
  char *device, *locked, *own = (char*)malloc(4096), *registered = (char*)malloc(4096);
  void* p;
  OK(cudaMalloc(&device, 4096)), OK(cudaMallocHost(&locked, 4096)), OK(cudaHostRegister(registered, 4096, 0));
  INVALID(cudaHostRegister(device + 64, 64, 0));
  EXPECT(cudaHostRegister(locked, 64, 0) == cudaErrorHostMemoryAlreadyRegistered);
  INVALID(cudaHostGetDevicePointer(&p, own, 0));
  INVALID(cudaHostGetDevicePointer(&p, device, 0));
  INVALID(cudaHostGetDevicePointer(&p, locked, 1));
  OK(cudaHostGetDevicePointer(&p, locked + 8, 0));
  EXPECT(p == locked + 8);
  OK(cudaHostGetDevicePointer(&p, registered, 0));
  own[0] = 7;
  INVALID(cudaMemset(own, 0, 64));
  INVALID(cudaMemsetAsync(own, 0, 64));
  INVALID(cudaMemset2D(own, 64, 0, 64, 2));
  EXPECT(own[0] == 7);
  OK(cudaMemset(own, 0, 0));
  for (char* to : {device, locked, registered}) OK(cudaMemset(to, 1, 64)), OK(cudaMemsetAsync(to, 1, 64));
  INVALID(cudaMemset2D(device, 8, 0, 16, 4));
  INVALID(cudaMemset2DAsync(device, 8, 0, 16, 4));
  INVALID(cudaMemset3D(make_cudaPitchedPtr(device, 8, 8, 4), 0, make_cudaExtent(16, 1, 2)));
  OK(cudaMemset2D(device, 8, 0, 16, 1));  // one row has no pitch
}

cudaError_t launch(void (*kernel)(), int grid, int cluster) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  config.gridDim = grid, config.blockDim = 32, config.attrs = &attribute, config.numAttrs = cluster ? 1 : 0;
  attribute.id = cudaLaunchAttributeClusterDimension, attribute.val.clusterDim = {(unsigned)cluster, 1, 1};
  return cudaLaunchKernelEx(&config, kernel);
}

void clusters() {
  cudaLaunchConfig_t config = {};
  cudaFuncAttributes known;
  int most;
  OK(launch(nothing, 32, 8));
  for (void (*kernel)() : {nothing, sixteen}) {
    EXPECT(launch(kernel, 144, kernel == sixteen ? 0 : 16) == cudaErrorInvalidClusterSize);
    OK(cudaOccupancyMaxPotentialClusterSize(&most, kernel, &config));
    EXPECT(most == 8);
    OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    OK(launch(kernel, 144, 16));
    OK(cudaOccupancyMaxPotentialClusterSize(&most, kernel, &config));
    EXPECT(most == 16);
    OK(cudaFuncGetAttributes(&known, kernel));
    EXPECT(known.nonPortableClusterSizeAllowed == 1 && known.requiredClusterWidth == (kernel == sixteen ? 16 : 0));
  }
  EXPECT(launch(nothing, 17, 17) == cudaErrorInvalidClusterSize);
  EXPECT(launch(nothing, 144, 9) == cudaSuccess);
  OK(cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 0));
  EXPECT(launch(nothing, 144, 9) == cudaErrorInvalidClusterSize);
  cudaGetLastError();
  // What the program sets is as what a kernel was compiled for.
  INVALID(cudaFuncSetAttribute(nothing, cudaFuncAttributeClusterDimMustBeSet, 1));
  INVALID(cudaFuncSetAttribute(nothing, cudaFuncAttributeRequiredClusterWidth, -1));
  EXPECT(cudaFuncSetAttribute(sixteen, cudaFuncAttributeRequiredClusterWidth, 16) == cudaErrorNotPermitted);
  OK(cudaFuncSetAttribute(size_of_cluster, cudaFuncAttributeRequiredClusterWidth, 2));
  size_of_cluster<<<4, 32>>>();  // of no height
  EXPECT(cudaGetLastError() == cudaErrorInvalidClusterSize);
  CUfunction driver;
  OK(cudaGetFuncBySymbol(&driver, (void*)size_of_cluster));
  EXPECT(cuFuncSetAttribute(driver, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1) == CUDA_SUCCESS);
  EXPECT(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1, (CUkernel)driver, 0) == CUDA_SUCCESS);
  EXPECT(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, driver) == CUDA_SUCCESS && most == 2);
  OK(cudaFuncGetAttributes(&known, size_of_cluster));
  EXPECT(known.requiredClusterWidth == 2 && known.requiredClusterDepth == 1);
  size_of_cluster<<<4, 32>>>();
  OK(cudaGetLastError());
  unsigned size = 0;
  OK(cudaMemcpyFromSymbol(&size, seen_size, sizeof size));
  EXPECT(size == 2);
  size_of_cluster<<<3, 32>>>();
  EXPECT(cudaGetLastError() == cudaErrorInvalidClusterSize);
}

/// Attributes of launches that give something back.
void launch_attributes() {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute = {};
  config.gridDim = 1, config.blockDim = 32, config.attrs = &attribute, config.numAttrs = 1;
  attribute.id = cudaLaunchAttributeDeviceUpdatableKernelNode, attribute.val.deviceUpdatableKernelNode.deviceUpdatable = 1;
  EXPECT(cudaLaunchKernelEx(&config, nothing) == cudaErrorNotSupported);
  cudaEvent_t event;
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  attribute = {}, attribute.id = cudaLaunchAttributeLaunchCompletionEvent, attribute.val.launchCompletionEvent.event = event;
  OK(cudaLaunchKernelEx(&config, nothing));
  OK(cudaEventDestroy(event));
  EXPECT(cudaLaunchKernelEx(&config, nothing) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

void names() {
  int known = 0;
  for (int e = 0; e < 20000; e++) known += strcmp(cudaGetErrorName((cudaError_t)e), "unrecognized error code") != 0;
  EXPECT(known == 134);
  EXPECT(!strcmp(cudaGetErrorName(cudaErrorMisalignedAddress), "cudaErrorMisalignedAddress"));
  EXPECT(!strcmp(cudaGetErrorString(cudaErrorMisalignedAddress), "misaligned address"));
  EXPECT(!strcmp(cudaGetErrorName(cudaErrorApiFailureBase), "cudaErrorApiFailureBase"));
  EXPECT(!strcmp(cudaGetErrorString((cudaError_t)77777), "unrecognized error code"));
  const char* said;
  EXPECT(cuGetErrorName(CUDA_ERROR_MISALIGNED_ADDRESS, &said) == CUDA_SUCCESS);
  EXPECT(!strcmp(said, "CUDA_ERROR_MISALIGNED_ADDRESS"));
  EXPECT(cuGetErrorName((CUresult)cudaErrorInvalidPitchValue, &said) == CUDA_ERROR_INVALID_VALUE && !said);
}

int main() {
  flags(), preferences(), arrays(), hints(), places(), clusters(), launch_attributes(), names();
  printf("failures %d\n", failures);
}
"""


class RefusedCalls(program.ProgramTest):
    def test_calls_that_cuda_refuses_give_its_errors(self):
        source = self.write("errors.cu", SOURCE)
        done = subprocess.run([NVCC, "-std=c++17", "-arch=sm_90", "-o", self.path("errors"), source, "-lcuda"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        outcome = self.succeeds(["record", "-o", self.path("T.h5"), "--", self.path("errors")])
        self.assertEqual(outcome.out, "failures 0\n", outcome)
        self.assertIn("clusters of 16 blocks (cudaFuncAttributeNonPortableClusterSizeAllowed would allow them)", outcome.err)


if __name__ == "__main__":
    if not NVCC or not os.path.exists(RUNTIME):
        sys.exit(program.SKIPPED)
    program.main()
