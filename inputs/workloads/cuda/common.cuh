// Shared by all programs of the workload library: command line, device memory, inputs, self-check.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace workload {

// Exit codes: 0 the self-check passed, 1 it did not, 2 the program could not do its work.
[[noreturn]] inline void fail(const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", message.c_str());
  std::exit(2);
}

inline void check(cudaError_t error, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (error == cudaSuccess) return;
  fail(std::string(file) + ":" + std::to_string(line) + ": " + cudaGetErrorString(error));
}

// Call after every launch: reports a bad launch as well as an error of the kernel itself.
inline void finish_kernel(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  check(cudaGetLastError(), file, line);
  check(cudaDeviceSynchronize(), file, line);
}

// Options of the form `--name value`. State all options, then call done().
class Args {
 public:
  Args(int argc, char** argv, const std::string& summary)
      : words_(argv + 1, argv + argc), help_(summary + "\n\noptions:\n") {}

  int number(const std::string& name, int preset, int least, int most, const std::string& doc) {
    const std::string range = std::to_string(least) + " to " + std::to_string(most);
    const std::string text = value(name, std::to_string(preset), doc + " (" + range + ")");
    char* end = nullptr;
    const long long parsed = std::strtoll(text.c_str(), &end, 10);
    if (text.empty() || *end != 0 || parsed < least || parsed > most)
      fail("--" + name + " must be " + range + ", not '" + text + "'");
    return static_cast<int>(parsed);
  }

  std::string choice(const std::string& name, std::initializer_list<const char*> values, const std::string& doc) {
    std::string list;
    for (const char* v : values) list += (list.empty() ? "" : ", ") + std::string(v);
    const std::string text = value(name, *values.begin(), doc + " (" + list + ")");
    for (const char* v : values) {
      if (text == v) return text;
    }
    fail("--" + name + " must be one of " + list + ", not '" + text + "'");
  }

  void done() {
    if (!words_.empty() && (words_[0] == "--help" || words_[0] == "-h")) {
      std::fputs(help_.c_str(), stdout);
      std::exit(0);
    }
    if (!words_.empty()) fail("unknown option '" + words_[0] + "'; --help lists the options");
  }

 private:
  std::string value(const std::string& name, const std::string& preset, const std::string& doc) {
    help_ += "  --" + name + " " + preset + "  " + doc + "\n";
    std::string text = preset;
    for (std::size_t i = 0; i < words_.size();) {
      if (words_[i] != "--" + name) {
        ++i;
        continue;
      }
      if (i + 1 == words_.size()) fail("--" + name + " needs a value");
      text = words_[i + 1];
      words_.erase(words_.begin() + static_cast<std::ptrdiff_t>(i), words_.begin() + static_cast<std::ptrdiff_t>(i) + 2);
    }
    return text;
  }

  std::vector<std::string> words_;
  std::string help_;
};

/// Where a kernel keeps the sum of an output element until it is complete.
enum class Sum { in_register, memory };
inline Sum sum_option(Args& args) {
  return args.choice("sum", {"register", "memory"}, "where sums are kept until complete") == "memory" ? Sum::memory
                                                                                                      : Sum::in_register;
}

// An array in device memory. Converts to the pointer that kernels take.
template <class T> class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    if (count_ > 0) check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()));
  }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) { upload(host); }
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }

  operator T*() const { return data_; }

  void upload(const std::vector<T>& host) {
    if (host.size() != count_) fail("upload of " + std::to_string(host.size()) + " elements to " + std::to_string(count_));
    if (count_ > 0) check(cudaMemcpy(data_, host.data(), bytes(), cudaMemcpyHostToDevice));
  }
  std::vector<T> download() const {
    std::vector<T> host(count_);
    if (count_ > 0) check(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return host;
  }
  void clear() {
    if (count_ > 0) check(cudaMemset(data_, 0, bytes()));
  }
  void swap(DeviceArray& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }

  T* data_ = nullptr;
  std::size_t count_ = 0;
};

// splitmix64: the same numbers on every machine, unlike the distributions of the standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int below(int bound) { return static_cast<int>(next() % static_cast<std::uint64_t>(bound)); }
  float uniform(float low, float high) { return low + (high - low) * static_cast<float>(next() >> 40) * 0x1p-24f; }

 private:
  std::uint64_t state_;
};

inline std::vector<float> random_floats(std::size_t count, std::uint64_t seed, float low = 0, float high = 1) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = random.uniform(low, high);
  return values;
}

// Compares device results with those of the CPU, prints the first mismatches, and ends with PASS or FAIL.
class Check {
 public:
  // |got - want| <= tolerance * max(1, |want|)
  template <class T>
  void close(const char* name, const std::vector<float>& got, const std::vector<T>& want, double tolerance) {
    compare(name, got, want, [tolerance](double g, double w) {
      return std::fabs(g - w) <= tolerance * std::fmax(1.0, std::fabs(w));  // false for NaN
    });
  }
  template <class T> void equal(const char* name, const std::vector<T>& got, const std::vector<T>& want) {
    compare(name, got, want, [](double g, double w) { return g == w; });
  }
  int report() const {
    if (wrong_ == 0) std::printf("PASS: %zu values\n", compared_);
    if (wrong_ != 0) std::printf("FAIL: %zu of %zu values\n", wrong_, compared_);
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  template <class G, class W, class Same>
  void compare(const char* name, const std::vector<G>& got, const std::vector<W>& want, Same same) {
    if (got.size() != want.size()) fail(std::string(name) + ": sizes differ");
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double g = static_cast<double>(got[i]), w = static_cast<double>(want[i]);
      if (same(g, w)) continue;
      if (++wrong_ <= 5) std::printf("%s[%zu] is %.9g, expected %.9g\n", name, i, g, w);
    }
    compared_ += got.size();
  }

  std::size_t compared_ = 0, wrong_ = 0;
};

constexpr int ceil_div(int count, int per) { return (count + per - 1) / per; }

// Put between loads and their first use: all of them are then issued before a warp waits. ptxas arranges unrolled loops like
// that, but traces are recorded from PTX, in which the compiler moves each load down to its use.
__device__ inline void loads_issued() { asm volatile("" ::: "memory"); }

// The sum of `value` over the threads of a CTA, for all of them. One-dimensional CTAs of a power of two threads;
// `scratch` is shared memory of one element per thread.
template <class T> __device__ T block_sum(T* scratch, T value) {
  scratch[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  const T sum = scratch[0];
  __syncthreads();
  return sum;
}

}  // namespace workload
