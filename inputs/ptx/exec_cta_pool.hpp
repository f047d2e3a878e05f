#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "inputs/ptx/exec_warp.hpp"

namespace atl::ptx::exec {

/// CTAs of launches that are over, for the next ones: a program of many small launches would spend much of its time on
/// their buffers. Any number of threads may use it.
class CtaPool {
 public:
  /// Like a new one.
  std::unique_ptr<Cta> take();
  /// One whose warps have ended.
  void give(std::unique_ptr<Cta> cta);

 private:
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Cta>> kept_;
  std::size_t bytes_ = 0;  // of these
};

}  // namespace atl::ptx::exec
