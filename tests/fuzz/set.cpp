#include <vector>

#include "inputs/config/dump.hpp"
#include "inputs/config/reader.hpp"
#include "tests/fuzz/harness.hpp"

/// One `--set key=value` per line, on top of a preset.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace atl;
  std::vector<std::string> sets;
  for (std::string_view rest = fuzz::text_of(data, size); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    sets.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  fuzz::accepted([&] {
    const std::string effective = effective_json(read_system("sac-4chip", sets));
    bool same = false;
    const bool again = fuzz::accepted([&] { same = effective_json(parse_effective(effective)) == effective; });
    fuzz::require(again && same, "an effective configuration reads back as itself");
  });
  return 0;
}
