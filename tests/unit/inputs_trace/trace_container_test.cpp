#include <H5Cpp.h>

#include <atomic>
#include <random>
#include <thread>

#include "inputs/trace/accelsim_workload.hpp"
#include "inputs/trace/trace_workload.hpp"
#include "inputs/trace/trace_writer.hpp"
#include "random_trace.hpp"
#include "support.hpp"

namespace atl::test {

TEST_CASE("ops of local memory are kept; those that are no load or store, or beyond 16 MiB, are refused") {
  const Scratch scratch;
  const auto written = [&](OpKind kind, std::uint64_t row) {
    CtaProgram cta;
    Op op, exit;
    op.kind = kind, op.flags = kLocal, op.accesses = 1, exit.kind = OpKind::exit, exit.first_access = 1;
    cta.ops = {op, exit}, cta.accesses = {Access::make(row * 128, 0xF)}, cta.warps = {{0, 2}};
    TraceWriter writer(scratch.path("local.h5"), {"s", "i"});
    writer.begin_kernel(info_of(1, "k"));
    writer.add_cta(cta);
    writer.finish();
    CtaProgram back;
    TraceWorkload(scratch.path("local.h5")).load_cta(0, 0, back);
    CHECK(same(back, cta));
  };
  CHECK(message_of([&] { written(OpKind::store, kLocalRows - 1); }) == "no error");
  CHECK(contains(message_of([&] { written(OpKind::store, kLocalRows); }), "an access of local memory that is no load"));
  CHECK(contains(message_of([&] { written(OpKind::atomic, 0); }), "an access of local memory that is no load"));
}

TEST_CASE("kernels with the same content are stored once, and come back each under its own number") {
  const Scratch scratch;
  std::mt19937_64 random(11);
  const CtaProgram small = random_cta(random, 2, 20);
  std::vector<CtaProgram> large;  // of several blocks, which are written before it is known that they were there already
  for (unsigned i = 0; i < 60; ++i) large.push_back(random_cta(random, 7, 300));
  const auto write = [&](const std::string& path, unsigned times) {
    TraceWriter writer(path, {"s", "i"});
    for (unsigned i = 0; i < times; ++i) {
      writer.begin_kernel(info_of(1, "small"));
      writer.add_cta(small);
      writer.begin_kernel(info_of(60, "large"));
      for (const CtaProgram& cta : large) writer.add_cta(cta);
      writer.end_kernel();
      writer.flush();
    }
    writer.begin_kernel(info_of(1, "other name"));
    writer.add_cta(small);
    writer.begin_kernel(info_of(2, "small"), 1);
    writer.add_cta(small);
    writer.end_kernel();
    writer.finish();
    return std::filesystem::file_size(path);
  };
  const auto once = write(scratch.path("once.h5"), 1), often = write(scratch.path("often.h5"), 20);
  CHECK(often < once + once / 2);
  TraceWorkload workload(scratch.path("often.h5"));
  REQUIRE(workload.kernels().size() == 42);
  CHECK(workload.kernels()[40].name == "other name");
  CHECK(workload.kernels()[41].launched_ctas == 2);
  CtaProgram cta;
  for (const std::size_t k : {0u, 38u, 40u, 41u}) {
    workload.load_cta(k, 0, cta);
    CHECK(same(cta, small));
  }
  for (const std::size_t k : {1u, 39u}) {
    CHECK(workload.kernels()[k].name == "large");
    workload.load_cta(k, 59, cta);
    CHECK(same(cta, large[59]));
  }
}

TEST_CASE("of launches that differ by their addresses alone, addresses are what another one costs") {
  const Scratch scratch;
  std::mt19937_64 random(12);
  const auto launch_of = [&](unsigned ctas, unsigned ops) {
    std::vector<CtaProgram> all(ctas);
    for (CtaProgram& cta : all) {
      cta.warps = {{0, ops}};
      for (unsigned i = 0; i < ops; ++i) {
        Op op;
        op.wait = static_cast<std::uint32_t>(random()), op.latency = static_cast<std::uint16_t>(random());
        op.first_access = static_cast<std::uint32_t>(cta.accesses.size()), op.accesses = i % 8 == 0 ? 1 : 0;
        op.kind = i + 1 == ops ? OpKind::exit : op.accesses != 0 ? OpKind::load : OpKind::compute;
        if (op.accesses != 0) cta.accesses.push_back(Access::make(random() % (1 << 20) * 128, 0xF));
        cta.ops.push_back(op);
      }
    }
    return all;
  };
  const auto moved = [](unsigned launch, CtaProgram cta) {
    for (Access& a : cta.accesses) a = Access::make((a.block() * (launch + 1) + launch) * 128, a.sectors());
    return cta;
  };
  // A column lies in its header, or in one chunk, or in several, which are written before it is known that it was there.
  for (const auto& [ctas, ops] : {std::pair{1u, 20u}, {20u, 300u}, {200u, 300u}}) {
    const std::vector<CtaProgram> all = launch_of(ctas, ops);
    const auto write = [&](const std::string& name, unsigned times) {
      TraceWriter writer(scratch.path(name), {"s", "i"});
      for (unsigned i = 0; i < times; ++i)
        for (const bool abandoned : {true, false}) {
          writer.begin_kernel(info_of(ctas, "k"));
          for (const CtaProgram& cta : all) writer.add_cta(moved(i, cta));
          abandoned ? writer.abandon_kernel() : writer.end_kernel();
          writer.flush();
        }
      writer.finish();
      return std::filesystem::file_size(scratch.path(name));
    };
    const auto once = write("once.h5", 1), often = write("often.h5", 9);
    CAPTURE(once);
    CAPTURE(often);
    if (ctas == 1) CHECK((often - once) / 8 < 1200);
    if (ctas == 20) CHECK((often - once) / 8 < once / 4);
    TraceWorkload workload(scratch.path("often.h5"));
    REQUIRE(workload.kernels().size() == 9);
    CtaProgram cta;
    for (const unsigned launch : {0u, 1u, 4u, 8u})
      for (const unsigned number : {0u, ctas - 1}) {
        workload.load_cta(launch, number, cta);
        CHECK(same(cta, moved(launch, all[number])));
      }
  }
}

TEST_CASE("random programs with empty warps, empty CTAs and the largest addresses come back unchanged, in any order") {
  const Scratch scratch;
  std::mt19937_64 random(7);
  std::vector<std::vector<CtaProgram>> kernels(3);
  for (unsigned i = 0; i < 700; ++i) kernels[0].push_back(random_cta(random, 6, 60));  // several blocks and chunks
  for (unsigned i = 0; i < 5; ++i) kernels[1].push_back({});
  for (unsigned i = 0; i < 3; ++i) kernels[2].push_back(random_cta(random, 2, 30000));  // CTAs larger than a block
  {
    TraceWriter writer(scratch.path("t.h5"), {"unit test", "none"});
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      writer.begin_kernel(info_of(static_cast<std::uint32_t>(kernels[k].size()), "kernel<" + std::to_string(k) + ">"));
      for (const CtaProgram& cta : kernels[k]) writer.add_cta(cta);
    }
    writer.add_allocation({0x7fc841500000, 32768, 0, "d_nodes"});
    writer.add_allocation({(1ull << 63) - 1, 1, ~0ull, ""});
    CHECK_FALSE(std::filesystem::exists(scratch.path("t.h5")));
    writer.finish();
  }
  CHECK_FALSE(std::filesystem::exists(scratch.path("t.h5.part")));
  const std::unique_ptr<Workload> opened = open_workload(scratch.path("t.h5"));
  auto* trace = dynamic_cast<TraceWorkload*>(opened.get());
  REQUIRE(trace != nullptr);
  REQUIRE(trace->kernels().size() == 3);
  CHECK(trace->kernels()[1].name == "kernel<1>");
  CHECK(trace->kernels()[0].ctas() == 700);
  CHECK(trace->kernels()[0].block[0] == 224);
  CHECK(trace->kernels()[0].registers_per_thread == 33);
  CHECK(trace->kernels()[0].shared_bytes == 4096);
  CHECK(trace->provenance().source == "unit test");
  CHECK(trace->provenance().importer == "none");
  CHECK(trace->allocations() ==
        std::vector<TraceAllocation>{{0x7fc841500000, 32768, 0, "d_nodes"}, {(1ull << 63) - 1, 1, ~0ull, ""}});
  CtaProgram read;
  for (std::size_t k = 0; k < kernels.size(); ++k)
    for (std::size_t c = 0; c < kernels[k].size(); ++c) {
      trace->load_cta(k, c, read);
      REQUIRE(same(read, kernels[k][c]));
    }
  for (unsigned i = 0; i < 300; ++i) {
    const std::size_t k = random() % 3, c = random() % kernels[k].size();
    trace->load_cta(k, c, read);
    REQUIRE(same(read, kernels[k][c]));
  }
}

TEST_CASE("four threads that open, read and close one trace at the same time each read what one alone does") {
  const Scratch scratch;
  std::mt19937_64 random(8);
  std::vector<CtaProgram> kernel;
  for (unsigned i = 0; i < 200; ++i) kernel.push_back(random_cta(random, 6, 60));
  {
    TraceWriter writer(scratch.path("t.h5"), {"unit test", "none"});
    for (const char* name : {"a", "b"}) {
      writer.begin_kernel(info_of(static_cast<std::uint32_t>(kernel.size()), name));
      for (const CtaProgram& cta : kernel) writer.add_cta(cta);
    }
    writer.finish();
  }
  std::atomic<int> wrong = 0, read_all = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        CtaProgram read;
        for (int round = 0; round < 3; ++round) {
          TraceWorkload trace(scratch.path("t.h5"));
          for (std::size_t c = 0; c < kernel.size(); ++c) {
            trace.load_cta((c / 50) % 2, c, read);  // now and then the other kernel: its columns are opened
            wrong += !same(read, kernel[c]);
          }
          ++read_all;
        }
      });
  }
  CHECK(wrong == 0);
  CHECK(read_all == 12);
}

TEST_CASE("ops that share accesses and warps that share ops are written out and mean the same") {
  const Scratch scratch;
  CtaProgram cta;
  cta.accesses = {Access::make(0x1000, 1), Access::make(0x2000, 2)};
  for (std::uint32_t first : {1u, 0u}) {
    Op op;
    op.kind = OpKind::load;
    op.first_access = first;
    op.accesses = 1;
    cta.ops.push_back(op);
  }
  cta.ops.push_back(Op{.kind = OpKind::exit});
  cta.warps = {{0, 3}, {1, 2}};
  TraceWriter writer(scratch.path("t.h5"), {});
  writer.begin_kernel(info_of(1, "k"));
  writer.add_cta(cta);
  writer.finish();
  CtaProgram read;
  TraceWorkload(scratch.path("t.h5")).load_cta(0, 0, read);
  REQUIRE(read.ops.size() == 5);
  CHECK(read.accesses == std::vector{Access::make(0x2000, 2), Access::make(0x1000, 1), Access::make(0x1000, 1)});
  CHECK(read.warps[1].first == 3);
}

TEST_CASE("an imported trace delivers what the direct reader does, for thread blocks in any order in the file") {
  const Scratch scratch;
  std::string text = header("5", "(2,2,1)", "(64,1,1)");
  for (const char* id : {"1,1,0", "0,0,0", "0,1,0", "1,0,0"})
    text += thread_block(id, warp(1, {std::string("0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f") + id[0] + id[2] + "0000000 4 0",
                                      "0010 ffffffff 0 EXIT 0 0 0"}));
  scratch.write("kernel-1.traceg", text);
  scratch.write("kernelslist.g", "MemcpyHtoD,0x7f000,64\nkernel-1.traceg\nkernel-1.traceg\n");
  std::vector<std::size_t> progress;
  ImportOptions options;
  options.progress = [&](const ImportProgress& p) { progress.push_back(p.kernel); };
  import_accel_sim(scratch.path("kernelslist.g"), scratch.path("t.h5"), options);
  CHECK(progress == std::vector<std::size_t>{1, 2});
  const auto direct = open_workload(std::filesystem::path(scratch.path("x")).parent_path().string()),
             imported = open_workload(scratch.path("t.h5"));
  REQUIRE(imported->kernels().size() == 2);
  CtaProgram a, b;
  for (std::size_t k = 0; k < 2; ++k)
    for (std::uint64_t c = 0; c < 4; ++c) {
      direct->load_cta(k, c, a);
      imported->load_cta(k, c, b);
      CHECK(same_warps(a, b));
      CHECK(a.accesses[0].block() == (0x7f000000000 + ((c & 1) << 32) + ((c >> 1) << 28)) / 128);
    }
}

TEST_CASE("a trace that says it has no kernels is refused, whatever else is in it") {
  const Scratch scratch;
  const std::string path = scratch.path("t.h5");
  {
    TraceWriter writer(path, {"source", "importer"});
    writer.begin_kernel(info_of(1, "k"));
    CtaProgram cta;
    cta.ops.resize(1);
    cta.ops[0].kind = OpKind::exit;
    cta.warps = {{0, 1}};
    writer.add_cta(cta);
    writer.finish();
  }
  CHECK(message_of([&] { TraceWorkload{path}; }) == "no error");
  {
    const std::uint64_t none = 0;
    H5::H5File(path, H5F_ACC_RDWR).openGroup("/").openAttribute("kernels").write(H5::PredType::NATIVE_UINT64, &none);
  }
  CHECK(contains(message_of([&] { TraceWorkload{path}; }), "its attribute 'kernels' is 0"));
}

}  // namespace atl::test
