#pragma once
#include <vector>

#include "core/chip/context.hpp"
#include "core/engine/archive.hpp"
#include "core/stats/sm_sharing.hpp"

namespace atl {

/// Counts, kernel by kernel, which lines the SMs of one chip share (core/stats/sm_sharing.hpp).
class SmSharingObserver final : public ChipObserver {
 public:
  explicit SmSharingObserver(Cycle window_cycles) : window_cycles_(window_cycles) {}

  bool sees_each_hit() const override { return false; }
  void on_kernel_start(const Context&, std::uint64_t kernel) override;
  void on_l1_load(const Context&, std::uint32_t sm, LineAddr, std::uint8_t sectors, L1Outcome) override;
  void on_l1_store(const Context&, std::uint32_t sm, LineAddr line) override { touch(sm, line).written = true; }
  void on_l1_atomic(const Context&, std::uint32_t sm, LineAddr line) override { touch(sm, line).written = true; }
  void on_request(const Context&, const Packet&) override;

  /// Ends the kernel that is under way; nothing may follow.
  void close();
  /// By kernel, up to the last one that this chip began. Valid when closed.
  const std::vector<SmSharing>& kernels() const { return kernels_; }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, window_, asked_, lines_, used_, kernels_); }
  void check(std::size_t kernels) const {
    std::size_t found = 0;
    for (const Line& l : lines_) {
      found += l.key != 0;
      require_state(is_bool(l.shared) && is_bool(l.written));
    }
    require_state(lines_.size() >= 1 << 12 && (lines_.size() & (lines_.size() - 1)) == 0 && found == used_ &&
                  2 * used_ <= lines_.size() && kernels_.size() <= kernels && (used_ == 0 || !kernels_.empty()));
  }

 private:
  struct Line {
    using PlainState = void;
    std::uint64_t key = 0;  ///< line + 1; 0: free
    std::uint64_t loads = 0, hits = 0, merges = 0;
    std::uint32_t first_sm = 0;
    bool shared = false, written = false;
    std::uint16_t unused = 0;
  };

  Line& touch(std::uint32_t sm, LineAddr line);
  Line& slot(std::uint64_t key);
  void grow();
  void close_window();

  Cycle window_cycles_;
  Cycle window_ = 0;                                      ///< number of the one under way
  std::vector<std::uint64_t> asked_;                      ///< in this window: line << kSmBits | SM
  std::vector<Line> lines_ = std::vector<Line>(1 << 12);  ///< of this kernel; linear probing, at most half full
  std::size_t used_ = 0;
  std::vector<SmSharing> kernels_;
};

}  // namespace atl
