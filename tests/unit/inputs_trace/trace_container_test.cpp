#include <H5Cpp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "inputs/trace/accelsim_workload.hpp"
#include "inputs/trace/trace_workload.hpp"
#include "inputs/trace/trace_writer.hpp"
#include "support.hpp"

namespace atl::test {
namespace {

/// A CTA in the order in which the container stores it, so that what comes back must be equal byte by byte.
CtaProgram random_cta(std::mt19937_64& random, unsigned most_warps, unsigned most_ops) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  CtaProgram cta;
  const auto warps = below(most_warps + 1);
  for (std::uint64_t w = 0; w < warps; ++w) {
    const auto first = static_cast<std::uint32_t>(cta.ops.size());
    const auto count = below(4) == 0 ? 0 : static_cast<std::uint32_t>(below(most_ops + 1));
    for (std::uint32_t i = 0; i < count; ++i) {
      Op op;
      op.kind = i + 1 == count ? OpKind::exit : static_cast<OpKind>(below(6));
      op.wait = static_cast<std::uint32_t>(random());
      op.issue = static_cast<std::uint16_t>(1 + below(0xFFFF));
      op.latency = static_cast<std::uint16_t>(random());
      op.slot = below(2) ? kNoSlot : static_cast<std::uint8_t>(below(32));
      op.flags = static_cast<std::uint8_t>(below(4));
      op.first_access = static_cast<std::uint32_t>(cta.accesses.size());
      op.accesses = static_cast<std::uint8_t>(!has_accesses(op.kind) || below(3) ? 0 : below(65));
      for (unsigned a = 0; a < op.accesses; ++a) {
        const std::uint64_t block =
            below(8) == 0 ? random() >> 8 : 0xffe0000000 + below(1 << 20);  // up to the largest there is
        cta.accesses.push_back({block << 8 | (1 + below(15))});
      }
      cta.ops.push_back(op);
    }
    cta.warps.push_back({first, count});
  }
  return cta;
}

KernelInfo info_of(std::uint32_t ctas, const std::string& name) {
  KernelInfo info;
  info.name = name;
  info.grid[0] = ctas;
  info.block[0] = 224;
  info.registers_per_thread = 33;
  info.shared_bytes = 4096;
  return info;
}

/// As full as HDF5's cache of metadata gets in a kernel of a billion accesses, it gets at once if it is this small.
void keep_little_metadata_in_memory() {
  hid_t file = 0;
  REQUIRE(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_FILE) == 1);
  H5Fget_obj_ids(H5F_OBJ_ALL, H5F_OBJ_FILE, 1, &file);
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  REQUIRE(H5Fget_mdc_config(file, &cache) >= 0);
  cache.set_initial_size = true, cache.initial_size = cache.min_size = cache.max_size = 1024;
  cache.incr_mode = H5C_incr__off, cache.flash_incr_mode = H5C_flash_incr__off, cache.decr_mode = H5C_decr__off;
  REQUIRE(H5Fset_mdc_config(file, &cache) >= 0);
}

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

}  // namespace

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
    writer.add_allocation({~0ull, ~0ull, 1, ""});
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
  CHECK(trace->allocations() == std::vector<TraceAllocation>{{0x7fc841500000, 32768, 0, "d_nodes"}, {~0ull, ~0ull, 1, ""}});
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

TEST_CASE("an abandoned kernel leaves nothing, whether it has no CTA, some blocks, all CTAs or a refused one") {
  const Scratch scratch;
  std::mt19937_64 random(8);
  std::vector<CtaProgram> ctas;
  for (unsigned i = 0; i < 200; ++i) ctas.push_back(random_cta(random, 6, 200));  // several blocks
  CtaProgram refused = ctas[0];
  refused.ops.emplace_back().issue = 0;
  refused.warps.push_back({static_cast<std::uint32_t>(refused.ops.size() - 1), 1});
  TraceWriter writer(scratch.path("t.h5"), {});
  writer.abandon_kernel();
  const auto lose = [&](std::size_t count) {
    writer.begin_kernel(info_of(200, "lost"));
    for (std::size_t i = 0; i < count; ++i) writer.add_cta(ctas[i]);
  };
  const auto keep = [&](const std::string& name) {
    writer.begin_kernel(info_of(200, name));
    for (const CtaProgram& cta : ctas) writer.add_cta(cta);
  };
  for (const std::size_t count : {0u, 1u, 150u, 200u}) {
    lose(count);
    writer.abandon_kernel();
    writer.abandon_kernel();
    CHECK(contains(message_of([&] { writer.add_cta(ctas[0]); }), "a CTA too many for no kernel"));
    keep("before " + std::to_string(count));
  }
  lose(150);
  CHECK(contains(message_of([&] { writer.add_cta(refused); }), "has no issue slot"));
  writer.abandon_kernel();
  writer.finish();
  TraceWorkload trace(scratch.path("t.h5"));
  REQUIRE(trace.kernels().size() == 4);
  CtaProgram read;
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(trace.kernels()[k].name.substr(0, 7) == "before ");
    for (std::size_t c = 0; c < ctas.size(); ++c) {
      trace.load_cta(k, c, read);
      REQUIRE(same(read, ctas[c]));
    }
  }
}

TEST_CASE("a kernel with more metadata than is kept in memory is whole, also behind an abandoned one") {
  const Scratch scratch;
  std::mt19937_64 random(8);
  std::vector<CtaProgram> ctas;
  for (unsigned i = 0; i < 300; ++i) ctas.push_back(random_cta(random, 6, 200));  // several blocks
  TraceWriter writer(scratch.path("t.h5"), {});
  keep_little_metadata_in_memory();
  for (const bool whole : {true, false, true}) {
    writer.begin_kernel(info_of(300, "k"));
    for (const CtaProgram& cta : ctas) writer.add_cta(cta);
    if (whole)
      writer.end_kernel();
    else
      writer.abandon_kernel();
  }
  writer.finish();
  TraceWorkload trace(scratch.path("t.h5"));
  REQUIRE(trace.kernels().size() == 2);
  CtaProgram read;
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t c = 0; c < ctas.size(); ++c) {
      trace.load_cta(k, c, read);
      REQUIRE(same(read, ctas[c]));
    }
}

TEST_CASE("a trace is the same, byte for byte, for every number of threads that compress it, also with others that help") {
  const Scratch scratch;
  std::mt19937_64 random(11);
  std::vector<CtaProgram> ctas;
  for (unsigned n = 0; n < 3000; ++n) ctas.push_back(random_cta(random, 6, 60));
  std::string expected;
  for (const unsigned threads : {1U, 2U, 5U}) {
    const std::string path = scratch.path("t.h5");
    TraceWriter writer(path, {}, trace_format::kCompression, threads);
    std::atomic<bool> done{false};
    std::thread other([&] {
      while (threads == 5 && !done) writer.help();
    });
    for (unsigned kernel = 0; kernel < 2; ++kernel) {
      writer.begin_kernel(info_of(3000, "k" + std::to_string(kernel)));
      for (const CtaProgram& cta : ctas) writer.add_cta(cta);
      writer.end_kernel();
    }
    done = true;
    other.join();
    writer.finish();
    const std::string bytes = read_all(path);
    if (expected.empty()) expected = bytes;
    CHECK(bytes == expected);
  }
  CtaProgram read;
  TraceWorkload trace(scratch.path("t.h5"));
  for (const std::size_t c : {0U, 1U, 1499U, 2998U, 2999U}) {
    trace.load_cta(1, c, read);
    CHECK(same(read, ctas[c]));
  }
}

TEST_CASE("every compression level from 0 to 9 gives the same trace, 9 a smaller file than 0, and 10 is refused") {
  const Scratch scratch;
  std::mt19937_64 random(9);
  std::vector<CtaProgram> ctas(300, random_cta(random, 6, 60));
  while (ctas[0].ops.empty()) ctas.assign(300, random_cta(random, 6, 60));
  std::vector<std::uintmax_t> sizes;
  for (unsigned level = 0; level <= 9; ++level) {
    const std::string path = scratch.path("t" + std::to_string(level) + ".h5");
    TraceWriter writer(path, {}, level);
    writer.begin_kernel(info_of(300, "k"));
    for (const CtaProgram& cta : ctas) writer.add_cta(cta);
    writer.finish();
    sizes.push_back(std::filesystem::file_size(path));
    CtaProgram read;
    TraceWorkload trace(path);
    for (std::size_t c = 0; c < ctas.size(); ++c) {
      trace.load_cta(0, c, read);
      REQUIRE(same(read, ctas[c]));
    }
  }
  CHECK(sizes[9] < sizes[0] / 2);
  CHECK(contains(message_of([&] { TraceWriter(scratch.path("t.h5"), {}, 10); }), "compression level 10 is not in 0 to 9"));
}

TEST_CASE("the same kernels give the same bytes, whenever they are written") {
  const Scratch scratch;
  std::string files[2];
  for (int i : {0, 1}) {
    if (i == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5's time stamps are in seconds
    std::mt19937_64 random(3);
    const std::string path = scratch.path("same" + std::to_string(i) + ".h5");
    TraceWriter writer(path, {"source", "importer"});
    writer.begin_kernel(info_of(20, "k"));
    for (int c = 0; c < 20; ++c) writer.add_cta(random_cta(random, 4, 30));
    writer.finish();
    std::ifstream in(path, std::ios::binary);
    files[i].assign(std::istreambuf_iterator<char>(in), {});
  }
  CHECK(files[0].size() > 1000);
  CHECK(files[0] == files[1]);
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

TEST_CASE("the writer refuses what it cannot represent, naming kernel, CTA and op, and leaves no file") {
  const Scratch scratch;
  const auto write = [&](const CtaProgram& cta, std::uint32_t grid, unsigned count) {
    return message_of([&] {
      TraceWriter writer(scratch.path("t.h5"), {});
      writer.begin_kernel(info_of(grid, "k"));
      for (unsigned i = 0; i < count; ++i) writer.add_cta(cta);
      writer.finish();
    });
  };
  CtaProgram cta;
  cta.ops.resize(1);
  cta.ops[0].kind = OpKind::exit;
  cta.warps = {{0, 1}};
  CHECK(write(cta, 2, 2) == "no error");
  std::filesystem::remove(scratch.path("t.h5"));
  CHECK(contains(write(cta, 2, 1), "kernel 'k' has a grid of 2 CTAs, but got 1"));
  CHECK(contains(write(cta, 2, 3), "a CTA too many for kernel 'k'"));
  cta.ops[0].slot = 32;
  CHECK(contains(write(cta, 1, 1), "kernel 0, CTA 0, op 0 has a scoreboard slot above 31"));
  cta.ops[0] = {};
  cta.ops[0].accesses = 1;
  CHECK(contains(write(cta, 1, 1), "op 0 has accesses outside its CTA's"));
  cta.accesses = {Access::make(0, 1)};
  CHECK(contains(write(cta, 1, 1), "op 0 has accesses, and is no load, store or atomic"));
  cta.ops[0] = {};
  cta.ops[0].issue = 0;
  CHECK(contains(write(cta, 1, 1), "op 0 has no issue slot"));
  cta.ops[0] = {};
  CHECK(contains(write(cta, 1, 1), "kernel 0, CTA 0 has a warp that does not end with an exit"));
  cta.ops.assign(2, cta.ops[0]);
  for (Op& op : cta.ops) op.kind = OpKind::exit;
  cta.warps = {{0, 2}};
  CHECK(contains(write(cta, 1, 1), "kernel 0, CTA 0 has ops behind the exit of a warp"));
  cta.ops = {Op{.kind = OpKind::load, .accesses = 1}, Op{.kind = OpKind::exit}};
  cta.accesses = {Access::make(0, 0)};
  CHECK(contains(write(cta, 1, 1), "kernel 0, CTA 0 has an access to no sector"));
  cta.ops.resize(1);
  cta.warps.assign(8, {0, 0});
  CHECK(contains(write(cta, 1, 1), "kernel 0, CTA 0 has more warps than its kernel's blocks"));
  cta.warps = {{0, 2}};
  CHECK(contains(write(cta, 1, 1), "CTA 0 has a warp with ops outside its CTA's"));
  CHECK_FALSE(std::filesystem::exists(scratch.path("t.h5")));
  CHECK_FALSE(std::filesystem::exists(scratch.path("t.h5.part")));
}

TEST_CASE("a kernel that ends before its grid is full is a sample, and says of what") {
  const Scratch scratch;
  std::mt19937_64 random(4);
  const CtaProgram cta = random_cta(random, 4, 30);
  TraceWriter writer(scratch.path("t.h5"), {});
  for (const unsigned ctas : {7u, 12u}) {
    KernelInfo info = info_of(4, "k");
    info.grid[1] = 3;
    writer.begin_kernel(info);
    for (unsigned c = 0; c < ctas; ++c) writer.add_cta(cta);
    writer.end_kernel();
  }
  writer.finish();
  const TraceWorkload trace(scratch.path("t.h5"));
  REQUIRE(trace.kernels().size() == 2);
  CHECK(trace.kernels()[0].grid[0] == 7);
  CHECK(trace.kernels()[0].grid[1] == 1);
  CHECK(trace.kernels()[0].launched_ctas == 12);
  CHECK(trace.kernels()[1].grid[0] == 4);
  CHECK(trace.kernels()[1].grid[1] == 3);
  CHECK(trace.kernels()[1].launched_ctas == 0);
}

TEST_CASE("of a writer that is killed, the kernels and allocations up to its last flush can be saved") {
  const Scratch scratch;
  const std::string path = scratch.path("t.h5");
  std::mt19937_64 random(5);
  std::vector<CtaProgram> ctas;
  for (unsigned i = 0; i < 300; ++i) ctas.push_back(random_cta(random, 6, 200));  // several blocks
  const pid_t child = fork();
  if (child == 0) {
    TraceWriter writer(path, {"source", "importer"});
    for (std::uint64_t k = 0; k < 3; ++k) {
      writer.add_allocation({0x1000 * k, 64, k, "a" + std::to_string(k)});
      writer.begin_kernel(info_of(300, "kernel " + std::to_string(k)));
      for (std::size_t c = 0; c < (k < 2 ? 300u : 250u); ++c) writer.add_cta(ctas[c]);
      if (k == 2) kill(getpid(), SIGKILL);
      writer.end_kernel();
      writer.flush();
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
  CHECK(TraceWriter::salvage(path) == 2);
  CHECK_FALSE(std::filesystem::exists(path + ".part"));
  TraceWorkload trace(path);
  REQUIRE(trace.kernels().size() == 2);
  CHECK(trace.kernels()[1].name == "kernel 1");
  CHECK(trace.provenance().source == "source");
  CHECK(trace.allocations() == std::vector<TraceAllocation>{{0, 64, 0, "a0"}, {0x1000, 64, 1, "a1"}});
  CtaProgram read;
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t c = 0; c < ctas.size(); ++c) {
      trace.load_cta(k, c, read);
      REQUIRE(same(read, ctas[c]));
    }
  CHECK(contains(message_of([&] { TraceWriter::salvage(scratch.path("none.h5")); }), "nothing can be saved"));
}

}  // namespace atl::test
