"""Programs of the driver API, which find it under its name, and load PTX while they run."""

import os
import shutil
import subprocess
import sys

import program
import recorded_program
from recorded_program import RecordTest

HERE = os.path.dirname(os.path.abspath(__file__))
CXX = shutil.which("c++")

# Declares what it uses, so that it compiles without CUDA.
PROGRAM = r"""
#include <dlfcn.h>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

typedef unsigned long long Pointer;
typedef void* Handle;
static int failures = 0;
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); ++failures; } } while (0)
#define OK(x) do { int s = (x); if (s) { printf("line %d: %s is %d\n", __LINE__, #x, s); ++failures; } } while (0)

static int (*proc)(const char*, void**, int, unsigned long long, int*);
template <typename F> struct Function;
template <typename... A> struct Function<int(A...)> {
  explicit Function(const char* name, int version = 12040) {
    void* p = nullptr;
    OK(proc(name, &p, version, 0, nullptr));
    f = (int (*)(A...))p;
  }
  int operator()(A... a) const { return f(a...); }
  int (*f)(A...);
};
#define DRIVER(name, ...) Function<int(__VA_ARGS__)> name(#name)

int main(int, char** argv) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) { printf("%s\n", dlerror()); return 1; }
  proc = (decltype(proc))dlsym(library, "cuGetProcAddress_v2");
  DRIVER(cuInit, unsigned);
  DRIVER(cuDeviceGetCount, int*);
  DRIVER(cuDeviceGet, int*, int);
  DRIVER(cuDeviceGetAttribute, int*, int, int);
  DRIVER(cuDeviceGetProperties, int*, int);
  DRIVER(cuDevicePrimaryCtxRetain, Handle*, int);
  DRIVER(cuCtxSetCurrent, Handle);
  DRIVER(cuCtxGetCurrent, Handle*);
  Function<int(Handle*, unsigned, int)> cuCtxCreate("cuCtxCreate", 10000);  // got more arguments later
  DRIVER(cuCtxPopCurrent, Handle*);
  DRIVER(cuCtxDestroy, Handle);
  DRIVER(cuModuleLoadData, Handle*, const void*);
  DRIVER(cuModuleLoadDataEx, Handle*, const void*, unsigned, int*, void**);
  DRIVER(cuModuleLoad, Handle*, const char*);
  DRIVER(cuModuleGetFunction, Handle*, Handle, const char*);
  DRIVER(cuModuleGetGlobal, Pointer*, size_t*, Handle, const char*);
  DRIVER(cuModuleUnload, Handle);
  DRIVER(cuLibraryLoadData, Handle*, const void*, int*, void**, unsigned, int*, void**, unsigned);
  DRIVER(cuLibraryGetKernel, Handle*, Handle, const char*);
  DRIVER(cuKernelGetFunction, Handle*, Handle);
  DRIVER(cuFuncGetAttribute, int*, int, Handle);
  DRIVER(cuFuncSetAttribute, Handle, int, int);
  DRIVER(cuFuncSetCacheConfig, Handle, int);
  DRIVER(cuKernelSetCacheConfig, Handle, int, int);
  DRIVER(cuCtxSetCacheConfig, int);
  DRIVER(cuFuncSetSharedMemConfig, Handle, int);
  DRIVER(cuCtxSetSharedMemConfig, int);
  DRIVER(cuCtxGetSharedMemConfig, int*);
  DRIVER(cuCtxAttach, Handle*, unsigned);
  DRIVER(cuCtxDetach, Handle);
  DRIVER(cuLaunchKernel, Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**);
  DRIVER(cuLaunchCooperativeKernel, Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle,
         void**);
  DRIVER(cuLaunchKernelEx, const void*, Handle, void**, void**);
  DRIVER(cuFuncSetBlockShape, Handle, int, int, int);
  DRIVER(cuFuncSetSharedSize, Handle, unsigned);
  DRIVER(cuParamSetSize, Handle, unsigned);
  DRIVER(cuParamSeti, Handle, int, unsigned);
  DRIVER(cuParamSetv, Handle, int, void*, unsigned);
  DRIVER(cuLaunch, Handle);
  DRIVER(cuLaunchGrid, Handle, int, int);
  DRIVER(cuLaunchGridAsync, Handle, int, int, Handle);
  DRIVER(cuMemAlloc, Pointer*, size_t);
  DRIVER(cuMemFree, Pointer);
  DRIVER(cuMemcpyHtoD, Pointer, const void*, size_t);
  DRIVER(cuMemcpyDtoHAsync, void*, Pointer, size_t, Handle);
  DRIVER(cuMemsetD32, Pointer, unsigned, size_t);
  DRIVER(cuMemsetD16Async, Pointer, unsigned short, size_t, Handle);
  DRIVER(cuPointerGetAttribute, void*, int, Pointer);
  DRIVER(cuStreamCreate, Handle*, unsigned);
  DRIVER(cuStreamSynchronize, Handle);
  DRIVER(cuEventCreate, Handle*, unsigned);
  DRIVER(cuEventRecord, Handle, Handle);
  DRIVER(cuEventElapsedTime, float*, Handle, Handle);
  DRIVER(cuGetErrorName, int, const char**);
  DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor, int*, Handle, int, size_t);

  int count = 0, device = -1, sms = 0;
  OK(cuInit(0));
  OK(cuDeviceGetCount(&count));
  OK(cuDeviceGet(&device, 0));
  OK(cuDeviceGetAttribute(&sms, 16, device));
  EXPECT(count == 1 && device == 0 && sms == 108);
  EXPECT(cuDeviceGet(&device, 1) == 101);
  int properties[15] = {}, alignment = 0;  // CUdevprop
  OK(cuDeviceGetProperties(properties, 0));
  OK(cuDeviceGetAttribute(&alignment, 14, 0));
  EXPECT(properties[0] == 1024 && properties[9] == 32 && properties[13] == alignment && properties[14] == 0);
  EXPECT(cuDeviceGetProperties(properties, 1) == 101);
  Handle context = nullptr, own = nullptr, now = nullptr;
  OK(cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuCtxSetCurrent(context));
  OK(cuCtxCreate(&own, 0, 0));
  OK(cuCtxGetCurrent(&now));
  EXPECT(now == own && own != context);
  now = nullptr;
  OK(cuCtxAttach(&now, 0));
  EXPECT(now == own && cuCtxAttach(&now, 1) == 1);
  OK(cuCtxDetach(own));
  OK(cuCtxPopCurrent(&now));
  EXPECT(cuCtxDetach(own) == 201);  // not current any more
  OK(cuCtxDestroy(own));
  OK(cuCtxGetCurrent(&now));
  EXPECT(now == context);
  OK(cuCtxCreate(&own, 0, 0));
  OK(cuCtxDetach(own));
  OK(cuCtxGetCurrent(&now));
  EXPECT(now == context && cuCtxSetCurrent(own) == 201);

  std::ifstream in(argv[1]);
  const std::string ptx{std::istreambuf_iterator<char>(in), {}};
  Handle module = nullptr, add = nullptr, sum = nullptr, lib = nullptr, kernel = nullptr, stream = nullptr;
  OK(cuModuleLoadData(&module, ptx.c_str()));
  OK(cuModuleGetFunction(&add, module, "add_kernel"));
  EXPECT(cuModuleGetFunction(&sum, module, "no_such_kernel") == 500);
  OK(cuLibraryLoadData(&lib, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cuLibraryGetKernel(&kernel, lib, "sum_kernel"));
  OK(cuKernelGetFunction(&sum, kernel));
  int threads = 0, blocks = 0;
  OK(cuFuncGetAttribute(&threads, 0, add));
  EXPECT(threads == 128);
  OK(cuFuncSetAttribute(sum, 8, 64 << 10));
  for (int c : {0, 1, 2, 3}) {
    OK(cuFuncSetCacheConfig(add, c));
    OK(cuKernelSetCacheConfig(kernel, c, 0));
    OK(cuCtxSetCacheConfig(c));
  }
  for (int c : {-1, 4, 9}) {
    EXPECT(cuFuncSetCacheConfig(add, c) == 1);
    EXPECT(cuKernelSetCacheConfig(kernel, c, 0) == 1);
    EXPECT(cuCtxSetCacheConfig(c) == 1);
  }
  EXPECT(cuFuncSetCacheConfig(&count, 1) == 400);
  for (int c : {-1, 0, 1, 2, 3}) {  // of banks
    const int status = c < 0 || c > 2;
    EXPECT(cuFuncSetSharedMemConfig(add, c) == status && cuCtxSetSharedMemConfig(c) == status);
  }
  EXPECT(cuFuncSetSharedMemConfig(&count, 1) == 400 && cuCtxGetSharedMemConfig(&count) == 0 && count == 1);
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 128, 0));
  EXPECT(blocks == 16);

  const int n = 5000;
  std::vector<float> a(n), b(n), c(n + 4), sums(n / 128);
  for (int i = 0; i < n; i++) a[i] = i, b[i] = 3 * i;
  Pointer da = 0, db = 0, dc = 0, ds = 0;
  OK(cuMemAlloc(&da, n * 4));
  OK(cuMemAlloc(&db, n * 4));
  OK(cuMemAlloc(&dc, (n + 4) * 4));
  OK(cuMemAlloc(&ds, n / 128 * 4));
  OK(cuMemcpyHtoD(da, a.data(), n * 4));
  OK(cuMemcpyHtoD(db, b.data(), n * 4));
  OK(cuMemsetD32(dc, 0x3f800000, n + 4));
  OK(cuStreamCreate(&stream, 1));
  Handle start, end;
  OK(cuEventCreate(&start, 0));
  OK(cuEventCreate(&end, 0));
  OK(cuEventRecord(start, stream));
  int many = n;
  void* arguments[] = {&da, &db, &dc, &many};
  OK(cuLaunchKernel(add, (n + 511) / 512, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr));
  struct { Pointer in, out; } block = {dc, ds};
  size_t size = sizeof block;
  void* extra[] = {(void*)1, &block, (void*)2, &size, nullptr};
  OK(cuLaunchKernel(sum, n / 128, 1, 1, 128, 1, 1, 16, stream, nullptr, extra));
  OK(cuEventRecord(end, stream));
  OK(cuMemcpyDtoHAsync(c.data(), dc, (n + 4) * 4, stream));
  OK(cuMemcpyDtoHAsync(sums.data(), ds, sums.size() * 4, stream));
  OK(cuStreamSynchronize(stream));
  float ms = 0;
  OK(cuEventElapsedTime(&ms, start, end));
  EXPECT(ms > 0);
  int wrong = 0;
  for (int i = 0; i < n; i++) wrong += c[i] != 4.f * i;
  for (int s = 0; s < n / 128; s++) {
    float expected = 0;
    for (int i = 0; i < 128; i++) expected += 4.f * (s * 128 + i);
    wrong += sums[s] != expected;
  }
  EXPECT(wrong == 0 && c[n] == 1);

  struct { unsigned grid[3], block[3], shared; Handle stream; void* attributes; unsigned count; } config =
    {{1, 1, 1}, {128, 1, 1}, 0, stream, nullptr, 0};
  OK(cuLaunchKernelEx(&config, add, arguments, nullptr));
  Pointer variable = 0;
  unsigned done = 0;
  OK(cuModuleGetGlobal(&variable, &size, module, "blocks_done"));
  OK(cuMemcpyDtoHAsync(&done, variable, 4, stream));
  EXPECT(size == 4 && done == 11);
  OK(cuMemsetD16Async(ds, 0x1234, 4, stream));
  unsigned short halves[4];
  OK(cuMemcpyDtoHAsync(halves, ds, 8, stream));
  EXPECT(halves[3] == 0x1234);
  Pointer same = 0;
  int type = 0;
  OK(cuPointerGetAttribute(&same, 3, da));
  OK(cuPointerGetAttribute(&type, 2, da));
  EXPECT(same == da && type == 2);
  EXPECT(cuPointerGetAttribute(&type, 2, (Pointer)&type) == 1);

  // As before CUDA 4: block, shared memory and parameters are set by calls of their own.
  OK(cuMemsetD32(dc, 0, n));
  OK(cuFuncSetBlockShape(add, 128, 1, 1));
  OK(cuParamSetv(add, 0, &da, 8));
  OK(cuParamSetv(add, 8, &db, 8));
  OK(cuParamSetv(add, 16, &dc, 8));
  EXPECT(cuLaunchGrid(add, 1, 1) == 1);  // a parameter is missing
  OK(cuParamSeti(add, 24, n));
  OK(cuParamSetSize(add, 28));
  OK(cuLaunch(add));
  OK(cuLaunchGrid(add, (n + 511) / 512, 1));
  OK(cuFuncSetBlockShape(sum, 128, 1, 1));
  OK(cuFuncSetSharedSize(sum, 16));
  OK(cuParamSetv(sum, 0, &block, sizeof block));
  OK(cuLaunchGridAsync(sum, n / 128, 1, stream));
  OK(cuMemcpyDtoHAsync(sums.data(), ds, sums.size() * 4, stream));
  for (int s = 0; s < n / 128; s++) wrong += sums[s] != 4.f * (128 * 128 * s + 127 * 64);
  EXPECT(wrong == 0 && cuFuncSetBlockShape(add, 0, 1, 1) == 1 && cuLaunchGrid(add, 0, 1) == 1);
  EXPECT(cuParamSeti(add, 4093, 1) == 1 && cuParamSeti(add, -4, 1) == 1 && cuParamSetSize(add, 4097) == 1);
  EXPECT(cuLaunch(&count) == 400);

  // What is wrong: too many threads, PTX that is none, machine code, a file that is not there, a module that is gone.
  EXPECT(cuLaunchKernel(add, 1, 1, 1, 2048, 1, 1, 0, stream, arguments, nullptr) == 1);
  EXPECT(cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr) == 1);  // .reqntid 128
  char log[200] = "";
  int options[] = {5, 6};
  void* values[] = {log, (void*)sizeof log};
  Handle bad = nullptr;
  const char* wrong_ptx = ".version 8.0\n.target sm_80\n.visible .entry k() { mov.u32 %undeclared, %tid.x; }";
  EXPECT(cuModuleLoadDataEx(&bad, wrong_ptx, 2, options, values) == 218);
  EXPECT(strstr(log, "undeclared"));
  EXPECT(cuModuleLoadData(&bad, "\177ELF machine code") == 209);
  const char* newer_ptx = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }";
  EXPECT(cuModuleLoadDataEx(&bad, newer_ptx, 2, options, values) == 209);
  EXPECT(strstr(log, "compute_90, which a GPU of compute capability 8.0 cannot run"));
  EXPECT(cuLaunchCooperativeKernel(add, 108 * 16 + 1, 1, 1, 128, 1, 1, 0, stream, arguments) == 720);
  Handle untimed = nullptr;
  OK(cuEventCreate(&untimed, 2));
  OK(cuEventRecord(untimed, stream));
  EXPECT(cuEventElapsedTime(&ms, start, untimed) == 400);
  EXPECT(cuModuleLoad(&bad, "/no/such/file") == 301);
  OK(cuModuleUnload(module));
  EXPECT(cuLaunchKernel(add, 1, 1, 1, 128, 1, 1, 0, stream, arguments, nullptr) == 400);
  EXPECT(cuModuleUnload(module) == 400);
  const char* name = nullptr;
  OK(cuGetErrorName(400, &name));
  EXPECT(!strcmp(name, "CUDA_ERROR_INVALID_HANDLE"));
  void* none = nullptr;
  EXPECT(proc("cuNoSuchFunction", &none, 12040, 0, nullptr) == 500);
  OK(cuMemFree(da));
  EXPECT(cuMemFree(da) == 1);
  printf("failures %d\n", failures);
}
"""

# Compiles for a machine, as many programs do, and takes the machine code.
FOR_A_MACHINE = r"""
#include <cuda.h>
#include <nvrtc.h>
#include <cstdio>
#include <vector>
const char* text = "extern \"C\" __global__ void fill(int* p, int value) { p[threadIdx.x] = value; }";
int main() {
  nvrtcProgram program;
  const char* options[] = {"--gpu-architecture=sm_90"};
  size_t size = 0;
  if (nvrtcCreateProgram(&program, text, "fill.cu", 0, nullptr, nullptr) || nvrtcCompileProgram(program, 1, options) ||
      nvrtcGetCUBINSize(program, &size)) return 1;
  std::vector<char> code(size);
  if (nvrtcGetCUBIN(program, code.data())) return 2;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CUdeviceptr p;
  int value = 7, h[32] = {};
  if (cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context)) return 3;
  if (cuModuleLoadData(&module, code.data()) || cuModuleGetFunction(&function, module, "fill")) return 4;
  if (cuMemAlloc(&p, sizeof h)) return 5;
  void* arguments[] = {&p, &value};
  if (cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr) || cuMemcpyDtoH(h, p, sizeof h)) return 6;
  printf("%d %d\n", h[0], h[31]);
}
"""

# Two objects, one of which calls a function of the other; the image is copied, as programs that cache code do.
LINKED = r"""
#include <cuda.h>
#include <cstdio>
#include <cstring>
#include <vector>
#define HEAD ".version 7.0\n.target sm_75\n.address_size 64\n"
const char* callee = HEAD R"(
.visible .func (.param .b32 out) twice(.param .b32 in) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [in];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [out], %r2;
  ret;
})";
const char* caller = HEAD R"(
.extern .func (.param .b32 out) twice(.param .b32 in);
.visible .entry apply(.param .u64 p) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r1;
    call (b), twice, (a);
    ld.param.b32 %r2, [b]; }
  st.global.u32 [%rd1], %r2;
  ret;
})";
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); return 1; } } while (0)
int main() {
  CUcontext context;
  CUlinkState link;
  CUmodule module;
  CUfunction apply;
  CUdeviceptr p;
  char log[200] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void*)sizeof log}, *image = nullptr;
  size_t size = 0;
  EXPECT(!cuInit(0) && !cuDevicePrimaryCtxRetain(&context, 0) && !cuCtxSetCurrent(context));
  EXPECT(!cuLinkCreate(2, options, values, &link));
  EXPECT(cuLinkComplete(link, &image, &size) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)"nonsense", 9, "bad", 0, 0, 0) == CUDA_ERROR_INVALID_PTX && log[0]);
  EXPECT(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, (void*)"\177ELF", 5, "code", 0, 0, 0) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/no/such/file", 0, 0, 0) == CUDA_ERROR_FILE_NOT_FOUND);
  EXPECT(!cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)caller, strlen(caller) + 1, "caller", 0, 0, 0) && !log[0]);
  EXPECT(!cuLinkAddData(link, CU_JIT_INPUT_PTX, (void*)callee, strlen(callee) + 1, "callee", 0, 0, 0));
  EXPECT(!cuLinkComplete(link, &image, &size));
  std::vector<char> kept((char*)image, (char*)image + size);
  EXPECT(!cuLinkDestroy(link) && cuLinkDestroy(link) == CUDA_ERROR_INVALID_HANDLE);
  EXPECT(!cuModuleLoadData(&module, kept.data()) && !cuModuleGetFunction(&apply, module, "apply"));
  int value = 21;
  EXPECT(!cuMemAlloc(&p, 4) && !cuMemcpyHtoD(p, &value, 4));
  void* arguments[] = {&p};
  EXPECT(!cuLaunchKernel(apply, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0) && !cuMemcpyDtoH(&value, p, 4));
  printf("%d\n", value);
}
"""

# The runtime and the driver share streams, memory and kernels; nvrtc is the user's own.
MIXED = r"""
#include <cuda.h>
#include <nvrtc.h>
#include <cstdio>
#include <string>
#include <vector>
const char* text = "extern \"C\" __global__ void scale(float* p, float by) { p[blockIdx.x * blockDim.x + threadIdx.x] *= by; }";
int main() {
  nvrtcProgram program;
  const char* options[] = {"--gpu-architecture=compute_80"};
  size_t size;
  if (nvrtcCreateProgram(&program, text, "scale.cu", 0, nullptr, nullptr) || nvrtcCompileProgram(program, 1, options) ||
      nvrtcGetPTXSize(program, &size)) return 1;
  std::string ptx(size, 0);
  nvrtcGetPTX(program, &ptx[0]);
  float *p, h[64], by = 3;
  cudaMalloc(&p, sizeof h);
  for (float& v : h) v = 2;
  cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
  CUmodule module;
  CUfunction function;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cuInit(0);
  if (cuModuleLoadData(&module, ptx.c_str()) || cuModuleGetFunction(&function, module, "scale")) return 2;
  void* arguments[] = {&p, &by};
  if (cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr)) return 3;
  cudaLibrary_t library;
  cudaKernel_t kernel;
  if (cudaLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0) ||
      cudaLibraryGetKernel(&kernel, library, "scale")) return 4;
  if (cudaLaunchKernel((const void*)kernel, dim3(2), dim3(32), arguments, 0, stream)) return 5;
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  cudaLibraryUnload(library);
  printf("%g %g %d\n", h[0], h[63], (int)cudaGetLastError());
}
"""


# What the runtime does for the driver: its calls make the primary context current, and only its calls.
CONTEXT = r"""
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_runtime.h>
__global__ void go(int* a) { *a = 1; }
int main() {
  CUcontext context = nullptr;
  CUdevice device = 7;
  cuInit(0);
  const bool none = cuCtxGetCurrent(&context) == 0 && !context && cuCtxGetDevice(&device) == CUDA_ERROR_INVALID_CONTEXT;
  int* a;
  cudaMalloc(&a, 4);
  const bool primary = cuCtxGetDevice(&device) == 0 && device == 0 && cuCtxGetCurrent(&context) == 0 && context;
  go<<<1, 1>>>(a);
  cudaDeviceSynchronize();
  CUcontext of_memory = nullptr;
  const bool owner = cuPointerGetAttribute(&of_memory, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)a) == 0 && of_memory == context;
  unsigned type = 77, managed = 77;
  CUdeviceptr start = 77;
  void* outputs[] = {&type, &managed, &start, &of_memory};
  CUpointer_attribute asked[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_CONTEXT};
  const bool foreign = cuPointerGetAttributes(4, asked, outputs, (CUdeviceptr)malloc(64)) == 0 && type == 0 && managed == 0 &&
                       start == 0 && of_memory == nullptr;
  const bool known = cuPointerGetAttributes(4, asked, outputs, (CUdeviceptr)a) == 0 && type == CU_MEMORYTYPE_DEVICE &&
                     start == (CUdeviceptr)a && of_memory == context;
  std::printf("%d %d %d %d %d\n", none, primary, owner, foreign, known);
}
"""


class Driver(RecordTest):
    def test_a_program_that_opens_the_driver_by_name_and_loads_ptx(self):
        source = self.write("driver.cpp", PROGRAM)
        done = subprocess.run([CXX, "-std=c++17", "-o", self.path("driver"), source, "-ldl"], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        outcome = self.record(self.path("driver"), os.path.join(HERE, "driver_kernels.ptx"),
                              options=["--device", "sm_80,sms=108"])
        self.assertEqual((outcome.code, outcome.out), (0, "failures 0\n"), outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 6)
        self.assertIn("machine code", outcome.err)
        self.simulated()

    def with_nvrtc(self, source, printed, kernels):
        if not recorded_program.NVCC:
            self.skipTest("no nvcc")
        lib = os.path.join(os.path.dirname(os.path.realpath(recorded_program.NVCC)), "..", "lib64")
        binary = self.compiled(source, "-L" + os.path.join(lib, "stubs"), "-lcuda", "-lnvrtc",
                               "-Xlinker", "-rpath", "-Xlinker", os.path.realpath(lib))
        outcome = self.record(binary)
        self.assertEqual((outcome.code, outcome.out), (0, printed), outcome)
        self.assertEqual(self.kernels_in_trace(outcome), kernels)

    def test_objects_that_a_program_links_itself(self):
        self.with_nvrtc(LINKED, "42\n", 1)

    def test_nvrtc_and_the_driver_beside_the_runtime(self):
        self.with_nvrtc(MIXED, "18 18 0\n", 2)

    def test_the_runtime_makes_its_context_current_and_pointers_have_attributes(self):
        self.with_nvrtc(CONTEXT, "1 1 1 1 1\n", 1)

    def test_nvrtc_hands_out_ptx_where_the_program_asks_for_machine_code(self):
        self.with_nvrtc(FOR_A_MACHINE, "7 7\n", 1)

    def test_a_program_that_nvcc_links_without_kernels_and_without_the_runtime(self):
        if not recorded_program.NVCC:
            self.skipTest("no nvcc")
        lib = os.path.join(os.path.dirname(os.path.realpath(recorded_program.NVCC)), "..", "lib64")
        source = self.write("plain.cpp", "extern \"C\" int cuInit(unsigned);\nint main() { return cuInit(0); }\n")
        binary = self.nvcc(["-o", self.path("plain"), source, "-L" + os.path.join(lib, "stubs"), "-lcuda"], self.path("plain"))
        outcome = self.record(binary)
        self.assertIn("launched no kernel", outcome.err, outcome)


if __name__ == "__main__":
    if not CXX or not os.path.exists(recorded_program.RUNTIME):
        sys.exit(program.SKIPPED)
    program.main()
