"""Arrays, textures and virtual memory of the driver API."""

import os

import recorded_program
from recorded_program import RecordTest

HEAD = r"""
#include <cuda.h>
#include <cstdio>
#include <cstring>
#include <vector>
static int failures = 0;
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); ++failures; } } while (0)
#define OK(x) do { int status = (x); if (status) { printf("line %d: %s is %d\n", __LINE__, #x, status); ++failures; } } while (0)
static CUcontext start() {
  CUcontext context;
  OK(cuInit(0));
  OK(cuDevicePrimaryCtxRetain(&context, 0));
  OK(cuCtxSetCurrent(context));
  return context;
}
"""

ARRAYS = HEAD + r"""
__global__ void read(cudaTextureObject_t t, float* out, int w) {
  int x = threadIdx.x, y = blockIdx.x;
  out[y * w + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}
__global__ void read_linear(cudaTextureObject_t t, int4* out) { out[threadIdx.x] = tex1Dfetch<int4>(t, threadIdx.x); }
__global__ void write(cudaSurfaceObject_t s) { surf2Dwrite(float(100 + threadIdx.x), s, threadIdx.x * 4, 1); }
int main() {
  start();
  const int w = 32, h = 8;
  std::vector<float> in(w * h), out(w * h);
  for (int i = 0; i < w * h; i++) in[i] = i;
  CUarray array = nullptr;
  CUDA_ARRAY_DESCRIPTOR d = {w, h, CU_AD_FORMAT_FLOAT, 1}, again = {};
  OK(cuArrayCreate(&array, &d));
  CUDA_RESOURCE_DESC resource = {};
  CUsurfObject s = 0;
  resource.resType = CU_RESOURCE_TYPE_ARRAY, resource.res.array.hArray = array;
  EXPECT(cuSurfObjectCreate(&s, &resource) == CUDA_ERROR_INVALID_VALUE);  // of an array that was not made for it
  OK(cuArrayDestroy(array));
  CUDA_ARRAY3D_DESCRIPTOR for_surfaces = {w, h, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST}, told = {};
  OK(cuArray3DCreate(&array, &for_surfaces));
  OK(cuArray3DGetDescriptor(&told, array));
  EXPECT(told.Flags == CUDA_ARRAY3D_SURFACE_LDST);
  OK(cuArrayGetDescriptor(&again, array));
  EXPECT(again.Width == w && again.Height == h && again.Format == CU_AD_FORMAT_FLOAT && again.NumChannels == 1);
  d.NumChannels = 3;
  CUarray none = nullptr;
  EXPECT(cuArrayCreate(&none, &d) == CUDA_ERROR_INVALID_VALUE);

  // A part, at an offset on both sides, and then all.
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = in.data(), copy.srcPitch = w * 4, copy.srcXInBytes = 4, copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array, copy.dstXInBytes = 8, copy.dstY = 2;
  copy.WidthInBytes = 12, copy.Height = 2;
  OK(cuMemcpy2D(&copy));
  float row[6] = {};
  OK(cuMemcpyAtoH(row, array, 2 * w * 4, sizeof row));
  EXPECT(row[1] == 0 && row[2] == w + 1 && row[4] == w + 3 && row[5] == 0);
  copy.WidthInBytes = 10;  // no whole texels
  EXPECT(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D box = {};
  box.srcMemoryType = CU_MEMORYTYPE_HOST, box.srcHost = in.data(), box.srcPitch = w * 4, box.srcHeight = h;
  box.dstMemoryType = CU_MEMORYTYPE_ARRAY, box.dstArray = array, box.WidthInBytes = w * 4, box.Height = h, box.Depth = 1;
  OK(cuMemcpy3D(&box));
  box.WidthInBytes = 8, box.dstXInBytes = (w - 1) * 4;  // the second texel would be the next row's first
  EXPECT(cuMemcpy3D(&box) == CUDA_ERROR_INVALID_VALUE);
  copy.WidthInBytes = 8, copy.dstXInBytes = 0, copy.dstY = h - 1;
  EXPECT(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);

  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC texture = {};
  texture.addressMode[0] = texture.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject t = 0;
  OK(cuTexObjectCreate(&t, &resource, &texture, nullptr));
  OK(cuSurfObjectCreate(&s, &resource));
  float* d_out;
  OK(cuMemAlloc((CUdeviceptr*)&d_out, w * h * 4));
  write<<<1, w>>>(s);
  read<<<h, w>>>(t, d_out, w);
  OK(cuMemcpyDtoH(out.data(), (CUdeviceptr)d_out, w * h * 4));
  EXPECT(out[0] == 0 && out[w - 1] == w - 1 && out[w] == 100 && out[2 * w - 1] == 100 + w - 1 && out[w * h - 1] == w * h - 1);
  OK(cuTexObjectDestroy(t));
  EXPECT(cuTexObjectDestroy(t) == CUDA_ERROR_INVALID_VALUE);
  OK(cuSurfObjectDestroy(s));
  OK(cuArrayDestroy(array));
  EXPECT(cuArrayDestroy(array) == CUDA_ERROR_INVALID_HANDLE);

  // A filter across the edges of a cube.
  CUDA_ARRAY3D_DESCRIPTOR faces = {};
  faces.Width = faces.Height = 4, faces.Depth = 6, faces.Format = CU_AD_FORMAT_FLOAT, faces.NumChannels = 1;
  faces.Flags = CUDA_ARRAY3D_CUBEMAP;
  OK(cuArray3DCreate(&array, &faces));
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC seamless = texture;
  seamless.filterMode = CU_TR_FILTER_MODE_LINEAR, seamless.flags = CU_TRSF_SEAMLESS_CUBEMAP | CU_TRSF_NORMALIZED_COORDINATES;
  EXPECT(cuTexObjectCreate(&t, &resource, &seamless, nullptr) == CUDA_ERROR_NOT_SUPPORTED);

  // Bytes of four channels in a row, as integers.
  unsigned char bytes[32 * 4];
  for (int i = 0; i < 128; i++) bytes[i] = i;
  CUdeviceptr line;
  OK(cuMemAlloc(&line, sizeof bytes));
  OK(cuMemcpyHtoD(line, bytes, sizeof bytes));
  CUDA_RESOURCE_DESC linear = {};
  linear.resType = CU_RESOURCE_TYPE_LINEAR, linear.res.linear.devPtr = line;
  linear.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT8, linear.res.linear.numChannels = 4, linear.res.linear.sizeInBytes = 128;
  texture.flags = CU_TRSF_READ_AS_INTEGER;
  OK(cuTexObjectCreate(&t, &linear, &texture, nullptr));
  read_linear<<<1, 32>>>(t, (int4*)d_out);
  int4 fetched[32];
  OK(cuMemcpyDtoH(fetched, (CUdeviceptr)d_out, sizeof fetched));
  EXPECT(fetched[31].x == 124 && fetched[31].w == 127 && fetched[3].y == 13);
  printf("failures %d\n", failures);
}
"""

VIRTUAL = HEAD + r"""
__global__ void add_one(float* p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += 1;
}
int main() {
  start();
  int supported = 0;
  OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  CUmemAllocationProp p = {};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED, p.location.type = CU_MEM_LOCATION_TYPE_DEVICE, p.location.id = 0;
  size_t piece = 0, free_before, free_after, total;
  OK(cuMemGetAllocationGranularity(&piece, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT(supported == 1 && piece == 2 << 20);
  OK(cuMemGetInfo(&free_before, &total));

  // A buffer that grows: four pieces of addresses, memory behind two of them.
  CUdeviceptr at = 0, elsewhere = 0;
  CUmemGenericAllocationHandle first, second;
  CUmemAccessDesc access = {p.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  OK(cuMemAddressReserve(&at, 4 * piece, 0, 0, 0));
  EXPECT(at % piece == 0);
  EXPECT(cuMemAddressReserve(&elsewhere, piece + 1, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  OK(cuMemCreate(&first, piece, &p, 0));
  OK(cuMemCreate(&second, piece, &p, 0));
  OK(cuMemMap(at, piece, 0, first, 0));
  EXPECT(cuMemcpyHtoD(at, &piece, 8) == CUDA_ERROR_INVALID_VALUE);  // not accessible yet
  EXPECT(cuMemMap(at, piece, 0, second, 0) == CUDA_ERROR_INVALID_VALUE);  // taken
  EXPECT(cuMemMap(at + 3 * piece, 2 * piece, 0, second, 0) == CUDA_ERROR_INVALID_VALUE);
  OK(cuMemMap(at + piece, piece, 0, second, 0));
  EXPECT(cuMemSetAccess(at, 3 * piece, &access, 1) == CUDA_ERROR_INVALID_VALUE);  // the third has no memory
  OK(cuMemSetAccess(at, 2 * piece, &access, 1));
  OK(cuMemGetInfo(&free_after, &total));
  EXPECT(free_before - free_after == 2 * piece);
  const int n = 2 * piece / 4;
  std::vector<float> values(n, 5);
  OK(cuMemcpyHtoD(at, values.data(), 2 * piece));  // over the seam
  add_one<<<n / 256, 256>>>((float*)at, n);
  OK(cuMemcpyDtoH(values.data(), at, 2 * piece));
  EXPECT(values[0] == 6 && values[n / 2 - 1] == 6 && values[n / 2] == 6 && values[n - 1] == 6);
  EXPECT(cuMemcpyDtoH(values.data(), at + 2 * piece - 4, 8) == CUDA_ERROR_INVALID_VALUE);

  // The second piece moves and keeps what it holds; the first one goes away.
  EXPECT(cuMemMap(at + 2 * piece, piece, 0, second, 0) == CUDA_ERROR_NOT_SUPPORTED);  // at two addresses
  OK(cuMemUnmap(at + piece, piece));
  OK(cuMemMap(at + 2 * piece, piece, 0, second, 0));
  OK(cuMemSetAccess(at + 2 * piece, piece, &access, 1));
  float moved = 0;
  OK(cuMemcpyDtoH(&moved, at + 2 * piece, 4));
  EXPECT(moved == 6);
  EXPECT(cuMemcpyDtoH(&moved, at + piece, 4) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemAddressFree(at, 4 * piece) == CUDA_ERROR_INVALID_VALUE);  // memory is behind it
  // Access comes and goes, and what is there stays, also of memory that goes with its addresses.
  OK(cuMemRelease(first));
  for (auto flags : {CU_MEM_ACCESS_FLAGS_PROT_NONE, CU_MEM_ACCESS_FLAGS_PROT_READ, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}) {
    access.flags = flags, moved = 0;
    OK(cuMemSetAccess(at, piece, &access, 1));
    EXPECT(cuMemcpyDtoH(&moved, at, 4) == (flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS));
    EXPECT(moved == (flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ? 0 : 6));
  }
  OK(cuMemUnmap(at, piece));
  EXPECT(cuMemMap(at, piece, 0, first, 0) == CUDA_ERROR_INVALID_VALUE);
  OK(cuMemUnmap(at + 2 * piece, piece));
  OK(cuMemRelease(second));
  EXPECT(cuMemRelease(second) == CUDA_ERROR_INVALID_VALUE);
  OK(cuMemAddressFree(at, 4 * piece));
  OK(cuMemGetInfo(&free_after, &total));
  EXPECT(free_before == free_after);
  OK(cuMemAddressReserve(&elsewhere, 4 * piece, 0, 0, 0));
  EXPECT(elsewhere == at);  // addresses are used again, lowest first
  printf("failures %d\n", failures);
}
"""


class DriverMemory(RecordTest):
    def passes(self, source, kernels):
        lib = os.path.join(os.path.dirname(os.path.realpath(recorded_program.NVCC)), "..", "lib64")
        binary = self.compiled(source, "-std=c++17", "-L" + os.path.join(lib, "stubs"), "-lcuda")
        outcome = self.record(binary)
        self.assertEqual((outcome.code, outcome.out), (0, "failures 0\n"), outcome)
        self.assertEqual(self.kernels_in_trace(outcome), kernels)
        self.simulated()

    def test_arrays_textures_and_surfaces(self):
        self.passes(ARRAYS, 3)

    def test_memory_is_put_behind_reserved_addresses_piece_by_piece(self):
        self.passes(VIRTUAL, 1)


if __name__ == "__main__":
    recorded_program.main()
