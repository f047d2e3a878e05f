// A network under training: each layer runs forward as it is added and notes how it goes backward. What a kernel leaves is
// compared with the CPU at once, and the CPU goes on from the device's numbers: a rounding error never picks another
// maximum. In the end the gradient as a whole is compared with differences of the loss, which needs none of the backward
// formulas.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>

#include "train_kernels.cuh"

using workload::ceil_div, workload::Check, workload::DeviceArray, workload::fail, workload::finish_kernel,
    workload::random_floats;
using Values = std::vector<double>;

struct Tensor {  // of all images
  int channels, size;
  bool wants_gradient = true, has_gradient = false;
  DeviceArray<float> value, gradient;
  Values host, host_gradient;

  Tensor(int images, int depth, int edge)
      : channels(depth), size(edge), value(images * count()), gradient(images * count()) {
    host.resize(images * count());
    host_gradient.resize(images * count());
  }
  std::size_t count() const { return std::size_t(channels) * size * size; }  // per image
};

struct Parameters {
  DeviceArray<float> value, gradients;  // the latter per image
  Values host, gradient;                // the sum over the images

  Parameters(const std::vector<float>& values, int images)
      : value(values), gradients(values.size() * images), host(values.begin(), values.end()), gradient(values.size()) {}
};

// Calls f(weight, output, input, count) for each run of pixels in a row that a weight takes from `input` on, `stride` apart.
template <class F> void for_each_run(const Shape& s, F f) {
  for (int weight = 0; weight < s.weights(); ++weight) {
    const int o = weight / (s.in_channels * s.taps()), c = weight / s.taps() % s.in_channels, tap = weight % s.taps();
    const int across = tap % s.mask - s.pad, first = across < 0 ? ceil_div(-across, s.stride) : 0;
    const int last = std::min(s.out_size, (s.in_size - 1 - across) / s.stride + 1);
    for (int y = 0; y < s.out_size; ++y) {
      const int in_y = y * s.stride + tap / s.mask - s.pad;
      if (in_y < 0 || in_y >= s.in_size || s.in_size <= across) continue;
      f(weight, (o * s.out_size + y) * s.out_size + first, (c * s.in_size + in_y) * s.in_size + first * s.stride + across,
        last - first);
    }
  }
}

class Network {
 public:
  Network(int images, int divide) : images_(images), divide_(divide) {}

  Tensor& image(int size) {
    Tensor& t = make(3, size);
    const auto values = random_floats(t.host.size(), 1, -1);
    t.value.upload(values);
    t.host.assign(values.begin(), values.end());
    t.wants_gradient = false;
    return t;
  }

  Tensor& convolve(Tensor& in, int channels, int mask, int stride, int pad) {
    if (in.size + 2 * pad < mask) fail("the image is too small for this network");
    const Shape s = {in.channels, in.size, channels, (in.size + 2 * pad - mask) / stride + 1, mask, stride, pad};
    Tensor& out = make(s.out_channels, s.out_size);
    const float bound = std::sqrt(6 / float(s.in_channels * s.taps()));  // keeps activations at about 1
    Parameters& p = parameters_.emplace_back(random_floats(s.parameters(), parameters_.size() + 2, -bound, bound), images_);
    forward([this, &in, &out, &p, s] {
      for (int n = 0; n < images_; ++n) {
        double *to = &out.host[n * s.out_count()], *from = &in.host[n * s.in_count()];
        for (int i = 0; i < s.out_count(); ++i) to[i] = p.host[s.weights() + i / s.out_pixels()];
        for_each_run(s, [&](int w, int o, int at, int count) {
          for (int i = 0; i < count; ++i) to[o + i] += p.host[w] * from[at + i * s.stride];
        });
      }
    });
    convolution<<<tiles(s.out_pixels(), s.out_channels), dim3(kTile, kTile)>>>(out.value, in.value, p.value, s);
    verify("convolution", out.value, out.host);
    backward_.push_back([this, &in, &out, &p, s] { convolve_backward(in, out, p, s); });
    return out;
  }

  Tensor& connect(Tensor& in, int units) { return convolve(in, units, in.size, 1, 0); }

  Tensor& relu(Tensor& t) {  // in place
    forward([&t] {
      for (double& v : t.host) v = std::max(v, 0.0);
    });
    ::relu<<<threads(t.count()), kThreads>>>(t.value, int(t.count()));
    verify("relu", t.value, t.host);
    backward_.push_back([this, &t] {
      for (std::size_t i = 0; i < t.host.size(); ++i) t.host_gradient[i] = t.host[i] > 0 ? t.host_gradient[i] : 0;
      relu_backward<<<threads(t.count()), kThreads>>>(t.gradient, t.value, int(t.count()));
      verify("gradient of relu", t.gradient, t.host_gradient);
    });
    return t;
  }

  Tensor& max_pool(Tensor& in, int mask, int stride, int pad) {
    const int size = (in.size + 2 * pad - mask) / stride + 1;
    const Shape s = {in.channels, in.size, in.channels, size, mask, stride, pad};
    Tensor& out = make(in.channels, size);
    DeviceArray<int>& chosen = chosen_.emplace_back(out.host.size());
    auto& winners = winners_.emplace_back(out.host.size());  // the CPU's: index within all images
    forward([&in, &out, &winners, s] {
      for (std::size_t i = 0; i < out.host.size(); ++i) {
        const std::size_t channel = i / s.out_pixels() * s.in_pixels();
        const int top = int(i) % s.out_pixels() / s.out_size * s.stride - s.pad,
                  left = int(i) % s.out_size * s.stride - s.pad;
        out.host[i] = -INFINITY;
        for (int tap = 0; tap < s.taps(); ++tap) {
          const int y = top + tap / s.mask, x = left + tap % s.mask;
          if (y < 0 || x < 0 || y >= s.in_size || x >= s.in_size) continue;
          const std::size_t at = channel + y * s.in_size + x;
          if (in.host[at] > out.host[i]) out.host[i] = in.host[at], winners[i] = at;
        }
      }
    });
    ::max_pool<<<threads(s.out_count()), kThreads>>>(out.value, chosen, in.value, s);
    verify("max_pool", out.value, out.host);
    backward_.push_back([this, &in, &out, &chosen, &winners, s] {
      first_gradient(in);
      std::fill(in.host_gradient.begin(), in.host_gradient.end(), 0);
      for (std::size_t i = 0; i < out.host.size(); ++i) in.host_gradient[winners[i]] += out.host_gradient[i];
      max_pool_backward<<<threads(s.in_count()), kThreads>>>(in.gradient, out.gradient, chosen, s);
      verify("gradient of max_pool", in.gradient, in.host_gradient);
    });
    return out;
  }

  Tensor& mean_pool(Tensor& in) {
    Tensor& out = make(in.channels, 1);
    const int pixels = in.size * in.size;
    forward([&in, &out, pixels] {
      std::fill(out.host.begin(), out.host.end(), 0);
      for (std::size_t i = 0; i < in.host.size(); ++i) out.host[i / pixels] += in.host[i] / pixels;
    });
    ::mean_pool<<<threads(out.count()), kThreads>>>(out.value, in.value, in.channels, pixels);
    verify("mean_pool", out.value, out.host);
    backward_.push_back([this, &in, &out, pixels] {
      first_gradient(in);
      for (std::size_t i = 0; i < in.host.size(); ++i) in.host_gradient[i] = out.host_gradient[i / pixels] / pixels;
      mean_pool_backward<<<threads(in.count()), kThreads>>>(in.gradient, out.gradient, in.channels, pixels);
      verify("gradient of mean_pool", in.gradient, in.host_gradient);
    });
    return out;
  }

  Tensor& add(Tensor& a, Tensor& b) {
    Tensor& out = make(a.channels, a.size);
    forward([&a, &b, &out] {
      for (std::size_t i = 0; i < out.host.size(); ++i) out.host[i] = a.host[i] + b.host[i];
    });
    ::add<<<threads(out.count()), kThreads>>>(out.value, a.value, b.value, int(out.count()));
    verify("add", out.value, out.host);
    backward_.push_back([this, &a, &b, &out] {
      first_gradient(a), first_gradient(b);
      a.host_gradient = b.host_gradient = out.host_gradient;
      add_backward<<<threads(out.count()), kThreads>>>(a.gradient, b.gradient, out.gradient, int(out.count()));
      verify("gradient of add", a.gradient, a.host_gradient);
      verify("gradient of add", b.gradient, b.host_gradient);
    });
    return out;
  }

  // Loss of `scores`, all gradients, new parameters.
  void learn(Tensor& scores, float rate) {
    const int classes = scores.channels;
    std::vector<int> labels(images_);
    for (int n = 0; n < images_; ++n) labels[n] = n * 7 % classes;
    const DeviceArray<int> device_labels(labels);
    const DeviceArray<float> device_loss(images_);
    Values losses(images_);
    forward([this, &scores, &losses, labels, classes] {
      for (int n = 0; n < images_; ++n) {
        double sum = 0;
        for (int c = 0; c < classes; ++c)
          sum += std::exp(scores.host[n * classes + c] - scores.host[n * classes + labels[n]]);
        losses[n] = std::log(sum);
        for (int c = 0; c < classes; ++c) {
          const double share = std::exp(scores.host[n * classes + c] - scores.host[n * classes + labels[n]]) / sum;
          scores.host_gradient[n * classes + c] = (share - (c == labels[n])) / images_;
        }
      }
    });
    softmax_loss<<<dim3(1, 1, images_), kThreads>>>(device_loss, scores.gradient, scores.value, device_labels, classes);
    verify("loss", device_loss, losses);
    verify("gradient of loss", scores.gradient, scores.host_gradient);

    while (!backward_.empty()) {
      backward_.back()();
      backward_.pop_back();
    }
    compare_with_differences(losses);
    for (Parameters& p : parameters_) {
      const int count = int(p.host.size());
      update<<<ceil_div(count, kThreads), kThreads>>>(p.value, p.gradients, count, images_, rate);
      for (int i = 0; i < count; ++i) p.host[i] -= rate * p.gradient[i];
      verify("update", p.value, p.host);
    }
  }

  int narrow(int channels) const { return std::max(1, channels / divide_); }
  int report() const { return check_.report(); }

 private:
  Tensor& make(int channels, int size) { return tensors_.emplace_back(images_, channels, size); }
  dim3 threads(std::size_t count) const { return dim3(ceil_div(int(count), kThreads), 1, images_); }
  dim3 tiles(int columns, int rows) const { return dim3(ceil_div(columns, kTile), ceil_div(rows, kTile), images_); }

  template <class F> void forward(F on_host) { forward_.emplace_back(on_host)(); }

  // Where several layers read a tensor, only a convolution's gradient is added to what is there.
  static void first_gradient(Tensor& t) {
    if (t.has_gradient) fail("a layer would overwrite the gradient of another");
    t.has_gradient = true;
  }

  void convolve_backward(Tensor& in, Tensor& out, Parameters& p, const Shape& s) {
    Values gradients(p.host.size() * images_);
    for (int n = 0; n < images_; ++n) {
      double *to = &gradients[n * p.host.size()], *from = &in.host[n * s.in_count()];
      const double* errors = &out.host_gradient[n * s.out_count()];
      for_each_run(s, [&](int w, int o, int at, int count) {
        for (int i = 0; i < count; ++i) to[w] += errors[o + i] * from[at + i * s.stride];
      });
      for (int i = 0; i < s.out_count(); ++i) to[s.weights() + i / s.out_pixels()] += errors[i];
    }
    convolution_backward_weights<<<tiles(s.in_channels * s.taps(), s.out_channels), dim3(kTile, kTile)>>>(
        p.gradients, in.value, out.gradient, s);
    finish_kernel();
    bias_gradient<<<dim3(s.out_channels, 1, images_), 64>>>(p.gradients, out.gradient, s);
    verify("gradient of parameters", p.gradients, gradients);
    for (std::size_t i = 0; i < gradients.size(); ++i) p.gradient[i % p.gradient.size()] += gradients[i];
    if (!in.wants_gradient) return;

    for (int n = 0; n < images_; ++n) {
      double *to = &in.host_gradient[n * s.in_count()], *errors = &out.host_gradient[n * s.out_count()];
      if (!in.has_gradient) std::fill(to, to + s.in_count(), 0);
      for_each_run(s, [&](int w, int o, int at, int count) {
        for (int i = 0; i < count; ++i) to[at + i * s.stride] += errors[o + i] * p.host[w];
      });
    }
    convolution_backward_data<<<tiles(s.in_pixels(), s.in_channels), dim3(kTile, kTile)>>>(in.gradient, out.gradient,
                                                                                           p.value, s, in.has_gradient);
    verify("gradient of convolution", in.gradient, in.host_gradient);
    in.has_gradient = true;
  }

  // Waits for the kernel. The CPU's result is then replaced by the device's.
  void verify(const char* name, const DeviceArray<float>& device, Values& host) {
    finish_kernel();
    auto got = device.download();
    double largest = 1e-30;  // values of any size are held to the same number of digits
    for (const double v : host) largest = std::max(largest, std::fabs(v));
    const Values now(got.begin(), got.end());
    for (std::size_t i = 0; i < got.size(); ++i) got[i] = float(got[i] / largest), host[i] /= largest;
    check_.close(name, got, host, 1e-4);
    host = now;
  }

  // In a random direction, in which each layer's gradient counts as much as any other's.
  void compare_with_differences(const Values& losses) {
    const double step = 1e-6;
    double slope = 0;
    std::vector<std::vector<float>> directions;
    for (const Parameters& p : parameters_) {
      double square = 0;
      for (const double g : p.gradient) square += g * g;
      auto& direction = directions.emplace_back(random_floats(p.host.size(), 1000 + directions.size(), -1));
      for (float& d : direction) d /= float(std::sqrt(std::max(square, 1e-20)));
      for (std::size_t i = 0; i < direction.size(); ++i) slope += direction[i] * p.gradient[i];
    }
    const auto loss_after = [&](double distance) {
      for (std::size_t l = 0; l < directions.size(); ++l) {
        for (std::size_t i = 0; i < directions[l].size(); ++i) parameters_[l].host[i] += distance * directions[l][i];
      }
      for (const auto& layer : forward_) layer();
      double sum = 0;
      for (const double loss : losses) sum += loss / images_;
      return sum;
    };
    const double ahead = loss_after(step), behind = loss_after(-2 * step);
    loss_after(step);
    check_.close("slope of the loss", {float(slope)}, Values{(ahead - behind) / (2 * step)}, 1e-2);
  }

  int images_, divide_;
  std::deque<Tensor> tensors_;
  std::deque<Parameters> parameters_;
  std::deque<DeviceArray<int>> chosen_;
  std::deque<std::vector<std::size_t>> winners_;
  std::vector<std::function<void()>> forward_, backward_;  // the former on the CPU only
  Check check_;
};
