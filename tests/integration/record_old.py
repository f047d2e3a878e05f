"""Programs older than CUDA 13 with `atoll_cuda_compat.h`: they get what they miss, and nothing else moves."""

import os

import program
import recorded_program
from record import VECTOR_ADD
from recorded_program import RecordTest

COMPAT = os.path.join(program.SOURCE, "inputs", "cuda", "atoll_cuda_compat.h")

TEXTURE = r"""
#include <cstdio>
texture<float, 1, cudaReadModeElementType> line;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> image;
__global__ void fetch(float* out) { int i = threadIdx.x; out[i] = tex1Dfetch(line, i) + tex2D(image, float(i), 1.f); }
int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  float h[32], *d, *out;
  unsigned char bytes[128];
  for (int i = 0; i < 32; i++) h[i] = i;
  for (int i = 0; i < 128; i++) bytes[i] = i / 32 == 1 ? 255 : 0;
  cudaMalloc(&d, 128); cudaMalloc(&out, 128);
  cudaMemcpy(d, h, 128, cudaMemcpyHostToDevice);
  cudaBindTexture(0, line, d, 128);
  cudaArray* array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
  cudaMallocArray(&array, &format, 32, 4);
  cudaMemcpy2DToArray(array, 0, 0, bytes, 32, 32, 4, cudaMemcpyHostToDevice);
  cudaBindTextureToArray(image, array, format);
  fetch<<<1, 32>>>(out);
  cudaThreadSynchronize();
  cudaMemcpy(h, out, 128, cudaMemcpyDeviceToHost);
  printf("%g %g %d\n", h[0], h[31], properties.clockRate > 0);
}
"""

WITHOUT_MASK = r"""
#include <cstdio>
__global__ void k(int* out, float* values) {
  int v = threadIdx.x;
  out[v] = __shfl(v, 3) + __shfl_up(v, 1) * 100 + __shfl_down(v, 2, 16) * 10000 + __shfl_xor(v, 1) * 1000000;
  values[v] = __shfl_xor(1.5f * v, 4);
  if (__any(v == 3) && __all(v < 40) && __ballot(v < 2) == 3) values[v] += 50;
  if (__any(v & 16) && !__all(v & 16) && __ballot(v & 16) == 0xffff0000u) values[v] += 50;  // ints, by chance as CUDA's own
}
int main() {
  int *out, bad = 0;
  float* values;
  cudaMallocManaged(&out, 128); cudaMallocManaged(&values, 128);
  k<<<1, 32>>>(out, values);
  cudaDeviceSynchronize();
  for (int i = 0; i < 32; ++i) {
    int down = (i & 15) + 2 < 16 ? i + 2 : i;
    bad += out[i] != 3 + (i ? i - 1 : 0) * 100 + down * 10000 + (i ^ 1) * 1000000 || values[i] != 100 + 1.5f * (i ^ 4);
  }
  printf("bad %d\n", bad);
}
"""

# Layers, faces, a surface, what begins off a texture's alignment, calls of C, and launches of three calls.
REFERENCES = r"""
#include <cuda.h>
#include <cstdio>
#include <cstdlib>
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); exit(1); } } while (0)
texture<float, cudaTextureType1DLayered> rows;
texture<float, cudaTextureType2DLayered> planes;
texture<float, cudaTextureTypeCubemap> cube;
static texture<float> line;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> image;
texture<float, 2> clamped;
texture<float, 2, cudaReadModeElementType> wrapped(1, cudaFilterModePoint, cudaAddressModeWrap);
texture<short4> words;
surface<void, cudaSurfaceType2D> output;
__global__ void fetch(float* out, int first, float scale) {
  int i = threadIdx.x;
  out[i] = scale * tex1DLayered(rows, i + 0.5f, 1);
  out[i + 8] = tex2DLayered(planes, i + 0.5f, 1.5f, 1);
  out[i + 16] = tex1Dfetch(line, i + first);
  out[i + 24] = tex2D(image, i, 1) + texCubemap(cube, 0, 0, -1);  // of the last face
  surf2Dwrite(out[i + 8], output, 4 * i, 1);
  out[i + 32] = surf2Dread<float>(output, 4 * i, 1) + 1;
  if (i == 0) out[40] = tex2D(clamped, 1.1f, 0.f), out[41] = tex2D(wrapped, 1.1f, 0.f);
}
cudaArray_t filled(int width, int height, int count, unsigned flags) {  // texel (x, y) of layer n is 100 n + 10 y + x
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  EXPECT(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, count), flags) == 0);
  const int lines = height ? height : 1;
  float* texels = new float[width * lines * count];
  for (int i = 0; i < width * lines * count; ++i)
    texels[i] = 100 * (i / (width * lines)) + 10 * (i / width % lines) + i % width;
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(texels, width * 4, width, lines);
  p.dstArray = array, p.extent = make_cudaExtent(width, lines, count), p.kind = cudaMemcpyHostToDevice;
  EXPECT(cudaMemcpy3D(&p) == 0);
  return array;
}
int main() {
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>(), bytes = cudaCreateChannelDesc<unsigned char>();
  EXPECT(cudaBindTextureToArray(rows, filled(8, 0, 2, cudaArrayLayered)) == 0);
  EXPECT(cudaBindTextureToArray(planes, filled(8, 2, 2, cudaArrayLayered), floats) == 0);
  EXPECT(cudaBindTextureToArray(cube, filled(4, 4, 6, cudaArrayCubemap), floats) == 0);
  EXPECT(cudaBindSurfaceToArray(output, filled(8, 2, 0, cudaArraySurfaceLoadStore)) == 0);
  float h[42], *d, *out;
  for (int i = 0; i < 42; ++i) h[i] = i;
  const cudaArray_t plane = filled(8, 2, 0, 0);
  EXPECT(cudaMemcpy2DToArray(plane, 0, 0, h, 32, 32, 2, cudaMemcpyHostToDevice) == 0);
  clamped.normalized = true;
  EXPECT(cudaBindTextureToArray(clamped, plane) == 0 && cudaBindTextureToArray(wrapped, plane) == 0);
  cudaArray_t array;
  EXPECT(cudaMallocArray(&array, &words.channelDesc, 8, 0) == 0);
  EXPECT(words.channelDesc.w == 16 && words.channelDesc.f == cudaChannelFormatKindSigned);
  EXPECT(cudaMalloc(&d, sizeof h) == 0 && cudaMalloc(&out, sizeof h) == 0 && cudaMemcpy(d, h, sizeof h, cudaMemcpyDefault) == 0);
  size_t offset = 0, pitch, again;
  EXPECT(cudaBindTexture(&offset, line, d + 5, 64) == 0 && offset == 20);
  EXPECT(cudaGetTextureAlignmentOffset(&again, line) == 0 && again == 20);
  unsigned char *p, texels[16] = {};
  for (int i = 8; i < 16; ++i) texels[i] = i % 2 ? 255 : 0;
  EXPECT(cudaMallocPitch(&p, &pitch, 8, 2) == 0 && cudaMemcpy2D(p, pitch, texels, 8, 8, 2, cudaMemcpyHostToDevice) == 0);
  const textureReference* reference;
  EXPECT(cudaGetTextureReference(&reference, &image) == 0);
  EXPECT(cudaBindTexture2D(&again, reference, p, &bytes, 8, 2, pitch) == 0 && again == 0);
  int first = offset / 4;
  float scale = 2;
  EXPECT(cudaConfigureCall(1, 8) == 0 && cudaSetupArgument(&out, 8, 0) == 0 && cudaSetupArgument(first, 8) == 0);
  EXPECT(cudaSetupArgument(&scale, 4, 12) == 0 && cudaSetupArgument(&scale, 4, 4093) == cudaErrorInvalidValue);
  EXPECT(cudaLaunch(fetch) == 0);
  EXPECT(cudaMemcpy(h, out, sizeof h, cudaMemcpyDefault) == 0 && cudaUnbindTexture(line) == 0 && cudaUnbindTexture(reference) == 0);
  for (int i = 0; i < 8; ++i)
    EXPECT(h[i] == 200 + 2 * i && h[i + 8] == 110 + i && h[i + 16] == 5 + i && h[i + 24] == 522 + i % 2 && h[i + 32] == 111 + i);
  EXPECT(h[40] == 7 && h[41] == 0);
  struct Twice : thrust::unary_function<int, double> {};
  EXPECT(sizeof(Twice::result_type) == 8 && cudaSetDoubleForDevice(nullptr) == 0);
  cudaPointerAttributes known;
  EXPECT(cudaPointerGetAttributes(&known, d) == 0 && known.memoryType == cudaMemoryTypeDevice && !known.isManaged);
  EXPECT(cudaMallocManaged(&d, 4096) == 0 && cudaPointerGetAttributes(&known, d) == 0);
  EXPECT(known.memoryType == cudaMemoryTypeDevice && known.isManaged);
  CUcontext context;
  EXPECT(cuCtxCreate(&context, 0, 0) == 0 && cuCtxDestroy(context) == 0);
  puts("right");
}
"""

# Half of a program sees the old members of CUDA's structures, as makefiles compile .cpp files by themselves.
HALVES = {
    "gpu.h": "#include <cuda_runtime.h>\nstruct Gpu { cudaDeviceProp prop[2]; cudaPointerAttributes at; float scale; };\nvoid run(Gpu*);\n",
    "main.cpp": '#include "gpu.h"\nint main() { Gpu g; for (auto& p : g.prop) cudaGetDeviceProperties(&p, 0); void* m; cudaMalloc(&m, 4);\n'
                "cudaPointerGetAttributes(&g.at, m); g.scale = 2; run(&g); }\n",
    "kernel.cu": '#include "gpu.h"\n#include <cstdio>\n__global__ void k(float* o, float s) { o[threadIdx.x] = s * threadIdx.x; }\n'
                 "void run(Gpu* g) { float* o; cudaMallocManaged(&o, 256); k<<<1, 64>>>(o, g->scale); cudaDeviceSynchronize();\n"
                 "cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); cudaPointerAttributes a; cudaPointerGetAttributes(&a, o);\n"
                 "int d = -1; cudaChooseDevice(&d, &p);\n"
                 'printf("%g %d %d %d %d %d\\n", o[3], g->prop[1].warpSize, g->at.device, p.clockRate > 0, a.isManaged, d); }\n',
}


class OldPrograms(RecordTest):
    def test_the_header_gives_old_programs_what_they_miss(self):
        outcome = self.record(self.compiled(TEXTURE, "-include", COMPAT))
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.out, "1 32 1\n")
        outcome = self.record(self.compiled(WITHOUT_MASK, "-include", COMPAT, "-arch=sm_80"), options=["--force"])
        self.assertEqual(outcome.out, "bad 0\n", outcome)
        stubs = os.path.join(os.path.dirname(os.path.realpath(recorded_program.NVCC)), "..", "lib64", "stubs")
        for dialect in ("c++11", "c++17"):
            binary = self.compiled(REFERENCES, "-include", COMPAT, "-D", "ATOLL_SURFACE_REFERENCES", "-std=" + dialect,
                                   "-L" + stubs, "-lcuda")
            outcome = self.record(binary, options=["--force"])
            self.assertEqual((outcome.code, outcome.out), (0, "right\n"), outcome)

    def test_the_header_moves_nothing_that_files_without_it_see(self):
        for name, text in HALVES.items():
            self.write(name, text)
        self.nvcc(["-c", "-o", self.path("main.o"), self.path("main.cpp")], self.path("main.o"))
        binary = self.nvcc(["-include", COMPAT, "-o", self.path("halves"), self.path("main.o"), self.path("kernel.cu")],
                           self.path("halves"))
        outcome = self.record(binary)
        self.assertEqual((outcome.code, outcome.out), (0, "6 32 0 1 1 0\n"), outcome)

    def test_the_header_spoils_none_of_the_toolkit_s_own(self):
        text = "".join(f"#include <{name}>\n" for name in ("cooperative_groups/reduce.h", "cuda/atomic", "cub/block/block_reduce.cuh"))
        outcome = self.record(self.compiled(text + VECTOR_ADD, "-std=c++17", "-include", COMPAT), 100, 1)
        self.assertEqual(outcome.code, 0, outcome)


if __name__ == "__main__":
    recorded_program.main()
