// A small network that reads handwritten digits: two convolutions (6 maps of 13 x 13, 50 maps of 5 x 5) and two fully
// connected layers (100 and 10 units). Grids are (maps or units, images), so a CTA computes one map of one image.
//
//   weights       of each layer (156, 7800, 125100 and 1010 numbers): read-only; those of a map or unit are shared by the
//                 CTAs of all images
//   images        29 x 29 pixels: read-only in layer 1, an image is shared by its 6 CTAs
//   maps1, maps2  written by one layer, private; read-only in the next, where all CTAs of the image share them (50 and 100)
//   hidden, out   as the maps: shared by 10 CTAs, and read by the host
#include "common.cuh"

using namespace workload;

constexpr int kMask = 5, kPair = kMask * kMask + 1;  // weights of one input map: a bias and a mask
constexpr int kThreads = 32;                         // of a fully connected unit

// `Ahead`: the operands of several products (a row of the mask; 8 of a unit) are loaded before the first is used.
__host__ __device__ inline float activate(float x) { return 1.7159f * tanhf(0.66666667f * x); }

// A map with its threads as pixels, from all maps of the layer before; the mask moves by two pixels.
template <bool Ahead>
__global__ void convolution(float* out, const float* in, const float* weights, int in_maps, int in_size) {
  const int map = blockIdx.x, image = blockIdx.y, x = threadIdx.x, y = threadIdx.y, size = blockDim.x;
  float sum = 0;
  for (int k = 0; k < in_maps; ++k) {
    const float* w = weights + (map * in_maps + k) * kPair;
    const float* pixels = in + ((image * in_maps + k) * in_size + 2 * y) * in_size + 2 * x;
    sum += w[0];
    for (int i = 0; i < kMask; ++i) {
      if constexpr (Ahead) {
        float factor[kMask], pixel[kMask];
        for (int j = 0; j < kMask; ++j) factor[j] = w[1 + i * kMask + j], pixel[j] = pixels[i * in_size + j];
        loads_issued();
        for (int j = 0; j < kMask; ++j) sum += factor[j] * pixel[j];
      } else {
        for (int j = 0; j < kMask; ++j) sum += w[1 + i * kMask + j] * pixels[i * in_size + j];
      }
    }
  }
  out[((image * gridDim.x + map) * size + y) * size + x] = activate(sum);
}

template <bool Ahead> __global__ void fully_connected(float* out, const float* in, const float* weights, int inputs) {
  __shared__ float scratch[kThreads];
  const float* w = weights + blockIdx.x * (inputs + 1);
  float sum = threadIdx.x == 0 ? w[0] : 0;
  int i = threadIdx.x;
  if constexpr (Ahead) {
    constexpr int kAtOnce = 8;
    for (; i + (kAtOnce - 1) * kThreads < inputs; i += kAtOnce * kThreads) {
      float factor[kAtOnce], value[kAtOnce];
      for (int u = 0; u < kAtOnce; ++u)
        factor[u] = w[1 + i + u * kThreads], value[u] = in[blockIdx.y * inputs + i + u * kThreads];
      loads_issued();
      for (int u = 0; u < kAtOnce; ++u) sum += factor[u] * value[u];
    }
  }
  for (; i < inputs; i += kThreads) sum += w[1 + i] * in[blockIdx.y * inputs + i];
  sum = block_sum(scratch, sum);
  if (threadIdx.x == 0) out[blockIdx.y * gridDim.x + blockIdx.x] = activate(sum);
}

// The layers on the CPU; `in` and the result hold all images.
std::vector<float> cpu_convolution(const std::vector<float>& in, const std::vector<float>& weights, int images, int in_maps,
                                   int in_size, int maps, int size) {
  std::vector<float> out;
  for (int at = 0; at < images * maps * size * size; ++at) {
    const int x = at % size, y = at / size % size, map = at / (size * size) % maps, image = at / (size * size * maps);
    double sum = 0;
    for (int k = 0; k < in_maps; ++k) {
      const float* w = &weights[std::size_t(map * in_maps + k) * kPair];
      const float* pixels = &in[(std::size_t(image * in_maps + k) * in_size + 2 * y) * in_size + 2 * x];
      sum += w[0];
      for (int m = 0; m < kMask * kMask; ++m) sum += double(w[1 + m]) * pixels[m / kMask * in_size + m % kMask];
    }
    out.push_back(activate(float(sum)));
  }
  return out;
}

std::vector<float> cpu_fully_connected(const std::vector<float>& in, const std::vector<float>& weights, int images,
                                       int inputs, int units) {
  std::vector<float> out;
  for (int at = 0; at < images * units; ++at) {
    const float *w = &weights[std::size_t(at % units) * (inputs + 1)], *values = &in[std::size_t(at / units) * inputs];
    double sum = w[0];
    for (int i = 0; i < inputs; ++i) sum += double(w[1 + i]) * values[i];
    out.push_back(activate(float(sum)));
  }
  return out;
}

int main(int argc, char** argv) {
  Args args(argc, argv, "nn: network that reads digits");
  const int images = args.number("images", 16, 1, 60000, "images to read");
  const bool ahead = args.number("unroll", 0, 0, 1, "1: loads of several products are under way at a time") == 1;
  args.done();

  const auto convolve = ahead ? convolution<true> : convolution<false>;
  const auto connect = ahead ? fully_connected<true> : fully_connected<false>;
  const auto pixels = random_floats(std::size_t(images) * 29 * 29, 1);
  const auto w1 = random_floats(6 * kPair, 2, -0.3f, 0.3f), w2 = random_floats(50 * 6 * kPair, 3, -0.15f, 0.15f),
             w3 = random_floats(100 * 1251, 4, -0.05f, 0.05f), w4 = random_floats(10 * 101, 5, -0.2f, 0.2f);
  const DeviceArray<float> device_pixels(pixels), device_w1(w1), device_w2(w2), device_w3(w3), device_w4(w4);
  const DeviceArray<float> maps1(std::size_t(images) * 6 * 13 * 13), maps2(std::size_t(images) * 50 * 5 * 5),
      hidden(std::size_t(images) * 100), out(std::size_t(images) * 10);
  convolve<<<dim3(6, images), dim3(13, 13)>>>(maps1, device_pixels, device_w1, 1, 29);
  finish_kernel();
  convolve<<<dim3(50, images), dim3(5, 5)>>>(maps2, maps1, device_w2, 6, 13);
  finish_kernel();
  connect<<<dim3(100, images), kThreads>>>(hidden, maps2, device_w3, 1250);
  finish_kernel();
  connect<<<dim3(10, images), kThreads>>>(out, hidden, device_w4, 100);
  finish_kernel();

  const auto want1 = cpu_convolution(pixels, w1, images, 1, 29, 6, 13);
  const auto want2 = cpu_convolution(want1, w2, images, 6, 13, 50, 5);
  const auto want3 = cpu_fully_connected(want2, w3, images, 1250, 100);
  Check check;
  check.close("maps1", maps1.download(), want1, 1e-4);
  check.close("maps2", maps2.download(), want2, 1e-4);
  check.close("hidden", hidden.download(), want3, 1e-4);
  check.close("out", out.download(), cpu_fully_connected(want3, w4, images, 100, 10), 1e-4);
  return check.report();
}
