#include "inputs/config/dump.hpp"
#include "inputs/config/reader.hpp"
#include "tests/fuzz/harness.hpp"

/// A system's JSON file. What is accepted must read back as itself: ranks get the configuration in that form.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace atl;
  static const fuzz::Folder folder;
  const std::string path = folder.write("system.json", fuzz::text_of(data, size));
  fuzz::accepted([&] {
    const std::string effective = effective_json(read_system(path));
    bool same = false;
    const bool again = fuzz::accepted([&] { same = effective_json(parse_effective(effective)) == effective; });
    fuzz::require(again && same, "an effective configuration reads back as itself");
  });
  return 0;
}
