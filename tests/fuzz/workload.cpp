#include <array>

#include "inputs/workload/parametric_config.hpp"
#include "tests/fuzz/program_rules.hpp"

/// A parametric workload's JSON file: read, scaled, and the first and last CTA of each launch generated if they are small.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace atl;
  static const fuzz::Folder folder;
  const std::string path = folder.write("workload.json", fuzz::text_of(data, size));
  fuzz::accepted([&] {
    for (const KernelConfig& kernel : read_parametric(path).kernels)
      if (std::uint64_t{kernel.memory_instructions} * kernel.warps_per_cta > 1 << 14 || kernel.repeat > 4) return;
    for (const unsigned scale : {1u, 16u, 1024u}) {
      const auto workload = open_workload(path, {.scale_by = scale});
      CtaProgram cta;
      for (std::size_t k = 0; k < workload->kernels().size(); ++k) {
        const KernelInfo& kernel = workload->kernels()[k];
        for (const std::uint64_t id : std::array{std::uint64_t{0}, kernel.ctas() - 1}) {
          workload->load_cta(k, id, cta);
          fuzz::check_program(kernel, cta);
        }
      }
    }
  });
  return 0;
}
