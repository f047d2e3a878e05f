// Two-dimensional discrete wavelet transform of an image, reversible 5/3 lifting, several levels. `rows` transforms each row
// from `image` to `half`, `columns` each column from `half` back to `image`; the next level takes the quarter of the low
// frequencies.
//
//   image  read-only in `rows`: a CTA transforms a part of one row and shares three pixels with the CTAs left and right of
//          it; written in `columns`, private
//   half   written in `rows`, private; read-only in `columns`, where a CTA slides down a strip of rows and shares three rows
//          with the strips above and below. Strips and rows are different CTAs, so most of `half` is read by another CTA
//          than the one that wrote it.
#include "common.cuh"

using namespace workload;

constexpr int kPairs = 128;  // pairs of pixels of a CTA in `rows`
constexpr int kStrip = 16;   // pairs of rows of a CTA in `columns`

// Beyond its ends a signal of four elements or more is continued as in a mirror.
__device__ int mirror(int i, int size) { return i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i; }

__device__ int high_pass(int left, int middle, int right) { return middle - ((left + right) >> 1); }
__device__ int low_pass(int left_high, int middle, int right_high) { return middle + ((left_high + right_high + 2) >> 2); }

__global__ void rows(int* half, const int* image, int width, int pitch) {
  __shared__ int pixels[2 * kPairs + 3];
  const int first = blockIdx.x * 2 * kPairs - 2;  // the pixel at pixels[0]
  const int* row = image + blockIdx.y * pitch;
  for (int i = threadIdx.x; i < 2 * kPairs + 3; i += kPairs) {
    if (first + i <= width) pixels[i] = row[mirror(first + i, width)];
  }
  __syncthreads();
  const int pair = blockIdx.x * kPairs + threadIdx.x, pairs = width / 2;
  if (pair >= pairs) return;
  const int* p = pixels + 2 * threadIdx.x;
  const int before = high_pass(p[0], p[1], p[2]), here = high_pass(p[2], p[3], p[4]);
  half[blockIdx.y * pitch + pair] = low_pass(before, p[2], here);
  half[blockIdx.y * pitch + pairs + pair] = here;
}

__global__ void columns(int* image, const int* half, int width, int height, int pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width) return;
  const int pairs = height / 2, first = blockIdx.y * kStrip, end = min(first + kStrip, pairs);
  const int* column = half + x;
  int even = column[2 * first * pitch];
  int before = high_pass(column[mirror(2 * first - 2, height) * pitch], column[mirror(2 * first - 1, height) * pitch], even);
  for (int pair = first; pair < end; ++pair) {
    const int odd = column[(2 * pair + 1) * pitch], next = column[mirror(2 * pair + 2, height) * pitch];
    const int here = high_pass(even, odd, next);
    image[pair * pitch + x] = low_pass(before, even, here);
    image[(pairs + pair) * pitch + x] = here;
    before = here;
    even = next;
  }
}

// In-place lifting of one signal of `size` elements at a distance of `stride`, then low frequencies first.
void cpu_lift(int* x, int size, int stride) {
  const auto at = [=](int i) -> int& { return x[std::ptrdiff_t(i) * stride]; };
  for (int i = 1; i < size; i += 2) at(i) -= (at(i - 1) + at(i + 1 < size ? i + 1 : i - 1)) >> 1;
  for (int i = 0; i < size; i += 2) at(i) += (at(i > 0 ? i - 1 : 1) + at(i + 1) + 2) >> 2;
  std::vector<int> sorted(size);
  for (int i = 0; i < size; ++i) sorted[i / 2 + (i % 2) * (size / 2)] = at(i);
  for (int i = 0; i < size; ++i) at(i) = sorted[i];
}

int main(int argc, char** argv) {
  Args args(argc, argv, "dwt2d: 5/3 wavelet transform of an image");
  const int width = args.number("width", 512, 4, 32768, "pixels of a row, a multiple of 2^(levels + 1)");
  const int height = args.number("height", 512, 4, 32768, "rows, a multiple of 2^(levels + 1)");
  const int levels = args.number("levels", 3, 1, 10, "levels of the transform");
  args.done();
  if (width % (2 << levels) != 0 || height % (2 << levels) != 0)
    fail("--width and --height must be multiples of 2^(levels + 1)");

  Random random(1);
  std::vector<int> want(std::size_t(width) * height);
  for (int& pixel : want) pixel = random.below(256) - 128;
  const DeviceArray<int> image(want), half(want.size());
  for (int level = 0; level < levels; ++level) {
    const int w = width >> level, h = height >> level;
    rows<<<dim3(ceil_div(w / 2, kPairs), h), kPairs>>>(half, image, w, width);
    finish_kernel();
    columns<<<dim3(ceil_div(w, kPairs), ceil_div(h / 2, kStrip)), kPairs>>>(image, half, w, h, width);
    finish_kernel();
    for (int y = 0; y < h; ++y) cpu_lift(&want[std::size_t(y) * width], w, 1);
    for (int x = 0; x < w; ++x) cpu_lift(&want[x], h, width);
  }
  Check check;
  check.equal("image", image.download(), want);
  return check.report();
}
