#include <H5Cpp.h>

#include <random>
#include <vector>

#include "inputs/trace/trace_workload.hpp"
#include "inputs/trace/trace_writer.hpp"
#include "support.hpp"

/// Warps that execute the same ops share a program in their block of a trace (docs/traces.md).
namespace atl::test {
namespace {

std::vector<Op> random_program(std::mt19937_64& random, std::size_t ops) {
  std::vector<Op> program(ops);
  for (Op& op : program) {
    op.kind = random() % 2 != 0 ? OpKind::load : OpKind::compute;
    op.wait = static_cast<std::uint32_t>(random());
    op.latency = static_cast<std::uint16_t>(random());
    op.accesses = static_cast<std::uint8_t>(op.kind == OpKind::load ? random() % 5 : 0);
  }
  program.back() = {};
  program.back().kind = OpKind::exit;
  return program;
}

/// Warps with programs of these and accesses of their own.
CtaProgram cta_of(std::mt19937_64& random, const std::vector<std::vector<Op>>& programs, unsigned warps) {
  CtaProgram cta;
  for (unsigned w = 0; w < warps; ++w) {
    const std::vector<Op>& program = programs[random() % programs.size()];
    cta.warps.push_back({static_cast<std::uint32_t>(cta.ops.size()), static_cast<std::uint32_t>(program.size())});
    for (Op op : program) {
      op.first_access = static_cast<std::uint32_t>(cta.accesses.size());
      for (unsigned a = 0; a < op.accesses; ++a) cta.accesses.push_back(Access::make(random() % (1u << 30), 1 + a));
      cta.ops.push_back(op);
    }
  }
  return cta;
}

std::vector<CtaProgram> write(const std::string& path, const std::vector<std::vector<Op>>& programs, unsigned ctas) {
  std::mt19937_64 random(5);
  KernelInfo info;
  info.name.push_back('k');
  info.grid[0] = ctas, info.block[0] = 256;
  TraceWriter writer(path, {"s", "i"});
  writer.begin_kernel(info);
  std::vector<CtaProgram> made;
  for (unsigned c = 0; c < ctas; ++c) {
    made.push_back(cta_of(random, programs, 1 + c % 8));
    writer.add_cta(made.back());
  }
  writer.finish();
  return made;
}

void check_equal(const std::string& path, const std::vector<CtaProgram>& ctas) {
  TraceWorkload trace(path);
  CtaProgram read;
  for (std::size_t c = 0; c < ctas.size(); ++c) {
    trace.load_cta(0, c, read);
    REQUIRE(same(read, ctas[c]));
  }
}

hsize_t size_of(const H5::H5File& file, const char* column) {
  hsize_t size = 0;
  file.openDataSet(std::string("/kernels/000000/") + column).getSpace().getSimpleExtentDims(&size);
  return size;
}

}  // namespace

TEST_CASE("each block has the ops of a program once, whichever warps execute it and whatever they access") {
  const Scratch scratch;
  std::mt19937_64 random(3);
  std::vector<std::vector<Op>> programs;
  for (unsigned p = 0; p < 5; ++p) programs.push_back(random_program(random, 40 + p));
  programs.push_back(programs[0]);
  programs.back()[7].wait ^= 1;  // differs in this alone
  programs.push_back(programs[0]);
  programs.back()[7].latency ^= 1;
  const std::vector<CtaProgram> ctas = write(scratch.path("t.h5"), programs, 600);
  check_equal(scratch.path("t.h5"), ctas);
  std::size_t ops = 0, once = 0;
  for (const CtaProgram& cta : ctas) ops += cta.ops.size();
  for (const std::vector<Op>& program : programs) once += program.size();
  const H5::H5File file(scratch.path("t.h5"), H5F_ACC_RDONLY);
  const hsize_t blocks = size_of(file, "block_index") / trace_format::kIndexColumns - 1;
  CHECK(blocks == ops / trace_format::kOpsPerBlock + 1);  // of as many ops as if no warps shared them
  CHECK(size_of(file, "program_ops") == blocks * programs.size());
  CHECK(size_of(file, "op_wait") == blocks * once);
}

TEST_CASE("a trace of version 1, in which each warp has its own ops, means the same") {
  const Scratch scratch;
  std::mt19937_64 random(4);
  std::vector<std::vector<Op>> programs;
  for (unsigned p = 0; p < 300; ++p) programs.push_back(random_program(random, 100 + p));  // of one length each
  std::vector<CtaProgram> ctas;
  {
    KernelInfo info;
    info.name.push_back('k');
    info.grid[0] = 300;
    TraceWriter writer(scratch.path("t.h5"), {"s", "i"});
    writer.begin_kernel(info);
    for (const std::vector<Op>& program : programs) {
      ctas.push_back(cta_of(random, {program}, 1));
      writer.add_cta(ctas.back());
    }
    writer.finish();
  }
  {
    H5::H5File file(scratch.path("t.h5"), H5F_ACC_RDWR);
    const std::uint32_t version = 1;
    file.openGroup("/").openAttribute("version").write(H5::PredType::NATIVE_UINT32, &version);
    H5::Group kernel = file.openGroup("/kernels/000000");
    kernel.move("program_ops", "warp_ops");
    kernel.unlink("warp_program");
    std::vector<std::uint64_t> index(size_of(file, "block_index")), old;
    kernel.openDataSet("block_index").read(index.data(), H5::PredType::NATIVE_UINT64);
    for (std::size_t i = 0; i < index.size(); ++i)
      if (i % trace_format::kIndexColumns != trace_format::kProgram) old.push_back(index[i]);
    kernel.unlink("block_index");
    const hsize_t length = old.size();
    REQUIRE(length > 2 * (trace_format::kIndexColumns - 1));
    kernel.createDataSet("block_index", H5::PredType::STD_U64LE, H5::DataSpace(1, &length))
        .write(old.data(), H5::PredType::NATIVE_UINT64);
  }
  check_equal(scratch.path("t.h5"), ctas);
}

TEST_CASE("a few bytes that stand for more ops than any block has are refused before memory is taken") {
  const Scratch scratch;
  std::mt19937_64 random(6);
  write(scratch.path("t.h5"), {random_program(random, 20000)}, 6);
  {
    H5::H5File file(scratch.path("t.h5"), H5F_ACC_RDWR);
    H5::Group kernel = file.openGroup("/kernels/000000");
    const std::uint32_t grid = 1 << 20;
    kernel.openAttribute("grid").write(H5::PredType::NATIVE_UINT32, std::vector<std::uint32_t>{grid, 1, 1}.data());
    std::vector<std::uint64_t> index(size_of(file, "block_index"));
    kernel.openDataSet("block_index").read(index.data(), H5::PredType::NATIVE_UINT64);
    index.erase(index.begin() + trace_format::kIndexColumns, index.end() - trace_format::kIndexColumns);
    index[trace_format::kIndexColumns + trace_format::kCta] = index[trace_format::kIndexColumns + trace_format::kWarp] =
        grid;
    const auto replace = [&](const char* name, const H5::PredType& type, hsize_t length, const void* values) {
      H5::DSetCreatPropList properties;
      properties.setChunk(1, &length);
      properties.setDeflate(9);
      kernel.unlink(name);
      kernel.createDataSet(name, type, H5::DataSpace(1, &length), properties).write(values, type);
    };
    const std::vector<std::uint32_t> one(grid, 1), none(grid, 0);
    replace("block_index", H5::PredType::NATIVE_UINT64, index.size(), index.data());
    replace("cta_warps", H5::PredType::NATIVE_UINT32, grid, one.data());
    replace("warp_program", H5::PredType::NATIVE_UINT32, grid, none.data());
  }
  TraceWorkload trace(scratch.path("t.h5"));
  CtaProgram read;
  CHECK(contains(message_of([&] { trace.load_cta(0, 0, read); }), "/warp_program: block 0 has more ops than any"));
}

}  // namespace atl::test
