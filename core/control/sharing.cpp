#include "core/control/sharing.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "comm/collective_errors.hpp"
#include "comm/control_message.hpp"
#include "core/chip/observe/line_log.hpp"

namespace atl {
namespace {

/// The chips that accessed a line in each window, as a bit mask: a system has at most 64 chips.
using Users = std::array<std::uint64_t, kSharingWindows>;

void count_page(std::span<const Users> lines, std::uint32_t line_bytes, WindowedBytes& sum) {
  Users page{};
  for (const Users& users : lines) {
    for (std::size_t w = 0; w < kSharingWindows; ++w) page[w] |= users[w];
  }
  for (const Users& users : lines) {
    for (std::size_t w = 0; w < kSharingWindows; ++w) {
      const auto chips = static_cast<std::uint32_t>(std::popcount(users[w]));
      if (chips > 1) {
        sum[w].truly += line_bytes, sum[w].truly_copies += chips * line_bytes;
      } else if (chips == 1) {
        (page[w] == users[w] ? sum[w].unshared : sum[w].falsely) += line_bytes;
      }
    }
  }
}

using Bodies = std::vector<std::pair<LpId, std::string>>;  ///< logs with their chip

}  // namespace

/// All logs are in ascending order: one pass over all of them at once, page by page, needs no table.
WindowedBytes classify(std::span<const std::string> logs, std::uint32_t page_shift, std::uint32_t line_bytes) {
  std::vector<LineLogReader> chips(logs.begin(), logs.end());
  std::vector<Users> lines(std::size_t{1} << page_shift);
  WindowedBytes sum;
  for (;;) {
    std::uint64_t page = kNever;
    for (const LineLogReader& log : chips) {
      if (!log.done()) page = std::min(page, log.line() >> page_shift);
    }
    if (page == kNever) return sum;
    std::fill(lines.begin(), lines.end(), Users{});
    for (std::size_t chip = 0; chip < chips.size(); ++chip) {
      for (LineLogReader& log = chips[chip]; !log.done() && log.line() >> page_shift == page; log.next()) {
        Users& users = lines[log.line() & (lines.size() - 1)];
        for (std::size_t w = log.window(); w < kSharingWindows; ++w) users[w] |= std::uint64_t{1} << chip;
      }
    }
    count_page(lines, line_bytes, sum);
  }
}

SharingResult gather_sharing(Transport& transport, const Machine& machine, const SharingLogs& mine, bool wanted) {
  const SystemConfig& config = machine.config;
  Bodies footprints;
  std::uint64_t epochs = 0;
  run_collectively(transport, [&] {
    for (const auto& [chip, log] : mine) {
      log->close();
      epochs = std::max<std::uint64_t>(epochs, log->epochs().size());
      footprints.emplace_back(chip, log->footprint());
    }
  });
  epochs = ~transport.all_min(~epochs);  // the maximum

  const auto sizes = [&](const Bodies& bodies) {
    const auto all = transport.all_gather(pack(bodies));
    if (!wanted) return WindowedBytes{};
    std::vector<std::string> logs(config.chips);
    for (const std::string& body : all) {
      for (auto& [chip, log] : unpack<Bodies>(body)) logs[chip] = std::move(log);
    }
    return classify(logs, machine.page_shift, config.line_bytes);
  };
  SharingResult result;
  result.epoch_cycles = config.observe.sharing_window_cycles;
  result.footprint = sizes(footprints).back();
  for (std::uint64_t e = 0; e < epochs; ++e) {
    Bodies bodies;
    for (const auto& [chip, log] : mine) {
      if (e < log->epochs().size()) bodies.emplace_back(chip, std::move(log->epochs()[e]));
    }
    result.epochs.push_back(sizes(bodies));
  }
  return result;
}

}  // namespace atl
