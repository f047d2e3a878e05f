#include <cstring>

#include "inputs/trace/accelsim_workload.hpp"
#include "inputs/trace/trace_workload.hpp"
#include "tests/fuzz/program_rules.hpp"

namespace atl::fuzz {
namespace {

constexpr unsigned kKernels = 4;
constexpr std::string_view kNext = "%%\n";

/// `kernelslist.g`, and behind lines of `%%` the files kernel-1.traceg, kernel-2.traceg, ...; xz data gets that ending.
std::string write_files(const Folder& folder, std::string_view text) {
  const auto take = [&] {
    const std::size_t end = std::min(text.find(kNext), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + kNext.size(), text.size()));
    return part;
  };
  std::string list = folder.write("kernelslist.g", take());
  for (unsigned k = 1; k <= kKernels; ++k) {
    const std::string name = "kernel-" + std::to_string(k) + ".traceg";
    folder.remove(name), folder.remove(name + ".xz");
    if (text.empty()) continue;
    const std::string_view part = take();
    folder.write(part.starts_with("\xFD"
                                  "7zXZ")
                     ? name + ".xz"
                     : name,
                 part);
  }
  return list;
}

/// In what the warps do, wherever their ops and accesses lie.
bool equal(const CtaProgram& a, const CtaProgram& b) {
  if (a.warps.size() != b.warps.size()) return false;
  for (std::size_t w = 0; w < a.warps.size(); ++w) {
    if (a.warps[w].count != b.warps[w].count) return false;
    for (std::uint32_t i = 0; i < a.warps[w].count; ++i) {
      Op x = a.ops[a.warps[w].first + i], y = b.ops[b.warps[w].first + i];
      for (unsigned k = 0; k < std::min(x.accesses, y.accesses); ++k)
        if (a.accesses[x.first_access + k] != b.accesses[y.first_access + k]) return false;
      x.first_access = y.first_access = 0;
      if (std::memcmp(&x, &y, sizeof x) != 0) return false;
    }
  }
  return true;
}

std::uint64_t read_all(Workload& workload) {
  CtaProgram cta;
  std::uint64_t ctas = 0;
  for (std::size_t k = 0; k < workload.kernels().size(); ++k)
    for (std::uint64_t id = 0; id < workload.kernels()[k].ctas(); ++id, ++ctas) {
      workload.load_cta(k, id, cta);
      check_program(workload.kernels()[k], cta);
    }
  return ctas;
}

}  // namespace
}  // namespace atl::fuzz

/// SASS traces of Accel-Sim, read directly and imported: both accept the same ones, and make the same programs of them.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace atl;
  static const fuzz::Folder folder;
  const std::string list = fuzz::write_files(folder, fuzz::text_of(data, size)), container = folder.path("imported.h5");
  std::uint64_t ctas = 0;
  const bool read = fuzz::accepted([&] {
    AccelSimWorkload direct(list);
    ctas = fuzz::read_all(direct);
  });
  if (ctas > 256) return 0;
  const bool imported = fuzz::accepted([&] { import_accel_sim(list, container); });
  fuzz::require(read == imported, "what can be read can be imported, and the other way about");
  if (!read) return 0;
  AccelSimWorkload direct(list);
  TraceWorkload trace(container);
  CtaProgram a, b;
  for (std::size_t k = 0; k < direct.kernels().size(); ++k)
    for (std::uint64_t id = 0; id < direct.kernels()[k].ctas(); ++id) {
      direct.load_cta(k, id, a), trace.load_cta(k, id, b);
      fuzz::require(fuzz::equal(a, b), "an imported CTA is the one that is read directly");
    }
  return 0;
}
