"""What real programs ask of the CUDA runtime, asked by one program that checks every answer."""

import os
import shutil
import subprocess
import sys

import program

NVCC = shutil.which("nvcc")
RUNTIME = os.path.join(os.path.dirname(program.ATOLL), "cuda", "libcudart.so.13")

SOURCE = r"""
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

static int failures = 0;
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); ++failures; } } while (0)
#define OK(x) EXPECT((x) == cudaSuccess)

__device__ int table[64];
__device__ int* third = table + 3;
__constant__ int constants[4] = {1, 2, 3, 4};
struct Big { double d; char c; int v[20]; };

template <typename T> __global__ void fill(T* p, T value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = value;
}
__global__ void reverse(int* p) {
  extern __shared__ int s[];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void much_shared(int* p) {
  __shared__ int fixed[8192];
  extern __shared__ int more[];
  fixed[threadIdx.x] = p[threadIdx.x], more[threadIdx.x] = 1;
  __syncthreads();
  p[threadIdx.x] = fixed[31 - threadIdx.x] + more[threadIdx.x];
}
__global__ void write_third() { *third = constants[0]; }
__global__ void grid_sum(int* data, int* sum) {
  atomicAdd(sum, data[blockIdx.x]);
  cooperative_groups::this_grid().sync();
  data[blockIdx.x] = *sum;
}
__global__ void structs(char c, Big b, short s, double* out) { *out = c + b.d + b.c + b.v[19] + s; }
__global__ void heap(int** out) { *(out[threadIdx.x] = (int*)malloc(64)) = threadIdx.x; }

__global__ void shift_rows(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int width, int height) {
  int x = threadIdx.x, y = blockIdx.x;
  surf2Dwrite(2.f * surf2Dread<float>(in, (x + 1) % width * 4, y), out, x * 4, height - 1 - y);
}
__global__ void edit_pixels(cudaSurfaceObject_t image, int* outside, int* other) {
  uchar4 v;
  surf2Dread(&v, image, threadIdx.x * 4, 1);
  v.x += 1, v.w = threadIdx.x;
  surf2Dwrite(v, image, threadIdx.x * 4, 2);
  outside[threadIdx.x] = surf2Dread<unsigned char>(image, -1, 0, cudaBoundaryModeZero);
  other[threadIdx.x] = threadIdx.x;
}

cudaSurfaceObject_t surface_of(cudaArray_t array) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  cudaSurfaceObject_t s = 0;
  OK(cudaCreateSurfaceObject(&s, &r));
  return s;
}

void surfaces() {
  const int width = 32, height = 5;
  float h[height][width], back[height][width];
  for (int i = 0; i < width * height; i++) h[0][i] = i;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t in, out;
  OK(cudaMallocArray(&in, &format, width, height, cudaArraySurfaceLoadStore));
  OK(cudaMallocArray(&out, &format, width, height, cudaArraySurfaceLoadStore));
  OK(cudaMemcpy2DToArray(in, 0, 0, h, width * 4, width * 4, height, cudaMemcpyHostToDevice));
  cudaSurfaceObject_t a = surface_of(in), b = surface_of(out);
  shift_rows<<<height, width>>>(a, b, width, height);
  OK(cudaMemcpy2DFromArray(back, width * 4, out, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) EXPECT(back[height - 1 - y][x] == 2 * h[y][(x + 1) % width]);
  OK(cudaDestroySurfaceObject(b));
  EXPECT(cudaDestroySurfaceObject(b) == cudaErrorInvalidValue);

  uchar4 pixels[4][width];
  for (int y = 0; y < 4; y++)
    for (int x = 0; x < width; x++) pixels[y][x] = make_uchar4(250 + x, y, 100 + x, 7);
  format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t image;
  int *outside, *other;
  OK(cudaMallocManaged(&outside, width * 4));
  OK(cudaMallocManaged(&other, width * 4));
  OK(cudaMallocArray(&image, &format, width, 4, cudaArraySurfaceLoadStore));
  OK(cudaMemcpy2DToArray(image, 0, 0, pixels, width * 4, width * 4, 4, cudaMemcpyHostToDevice));
  outside[5] = 9;
  edit_pixels<<<1, width>>>(surface_of(image), outside, other);
  OK(cudaMemcpy2DFromArray(pixels, width * 4, image, 0, 0, width * 4, 4, cudaMemcpyDeviceToHost));
  for (int x = 0; x < width; x++) {
    uchar4 v = pixels[2][x];
    EXPECT(v.x == (unsigned char)(251 + x) && v.y == 1 && v.z == 100 + x && v.w == x && pixels[1][x].w == 7);
  }
  EXPECT(outside[5] == 0 && other[31] == 31);
  unsigned flags = 0;
  OK(cudaArrayGetInfo(nullptr, nullptr, &flags, image));
  EXPECT(flags == cudaArraySurfaceLoadStore);
  cudaResourceDesc plain = {};
  cudaSurfaceObject_t none;
  plain.resType = cudaResourceTypeArray;
  OK(cudaMallocArray(&plain.res.array.array, &format, width, 4));
  EXPECT(cudaCreateSurfaceObject(&none, &plain) == cudaErrorInvalidValue && cudaGetLastError() == cudaErrorInvalidValue);
}

unsigned long long pool_figure(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  unsigned long long bytes = ~0ull;
  OK(cudaMemPoolGetAttribute(pool, attribute, &bytes));
  return bytes;
}

void pools() {
  cudaMemPool_t standard, mine;
  OK(cudaDeviceGetDefaultMemPool(&standard, 0));
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned, properties.location.type = cudaMemLocationTypeDevice;
  OK(cudaMemPoolCreate(&mine, &properties));
  unsigned long long keep = 1 << 20;
  OK(cudaMemPoolSetAttribute(mine, cudaMemPoolAttrReleaseThreshold, &keep));
  EXPECT(pool_figure(mine, cudaMemPoolAttrReleaseThreshold) == keep);
  int *a, *b, h[64];
  OK(cudaMallocAsync(&a, 256, 0));
  EXPECT(pool_figure(standard, cudaMemPoolAttrUsedMemCurrent) == 256);
  OK(cudaMallocFromPoolAsync(&b, 1024, mine, 0));
  fill<<<1, 64>>>(b, 5, 64);
  OK(cudaMemcpyAsync(h, b, 256, cudaMemcpyDeviceToHost, 0));
  EXPECT(h[63] == 5);
  OK(cudaDeviceSetMemPool(0, mine));
  OK(cudaFreeAsync(a, 0));
  OK(cudaMallocAsync(&a, 512, 0));
  EXPECT(pool_figure(mine, cudaMemPoolAttrUsedMemCurrent) == 1536);
  OK(cudaFreeAsync(a, 0));
  OK(cudaFree(b));
  EXPECT(pool_figure(mine, cudaMemPoolAttrUsedMemCurrent) == 0);
  EXPECT(pool_figure(mine, cudaMemPoolAttrUsedMemHigh) == 1536);
  OK(cudaMemPoolTrimTo(mine, 0));
  OK(cudaMemPoolDestroy(mine));
  EXPECT(cudaMemPoolDestroy(mine) == cudaErrorInvalidValue);
  cudaMemPool_t current;
  OK(cudaDeviceGetMemPool(&current, 0));
  EXPECT(current == standard && pool_figure(standard, cudaMemPoolAttrUsedMemCurrent) == 0);
  int supported = 0;
  OK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  EXPECT(supported == 1);
  cudaGetLastError();
}

void devices() {
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  EXPECT(count == 1);
  OK(cudaSetDevice(0));
  EXPECT(cudaSetDevice(1) == cudaErrorInvalidDevice);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT(cudaGetLastError() == cudaSuccess);
  cudaDeviceProp p;
  OK(cudaGetDeviceProperties(&p, 0));
  int threads = 0;
  OK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, 0));
  EXPECT(p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && threads == 1024 && p.managedMemory && p.cooperativeLaunch);
  EXPECT(p.totalGlobalMem > 0 && p.multiProcessorCount > 0 && p.hostRegisterSupported == 1);
}

void streams() {
  int *p, h[256];
  cudaStream_t s;
  cudaEvent_t a, b;
  OK(cudaMalloc(&p, sizeof h));
  OK(cudaStreamCreate(&s));
  OK(cudaEventCreate(&a));
  OK(cudaEventCreate(&b));
  OK(cudaEventRecord(a, s));
  fill<<<1, 256, 0, s>>>(p, 42, 256);
  OK(cudaEventRecord(b, s));
  OK(cudaStreamWaitEvent(s, b, 0));
  OK(cudaStreamSynchronize(s));
  float ms = 0;
  OK(cudaEventElapsedTime(&ms, a, b));
  EXPECT(ms > 0);
  cudaEvent_t untimed;
  OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  OK(cudaEventRecord(untimed, s));
  EXPECT(cudaEventElapsedTime(&ms, a, untimed) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventElapsedTime(&ms, untimed, b) == cudaErrorInvalidResourceHandle);
  OK(cudaEventDestroy(untimed));
  int least, greatest, priority;
  cudaStream_t urgent;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(least == 0 && greatest == -5);
  OK(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, -3));
  OK(cudaStreamGetPriority(urgent, &priority));
  EXPECT(priority == -3);
  OK(cudaStreamDestroy(urgent));
  OK(cudaStreamCreateWithPriority(&urgent, cudaStreamDefault, -9));
  OK(cudaStreamGetPriority(urgent, &priority));
  EXPECT(priority == -5);
  OK(cudaStreamDestroy(urgent));
  OK(cudaStreamGetPriority(s, &priority));
  EXPECT(priority == 0);
  cudaStreamAttrValue given = {}, got = {};
  given.accessPolicyWindow.base_ptr = p, given.accessPolicyWindow.num_bytes = 512, given.accessPolicyWindow.hitRatio = 0.5f;
  given.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting, given.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  OK(cudaStreamSetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &given));
  OK(cudaStreamGetAttribute(s, cudaStreamAttributeAccessPolicyWindow, &got));
  EXPECT(got.accessPolicyWindow.base_ptr == p && got.accessPolicyWindow.hitProp == cudaAccessPropertyPersisting);
  OK(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &got));
  EXPECT(got.syncPolicy == cudaSyncPolicyAuto);
  given.priority = -2;
  OK(cudaStreamSetAttribute(s, cudaStreamAttributePriority, &given));
  OK(cudaStreamGetPriority(s, &priority));
  EXPECT(priority == -2);
  OK(cudaStreamCreate(&urgent));
  OK(cudaStreamCopyAttributes(urgent, s));
  OK(cudaStreamGetPriority(urgent, &priority));
  EXPECT(priority == -2);
  OK(cudaStreamGetAttribute(urgent, cudaStreamAttributeAccessPolicyWindow, &got));
  EXPECT(got.accessPolicyWindow.num_bytes == 512);
  OK(cudaStreamDestroy(urgent));
  EXPECT(cudaStreamSetAttribute(urgent, cudaStreamAttributePriority, &given) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaStreamSetAttribute(s, cudaLaunchAttributeCooperative, &given) == cudaErrorInvalidValue);
  OK(cudaCtxResetPersistingL2Cache());
  OK(cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost, s));
  EXPECT(h[255] == 42);
  OK(cudaEventDestroy(a));
  OK(cudaStreamDestroy(s));
  EXPECT(cudaStreamDestroy(s) == cudaErrorInvalidResourceHandle);
  OK(cudaFree(p));
}

void copies() {
  char *image, rows[1000], back[1000];
  size_t pitch;
  OK(cudaMallocPitch(&image, &pitch, 100, 10));
  for (int i = 0; i < 1000; i++) rows[i] = i;
  OK(cudaMemcpy2D(image, pitch, rows, 100, 100, 10, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2D(back, 100, image, pitch, 100, 10, cudaMemcpyDeviceToHost));
  EXPECT(!memcmp(rows, back, 1000));
  OK(cudaMemset2D(image, pitch, 7, 50, 10));
  OK(cudaMemcpy2D(back, 100, image, pitch, 100, 10, cudaMemcpyDeviceToHost));
  EXPECT(back[49] == 7 && back[50] == rows[50]);
  cudaExtent e = make_cudaExtent(64, 4, 3);
  cudaPitchedPtr box;
  OK(cudaMalloc3D(&box, e));
  std::vector<char> from(768, 5), to(768);
  cudaMemcpy3DParms c = {};
  c.srcPtr = make_cudaPitchedPtr(from.data(), 64, 64, 4), c.dstPtr = box, c.extent = e, c.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&c));
  c.srcPtr = box, c.dstPtr = make_cudaPitchedPtr(to.data(), 64, 64, 4), c.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&c));
  EXPECT(from == to);
  EXPECT(cudaMemcpy(image, rows, 10 * pitch + 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaFree(image + 1) == cudaErrorInvalidValue);
  // Sizes that wrap around to small ones.
  const size_t huge = ~(size_t)0;
  char* none;
  EXPECT(cudaMallocPitch(&none, &pitch, huge, 1) == cudaErrorMemoryAllocation);
  EXPECT(cudaMallocPitch(&none, &pitch, 512, huge / 512 + 2) == cudaErrorMemoryAllocation);
  EXPECT(cudaMalloc3D(&box, make_cudaExtent(64, huge / 2 + 2, 2)) == cudaErrorMemoryAllocation);
  EXPECT(cudaMemset2D(image, huge / 4 + 1, 7, 50, 5) == cudaErrorInvalidValue);
  EXPECT(cudaMemset2DAsync(image, huge / 4 + 1, 7, 50, 5) == cudaErrorInvalidValue);
  cudaGetLastError();
}

void symbols() {
  int t[64], nines[4] = {9, 9, 9, 9};
  write_third<<<1, 1>>>();
  OK(cudaMemcpyFromSymbol(t, table, sizeof t));
  EXPECT(t[2] == 0 && t[3] == 1);
  OK(cudaMemcpyToSymbol(constants, nines, sizeof nines));
  write_third<<<1, 1>>>();
  OK(cudaMemcpyFromSymbol(t, table, 4, 12));
  EXPECT(t[0] == 9);
  void* address;
  size_t size;
  OK(cudaGetSymbolAddress(&address, table));
  OK(cudaGetSymbolSize(&size, table));
  EXPECT(size == 256);
}

void memory() {
  int *managed, *pinned, *device, host[256];
  OK(cudaMallocManaged(&managed, 400));
  OK(cudaMallocHost(&pinned, 400));
  OK(cudaMalloc(&device, 400));
  cudaPointerAttributes at;
  OK(cudaPointerGetAttributes(&at, device));
  EXPECT(at.type == cudaMemoryTypeDevice);
  OK(cudaPointerGetAttributes(&at, managed));
  EXPECT(at.type == cudaMemoryTypeManaged);
  OK(cudaPointerGetAttributes(&at, host));
  EXPECT(at.type == cudaMemoryTypeUnregistered);
  fill<<<1, 128>>>(pinned, 3, 100);
  OK(cudaDeviceSynchronize());
  EXPECT(pinned[99] == 3);
  OK(cudaHostRegister(host, sizeof host, cudaHostRegisterMapped));
  fill<<<1, 256>>>(host, 77, 256);
  OK(cudaDeviceSynchronize());
  EXPECT(host[255] == 77);
  unsigned flags = 9;
  void* mapped;
  OK(cudaHostAlloc(&mapped, 64, cudaHostAllocPortable | cudaHostAllocMapped));
  OK(cudaHostGetFlags(&flags, (char*)mapped + 8));
  EXPECT(flags == (cudaHostAllocPortable | cudaHostAllocMapped));
  EXPECT(cudaHostRegister(mapped, 64, 0) == cudaErrorHostMemoryAlreadyRegistered);
  EXPECT(cudaHostRegister(host + 1, 64, 0) == cudaErrorHostMemoryAlreadyRegistered);
  OK(cudaFreeHost(mapped));
  OK(cudaHostGetFlags(&flags, host));
  EXPECT(flags == cudaHostRegisterMapped);
  OK(cudaPointerGetAttributes(&at, host + 3));
  EXPECT(at.type == cudaMemoryTypeHost && at.device == 0);
  EXPECT(at.devicePointer == host + 3 && at.hostPointer == host + 3);
  OK(cudaHostUnregister(host));
  OK(cudaPointerGetAttributes(&at, host));
  EXPECT(at.type == cudaMemoryTypeUnregistered && !at.devicePointer);
  EXPECT(cudaHostGetFlags(&flags, host) == cudaErrorInvalidValue);
  EXPECT(cudaHostGetFlags(&flags, device) == cudaErrorInvalidValue);
  OK(cudaHostGetFlags(&flags, pinned));
  EXPECT(flags == 0);
  int *of_device, *of_both;
  OK(cudaMalloc(&of_device, 64));
  OK(cudaMallocManaged(&of_both, 64));
  EXPECT(cudaFree(pinned) == cudaErrorInvalidValue && cudaFreeHost(of_device) == cudaErrorInvalidValue);
  EXPECT(cudaFreeHost(of_both) == cudaErrorInvalidValue && cudaFreeHost(nullptr) == cudaSuccess);
  fill<<<1, 32>>>(pinned, 4, 1), fill<<<1, 32>>>(of_device, 4, 1), fill<<<1, 32>>>(of_both, 4, 1);
  OK(cudaDeviceSynchronize());
  EXPECT(pinned[0] == 4 && *of_both == 4);
  OK(cudaFreeHost(pinned));
  OK(cudaFree(of_device));
  OK(cudaFree(of_both));
  cudaGetLastError();
  void* huge;
  EXPECT(cudaMalloc(&huge, size_t{1} << 45) == cudaErrorMemoryAllocation);
  EXPECT(!strcmp(cudaGetErrorString(cudaGetLastError()), "out of memory"));
  int** blocks;
  OK(cudaMallocManaged(&blocks, 32 * sizeof(int*)));
  heap<<<1, 32>>>(blocks);
  OK(cudaDeviceSynchronize());
  EXPECT(*blocks[31] == 31);
}

void launches() {
  int *data, *sum, n = 100;
  double* out;
  OK(cudaMallocManaged(&data, n * sizeof(int)));
  OK(cudaMallocManaged(&sum, sizeof(int)));
  OK(cudaMallocManaged(&out, sizeof(double)));
  *sum = 0;
  fill<<<1, 128>>>(data, 1, n);
  void* arguments[] = {&data, &sum};
  OK(cudaLaunchCooperativeKernel((void*)grid_sum, dim3(n), dim3(1), arguments, 0, 0));
  OK(cudaDeviceSynchronize());
  EXPECT(data[0] == 100 && data[99] == 100);
  // Blocks that wait for each other must all be resident.
  int resident, sms;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, grid_sum, 1, 0));
  OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const dim3 many(resident * sms + 1);
  EXPECT(cudaLaunchCooperativeKernel((void*)grid_sum, many, dim3(1), arguments, 0, 0) ==
         cudaErrorCooperativeLaunchTooLarge);
  cudaLaunchAttribute together;
  together.id = cudaLaunchAttributeCooperative, together.val.cooperative = 1;
  cudaLaunchConfig_t too_large = {};
  too_large.gridDim = many, too_large.blockDim = 1, too_large.attrs = &together, too_large.numAttrs = 1;
  EXPECT(cudaLaunchKernelExC(&too_large, (void*)grid_sum, arguments) == cudaErrorCooperativeLaunchTooLarge);
  EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
  EXPECT(data[0] == 100 && data[99] == 100);
  Big big{};
  big.d = 0.5, big.c = 2, big.v[19] = 100;
  structs<<<1, 1>>>(1, big, 1000, out);
  OK(cudaDeviceSynchronize());
  EXPECT(*out == 1103.5);
  cudaLaunchConfig_t config = {};
  config.gridDim = 1, config.blockDim = 32;
  OK(cudaLaunchKernelEx(&config, fill<double>, out, 2.0, 1));
  EXPECT(*out == 2.0);
  fill<<<1, 2048>>>(data, 1, 1);
  EXPECT(cudaGetLastError() == cudaErrorInvalidConfiguration);
  for (int i = 0; i < n; i++) data[i] = i;
  reverse<<<1, 100, 400>>>(data);
  OK(cudaDeviceSynchronize());
  EXPECT(data[0] == 99 && data[99] == 0);
  reverse<<<1, 100, 90000>>>(data);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
  reverse<<<1, 100, 90000>>>(data);
  OK(cudaGetLastError());
  // Of 48 KiB static memory leaves 16, unless the program asks for more.
  cudaFuncAttributes much;
  OK(cudaFuncGetAttributes(&much, much_shared));
  EXPECT(much.maxDynamicSharedSizeBytes == 16384);
  much_shared<<<1, 32, 16384>>>(data);
  OK(cudaGetLastError());
  much_shared<<<1, 32, 16385>>>(data);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 20000));
  much_shared<<<1, 32, 20000>>>(data);
  OK(cudaGetLastError());
  EXPECT(cudaFuncSetAttribute(much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20) == cudaErrorInvalidValue);
  int blocks, least, best;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reverse, 256, 1024));
  EXPECT(blocks == 8);
  OK(cudaOccupancyMaxPotentialBlockSize(&least, &best, reverse, 0, 0));
  EXPECT(best == 1024);
  cudaFuncAttributes a;
  OK(cudaFuncGetAttributes(&a, reverse));
  EXPECT(a.maxThreadsPerBlock == 1024 && a.maxDynamicSharedSizeBytes == 100000);
  EXPECT(a.constSizeBytes >= sizeof constants);
}

void threads() {
  std::vector<std::thread> all;
  for (int i = 0; i < 4; i++)
    all.emplace_back([i] {
      int* mine;
      OK(cudaMallocManaged(&mine, 4096));
      fill<<<4, 256>>>(mine, i, 1024);
      OK(cudaDeviceSynchronize());
      EXPECT(mine[1023] == i);
    });
  for (std::thread& t : all) t.join();
}

int main() {
  devices(), streams(), copies(), symbols(), memory(), launches(), threads(), surfaces(), pools();
  OK(cudaDeviceReset());
  printf("failures %d\n", failures);
}
"""


class RuntimeCalls(program.ProgramTest):
    def check(self, *flags):
        source = self.write("api.cu", SOURCE)
        done = subprocess.run([NVCC, "-std=c++17", "-o", self.path("api"), *flags, source], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        outcome = self.succeeds(["record", "-o", self.path("T.h5"), "--", self.path("api")])
        self.assertEqual(outcome.out, "failures 0\n", outcome)

    def test_every_answer_is_right_with_the_static_runtime(self):
        self.check()

    def test_every_answer_is_right_with_the_shared_runtime_and_optimised_host_code(self):
        self.check("-cudart", "shared", "-O3")

    def test_every_answer_is_right_when_each_thread_has_its_own_default_stream(self):
        self.check("-default-stream", "per-thread")

    def test_every_answer_is_right_with_debug_code_and_for_a_newer_gpu(self):
        self.check("-G", "-gencode", "arch=compute_90,code=compute_90")


if __name__ == "__main__":
    if not NVCC or not os.path.exists(RUNTIME):
        sys.exit(program.SKIPPED)
    program.main()
