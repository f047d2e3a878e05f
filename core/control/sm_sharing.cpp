#include "core/control/sm_sharing.hpp"

#include <algorithm>

#include "comm/collective_errors.hpp"
#include "comm/control_message.hpp"

namespace atl {
namespace {

using Columns = std::vector<std::uint64_t>;  ///< [kernel][column]
constexpr std::size_t kColumns = kSmSharingColumns.size();

}  // namespace

SmSharingResult gather_sm_sharing(Transport& transport, const SystemConfig& config, const SmSharingObservers& mine) {
  Columns counts;
  run_collectively(transport, [&] {
    for (const auto& observer : mine) {
      observer->close();
      counts.resize(std::max(counts.size(), observer->kernels().size() * kColumns));
      for (std::size_t k = 0; k < observer->kernels().size(); ++k) {
        for (std::size_t c = 0; c < kColumns; ++c)
          counts[k * kColumns + c] += observer->kernels()[k].*kSmSharingColumns[c].field;
      }
    }
  });
  SmSharingResult result{config.observe.sm_window_cycles, config.line_bytes, {}};
  for (const std::string& body : transport.all_gather(pack(counts))) {
    const auto theirs = unpack<Columns>(body);
    result.kernels.resize(std::max(result.kernels.size(), theirs.size() / kColumns));
    for (std::size_t i = 0; i < theirs.size(); ++i)
      result.kernels[i / kColumns].*kSmSharingColumns[i % kColumns].field += theirs[i];
  }
  return result;
}

}  // namespace atl
