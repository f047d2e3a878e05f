// The layers of cnn: kernels, and a network that runs each layer on the device and on the CPU.
#pragma once

#include <algorithm>
#include <deque>

#include "common.cuh"

using workload::block_sum, workload::ceil_div, workload::Check, workload::DeviceArray, workload::fail,
    workload::finish_kernel, workload::loads_issued, workload::random_floats;

struct Shape {  // of one layer: square masks and images, and how far the channels of a tensor are apart
  int in_channels, in_size, out_channels, out_size, mask, stride, pad, in_plane, out_plane;
};

__global__ void convolution(float* out, const float* in, const float* weights, const float* bias, Shape s, bool relu) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y;
  if (pixel >= s.out_size * s.out_size) return;
  const int top = pixel / s.out_size * s.stride - s.pad, left = pixel % s.out_size * s.stride - s.pad;
  float sum = bias[channel];
  for (int c = 0; c < s.in_channels; ++c) {
    const float* w = weights + (channel * s.in_channels + c) * s.mask * s.mask;
    for (int y = max(0, -top); y < min(s.mask, s.in_size - top); ++y) {
      const float* row = in + (c * s.in_size + top + y) * s.in_size + left;
      for (int x = max(0, -left); x < min(s.mask, s.in_size - left); ++x) sum += w[y * s.mask + x] * row[x];
    }
  }
  out[channel * s.out_size * s.out_size + pixel] = relu ? fmaxf(sum, 0) : sum;
}

// The same as libraries do it for one image. A CTA has blockDim.y groups of threads, which share out the input channels and
// the rows of the mask, and add up at the end: so that layers of few pixels fill a GPU. A thread loads Unroll channels
// before it uses the first; weights have the input channel last, those of four come with one load.
template <int Unroll>
__global__ void convolution_split(float* out, const float* in, const float* weights, const float* bias, Shape s, bool relu) {
  __shared__ float part[1024];
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y;
  const int out_y = pixel / s.out_size, out_x = pixel - out_y * s.out_size;
  const int top = out_y * s.stride - s.pad, left = out_x * s.stride - s.pad;
  const float* of_channel = weights + channel * s.mask * s.mask * s.in_channels;
  float sum = 0;
  const int rows = s.in_channels / Unroll * s.mask, groups = blockDim.y;  // few divisions: small layers are done soon
  int y = threadIdx.y, c = 0, step_y = groups, step_c = 0;
  if (s.mask == 1) {
    y = 0, c = threadIdx.y * Unroll, step_y = 0, step_c = groups * Unroll;
  } else {
    while (y >= s.mask) y -= s.mask, c += Unroll;
    while (step_y >= s.mask) step_y -= s.mask, step_c += Unroll;
  }
  for (int i = threadIdx.y; i < rows && pixel < s.out_size * s.out_size; i += groups, y += step_y, c += step_c) {
    if (y >= s.mask) y -= s.mask, c += Unroll;
    if (top + y < 0 || top + y >= s.in_size) continue;
    const float* row = in + c * s.in_plane + (top + y) * s.in_size + left;
    const float* w = of_channel + y * s.mask * s.in_channels + c;
    for (int x = max(0, -left); x < min(s.mask, s.in_size - left); ++x) {
      float factor[Unroll], value[Unroll];
      if constexpr (Unroll % 4 == 0) {
        for (int u = 0; u < Unroll; u += 4) {
          const float4 four = *reinterpret_cast<const float4*>(w + x * s.in_channels + u);
          factor[u] = four.x, factor[u + 1] = four.y, factor[u + 2] = four.z, factor[u + 3] = four.w;
        }
      } else {
        for (int u = 0; u < Unroll; ++u) factor[u] = w[x * s.in_channels + u];
      }
      for (int u = 0; u < Unroll; ++u) value[u] = row[u * s.in_plane + x];
      loads_issued();
      for (int u = 0; u < Unroll; ++u) sum += factor[u] * value[u];
    }
  }
  part[threadIdx.y * blockDim.x + threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || pixel >= s.out_size * s.out_size) return;
  for (int group = 1; group < groups; ++group) sum += part[group * blockDim.x + threadIdx.x];
  sum += bias[channel];
  out[channel * s.out_plane + pixel] = relu ? fmaxf(sum, 0) : sum;
}

// One CTA per output channel, as simple networks have it: all pixels of the channel at once, `patch` x `patch` of them per
// thread. Consecutive threads are below each other, so that a warp touches a line per row of the image. CTAs begin
// together and go through the input channels in the same order.
__global__ void convolution_channel(float* out, const float* in, const float* weights, const float* bias, Shape s, bool relu) {
  const int channel = blockIdx.x, patch = (s.out_size + blockDim.x - 1) / blockDim.x;
  for (int i = 0; i < patch * patch; ++i) {
    const int out_y = threadIdx.x * patch + i / patch, out_x = threadIdx.y * patch + i % patch;
    if (out_y >= s.out_size || out_x >= s.out_size) continue;
    const int top = out_y * s.stride - s.pad, left = out_x * s.stride - s.pad;
    const int first_y = max(0, -top), end_y = min(s.mask, s.in_size - top);
    const int first_x = max(0, -left), end_x = min(s.mask, s.in_size - left);
    float sum = bias[channel];
    for (int c = 0; c < s.in_channels; ++c) {
      for (int y = first_y; y < end_y; ++y) {
        for (int x = first_x; x < end_x; ++x) {
          sum += weights[((channel * s.in_channels + c) * s.mask + y) * s.mask + x] *
                 in[c * s.in_plane + (top + y) * s.in_size + left + x];
        }
      }
    }
    out[channel * s.out_plane + out_y * s.out_size + out_x] = relu ? fmaxf(sum, 0) : sum;
  }
}

__global__ void max_pool(float* out, const float* in, Shape s) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x, channel = blockIdx.y;
  if (pixel >= s.out_size * s.out_size) return;
  const int top = pixel / s.out_size * s.stride - s.pad, left = pixel % s.out_size * s.stride - s.pad;
  float best = -INFINITY;
  for (int y = max(0, top); y < min(top + s.mask, s.in_size); ++y) {
    for (int x = max(0, left); x < min(left + s.mask, s.in_size); ++x) {
      best = fmaxf(best, in[channel * s.in_plane + y * s.in_size + x]);
    }
  }
  out[channel * s.out_plane + pixel] = best;
}

__global__ void mean_pool(float* out, const float* in, int pixels, int in_plane, int out_plane) {  // one CTA per channel
  __shared__ float scratch[64];
  float sum = 0;
  for (int i = threadIdx.x; i < pixels; i += blockDim.x) sum += in[blockIdx.x * in_plane + i];
  sum = block_sum(scratch, sum);
  if (threadIdx.x == 0) out[blockIdx.x * out_plane] = sum / float(pixels);
}

__global__ void fully_connected(float* out, const float* in, const float* weights, const float* bias, int inputs,
                                bool relu) {
  __shared__ float scratch[128];  // one CTA per output
  float sum = 0;
  for (int i = threadIdx.x; i < inputs; i += blockDim.x) sum += weights[blockIdx.x * inputs + i] * in[i];
  sum = block_sum(scratch, sum) + bias[blockIdx.x];
  if (threadIdx.x == 0) out[blockIdx.x] = relu ? fmaxf(sum, 0) : sum;
}

__global__ void add_relu(float* out, const float* a, const float* b, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = fmaxf(a[i] + b[i], 0);
}

struct Tensor {
  int channels, size, plane;  // a channel takes `plane` elements, the last ones of which may be unused and zero
  DeviceArray<float> device;
  std::vector<float> host;  // what the CPU computed

  Tensor(int depth, int edge, int align)
      : channels(depth),
        size(edge),
        plane(ceil_div(edge * edge, align) * align),
        device(std::size_t(depth) * plane),
        host(std::size_t(depth) * plane) {
    device.clear();
  }
  std::size_t count() const { return host.size(); }
};

// Runs each layer on the device and on the CPU, and compares the results. Keeps all tensors, so that no address is reused.
class Network {
 public:
  // `divide` of the numbers of channels; `split`: groups of 32 threads in a CTA of a convolution. 0: the plain kernel, or
  // one CTA per channel if `by_channel`.
  Network(int divide, int split, bool by_channel) : divide_(divide), split_(split), by_channel_(by_channel) {}

  const Tensor& image(int size) {
    Tensor& t = make(3, size);
    const auto values = random_floats(std::size_t(3) * size * size, 1, -1);
    for (std::size_t i = 0; i < values.size(); ++i) t.host[i / (size * size) * t.plane + i % (size * size)] = values[i];
    t.device.upload(t.host);
    return t;
  }

  const Tensor& convolve(const Tensor& in, int channels, int mask, int stride, int pad, bool relu = true) {
    Tensor& out = make(narrow(channels), out_size(in, mask, stride, pad));
    convolve_into(out, 0, out.channels, in, mask, stride, pad, relu);
    return verified(out);
  }

  // Squeeze to few channels, then expand by masks of one and of nine elements, side by side in one tensor.
  const Tensor& fire(const Tensor& in, int squeeze, int expand) {
    const Tensor& few = convolve(in, squeeze, 1, 1, 0);
    const int half = narrow(expand);
    Tensor& out = make(2 * half, in.size);
    convolve_into(out, 0, half, few, 1, 1, 0, true);
    convolve_into(out, half, half, few, 3, 1, 1, true);
    return verified(out);
  }

  // Two convolutions and a shortcut around them.
  const Tensor& residual(const Tensor& in, int channels, int stride) {
    return add_shortcut(convolve(convolve(in, channels, 3, stride, 1), channels, 3, 1, 1, false), in, channels, stride);
  }

  // The same with few channels in between, and four times as many outside.
  const Tensor& bottleneck(const Tensor& in, int channels, int stride) {
    const Tensor& few = convolve(convolve(in, channels, 1, stride, 0), channels, 3, 1, 1);
    return add_shortcut(convolve(few, 4 * channels, 1, 1, 0, false), in, 4 * channels, stride);
  }

  const Tensor& pool(const Tensor& in, int mask, int stride, int pad = 0) {
    Shape s = {in.channels, in.size, in.channels, out_size(in, mask, stride, pad), mask, stride, pad, in.plane, 0};
    Tensor& out = make(in.channels, s.out_size);
    s.out_plane = out.plane;
    max_pool<<<dim3(ceil_div(s.out_size * s.out_size, 256), in.channels), 256>>>(out.device, in.device, s);
    finish_kernel();
    for (int i = 0; i < out.channels * out.plane; ++i) out.host[i] = i % out.plane < s.out_size * s.out_size ? -INFINITY : 0;
    for_each_tap(s, [&](int c, std::size_t to, int, std::size_t from) {
      float& best = out.host[std::size_t(c) * s.out_plane + to];
      best = std::max(best, in.host[std::size_t(c) * s.in_plane + from]);
    });
    return verified(out);
  }

  const Tensor& mean(const Tensor& in) {
    Tensor& out = make(in.channels, 1);
    const int pixels = in.size * in.size;
    mean_pool<<<in.channels, 64>>>(out.device, in.device, pixels, in.plane, out.plane);
    finish_kernel();
    for (int c = 0; c < in.channels; ++c) {
      for (int i = 0; i < pixels; ++i) out.host[c * out.plane] += in.host[c * in.plane + i] / float(pixels);
    }
    return verified(out);
  }

  const Tensor& connect(const Tensor& in, int outputs, bool relu) {
    Tensor& out = tensors_.emplace_back(outputs, 1, 1);
    const std::size_t inputs = in.count();
    const auto weights = layer_weights(inputs * outputs, inputs), bias = layer_weights(outputs, inputs);
    const float *device_weights = keep(weights), *device_bias = keep(bias);
    fully_connected<<<outputs, 128>>>(out.device, in.device, device_weights, device_bias, int(inputs), relu);
    finish_kernel();
    for (int o = 0; o < outputs; ++o) {
      double sum = bias[o];
      for (std::size_t i = 0; i < inputs; ++i) sum += double(weights[o * inputs + i]) * in.host[i];
      out.host[o] = relu && sum < 0 ? 0 : float(sum);
    }
    return verified(out);
  }

  int narrow(int channels) const { return std::max(1, channels / divide_); }
  int report() const { return check_.report(); }

 private:
  const Tensor& add_shortcut(const Tensor& a, const Tensor& in, int channels, int stride) {
    const Tensor& b = stride == 1 && in.channels == a.channels ? in : convolve(in, channels, 1, stride, 0, false);
    Tensor& out = make(a.channels, a.size);
    add_relu<<<ceil_div(int(out.count()), 256), 256>>>(out.device, a.device, b.device, int(out.count()));
    finish_kernel();
    for (std::size_t i = 0; i < out.count(); ++i) out.host[i] = std::max(a.host[i] + b.host[i], 0.0f);
    return verified(out);
  }

  static int out_size(const Tensor& in, int mask, int stride, int pad) {
    if (in.size + 2 * pad < mask) fail("the image is too small for this network");
    return (in.size + 2 * pad - mask) / stride + 1;
  }

  // Calls f(channel, output pixel, element of the mask, input pixel) for all input channels.
  template <class F> static void for_each_tap(const Shape& s, F f) {
    for (int c = 0; c < s.in_channels; ++c) {
      for (int to = 0; to < s.out_size * s.out_size; ++to) {
        for (int tap = 0; tap < s.mask * s.mask; ++tap) {
          const int y = to / s.out_size * s.stride - s.pad + tap / s.mask,
                    x = to % s.out_size * s.stride - s.pad + tap % s.mask;
          if (y >= 0 && y < s.in_size && x >= 0 && x < s.in_size) f(c, to, tap, std::size_t(y) * s.in_size + x);
        }
      }
    }
  }

  void convolve_into(Tensor& out, int first, int channels, const Tensor& in, int mask, int stride, int pad, bool relu) {
    const Shape s = {in.channels, in.size, channels, out.size, mask, stride, pad, in.plane, out.plane};
    const std::size_t taps = std::size_t(mask) * mask, in_plane = in.plane;
    const std::size_t pixels = std::size_t(s.out_size) * s.out_size, inputs = in.channels * taps;
    const auto weights = layer_weights(inputs * channels, inputs), bias = layer_weights(channels, inputs);
    const auto kernel = by_channel_              ? convolution_channel
                        : split_ == 0            ? convolution
                        : s.in_channels % 4 == 0 ? convolution_split<4>
                        : s.in_channels % 3 == 0 ? convolution_split<3>
                                                 : convolution_split<1>;
    const int steps = ceil_div(s.in_channels, 4) * s.mask;  // of one pixel; a thread should have some
    const int edge = ceil_div(s.out_size, ceil_div(s.out_size, 32));
    const dim3 block = by_channel_   ? dim3(edge, edge)
                       : split_ == 0 ? dim3(256)
                                     : dim3(32, std::clamp(steps / 6, 1, split_)),
               grid = by_channel_ ? dim3(channels) : dim3(ceil_div(int(pixels), int(block.x)), channels);
    const float* device_weights = keep(split_ == 0 ? weights : channel_last(weights, s.in_channels, int(taps)));
    const float* device_bias = keep(bias);
    kernel<<<grid, block>>>(out.device + first * out.plane, in.device, device_weights, device_bias, s, relu);
    finish_kernel();
    for (int channel = 0; channel < channels; ++channel) {
      float* result = &out.host[std::size_t(first + channel) * out.plane];
      std::fill(result, result + pixels, bias[channel]);
      for_each_tap(s, [&](int c, std::size_t to, int tap, std::size_t from) {
        result[to] += weights[channel * inputs + c * taps + tap] * in.host[c * in_plane + from];
      });
      for (std::size_t i = 0; i < pixels && relu; ++i) result[i] = std::max(result[i], 0.0f);
    }
  }

  // [output][input][tap] as [output][tap][input]
  static std::vector<float> channel_last(const std::vector<float>& weights, int inputs, int taps) {
    std::vector<float> out(weights.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t channel = i / (inputs * taps), input = i / taps % inputs, tap = i % taps;
      out[(channel * taps + tap) * inputs + input] = weights[i];
    }
    return out;
  }

  Tensor& make(int channels, int size) {
    return tensors_.emplace_back(channels, size, split_ == 0 ? 1 : 32);
  }  // whole lines
  float* keep(const std::vector<float>& values) { return constants_.emplace_back(values); }
  std::vector<float> layer_weights(std::size_t count, std::size_t inputs) {  // keep activations at about 1
    const float bound = std::sqrt(6 / float(inputs));
    return random_floats(count, ++seed_, -bound, bound);
  }
  const Tensor& verified(const Tensor& out) {
    check_.close(("layer " + std::to_string(++layers_)).c_str(), out.device.download(), out.host, 1e-3);
    return out;
  }

  int divide_, split_, layers_ = 0;
  bool by_channel_;
  std::uint64_t seed_ = 1;
  std::deque<Tensor> tensors_;
  std::deque<DeviceArray<float>> constants_;
  Check check_;
};
