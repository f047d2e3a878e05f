#include <random>

#include "inputs/trace/trace_workload.hpp"
#include "inputs/trace/trace_writer.hpp"
#include "support.hpp"
#include "tests/unit/bit_flips.hpp"

namespace atl::test {
namespace {

/// Three kernels of a few CTAs with random programs, the second a sample of its launch; and two allocations.
void write_trace(const std::string& path, unsigned compression) {
  std::mt19937 random(7);
  TraceWriter writer(path, {"source", "importer"}, compression);
  writer.add_allocation({0x7f0000000000, 4096, 0, "input"});
  writer.add_allocation({0x7f0000100000, 8192, 1, "output"});
  for (const std::uint32_t ctas : {2u, 5u, 3u}) {
    KernelInfo info;
    info.name = "kernel_" + std::to_string(ctas);
    info.grid[0] = ctas, info.block[0] = 64, info.registers_per_thread = 32, info.shared_bytes = 1024;
    writer.begin_kernel(info);
    for (std::uint32_t c = 0; c < ctas; ++c) {
      CtaProgram cta;
      for (unsigned warp = 0; warp < 2; ++warp) {
        const auto first = static_cast<std::uint32_t>(cta.ops.size());
        for (int i = 0; i < 40; ++i) {
          Op op;
          op.kind = random() % 3 == 0 ? OpKind::store : OpKind::load;
          op.slot = op.kind == OpKind::load ? static_cast<std::uint8_t>(random() % kScoreboardSlots) : kNoSlot;
          op.issue = static_cast<std::uint16_t>(has_issue_slots(op.kind) ? 1 + random() % 9 : 1);
          op.first_access = static_cast<std::uint32_t>(cta.accesses.size());
          op.accesses = static_cast<std::uint8_t>(1 + random() % 4);
          for (unsigned a = 0; a < op.accesses; ++a)
            cta.accesses.push_back(Access::make(0x7f0000000000 + random() % 4096 * Access::kBlockBytes, 1 + random() % 15));
          cta.ops.push_back(op);
        }
        Op exit;
        exit.kind = OpKind::exit;
        cta.ops.push_back(exit);
        cta.warps.push_back({first, 41});
      }
      writer.add_cta(cta);
    }
  }
  writer.finish();
}

struct Contents {
  std::string kernels, provenance;
  std::vector<TraceAllocation> allocations;
  std::vector<CtaProgram> ctas;
};

/// Everything that a reader of traces can be asked for.
Contents read_trace(const std::string& path) {
  TraceWorkload trace(path);
  Contents c;
  c.provenance = trace.provenance().source + "," + trace.provenance().importer;
  c.allocations = trace.allocations();
  for (std::size_t k = 0; k < trace.kernels().size(); ++k) {
    const KernelInfo& info = trace.kernels()[k];
    c.kernels += info.name;
    for (const std::uint64_t n :
         {std::uint64_t{info.grid[0]}, std::uint64_t{info.grid[1]}, std::uint64_t{info.grid[2]},
          std::uint64_t{info.block[0]}, std::uint64_t{info.block[1]}, std::uint64_t{info.block[2]},
          std::uint64_t{info.registers_per_thread}, std::uint64_t{info.shared_bytes}, info.launched_ctas})
      c.kernels += " " + std::to_string(n);
    for (std::uint64_t cta = 0; cta < info.ctas(); ++cta) trace.load_cta(k, cta, c.ctas.emplace_back());
  }
  return c;
}

/// As reading the sound file does, or refused by name. Returns whether it was refused.
bool refused(const std::string& path, const Contents& right) {
  Contents read;
  const std::string said = message_of([&] { read = read_trace(path); });
  if (said != "no error") {
    CHECK(said.starts_with(path + ":"));
    return true;
  }
  CHECK(read.kernels == right.kernels);
  CHECK(read.provenance == right.provenance);
  CHECK((read.allocations == right.allocations));
  REQUIRE(read.ctas.size() == right.ctas.size());
  for (std::size_t i = 0; i < read.ctas.size(); ++i) CHECK(same(read.ctas[i], right.ctas[i]));
  return false;
}

}  // namespace

TEST_CASE("a trace with any of 200 random bits flipped is refused by name, or read as if it were sound") {
  for (const unsigned compression : {0u, 6u}) {
    CAPTURE(compression);
    const Scratch scratch;
    const std::string path = scratch.path("t.h5");
    write_trace(path, compression);
    const Contents right = read_trace(path);
    REQUIRE(right.ctas.size() == 10);
    int found = 0;
    flip_bits(read_all(path), 200, [&](const std::string& bytes) { found += refused(scratch.write("f.h5", bytes), right); });
    CHECK(found > 50);  // the others hit what no reader looks at: unused room
  }
}

TEST_CASE("a trace that is cut short at 50 random places is refused by name") {
  const Scratch scratch;
  const std::string path = scratch.path("t.h5");
  write_trace(path, 6);
  const Contents right = read_trace(path);
  cut_short(read_all(path), 50, [&](const std::string& bytes) { CHECK(refused(scratch.write("cut.h5", bytes), right)); });
}

}  // namespace atl::test
