#include "inputs/cuda/device_model.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <sstream>

#include "core/engine/error.hpp"

namespace atl::cuda {
namespace {

constexpr char kDeviceOption[] = "--device";

/// Of an SM, from the table "Technical Specifications per Compute Capability" of the CUDA C++ Programming Guide.
struct ArchLimits {
  unsigned arch;
  int threads, blocks, shared_kib, reserved_kib;
};
constexpr ArchLimits kArchs[] = {{70, 2048, 32, 96, 0},  {72, 2048, 32, 96, 0},  {75, 1024, 16, 64, 0},
                                 {80, 2048, 32, 164, 1}, {86, 1536, 16, 100, 1}, {87, 1536, 16, 164, 1},
                                 {89, 1536, 24, 100, 1}, {90, 2048, 32, 228, 1}};
static_assert(std::end(kArchs)[-1].arch == DeviceModel::kNewestArch);

[[noreturn]] void refuse_device(const std::string& what) { throw InputError(kDeviceOption, what); }

void set_arch(DeviceModel& d, const std::string& word) {
  for (const ArchLimits& a : kArchs) {
    if (word != "sm_" + std::to_string(a.arch)) continue;
    d.arch = a.arch, d.threads_per_sm = a.threads, d.blocks_per_sm = a.blocks;
    d.shared_per_sm = a.shared_kib * 1024, d.reserved_shared = a.reserved_kib * 1024;
    return;
  }
  refuse_device("'" + word + "' is no GPU that the recorder knows; give sm_70, 72, 75, 80, 86, 87, 89 or 90");
}

std::uint64_t device_number(const std::string& word, const std::string& value, bool bytes, std::uint64_t least,
                            std::uint64_t most) {
  std::uint64_t n = 0;
  const char* last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, n);
  unsigned shift = 0;
  if (bytes && last - end == 1) shift = *end == 'k' ? 10 : *end == 'm' ? 20 : *end == 'g' ? 30 : 0;
  const bool good = error == std::errc() && (end == last || shift != 0) && n <= (~0ull >> shift);
  if (!good || (n << shift) < least || (n << shift) > most)
    refuse_device("'" + word + "' is no number from " + std::to_string(least) + " to " + std::to_string(most) +
                  (bytes ? ", with k, m or g behind it if you like" : ""));
  return n << shift;
}

}  // namespace

int DeviceModel::shared_per_block() const { return std::min(48 * 1024, shared_per_block_optin()); }
int DeviceModel::shared_per_block_optin() const { return std::max(shared_per_sm - reserved_shared, 0); }

DeviceModel parse_device(const std::string& text) {
  DeviceModel d;
  std::istringstream words(text);
  bool first = true;
  for (std::string word; std::getline(words, word, ','); first = false) {
    const auto equals = word.find('=');
    const std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
    const auto in = [&](std::uint64_t least, std::uint64_t most) {
      return static_cast<int>(device_number(word, value, false, least, most));
    };
    constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
    if (equals == std::string::npos && key.starts_with("sm_")) {
      if (!first) refuse_device("'" + word + "' must come first, as what is behind it changes its limits");
      set_arch(d, word);
    } else if (key == "sms") {
      d.sms = in(1, 1 << 20);
    } else if (key == "threads") {
      d.threads_per_sm = in(32, 1 << 20);
    } else if (key == "blocks") {
      d.blocks_per_sm = in(1, 1 << 20);
    } else if (key == "registers") {
      d.registers_per_sm = in(1024, 1 << 24);
    } else if (key == "clock") {
      d.clock_khz = in(1, 1000000) * 1000;
    } else if (key == "shared") {
      d.shared_per_sm = static_cast<int>(device_number(word, value, true, 0, 1 << 24));
    } else if (key == "reserved") {
      d.reserved_shared = static_cast<int>(device_number(word, value, true, 0, 1 << 20));
    } else if (key == "l2") {
      d.l2_bytes = static_cast<int>(device_number(word, value, true, 0, kMost));
    } else if (key == "mem") {
      d.memory_bytes = device_number(word, value, true, 1 << 20, 512ull << 30);
    } else if (key == "name") {
      d.name = value.substr(0, 200);
    } else {
      refuse_device("'" + word +
                    "' is unknown; give a preset, or for example sm_80,sms=108,mem=40g (also threads, blocks, "
                    "registers and shared of an SM, l2, clock, name)");
    }
  }
  if (first) refuse_device("nothing is given; give a preset, or for example sm_80,sms=108,mem=40g");
  return d;
}

std::string to_text(const DeviceModel& d) {
  std::ostringstream out;
  out << "sm_" << d.arch << ",sms=" << d.sms << ",threads=" << d.threads_per_sm << ",blocks=" << d.blocks_per_sm
      << ",registers=" << d.registers_per_sm << ",shared=" << d.shared_per_sm << ",reserved=" << d.reserved_shared
      << ",l2=" << d.l2_bytes << ",clock=" << d.clock_khz / 1000 << ",mem=" << d.memory_bytes << ",name=" << d.name;
  return out.str();
}

int resident_blocks(const DeviceModel& d, std::uint64_t shared_bytes, int registers_per_thread, int threads) {
  const int rounded = (threads + DeviceModel::kWarpSize - 1) / DeviceModel::kWarpSize * DeviceModel::kWarpSize;
  int blocks = std::min(d.blocks_per_sm, d.threads_per_sm / rounded);
  blocks = std::min(blocks, d.registers_per_sm / (std::max(registers_per_thread, 1) * rounded));
  const std::uint64_t shared = shared_bytes + static_cast<std::uint64_t>(d.reserved_shared);
  if (shared != 0)
    blocks =
        static_cast<int>(std::min(static_cast<std::uint64_t>(blocks), static_cast<std::uint64_t>(d.shared_per_sm) / shared));
  return blocks;
}

}  // namespace atl::cuda
