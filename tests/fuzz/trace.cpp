#include <algorithm>
#include <array>

#include "inputs/trace/trace_workload.hpp"
#include "inputs/trace/trace_writer.hpp"
#include "tests/fuzz/hdf5_edits.hpp"
#include "tests/fuzz/program_rules.hpp"

namespace atl::fuzz {
namespace {

/// Two kernels of two devices, the second of two CTAs of two warps, with an op of each kind; and an allocation. The first is
/// a sample, and incomplete.
std::string sound_trace(const Folder& folder) {
  CtaProgram cta;
  for (const unsigned warp : {0u, 1u}) {
    cta.warps.push_back({static_cast<std::uint32_t>(cta.ops.size()), 7});
    for (unsigned kind = 0; kind <= static_cast<unsigned>(OpKind::exit); ++kind) {
      Op op;
      op.kind = static_cast<OpKind>(kind);
      op.first_access = static_cast<std::uint32_t>(cta.accesses.size());
      if (op.kind == OpKind::load || op.kind == OpKind::atomic || op.kind == OpKind::shared)
        op.slot = static_cast<std::uint8_t>(kind);
      if (op.kind == OpKind::load || op.kind == OpKind::store || op.kind == OpKind::atomic) {
        op.accesses = 2;
        for (const std::uint64_t block : {0x100u + kind, 0x900u + warp})
          cta.accesses.push_back(Access::make(block * Access::kBlockBytes, 0xF));
      }
      cta.ops.push_back(op);
    }
  }
  KernelInfo info;
  info.name = "k";
  info.block[0] = 64;
  TraceWriter writer(folder.path("sound.h5"), {"source", "importer"}, 0);
  writer.set_devices({2, 1ull << 45, 1ull << 38});
  writer.add_allocation({0x8000, 4096, 0, "a"});
  for (const std::uint32_t ctas : {1u, 2u}) {
    const bool sample = ctas == 1;
    info.grid[0] = sample ? 4 : ctas;
    info.place = {ctas - 1, ctas};
    writer.begin_kernel(info, sample ? 2 : 0);
    writer.set_incomplete(sample ? "a warp is missing" : "");
    for (std::uint32_t i = 0; i < ctas; ++i) writer.add_cta(cta);
    writer.end_kernel();
  }
  writer.finish();
  return folder.path("sound.h5");
}

}  // namespace
}  // namespace atl::fuzz

/// An Atoll trace that is damaged by a script (hdf5_edits.hpp): no program that comes out of it may break the SMs' rules.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace atl;
  static const fuzz::Folder folder;
  static const std::string sound = fuzz::sound_trace(folder);
  const std::string path = fuzz::damaged_copy(sound, data, size);
  fuzz::accepted([&] {
    const auto workload = open_workload(path);
    CtaProgram cta;
    for (std::size_t k = 0; k < workload->kernels().size(); ++k) {
      const KernelInfo& kernel = workload->kernels()[k];
      for (const std::uint64_t id : std::array{std::uint64_t{0}, kernel.ctas() / 2, kernel.ctas() - 1})
        if (fuzz::accepted([&] { workload->load_cta(k, id, cta); })) fuzz::check_program(kernel, cta);
    }
  });
  fuzz::require(fuzz::all_closed(), "a reader closes what it opened");
  return 0;
}
