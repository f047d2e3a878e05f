"""Layered and cubemap textures, and surfaces in layers, of recorded programs."""

import recorded_program
from recorded_program import OneProgram

# Texel (x, y) of layer or face n is 100 n + 10 y + x.
SOURCE = r"""
#include <cmath>
#include <cstdio>
#include <vector>
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); return 1; } } while (0)
const int size = 4;
__global__ void layers(cudaTextureObject_t t, cudaTextureObject_t line, float* out) {
  out[0] = tex2DLayered<float>(t, 2.5f, 1.5f, 2);
  out[1] = tex2DLayered<float>(t, 9.0f, -3.0f, 1);   // does not wrap without normalised coordinates: (3, 0)
  out[2] = tex2DLayered<float>(t, 0.5f, 0.5f, 99);   // the last layer
  out[3] = tex1DLayered<float>(line, 3.5f, 1);
}
__global__ void linear(cudaTextureObject_t t, float* out) {
  out[4] = tex2DLayered<float>(t, 2.0f, 1.5f, 2);    // between (1, 1) and (2, 1), but not between layers
  const float far = out[4] / 0.0f;                   // at the edge, as what does not wrap
  out[4] += tex2DLayered<float>(t, far, 1.5f, 2) != tex2DLayered<float>(t, 9.0f, 1.5f, 2);
}
__global__ void faces(cudaTextureObject_t t, cudaTextureObject_t both, float* out) {
  out[5] = texCubemap<float>(t, 1, -0.25f, 0.75f);   // +x: s = -0.75, t = 0.25
  out[6] = texCubemap<float>(t, -1, -0.25f, 0.75f);  // -x: s = 0.75, t = 0.25
  out[7] = texCubemap<float>(t, 0.25f, 2, 0.5f);     // +y: s = 0.125, t = 0.25
  out[8] = texCubemap<float>(t, 0.25f, -2, 0.5f);    // -y: s = 0.125, t = -0.25
  out[9] = texCubemap<float>(t, 0.5f, 0.25f, 2);     // +z: s = 0.25, t = -0.125
  out[10] = texCubemap<float>(t, 0.5f, 0.25f, -2);   // -z: s = -0.25, t = -0.125
  out[11] = texCubemapLayered<float>(both, 1, -0.25f, 0.75f, 1);
}
__global__ void store(cudaSurfaceObject_t s) {
  surf2DLayeredwrite(7.0f, s, 4 * threadIdx.x, 1, 2);
}
__global__ void load(cudaSurfaceObject_t s, float* out) {
  out[12] = surf2DLayeredread<float>(s, 4 * 3, 1, 2) + surf2DLayeredread<float>(s, 4 * 3, 1, 1);
}
__global__ void coloured(cudaTextureObject_t t, float4* out) { *out = tex2D<float4>(t, 0.5f, 0.5f); }
__global__ void beyond(cudaTextureObject_t t, float* out) {
  __prof_trigger(3);                                 // nobody counts
  out[13 + threadIdx.x] = tex1Dfetch<float>(t, 4 * (int)threadIdx.x - 1);  // of 8 texels: -1, 3, 7, 11
}
cudaArray_t filled(int height, int count, unsigned flags) {
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  if (cudaMalloc3DArray(&array, &format, make_cudaExtent(size, height, count), flags)) return nullptr;
  const int rows = height ? height : 1;
  std::vector<float> texels;
  for (int n = 0; n < count; ++n)
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < size; ++x) texels.push_back(100 * n + 10 * y + x);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(texels.data(), size * 4, size, rows);
  p.dstArray = array, p.extent = make_cudaExtent(size, rows, count), p.kind = cudaMemcpyHostToDevice;
  return cudaMemcpy3D(&p) ? nullptr : array;
}
cudaTextureObject_t texture(cudaArray_t array, bool normalised, bool linear) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = array;
  cudaTextureDesc d = {};
  d.addressMode[0] = d.addressMode[1] = cudaAddressModeWrap;
  d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint, d.normalizedCoords = normalised;
  cudaTextureObject_t t = 0;
  cudaCreateTextureObject(&t, &r, &d, nullptr);
  return t;
}
int bounds() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), small = cudaCreateChannelDesc<short>();
  const size_t huge = ~(size_t)0;
  cudaArray_t array, other;
  EXPECT(cudaMalloc3DArray(&array, &format, make_cudaExtent(8, 4, 2)) == 0 && cudaMallocArray(&other, &small, 8, 4) == 0);
  std::vector<float> ones(64, 1), twos(64, 2), got(64);
  cudaMemcpy3DParms in = {}, out = {};
  in.srcPtr = make_cudaPitchedPtr(ones.data(), 32, 8, 4), in.dstArray = array, in.extent = make_cudaExtent(8, 4, 2);
  out.dstPtr = make_cudaPitchedPtr(got.data(), 32, 8, 4), out.srcArray = array, out.extent = in.extent;
  in.kind = cudaMemcpyHostToDevice, out.kind = cudaMemcpyDeviceToHost;
  EXPECT(cudaMemcpy3D(&in) == 0);
  // Beyond a row, a plane and the last plane, and positions that with the extent wrap around.
  const struct { cudaPos at; cudaExtent extent; } beyond[] = {
      {make_cudaPos(6, 0, 0), make_cudaExtent(4, 1, 1)}, {make_cudaPos(0, 3, 0), make_cudaExtent(8, 2, 1)},
      {make_cudaPos(0, 0, 1), make_cudaExtent(8, 4, 2)}, {make_cudaPos(0, huge, 1), make_cudaExtent(8, 2, 1)},
      {make_cudaPos(huge, 0, 0), make_cudaExtent(2, 1, 1)}};
  in.srcPtr.ptr = twos.data();
  for (const auto& box : beyond) {
    in.dstPos = box.at, in.extent = box.extent;
    EXPECT(cudaMemcpy3D(&in) == cudaErrorInvalidValue && cudaMemcpy3DAsync(&in, 0) == cudaErrorInvalidValue);
    cudaMemcpy3DParms back = out;
    back.srcPos = box.at, back.extent = box.extent;
    EXPECT(cudaMemcpy3D(&back) == cudaErrorInvalidValue);
  }
  EXPECT(cudaMemcpy2DToArray(array, huge - 3, 0, twos.data(), 8, 8, 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2DFromArray(got.data(), 8, array, 0, huge, 8, 2, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  cudaMemcpy3DParms between = {};
  between.srcArray = array, between.dstArray = other, between.extent = make_cudaExtent(8, 1, 1);
  between.kind = cudaMemcpyDeviceToDevice;
  EXPECT(cudaMemcpy3D(&between) == cudaErrorInvalidValue);  // of texels of another size
  EXPECT(cudaMemcpy3D(&out) == 0 && got == ones);
  in.dstPos = make_cudaPos(6, 3, 1), in.extent = make_cudaExtent(2, 1, 1);
  EXPECT(cudaMemcpy3D(&in) == 0 && cudaMemcpy3D(&out) == 0 && got[61] == 1 && got[62] == 2 && got[63] == 2);
  cudaArray_t copied;
  EXPECT(cudaMallocArray(&copied, &format, 8, 4) == 0);
  EXPECT(cudaMemcpy2DArrayToArray(copied, 8, 1, array, 0, 0, 16, 2) == 0);
  EXPECT(cudaMemcpyArrayToArray(copied, 0, 3, array, 0, 0, 32) == 0);
  EXPECT(cudaMemcpy2DArrayToArray(copied, 20, 0, array, 0, 0, 16, 1) == cudaErrorInvalidValue);
  EXPECT(cudaMemcpy2DFromArray(got.data(), 32, copied, 0, 0, 32, 4, cudaMemcpyDeviceToHost) == 0);
  for (int i = 0; i < 32; ++i) EXPECT(got[i] == (i >= 24 || (i >= 8 && i % 8 >= 2 && i % 8 < 6)));
  EXPECT(cudaMalloc3DArray(&other, &format, make_cudaExtent(huge / 4 + 2, 4, 1)) == cudaErrorMemoryAllocation);
  cudaGetLastError();
  return 0;
}
cudaError_t created(const cudaResourceDesc& r, cudaTextureReadMode mode, cudaTextureFilterMode filter,
                    const cudaResourceViewDesc* view = nullptr, int srgb = 0, cudaTextureObject_t* out = nullptr) {
  cudaTextureDesc d = {};
  cudaTextureObject_t t = 0;
  d.readMode = mode, d.filterMode = filter, d.sRGB = srgb;
  const cudaError_t status = cudaCreateTextureObject(&t, &r, &d, view);
  if (out) *out = t;
  cudaGetLastError();
  return status;
}
int refusals() {
  char* memory;
  const auto as_it_is = cudaReadModeElementType, normalised = cudaReadModeNormalizedFloat;
  EXPECT(cudaMalloc(&memory, 4096) == 0);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = memory, r.res.linear.sizeInBytes = 1024;
  r.res.linear.desc = cudaCreateChannelDesc<int>();
  EXPECT(created(r, as_it_is, cudaFilterModePoint) == 0);
  EXPECT(created(r, as_it_is, cudaFilterModeLinear) == cudaErrorInvalidFilterSetting);
  EXPECT(created(r, normalised, cudaFilterModePoint) == cudaErrorInvalidNormSetting);
  r.res.linear.desc = cudaCreateChannelDesc<short>();
  EXPECT(created(r, normalised, cudaFilterModePoint) == 0);
  cudaResourceDesc cube = {};
  cube.resType = cudaResourceTypeArray;
  EXPECT((cube.res.array.array = filled(size, 6, cudaArrayCubemap)) != nullptr);
  cudaTextureDesc seamless = {};
  seamless.normalizedCoords = seamless.seamlessCubemap = 1;
  cudaTextureObject_t of_cube;
  EXPECT(cudaCreateTextureObject(&of_cube, &cube, &seamless, nullptr) == 0);  // a point lies on one face
  seamless.filterMode = cudaFilterModeLinear;
  EXPECT(cudaCreateTextureObject(&of_cube, &cube, &seamless, nullptr) == cudaErrorNotSupported);
  cudaGetLastError();
  r.res.linear.devPtr = memory + 16;
  EXPECT(created(r, as_it_is, cudaFilterModePoint) == cudaErrorInvalidValue);
  r.res.linear.devPtr = memory;
  cudaResourceDesc rows = {};
  rows.resType = cudaResourceTypePitch2D, rows.res.pitch2D.devPtr = memory;
  rows.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  rows.res.pitch2D.width = 8, rows.res.pitch2D.height = 4, rows.res.pitch2D.pitchInBytes = 32;
  EXPECT(created(rows, as_it_is, cudaFilterModeLinear) == 0);
  rows.res.pitch2D.pitchInBytes = 36;
  EXPECT(created(rows, as_it_is, cudaFilterModeLinear) == cudaErrorInvalidValue);
  cudaResourceViewDesc view = {};
  EXPECT(created(r, as_it_is, cudaFilterModePoint, &view) == cudaErrorInvalidValue);
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>();
  cudaResourceDesc colours = {};
  colours.resType = cudaResourceTypeArray;
  EXPECT(cudaMallocArray(&colours.res.array.array, &bytes, 4, 2) == 0);
  view.format = cudaResViewFormatUnsignedChar4, view.width = 4, view.height = 2;
  EXPECT(created(colours, normalised, cudaFilterModePoint, &view) == 0);
  view.width = 3;
  EXPECT(created(colours, normalised, cudaFilterModePoint, &view) == cudaErrorNotSupported);
  EXPECT(created(colours, as_it_is, cudaFilterModePoint, nullptr, 1) == cudaErrorNotSupported);
  const uchar4 first = {0, 10, 188, 188};
  cudaTextureObject_t t;
  float4* out;
  EXPECT(cudaMemcpy2DToArray(colours.res.array.array, 0, 0, &first, 4, 4, 1, cudaMemcpyHostToDevice) == 0);
  EXPECT(created(colours, normalised, cudaFilterModePoint, nullptr, 1, &t) == 0 && cudaMallocManaged(&out, 16) == 0);
  cudaTextureDesc made = {};
  cudaResourceDesc of = {};
  cudaResourceViewDesc seen = {};
  EXPECT(cudaGetTextureObjectTextureDesc(&made, t) == 0 && made.sRGB == 1 && made.readMode == normalised);
  EXPECT(cudaGetTextureObjectResourceDesc(&of, t) == 0 && of.res.array.array == colours.res.array.array);
  EXPECT(cudaGetTextureObjectResourceViewDesc(&seen, t) == cudaErrorInvalidValue);
  EXPECT(cudaGetSurfaceObjectResourceDesc(&of, t) == cudaErrorInvalidValue);  // it is none of these
  coloured<<<1, 1>>>(t, out);
  EXPECT(cudaDeviceSynchronize() == 0 && out->x == 0);  // 10/255/12.92, ((188/255 + 0.055)/1.055)^2.4
  EXPECT(fabsf(out->y - 0.0030353f) < 1e-6f && fabsf(out->z - 0.5028865f) < 1e-5f && out->w == 188 / 255.f);
  return 0;
}
int main() {
  if (bounds() || refusals()) return 1;
  float *out, *memory, got[17];
  cudaArray_t in_layers = filled(size, 3, cudaArrayLayered | cudaArraySurfaceLoadStore), line = filled(0, 2, cudaArrayLayered);
  cudaArray_t cube = filled(size, 6, cudaArrayCubemap), cubes = filled(size, 12, cudaArrayCubemap | cudaArrayLayered);
  EXPECT(in_layers && line && cube && cubes && cudaMalloc(&out, sizeof got) == 0);
  layers<<<1, 1>>>(texture(in_layers, false, false), texture(line, false, false), out);
  linear<<<1, 1>>>(texture(in_layers, false, true), out);
  faces<<<1, 1>>>(texture(cube, true, false), texture(cubes, true, false), out);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray, r.res.array.array = in_layers;
  cudaSurfaceObject_t surface = 0;
  EXPECT(cudaCreateSurfaceObject(&surface, &r) == 0);
  store<<<1, 4>>>(surface);
  load<<<1, 1>>>(surface, out);
  const float eight[] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT(cudaMalloc(&memory, sizeof eight) == 0 && cudaMemcpy(memory, eight, sizeof eight, cudaMemcpyHostToDevice) == 0);
  cudaResourceDesc of_memory = {};
  of_memory.resType = cudaResourceTypeLinear;
  of_memory.res.linear.devPtr = memory, of_memory.res.linear.desc = cudaCreateChannelDesc<float>();
  of_memory.res.linear.sizeInBytes = sizeof eight;
  cudaTextureDesc plain = {};
  cudaTextureObject_t row = 0;
  EXPECT(cudaCreateTextureObject(&row, &of_memory, &plain, nullptr) == 0);
  cudaResourceDesc of_shares = of_memory;
  cudaTextureObject_t none = 0;
  of_shares.res.linear.desc = cudaCreateChannelDesc<cudaChannelFormatKindUnsignedNormalized16X1>();
  EXPECT(cudaCreateTextureObject(&none, &of_shares, &plain, nullptr) == cudaErrorInvalidChannelDescriptor);
  beyond<<<1, 4>>>(row, out);
  EXPECT(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost) == 0);
  for (float v : got) printf("%g ", v);
}
"""


class Textures(OneProgram):
    SOURCE = SOURCE

    def test_layers_and_faces_of_cubes_are_chosen_as_the_programming_guide_says(self):
        outcome = self.record(self.binary)
        self.assertEqual(outcome.code, 0, outcome)
        # Where s and t are in [-1, 1], a face of 4 texels has boundaries at -0.5, 0 and 0.5.
        self.assertEqual(outcome.out.split(), [
            "212", "103", "200", "103", "211.5",
            "20", "123", "222", "312", "412", "511", "620",
            "120",
            "0", "4", "8", "0"])  # beyond linear memory there is 0, whatever the address mode
        said = [line for line in outcome.err.splitlines() if line.startswith("atoll: the program calls")]
        self.assertEqual(len(said), 3, outcome)
        self.assertIn("cudaCreateTextureObject with seamlessCubemap and a linear filter", said[0])
        self.assertIn("cudaCreateTextureObject with a view of another format or size", said[1])
        self.assertIn("cudaCreateTextureObject with sRGB but for bytes that are read as normalised floats", said[2])
        self.simulated()


if __name__ == "__main__":
    recorded_program.main()
