// The kernels of a training step. Tensors are [image][channel][row][column]; blockIdx.z is the image, so the CTAs of an
// image lie side by side, and a GPU that gets every n-th part of the CTAs trains on its own images with everybody's weights.
//
// Convolutions are products of matrices, of which one is gathered from an image as it is read. Fully connected layers are
// convolutions with a mask as large as the image. Parameters of a layer are [output channel][input channel][tap], then
// biases.
#pragma once

#include "common.cuh"

struct Shape {  // of one layer: square masks and images
  int in_channels, in_size, out_channels, out_size, mask, stride, pad;

  __host__ __device__ int in_pixels() const { return in_size * in_size; }
  __host__ __device__ int out_pixels() const { return out_size * out_size; }
  __host__ __device__ int taps() const { return mask * mask; }
  __host__ __device__ int in_count() const { return in_channels * in_pixels(); }  // per image
  __host__ __device__ int out_count() const { return out_channels * out_pixels(); }
  __host__ __device__ int weights() const { return out_channels * in_channels * taps(); }
  __host__ __device__ int parameters() const { return weights() + out_channels; }
};

constexpr int kTile = 16, kThreads = 256;

// The sum over k of a(k) * b(k) for the row threadIdx.y and the column threadIdx.x of a tile of 16 x 16. a must give the
// elements of row threadIdx.y; b those of column threadIdx.x, or, for neighbours in k to be read together, of column
// threadIdx.y.
enum class Read { along_columns, along_k };
template <Read Order, class A, class B> __device__ float tiled_product(int inner, A a, B b) {
  __shared__ alignas(16) float a_tile[kTile][kTile], b_tile[kTile][kTile + 4];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const bool along_k = Order == Read::along_k;
  float sum = 0;
  for (int first = 0; first < inner; first += kTile) {
    const float from_a = a(first + tx), from_b = b(first + (along_k ? tx : ty));
    workload::loads_issued();
    a_tile[ty][tx] = from_a;
    b_tile[along_k ? ty : tx][along_k ? tx : ty] = from_b;
    __syncthreads();
    for (int k = 0; k < kTile; k += 4) {
      const float4 x = *reinterpret_cast<const float4*>(&a_tile[ty][k]),
                   y = *reinterpret_cast<const float4*>(&b_tile[tx][k]);
      sum += x.x * y.x;
      sum += x.y * y.y;
      sum += x.z * y.z;
      sum += x.w * y.w;
    }
    __syncthreads();
  }
  return sum;
}

// Rows: output channels. Columns: pixels. Inner: input channels and taps.
__global__ void convolution(float* out, const float* in, const float* parameters, Shape s) {
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  const int inner = s.in_channels * s.taps();
  const int top = column / s.out_size * s.stride - s.pad, left = column % s.out_size * s.stride - s.pad;
  const float* image = in + blockIdx.z * s.in_count();
  const float sum = tiled_product<Read::along_columns>(
      inner, [&](int k) { return row < s.out_channels && k < inner ? parameters[row * inner + k] : 0; },
      [&](int k) {
        const int c = k / s.taps(), tap = k - c * s.taps(), y = top + tap / s.mask, x = left + tap % s.mask;
        const bool inside = unsigned(y) < unsigned(s.in_size) && unsigned(x) < unsigned(s.in_size);
        return column < s.out_pixels() && k < inner && inside ? image[(c * s.in_size + y) * s.in_size + x] : 0;
      });
  if (row >= s.out_channels || column >= s.out_pixels()) return;
  out[blockIdx.z * s.out_count() + row * s.out_pixels() + column] = sum + parameters[s.weights() + row];
}

// Rows: input channels. Columns: input pixels. Inner: output channels and taps. `add` to what another layer has left there.
__global__ void convolution_backward_data(float* in_gradient, const float* out_gradient, const float* parameters, Shape s,
                                          bool add) {
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  const int inner = s.out_channels * s.taps();
  const int bottom = column / s.in_size + s.pad, right = column % s.in_size + s.pad;
  const float* image = out_gradient + blockIdx.z * s.out_count();
  const float sum = tiled_product<Read::along_columns>(
      inner,
      [&](int k) {
        const int o = k / s.taps(), tap = k - o * s.taps();
        return row < s.in_channels && k < inner ? parameters[(o * s.in_channels + row) * s.taps() + tap] : 0;
      },
      [&](int k) {
        const int o = k / s.taps(), tap = k - o * s.taps();
        const int down = bottom - tap / s.mask, across = right - tap % s.mask, y = down / s.stride, x = across / s.stride;
        const bool inside =
            down >= 0 && across >= 0 && y * s.stride == down && x * s.stride == across && y < s.out_size && x < s.out_size;
        return column < s.in_pixels() && k < inner && inside ? image[(o * s.out_size + y) * s.out_size + x] : 0;
      });
  if (row >= s.in_channels || column >= s.in_pixels()) return;
  float* target = in_gradient + blockIdx.z * s.in_count() + row * s.in_pixels() + column;
  *target = add ? *target + sum : sum;
}

// Rows: output channels. Columns: input channels and taps. Inner: output pixels. Each image has a gradient of its own.
__global__ void convolution_backward_weights(float* gradient, const float* in, const float* out_gradient, Shape s) {
  const int row = blockIdx.y * kTile + threadIdx.y, columns = s.in_channels * s.taps();
  const int read = blockIdx.x * kTile + threadIdx.y, c = read / s.taps(), tap = read - c * s.taps();
  const int down = tap / s.mask - s.pad, across = tap % s.mask - s.pad;
  const float *image = in + blockIdx.z * s.in_count(), *errors = out_gradient + blockIdx.z * s.out_count();
  const float sum = tiled_product<Read::along_k>(
      s.out_pixels(),
      [&](int k) { return row < s.out_channels && k < s.out_pixels() ? errors[row * s.out_pixels() + k] : 0; },
      [&](int k) {
        const int y = k / s.out_size * s.stride + down, x = k % s.out_size * s.stride + across;
        const bool inside = unsigned(y) < unsigned(s.in_size) && unsigned(x) < unsigned(s.in_size);
        return read < columns && k < s.out_pixels() && inside ? image[(c * s.in_size + y) * s.in_size + x] : 0;
      });
  const int column = blockIdx.x * kTile + threadIdx.x;
  if (row < s.out_channels && column < columns) gradient[blockIdx.z * s.parameters() + row * columns + column] = sum;
}

__global__ void bias_gradient(float* gradient, const float* out_gradient, Shape s) {  // one CTA per channel and image
  __shared__ float scratch[64];
  const float* errors = out_gradient + blockIdx.z * s.out_count() + blockIdx.x * s.out_pixels();
  float sum = 0;
  for (int i = threadIdx.x; i < s.out_pixels(); i += blockDim.x) sum += errors[i];
  sum = workload::block_sum(scratch, sum);
  if (threadIdx.x == 0) gradient[blockIdx.z * s.parameters() + s.weights() + blockIdx.x] = sum;
}

__global__ void relu(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[blockIdx.z * count + i] = fmaxf(values[blockIdx.z * count + i], 0);
}

__global__ void relu_backward(float* gradient, const float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && values[blockIdx.z * count + i] <= 0) gradient[blockIdx.z * count + i] = 0;
}

// Also where in its channel the maximum came from.
__global__ void max_pool(float* out, int* chosen, const float* in, Shape s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.out_count()) return;
  const int c = i / s.out_pixels(), pixel = i - c * s.out_pixels();
  const int top = pixel / s.out_size * s.stride - s.pad, left = pixel % s.out_size * s.stride - s.pad;
  const float* channel = in + blockIdx.z * s.in_count() + c * s.in_pixels();
  float best = -INFINITY;
  int at = 0;
  for (int y = max(0, top); y < min(top + s.mask, s.in_size); ++y) {
    for (int x = max(0, left); x < min(left + s.mask, s.in_size); ++x) {
      const float value = channel[y * s.in_size + x];
      if (value > best) best = value, at = y * s.in_size + x;
    }
  }
  out[blockIdx.z * s.out_count() + i] = best;
  chosen[blockIdx.z * s.out_count() + i] = at;
}

// A thread per input pixel asks the windows that it is in whether they chose it.
__global__ void max_pool_backward(float* in_gradient, const float* out_gradient, const int* chosen, Shape s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= s.in_count()) return;
  const int c = i / s.in_pixels(), pixel = i - c * s.in_pixels();
  const int bottom = pixel / s.in_size + s.pad, right = pixel % s.in_size + s.pad;
  const int channel = blockIdx.z * s.out_count() + c * s.out_pixels();
  float sum = 0;
  for (int y = max(0, bottom - s.mask + s.stride) / s.stride; y <= min(bottom / s.stride, s.out_size - 1); ++y) {
    for (int x = max(0, right - s.mask + s.stride) / s.stride; x <= min(right / s.stride, s.out_size - 1); ++x) {
      const int window = channel + y * s.out_size + x;
      if (chosen[window] == pixel) sum += out_gradient[window];
    }
  }
  in_gradient[blockIdx.z * s.in_count() + i] = sum;
}

__global__ void mean_pool(float* out, const float* in, int channels, int pixels) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= channels) return;
  float sum = 0;
  for (int i = 0; i < pixels; ++i) sum += in[(blockIdx.z * channels + c) * pixels + i];
  out[blockIdx.z * channels + c] = sum / float(pixels);
}

__global__ void mean_pool_backward(float* in_gradient, const float* out_gradient, int channels, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= channels * pixels) return;
  in_gradient[blockIdx.z * channels * pixels + i] = out_gradient[blockIdx.z * channels + i / pixels] / float(pixels);
}

__global__ void add(float* out, const float* a, const float* b, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[blockIdx.z * count + i] = a[blockIdx.z * count + i] + b[blockIdx.z * count + i];
}

__global__ void add_backward(float* a_gradient, float* b_gradient, const float* out_gradient, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count)
    a_gradient[blockIdx.z * count + i] = b_gradient[blockIdx.z * count + i] = out_gradient[blockIdx.z * count + i];
}

// Cross entropy of the softmax, a CTA per image; its gradient is that of the mean over all images.
__global__ void softmax_loss(float* loss, float* gradient, const float* scores, const int* labels, int classes) {
  __shared__ float scratch[kThreads];
  const float* score = scores + blockIdx.z * classes;
  float largest = -INFINITY, sum = 0;
  for (int c = 0; c < classes; ++c) largest = fmaxf(largest, score[c]);
  for (int c = threadIdx.x; c < classes; c += blockDim.x) sum += expf(score[c] - largest);
  sum = workload::block_sum(scratch, sum);
  const int label = labels[blockIdx.z];
  for (int c = threadIdx.x; c < classes; c += blockDim.x)
    gradient[blockIdx.z * classes + c] = (expf(score[c] - largest) / sum - (c == label ? 1 : 0)) / float(gridDim.z);
  if (threadIdx.x == 0) loss[blockIdx.z] = logf(sum) - (score[label] - largest);
}

// Gradient descent by the sum of all images' gradients.
__global__ void update(float* parameters, const float* gradients, int count, int images, float rate) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0;
  for (int image = 0; image < images; ++image) sum += gradients[image * count + i];
  parameters[i] -= rate * sum;
}
