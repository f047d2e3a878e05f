#include <utility>
#include <vector>

#include "inputs/ptx/access_table.hpp"
#include "inputs/ptx/parser.hpp"
#include "inputs/ptx/register_pressure.hpp"
#include "tests/fuzz/harness.hpp"

/// A PTX text, and the analyses of what parses.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace atl;
  fuzz::accepted([&] {
    ptx::Module parsed = ptx::parse(fuzz::text_of(data, size), "fuzz.ptx", ptx::Unsupported::keep);
    std::vector<ptx::Module> modules;
    modules.push_back(std::move(parsed));
    ptx::Module m = ptx::link(std::move(modules));
    for (const ptx::KernelAccess& kernel : ptx::analyse(m)) {
      ptx::access_table(m, kernel);
      ptx::estimate_registers(m, kernel.kernel);
    }
  });
  return 0;
}
