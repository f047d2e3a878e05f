#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

#include "inputs/ptx/record.hpp"

namespace atl::cudart {

/// What a kernel leaves while one that began before it has not ended: kept in memory until its turn in the trace has come,
/// where kernels stand in the order in which they began, each whole.
class HeldKernel final : public ptx::RecordOutput {
 public:
  /// `mutex` guards ended(), which another thread may ask.
  HeldKernel(std::mutex& mutex, const ptx::RecordOptions& options, LaunchPlace place)
      : mutex_(mutex), recorder_(*this, options), place_(place) {}

  ptx::RecordSink& recorder() { return recorder_; }
  LaunchPlace place() const { return place_; }
  bool ended() const { return ended_; }
  void begin_kernel(const KernelInfo& info) override { info_ = info; }
  void add_cta(const CtaProgram& cta, const CtaColumns&) override { ctas_.push_back(cta); }
  void end_kernel(std::uint64_t ctas) override {
    const std::lock_guard lock(mutex_);
    count_ = ctas, ended_ = true;
  }
  /// It has failed, or will not be gone on with.
  void give_up() {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
  }
  bool given_up() const { return given_up_; }

  const KernelInfo& info() const { return info_; }
  const std::vector<CtaProgram>& ctas() const { return ctas_; }
  std::uint64_t count() const { return count_; }

 private:
  std::mutex& mutex_;
  ptx::Recorder recorder_;
  LaunchPlace place_;
  KernelInfo info_;
  std::vector<CtaProgram> ctas_;
  std::uint64_t count_ = 0;
  bool ended_ = false, given_up_ = false;
};

}  // namespace atl::cudart
