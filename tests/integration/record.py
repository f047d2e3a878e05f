"""`atoll record` runs CUDA programs without a GPU: what they print is right, and what they leave can be simulated."""

import os
import re

import program
import recorded_program
from recorded_program import RecordTest

COMPAT = os.path.join(program.SOURCE, "inputs", "cuda", "atoll_cuda_compat.h")

VECTOR_ADD = r"""
#include <cstdio>
#include <cstdlib>
__constant__ float scale = 2.0f;
__device__ int launches;
__managed__ int managed = 7;
__global__ void vadd(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = scale * (a[i] + b[i]);
  if (i == 0) { printf("kernel for %d\n", n); atomicAdd(&launches, 5); managed += 1; }
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]), times = atoi(argv[2]);
  float *a, *b, *c, *h = new float[n];
  cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&c, n * 4);
  for (int i = 0; i < n; i++) h[i] = i;
  cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b, a, n * 4, cudaMemcpyDeviceToDevice);
  for (int i = 0; i < times; i++) vadd<<<(n + 255) / 256, 256>>>(a, b, c, n);
  cudaMemcpy(h, c, n * 4, cudaMemcpyDeviceToHost);
  int bad = 0, count = 0;
  for (int i = 0; i < n; i++) bad += h[i] != 4.0f * i;
  cudaMemcpyFromSymbol(&count, launches, 4);
  printf("bad %d launches %d managed %d at %p: %s\n", bad, count, managed, (void*)a, cudaGetErrorString(cudaGetLastError()));
  return 0;
}
"""

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

RELOCATABLE = {
    "main.cu": "#include <cstdio>\nextern __device__ int twice(int);\nextern __constant__ int offset;\n"
               "__global__ void k(int* p) { p[threadIdx.x] = twice(threadIdx.x) + offset; }\n"
               "int main() { int h[32], *p; cudaMalloc(&p, 128); k<<<1, 32>>>(p);\n"
               "cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost); printf(\"%d %d\\n\", h[0], h[31]); }\n",
    "other.cu": "__device__ int twice(int x) { return 2 * x; }\n__constant__ int offset = 100;\n",
}


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

# What is inline, as libcu++'s objects are, has one address in the program, and code and a variable in either file.
INLINE = {
    "inline.h": "#include <cuda/std/functional>\n#include <cuda/std/ranges>\n#include <cuda/std/utility>\n#include <cstdio>\n"
                "template <int N> __global__ void add(int* p) { p[threadIdx.x] += N; }\nvoid other(int*);\n",
    "first.cu": '#include "inline.h"\nint main() { int h[32], *p; cudaMalloc(&p, 128); cudaMemset(p, 0, 128);\n'
                "add<6><<<1, 32>>>(p); other(p); add<6><<<1, 32>>>(p);\n"
                'cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost); printf("%d %s\\n", h[31], cudaGetErrorString(cudaGetLastError())); }\n',
    "second.cu": '#include "inline.h"\nvoid other(int* p) { add<6><<<1, 32>>>(p); add<7><<<1, 32>>>(p); }\n',
}

# Launches, waits as long as it is told, and launches again.
TWO_LAUNCHES = r"""
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
__global__ void k(int* p) { p[threadIdx.x] = 7; }
int main(int, char** v) {
  int h = 0, *p; usleep(atoi(v[1])); cudaMalloc(&p, 128);
  k<<<1, 32>>>(p); usleep(atoi(v[2])); k<<<1, 32>>>(p);
  cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); printf("%d\n", h);
}"""

# Lanes that take a lock one by one: warps are divided, so that those that wait do not keep the one that has it.
LOCK_PER_LANE = r"""
__device__ int lock_, sum;
__global__ void k() {
  for (bool done = false; !done;)
    if (atomicCAS(&lock_, 0, 1) == 0) { sum = sum + 1; __threadfence(); atomicExch(&lock_, 0); done = true; }
}
int main() { k<<<8, 64>>>(); return cudaDeviceSynchronize(); }"""

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

# One word of shared memory has the maximum and then, after a loop and without a barrier, the sum: right on every GPU.
BEHIND_A_BARRIER = r"""
#include <cstdio>
__device__ float sum_of_block(float v) {
  __shared__ float s[32];
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) for (int i = 1; i < blockDim.x / 32; ++i) s[0] += s[i];
  __syncthreads();
  return s[0];
}
__global__ void twice(float* out) {
  float n = sum_of_block(1);
  for (int i = threadIdx.x % 3; i < 3; ++i) n += 0 * out[i];
  out[threadIdx.x] = n + 1000 * sum_of_block(2);
}
int main() {
  for (int threads = 64; threads <= 1024; threads *= 2) {
    float *d, h[1024];
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    twice<<<1, threads>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int i = 0; i < threads; ++i) bad += h[i] != threads * 2001.0f;
    printf("%d ", bad);
  }
}
"""

AFTER_A_LOOP = r"""
#include <cmath>
#include <cstdio>
__device__ void reduce(float* s, float v, bool sum) {
  for (int o = 16; o; o /= 2) { float w = __shfl_down_sync(~0u, v, o); v = sum ? v + w : fmaxf(v, w); }
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) for (int i = 1; i < blockDim.x / 32; ++i) s[0] = sum ? s[0] + s[i] : fmaxf(s[0], s[i]);
  __syncthreads();
}
__global__ void softmax(float* out, const float* in, int n) {
  __shared__ float s[8];
  float most = 0, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, in[i]);
  reduce(s, most, false);
  float offset = s[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += out[i] = expf(in[i] - offset);
  reduce(s, sum, true);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] /= s[0];
}
int main() {
  int n = 5000;
  float *in, *out;
  cudaMallocManaged(&in, n * 4); cudaMallocManaged(&out, n * 4);
  double sum = 0, worst = 0;
  for (int i = 0; i < n; ++i) sum += exp(in[i] = (i * 37 % 101) / 50.f);
  softmax<<<1, 128>>>(out, in, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(out[i] / (exp(in[i]) / sum) - 1));
  printf("%s\n", worst < 1e-4 ? "right" : "wrong");
}
"""

LAUNCHING = """
__global__ void child(int* p) { atomicAdd(p, 1); }
__global__ void parent(int* p) { child<<<1, 32>>>(p); }
int main() {
  int* p;
  cudaMallocManaged(&p, 4);
  parent<<<1, 1>>>(p);
  return cudaDeviceSynchronize() != cudaSuccess || *p != 32;
}
"""


class GoodPrograms(RecordTest):
    def check_vector_add(self, binary):
        outcome = self.record(binary, 1000, 2)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.out.splitlines(), ["kernel for 1000"] * 2 + [
            "bad 0 launches 10 managed 9 at 0x200000000000: no error"])
        self.assertEqual(self.kernels_in_trace(outcome), 2)
        return self.simulated()

    def test_a_program_with_the_shared_and_with_the_static_runtime_give_the_same_trace(self):
        shared = self.check_vector_add(self.compiled(VECTOR_ADD, "-cudart", "shared", name="shared"))
        os.remove(self.path("T.h5"))
        static = self.check_vector_add(self.compiled(VECTOR_ADD, name="static"))
        self.assertEqual(shared, static)

    def test_every_way_to_compress_device_code_is_read(self):
        for mode in ("none", "size", "speed"):
            with self.subTest(mode=mode):
                binary = self.compiled(VECTOR_ADD, f"--compress-mode={mode}", name=mode)
                outcome = self.record(binary, 100, 1, options=["--force"])
                self.assertIn("bad 0 launches 5", outcome.out, outcome)

    def test_relocatable_device_code_is_linked_by_name(self):
        paths = [self.write(name, text) for name, text in RELOCATABLE.items()]
        binary = self.nvcc(["-rdc=true", "-o", self.path("rdc"), *paths], self.path("rdc"))
        outcome = self.record(binary)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.out, "100 162\n")

    def test_newer_ptx_beside_machine_code_stands_in_for_it(self):
        paths = [self.write(name, text) for name, text in RELOCATABLE.items()]
        binary = self.nvcc(["-rdc=true", "-arch=all-major", "-o", self.path("rdc"), *paths], self.path("rdc"))
        outcome = self.record(binary)
        self.assertEqual((outcome.code, outcome.out), (0, "100 162\n"), outcome)
        for flags in ((), ("-rdc=true",)):  # beside that lies NVIDIA's library of device-side launches, for a newer GPU yet
            with self.subTest(flags=flags):
                source = LAUNCHING if flags else "__global__ void k() {}\nint main() { k<<<1, 1>>>(); k<<<1, 1>>>(); }\n"
                binary = self.compiled(source, *flags, "-arch=all-major", name="all")
                outcome = self.record(binary, options=["--force"])
                self.assertEqual(outcome.code, 0, outcome)
                self.assertEqual(self.kernels_in_trace(outcome), 2)

    def test_the_compatibility_header_gives_old_programs_what_they_miss(self):
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

    def test_of_two_processes_that_record_at_a_time_the_first_has_the_trace_and_the_other_goes_on(self):
        binary = self.compiled(TWO_LAUNCHES)
        outcome = self.record("sh", "-c", f"{binary} 0 600000 & {binary} 200000 0 & wait")
        self.assertEqual((outcome.code, outcome.out), (0, "7\n7\n"), outcome)
        self.assertIn("another process of this command records already", outcome.err)
        self.assertIn("recorded 2 of 2 launches", outcome.err)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("T.h5")], ["T.h5"])

    def test_rounds_that_waited_are_no_more_than_were_executed(self):
        outcome = self.record(self.compiled(LOCK_PER_LANE))
        self.assertEqual(outcome.code, 0, outcome)
        number = r"([\d.]+)( k| M|)"
        unit = {"": 1, " k": 1e3, " M": 1e6}
        said = [re.search(number + what, outcome.err) for what in (" rounds of loops that waited", " warp instructions of PTX")]
        rounds, executed = (float(m[1]) * unit[m[2]] for m in said if m)
        self.assertGreater(rounds, 100)
        self.assertLess(3 * rounds, executed)  # the least of a round: atomic, comparison, branch

    def test_the_compatibility_header_moves_nothing_that_files_without_it_see(self):
        for name, text in HALVES.items():
            self.write(name, text)
        self.nvcc(["-c", "-o", self.path("main.o"), self.path("main.cpp")], self.path("main.o"))
        binary = self.nvcc(["-include", COMPAT, "-o", self.path("halves"), self.path("main.o"), self.path("kernel.cu")],
                           self.path("halves"))
        outcome = self.record(binary)
        self.assertEqual((outcome.code, outcome.out), (0, "6 32 0 1 1 0\n"), outcome)

    def test_the_compatibility_header_spoils_none_of_the_toolkit_s_own(self):
        text = "".join(f"#include <{name}>\n" for name in ("cooperative_groups/reduce.h", "cuda/atomic", "cub/block/block_reduce.cuh"))
        outcome = self.record(self.compiled(text + VECTOR_ADD, "-std=c++17", "-include", COMPAT), 100, 1)
        self.assertEqual(outcome.code, 0, outcome)

    def test_what_several_files_have_inline_is_of_each(self):
        paths = [self.write(name, text) for name, text in INLINE.items()]
        binary = self.nvcc(["-std=c++17", "-arch=sm_80", "-o", self.path("inline"), *paths[1:]], self.path("inline"))
        outcome = self.record(binary)
        self.assertEqual(outcome.out, "25 no error\n", outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 4)

    def test_no_warp_is_far_ahead_of_others_with_which_it_shares_memory(self):
        outcome = self.record(self.compiled(AFTER_A_LOOP))
        self.assertEqual(outcome.out, "right\n", outcome)
        self.assertIn("in shared memory only --check looks for them", outcome.err)

    def test_warps_leave_a_barrier_together(self):
        binary = self.compiled(BEHIND_A_BARRIER)
        for options in ("", "--long-turns", "--schedule-seed 7"):
            self.assertEqual(self.record(binary, options=[*options.split(), "--force"]).out, "0 0 0 0 0 ")

    def test_only_the_launches_asked_for_are_recorded_and_all_are_executed(self):
        outcome = self.record(self.compiled(VECTOR_ADD), 1000, 5, options=["--kernels", "1-2", "--max-ctas", "2"])
        self.assertIn("launches 25", outcome.out, outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 2)
        self.simulated()

    def test_the_compression_level_changes_the_size_of_the_trace_and_nothing_else(self):
        binary, size, digest = self.compiled(VECTOR_ADD), {}, {}
        for level in ("0", "9"):
            outcome = self.record(binary, 100000, 1, options=["--force", "--compression", level])
            self.assertEqual(outcome.code, 0, outcome)
            size[level], digest[level] = os.path.getsize(self.path("T.h5")), self.simulated()
        self.assertLess(size["9"], size["0"] / 2)
        self.assertEqual(digest["9"], digest["0"])
        outcome = self.record(binary, 100, 1, options=["--force", "--compression", "10"])
        self.assertNotEqual(outcome.code, 0, outcome)
        self.assertIn("--compression", outcome.err)


if __name__ == "__main__":
    recorded_program.main()
