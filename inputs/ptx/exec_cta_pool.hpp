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
  /// As much as a launch may have alive (exec_scheduler.cpp): what is given back is filled and fetched again by the heap
  /// that programs get (record_command.cpp), page by page.
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  std::mutex mutex_;
  std::vector<std::unique_ptr<Cta>> kept_;
  std::size_t bytes_ = 0;  // of these
};

}  // namespace atl::ptx::exec
