#include "core/stats/sharing.hpp"

#include <algorithm>

namespace atl {

SharingMean mean_of_epochs(const SharingResult& result) {
  SharingMean mean;
  for (const WindowedBytes& epoch : result.epochs) mean.epochs += epoch.back().distinct() != 0;
  for (std::size_t w = 0; w < kSharingWindows; ++w) {
    for (const auto field :
         {&SharedBytes::truly, &SharedBytes::truly_copies, &SharedBytes::falsely, &SharedBytes::unshared}) {
      std::uint64_t sum = 0;
      for (const WindowedBytes& epoch : result.epochs) sum += epoch[w].*field;
      mean.bytes[w].*field = sum / std::max<std::uint64_t>(mean.epochs, 1);
    }
  }
  return mean;
}

}  // namespace atl
