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


if __name__ == "__main__":
    if not CXX or not os.path.exists(recorded_program.RUNTIME):
        sys.exit(program.SKIPPED)
    program.main()
