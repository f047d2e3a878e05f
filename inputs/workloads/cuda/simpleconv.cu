// Simple convolution: a square mask of any odd size over a padded image, with one-dimensional CTAs over the pixels.
//
//   in    (height + mask - 1) x (width + mask - 1), read-only; mask - 1 rows are shared with the CTAs that compute the rows
//         above and below
//   mask  mask x mask numbers in global memory, read-only, shared by all CTAs
//   out   height x width, written, private
#include "common.cuh"

using namespace workload;

__global__ void convolution(float* out, const float* in, const float* mask, int width, int height, int mask_width) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel >= width * height) return;
  const int x = pixel % width, y = pixel / width;
  const int pitch = width + mask_width - 1;
  float sum = 0;
  for (int dy = 0; dy < mask_width; ++dy) {
    for (int dx = 0; dx < mask_width; ++dx) sum += in[(y + dy) * pitch + x + dx] * mask[dy * mask_width + dx];
  }
  out[pixel] = sum;
}

int main(int argc, char** argv) {
  Args args(argc, argv, "simpleconv: square mask over a padded image");
  const int width = args.number("width", 512, 1, 30000, "pixels of a row");
  const int height = args.number("height", 512, 1, 30000, "rows");
  const int mask_width = args.number("mask", 5, 1, 63, "rows and columns of the mask");
  const int threads = args.number("threads", 256, 32, 1024, "threads of a CTA");
  args.done();
  if (mask_width % 2 == 0) fail("--mask must be odd");
  const int pitch = width + mask_width - 1;

  const auto in = random_floats(std::size_t(pitch) * (height + mask_width - 1), 1);
  const auto mask = random_floats(std::size_t(mask_width) * mask_width, 2, -1);
  const DeviceArray<float> device_in(in), device_mask(mask), device_out(std::size_t(width) * height);
  convolution<<<ceil_div(width * height, threads), threads>>>(device_out, device_in, device_mask, width, height, mask_width);
  finish_kernel();

  std::vector<double> want(std::size_t(width) * height);
  for (int y = 0; y < height; ++y) {
    for (int dy = 0; dy < mask_width; ++dy) {
      for (int dx = 0; dx < mask_width; ++dx) {
        const double weight = mask[std::size_t(dy) * mask_width + dx];
        const float* row = &in[std::size_t(y + dy) * pitch + dx];
        for (int x = 0; x < width; ++x) want[std::size_t(y) * width + x] += weight * row[x];
      }
    }
  }
  Check check;
  check.close("out", device_out.download(), want, 1e-4);
  return check.report();
}
