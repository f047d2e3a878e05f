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

#include "inputs/trace/trace_workload.hpp"
#include "inputs/trace/trace_writer.hpp"
#include "random_trace.hpp"
#include "support.hpp"

/// What a writer leaves: the same bytes for the same kernels, whole kernels alone, and nothing that it cannot represent.
namespace atl::test {
namespace {

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

/// Each kernel has these CTAs.
void check_every_kernel(TraceWorkload& trace, const std::vector<CtaProgram>& ctas) {
  CtaProgram read;
  for (std::size_t k = 0; k < trace.kernels().size(); ++k)
    for (std::size_t c = 0; c < ctas.size(); ++c) {
      trace.load_cta(k, c, read);
      REQUIRE(same(read, ctas[c]));
    }
}

}  // namespace

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
  check_every_kernel(trace, ctas);
  for (const KernelInfo& kernel : trace.kernels()) CHECK(kernel.name.substr(0, 7) == "before ");
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
  check_every_kernel(trace, ctas);
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
  cta.ops[0].slot = 31;
  CHECK(contains(write(cta, 1, 1), "op 0 has a scoreboard slot, and is no load, atomic or shared access"));
  cta.ops[0].slot = kNoSlot, cta.ops[0].issue = 2;
  CHECK(contains(write(cta, 1, 1), "op 0 has several issue slots, and is neither compute nor a shared access"));
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

TEST_CASE("a kernel that is whole is no other name of one that is not, though they have the same warps") {
  const Scratch scratch;
  std::mt19937_64 random(6);
  CtaProgram cta = random_cta(random, 4, 30);
  cta.warps.resize(info_of(1, "k").warps());  // all that the block promises
  TraceWriter writer(scratch.path("t.h5"), {});
  for (const char* what : {"", "1 warp missing", ""}) {
    writer.begin_kernel(info_of(1, "k"));
    writer.set_incomplete(what);
    writer.add_cta(cta);
    writer.end_kernel();
  }
  writer.finish();
  TraceWorkload trace(scratch.path("t.h5"));
  CHECK(trace.incomplete(0).empty());
  CHECK(trace.incomplete(1) == "1 warp missing");
  CHECK(trace.incomplete(2).empty());
}

TEST_CASE("what HDF5 would print of a failure stays unprinted in whichever thread writes") {
  const Scratch scratch;
  std::mt19937_64 random(8);
  const CtaProgram cta = random_cta(random, 6, 20);
  TraceWriter writer(scratch.path("t.h5"), {});
  writer.begin_kernel(info_of(1, "k"));
  const auto prints = [] {
    H5E_auto2_t printer = nullptr;
    void* data = nullptr;
    H5Eget_auto2(H5E_DEFAULT, &printer, &data);
    return printer != nullptr;
  };
  bool before = false, after = true;
  std::thread([&] {
    before = prints();
    writer.add_cta(cta), writer.end_kernel();
    after = prints();
  }).join();
  CHECK(before);  // HDF5's default, in each thread anew
  CHECK(!after);
  writer.finish();
}

TEST_CASE("a trace whose writer was killed between its last byte and its name is whole") {
  const Scratch scratch;
  const std::string path = scratch.path("t.h5");
  std::mt19937_64 random(7);
  {
    TraceWriter writer(path, {});
    writer.begin_kernel(info_of(1, "k"));
    writer.add_cta(random_cta(random, 4, 30));
    writer.finish();
  }
  const std::string whole = read_all(path);
  std::filesystem::rename(path, path + ".part");
  CHECK(TraceWriter::salvage(path) == 1);
  CHECK(TraceWorkload(path).lacks().empty());
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
  CHECK(trace.lacks() == "what was not finished when the program was killed");
  CHECK(trace.allocations() == std::vector<TraceAllocation>{{0, 64, 0, "a0"}, {0x1000, 64, 1, "a1"}});
  check_every_kernel(trace, ctas);
  CHECK(contains(message_of([&] { TraceWriter::salvage(scratch.path("none.h5")); }), "nothing can be saved"));
}

}  // namespace atl::test
