// SRAD, speckle-reducing anisotropic diffusion of an ultrasound image (Yu and Acton 2002): two kernels per step. The mean
// and variance of the image, which set the strength of the diffusion, are computed by the host between steps.
//
//   image                     read-only in `coefficients`, where a CTA of 16 x 16 threads shares the rows and columns next
//   to
//                             its own with all four neighbouring CTAs; read and written in `diffuse`, private
//   north, south, west, east  differences to the neighbours: written by `coefficients`, read by `diffuse`, private
//   c                         diffusion coefficient: written by `coefficients`; `diffuse` also reads the elements south and
//                             east, at the edge of a CTA those of its neighbours
#include <algorithm>

#include "common.cuh"

using namespace workload;

struct Differences {
  float *north, *south, *west, *east;
};

__host__ __device__ inline float coefficient(float centre, float n, float s, float w, float e, float speckle) {
  const float gradient = (n * n + s * s + w * w + e * e) / (centre * centre);
  const float laplacian = (n + s + w + e) / centre;
  const float slope = 1 + 0.25f * laplacian;
  const float variation = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (slope * slope);
  const float c = 1 / (1 + (variation - speckle) / (speckle * (1 + speckle)));
  return c < 0 ? 0 : c > 1 ? 1 : c;
}

__global__ void coefficients(float* c, Differences d, const float* image, int rows, int columns, float speckle) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= rows || j >= columns) return;
  const int at = i * columns + j;
  const float here = image[at];
  const float north = image[i > 0 ? at - columns : at] - here, south = image[i < rows - 1 ? at + columns : at] - here;
  const float west = image[j > 0 ? at - 1 : at] - here, east = image[j < columns - 1 ? at + 1 : at] - here;
  d.north[at] = north;
  d.south[at] = south;
  d.west[at] = west;
  d.east[at] = east;
  c[at] = coefficient(here, north, south, west, east, speckle);
}

__global__ void diffuse(float* image, const float* c, Differences d, int rows, int columns, float rate) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= rows || j >= columns) return;
  const int at = i * columns + j;
  const float south = c[i < rows - 1 ? at + columns : at], east = c[j < columns - 1 ? at + 1 : at];
  image[at] += 0.25f * rate * (c[at] * (d.north[at] + d.west[at]) + south * d.south[at] + east * d.east[at]);
}

// Variance / mean^2
float speckle_of(const std::vector<float>& image) {
  double sum = 0, squares = 0;
  for (const float v : image) {
    sum += v;
    squares += double(v) * v;
  }
  const double mean = sum / double(image.size());
  return float((squares / double(image.size()) - mean * mean) / (mean * mean));
}

void cpu_step(std::vector<float>& image, int rows, int columns, float rate) {
  const float speckle = speckle_of(image);
  const std::vector<float> old = image;
  std::vector<float> c(image.size());
  const auto at = [=](int i, int j) {  // clamped to the image
    return std::size_t(std::min(std::max(i, 0), rows - 1)) * columns + std::min(std::max(j, 0), columns - 1);
  };
  const auto difference = [&](int i, int j, int di, int dj) { return old[at(i + di, j + dj)] - old[at(i, j)]; };
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      c[at(i, j)] = coefficient(old[at(i, j)], difference(i, j, -1, 0), difference(i, j, 1, 0), difference(i, j, 0, -1),
                                difference(i, j, 0, 1), speckle);
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const float divergence = c[at(i, j)] * (difference(i, j, -1, 0) + difference(i, j, 0, -1)) +
                               c[at(i + 1, j)] * difference(i, j, 1, 0) + c[at(i, j + 1)] * difference(i, j, 0, 1);
      image[at(i, j)] += 0.25f * rate * divergence;
    }
  }
}

int main(int argc, char** argv) {
  Args args(argc, argv, "srad: speckle-reducing anisotropic diffusion");
  const int rows = args.number("rows", 384, 1, 32768, "rows of the image");
  const int columns = args.number("columns", 384, 1, 32768, "columns of the image");
  const int steps = args.number("steps", 2, 1, 10000, "time steps");
  args.done();
  const float rate = 0.5f;

  auto image = random_floats(std::size_t(rows) * columns, 1, 1, 2.7f);
  const DeviceArray<float> device_image(image), c(image.size()), north(image.size()), south(image.size()),
      west(image.size()), east(image.size());
  const Differences d = {north, south, west, east};
  const dim3 grid(ceil_div(columns, 16), ceil_div(rows, 16)), block(16, 16);
  for (int step = 0; step < steps; ++step) {
    coefficients<<<grid, block>>>(c, d, device_image, rows, columns, speckle_of(device_image.download()));
    finish_kernel();
    diffuse<<<grid, block>>>(device_image, c, d, rows, columns, rate);
    finish_kernel();
    cpu_step(image, rows, columns, rate);
  }

  Check check;
  check.close("image", device_image.download(), image, 1e-4);
  return check.report();
}
