"""The driver API beside what CUDA's toolkit has: linked by nvcc, with nvrtc, and with the runtime in one program."""

import os
import sys

import program
import recorded_program
from recorded_program import RecordTest

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


class Beside(RecordTest):
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
    if not os.path.exists(recorded_program.RUNTIME):
        sys.exit(program.SKIPPED)
    program.main()
