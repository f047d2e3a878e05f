#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace atl::consistency {

inline constexpr unsigned kSectors = 8;

/// Names one store of the run to one sector. 0: the sector as it was before.
using Version = std::uint32_t;
inline constexpr Version kUnknown = ~Version{0};
using Versions = std::array<Version, kSectors>;

template <class Do> void each(std::uint8_t sectors, Do&& action) {
  for (unsigned s = 0; s < kSectors; ++s) {
    if ((sectors >> s & 1) != 0) action(s);
  }
}

/// The order in which the stores to a sector take effect. A version that is not placed yet is under way to where the order
/// is made, and comes after all that are.
class VersionOrder {
 public:
  Version create() {
    place_.push_back(kUnderWay);
    return static_cast<Version>(place_.size() - 1);
  }
  void place(Version v) {
    if (place_[v] == kUnderWay) place_[v] = ++last_;
  }
  /// Nobody knows what is older than what is not known.
  bool older(Version a, Version b) const { return a != b && a != kUnknown && b != kUnknown && place_[a] < place_[b]; }
  /// Of two under way the later, `b`.
  Version newer_of(Version a, Version b) const { return b == kUnknown || older(b, a) ? a : b; }
  /// What is left of `data` when `written` (0: nothing) is merged into it.
  Version merge(Version data, Version written) const { return written == 0 || older(written, data) ? data : written; }

 private:
  static constexpr std::uint32_t kUnderWay = ~std::uint32_t{0};
  std::vector<std::uint32_t> place_{0};  ///< [version]
  std::uint32_t last_ = 0;
};

}  // namespace atl::consistency
