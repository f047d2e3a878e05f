#include <H5Cpp.h>

#include "inputs/trace/trace_workload.hpp"
#include "inputs/trace/trace_writer.hpp"
#include "support.hpp"

namespace atl::test {
namespace {

/// Two CTAs, each of one warp: a load of two accesses and the exit.
std::string small_trace(const Scratch& scratch) {
  CtaProgram cta;
  Op load, exit;
  load.kind = OpKind::load;
  load.slot = 0;
  load.accesses = 2;
  exit.kind = OpKind::exit;
  cta.ops = {load, exit};
  cta.accesses = {Access::make(0x7f0000000000, 0xF), Access::make(0x7f0000000080, 0x1)};
  cta.warps = {{0, 2}};
  KernelInfo info;
  info.name.push_back('k');
  info.grid[0] = 2;
  TraceWriter writer(scratch.path("t.h5"), {"s", "i"});
  writer.begin_kernel(info);
  writer.add_cta(cta);
  writer.add_cta(cta);
  writer.finish();
  return scratch.path("t.h5");
}

std::string read_everything(const std::string& path) {
  return message_of([&] {
    TraceWorkload trace(path);
    CtaProgram cta;
    for (std::uint64_t c = 0; c < 2; ++c) trace.load_cta(0, c, cta);
  });
}

template <typename F> std::string after(F change) {
  const Scratch scratch;
  const std::string path = small_trace(scratch);
  {
    H5::H5File file(path, H5F_ACC_RDWR);
    change(file);
  }
  const std::string message = read_everything(path);
  return message.substr(0, path.size()) == path ? message.substr(path.size()) : message;  // always names the file
}

/// Overwrites element `i` of a column of the first kernel.
auto poke(const char* column, hsize_t i, std::uint64_t value) {
  return [=](H5::H5File& file) {
    H5::DataSet data = file.openDataSet(std::string("/kernels/000000/") + column);
    const hsize_t one = 1;
    H5::DataSpace space = data.getSpace(), memory(1, &one);
    space.selectHyperslab(H5S_SELECT_SET, &one, &i);
    data.write(&value, H5::PredType::NATIVE_UINT64, memory, space);
  };
}

}  // namespace

TEST_CASE("an untouched trace reads without error") {
  CHECK(after([](H5::H5File&) {}) == "no error");
}

TEST_CASE("a scoreboard slot has no more accesses under way than a warp can count, until an op waits for it") {
  const auto read = [](unsigned loads, bool waits) {
    const Scratch scratch;
    CtaProgram cta;
    for (unsigned n = 0; n <= loads; ++n) {
      Op op;
      op.kind = n < loads ? OpKind::load : OpKind::exit;
      op.first_access = 60 * n;
      if (n < loads) op.slot = 3, op.accesses = 60, op.wait = waits && n % 2 == 0 ? 1u << 3 : 0;
      cta.ops.push_back(op);
    }
    for (unsigned n = 0; n < 60 * loads; ++n) cta.accesses.push_back(Access::make(128 * n, 0xF));
    cta.warps = {{0, loads + 1}};
    KernelInfo info;
    info.name.push_back('k');
    TraceWriter writer(scratch.path("t.h5"), {"s", "i"});
    writer.begin_kernel(info);
    writer.add_cta(cta);
    writer.finish();
    return message_of([&] { TraceWorkload(scratch.path("t.h5")).load_cta(0, 0, cta); });
  };
  CHECK(read(2, false) == "no error");
  CHECK(
      contains(read(3, false), "/op_slot: block 0 has a warp with more than 127 accesses under way in one scoreboard slot"));
  CHECK(read(8, true) == "no error");
}

TEST_CASE("a trace truncated anywhere is an InputError that names the file") {
  const Scratch scratch;
  const std::string path = small_trace(scratch), whole = read_all(path);
  for (const std::size_t size : {std::size_t{8}, std::size_t{100}, whole.size() / 4, whole.size() / 2, whole.size() - 1}) {
    CAPTURE(size);
    scratch.write("cut.h5", whole.substr(0, size));
    CHECK(contains(read_everything(scratch.path("cut.h5")),
                   "cut.h5: begins like an HDF5 file but cannot be opened: it is truncated or damaged"));
  }
  scratch.write("cut.h5", whole.substr(0, 5));
  CHECK(contains(message_of([&] { open_workload(scratch.path("cut.h5")); }), "cut.h5: neither an Atoll trace (HDF5), nor"));
  CHECK(contains(read_everything(scratch.write("text.h5", "hello, world")), "text.h5: not an HDF5 file"));
  CHECK(contains(read_everything(scratch.path("absent.h5")), "absent.h5: cannot be opened: No such file"));
}

TEST_CASE("a byte flipped anywhere gives the right program or an error, never another program") {
  const Scratch scratch;
  const std::string path = small_trace(scratch), whole = read_all(path);
  const auto load = [](const std::string& from, CtaProgram& cta) { TraceWorkload(from).load_cta(0, 1, cta); };
  CtaProgram right, read;
  load(path, right);
  for (std::size_t i = 8; i < whole.size(); i += 61) {
    CAPTURE(i);
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x41);
    scratch.write("flip.h5", bytes);
    if (message_of([&] { load(scratch.path("flip.h5"), read); }) == "no error") CHECK(same(read, right));
  }
}

TEST_CASE("an HDF5 file of another kind or version is refused") {
  CHECK(contains(after([](H5::H5File& f) { f.openGroup("/").removeAttr("format"); }),
                 ": an HDF5 file, but without the attribute format"));
  CHECK(contains(after([](H5::H5File& f) {
                   const std::uint32_t version = 3;
                   f.openGroup("/").openAttribute("version").write(H5::PredType::NATIVE_UINT32, &version);
                 }),
                 ": trace version 3, but this program reads versions 1 to 2"));
}

TEST_CASE("missing groups, datasets and attributes are named") {
  CHECK(contains(after([](H5::H5File& f) { f.unlink("/kernels/000000/op_wait"); }),
                 ":/kernels/000000/op_wait: this dataset is missing"));
  CHECK(contains(after([](H5::H5File& f) { f.unlink("/kernels/000000"); }), ":/kernels/000000: this group is missing"));
  CHECK(contains(after([](H5::H5File& f) { f.openGroup("/kernels/000000").removeAttr("grid"); }),
                 ":/kernels/000000: attribute 'grid' is missing"));
  CHECK(
      contains(after([](H5::H5File& f) { f.unlink("/allocations/size"); }), ":/allocations/size: this dataset is missing"));
}

TEST_CASE("columns of integers with signs are refused, which HDF5 would make 0 of, and so are attributes below 0") {
  CHECK(contains(after([](H5::H5File& f) {
                   f.unlink("/kernels/000000/op_wait");
                   const hsize_t ops = 2;
                   const std::int32_t waits[] = {0, -1};
                   f.createDataSet("/kernels/000000/op_wait", H5::PredType::STD_I32LE, H5::DataSpace(1, &ops))
                       .write(waits, H5::PredType::NATIVE_INT32);
                 }),
                 "/op_wait: expected one dimension of unsigned 32-bit integers"));
  const auto registers = [](std::int32_t value) {
    return after([value](H5::H5File& f) {
      H5::Group kernel = f.openGroup("/kernels/000000");
      kernel.removeAttr("registers_per_thread");
      kernel.createAttribute("registers_per_thread", H5::PredType::STD_I32LE, H5::DataSpace())
          .write(H5::PredType::NATIVE_INT32, &value);
    });
  };
  CHECK(contains(registers(-1), ":/kernels/000000: attribute 'registers_per_thread' is -1"));
  CHECK(registers(32) == "no error");
}

TEST_CASE("an allocation that does not end below 2^63 is refused") {
  const Scratch scratch;
  const auto refusal = [&](std::uint64_t address, std::uint64_t size) {
    const std::string path = scratch.path("a.h5");
    TraceWriter writer(path, {"s", "i"});
    writer.add_allocation({address, size, 0, ""});
    KernelInfo info;
    info.name = "k";
    writer.begin_kernel(info);
    CtaProgram cta;
    cta.ops.resize(1), cta.ops[0].kind = OpKind::exit, cta.warps = {{0, 1}};
    writer.add_cta(cta);
    writer.finish();
    return message_of([&] { TraceWorkload{path}; });
  };
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 63;
  CHECK(refusal(kEnd - 64, 64) == "no error");
  CHECK(contains(refusal(kEnd - 64, 65), "allocation 0 of 65 bytes at 0x7fffffffffffffc0 does not end below 2^63"));
  CHECK(contains(refusal(kEnd, 1), "does not end below 2^63"));
  CHECK(contains(refusal(0, ~std::uint64_t{0}), "does not end below 2^63"));
}

TEST_CASE("values that no writer writes are found when their block is decoded") {
  CHECK(contains(after(poke("op_kind", 1, 7)), ":/kernels/000000/op_kind: block 0 has an op of unknown kind"));
  CHECK(contains(after(poke("op_slot", 0, 40)), "/op_slot: block 0 has a scoreboard slot above 31"));
  CHECK(contains(after(poke("op_flags", 0, 16)), "/op_flags: block 0 has an unknown flag"));
  CHECK(contains(after(poke("op_issue", 0, 0)), "/op_issue: block 0 has an op without issue slot"));
  CHECK(contains(after(poke("op_accesses", 0, 3)), "/op_accesses: block 0 counts accesses that are not in it"));
  CHECK(contains(after(poke("program_ops", 0, 9)), "/program_ops: block 0 counts ops that are not in it"));
  CHECK(contains(after(poke("warp_program", 1, 1)), "/warp_program: block 0 has a warp of a program that is not in it"));
  CHECK(contains(after(poke("cta_warps", 1, 0)), "/cta_warps: block 0 counts warps that are not in it"));
  CHECK(contains(after(poke("access_sectors", 0, 16)), "/access_sectors: block 0 has sectors that do not exist"));
  CHECK(contains(after(poke("access_sectors", 0, 0)), "/access_sectors: block 0 has an access to no sector"));
  CHECK(contains(after(poke("op_kind", 0, 0)),
                 "/op_accesses: block 0 has accesses of an op that is no load, store or atomic"));
  CHECK(contains(after([](H5::H5File& f) {
                   poke("op_accesses", 0, 0)(f);
                   poke("op_slot", 0, kNoSlot)(f);
                   poke("op_kind", 0, 6)(f);
                 }),
                 "/op_kind: block 0 has ops behind the exit of a warp"));
  CHECK(contains(after(poke("op_kind", 0, 2)),
                 "/op_slot: block 0 has a scoreboard slot of an op that is no load, atomic or shared access"));
  CHECK(contains(after(poke("op_slot", 1, 3)),
                 "/op_slot: block 0 has a scoreboard slot of an op that is no load, atomic or shared access"));
  CHECK(contains(after(poke("op_issue", 0, 2)),
                 "/op_issue: block 0 has several issue slots of an op that is neither compute nor a shared access"));
  CHECK(contains(after(poke("access_delta", 0, 0)), "/access_delta: block 0 holds more addresses than accesses"));
}

TEST_CASE("a trace that would lead an SM beyond a program is refused") {
  CHECK(contains(after(poke("op_kind", 1, 0)), "/op_kind: block 0 has a warp that does not end with an exit"));
  const auto two_warps = [](H5::H5File& file) {
    poke("cta_warps", 0, 2)(file);
    poke("cta_warps", 1, 0)(file);
  };
  CHECK(contains(after(two_warps), "/cta_warps: block 0 has a CTA of more warps than its kernel's blocks"));
  const auto wide = [](H5::H5File& file) {
    const std::uint32_t block[3] = {2, 2147483664, 1};  // 32 threads in 32 bits
    file.openGroup("/kernels/000000").openAttribute("block").write(H5::PredType::NATIVE_UINT32, block);
  };
  CHECK(contains(after(wide), ":/kernels/000000: the grid or the block is larger than any that a GPU accepts"));
}

TEST_CASE("a sample that its launch cannot have, and a launch larger than any, are refused") {
  const auto of_launch = [](std::uint32_t rows, std::uint64_t first) {
    return after([=](H5::H5File& file) {
      H5::Group kernel = file.openGroup("/kernels/000000");
      const hsize_t three = 3, one = 1;
      const std::uint32_t grid[3] = {4, rows, rows};
      kernel.createAttribute("launched_grid", H5::PredType::STD_U32LE, H5::DataSpace(1, &three))
          .write(H5::PredType::NATIVE_UINT32, grid);
      kernel.createAttribute("first_cta", H5::PredType::STD_U64LE, H5::DataSpace(1, &one))
          .write(H5::PredType::NATIVE_UINT64, &first);
    });
  };
  CHECK(of_launch(1, 2) == "no error");
  CHECK(contains(of_launch(1, 3), ":/kernels/000000: holds CTAs 3 to 4 of a launch of 4"));
  CHECK(contains(of_launch(1u << 31, 3), ":/kernels/000000: launched_grid is larger than any that a GPU accepts"));
}

TEST_CASE("attributes that no kernel or trace has are refused by name, and so are those that mean nothing alone") {
  const auto with = [](const char* name, const char* group = "/kernels/000000") {
    return after([=](H5::H5File& file) {
      const std::uint64_t value = 1;
      file.openGroup(group)
          .createAttribute(name, H5::PredType::STD_U64LE, H5::DataSpace())
          .write(H5::PredType::NATIVE_UINT64, &value);
    });
  };
  CHECK(contains(with("launched_gird"), ":/kernels/000000: attribute 'launched_gird' is unknown; there are name,"));
  CHECK(contains(with("first_cta"), ":/kernels/000000: has first_cta, but no launched_grid"));
  CHECK(contains(with("device_memroy", "/"), ": attribute 'device_memroy' is unknown; there are format,"));
  CHECK(contains(with("device_memory", "/"), ": has attribute 'device_memory', but not how many 'devices'"));
  CHECK(contains(after([](H5::H5File& file) { file.createGroup("/launches"); }), ": has /launches, but no attribute"));
}

TEST_CASE("a file that announces fewer kernels than it has groups is refused") {
  CHECK(contains(after([](H5::H5File& file) {
                   REQUIRE(H5Lcreate_hard(file.getId(), "/kernels/000000", file.getId(), "/kernels/000001", H5P_DEFAULT,
                                          H5P_DEFAULT) >= 0);
                 }),
                 ":/kernels: has 2 groups, but the attribute 'kernels' counts 1:"));
}

TEST_CASE("devices and the places of launches are refused where they do not fit the trace") {
  const auto of_devices = [](std::uint32_t count, std::uint64_t bytes, std::uint32_t device, hsize_t rows) {
    return after([=](H5::H5File& file) {
      const hsize_t two = 2;
      const std::uint64_t memory[2] = {1ull << 45, bytes}, step[2] = {};
      const std::uint32_t devices[2] = {device, device};
      H5::Group root = file.openGroup("/");
      root.createAttribute("devices", H5::PredType::STD_U32LE, H5::DataSpace()).write(H5::PredType::NATIVE_UINT32, &count);
      root.createAttribute("device_memory", H5::PredType::STD_U64LE, H5::DataSpace(1, &two))
          .write(H5::PredType::NATIVE_UINT64, memory);
      if (rows == 0) return;
      H5::Group table = file.createGroup("/launches");
      const H5::DataSpace space(1, &rows);
      table.createDataSet("device", H5::PredType::STD_U32LE, space).write(devices, H5::PredType::NATIVE_UINT32);
      table.createDataSet("step", H5::PredType::STD_U64LE, space).write(step, H5::PredType::NATIVE_UINT64);
    });
  };
  constexpr std::uint64_t kBytes = 1ull << 38;
  CHECK(of_devices(2, kBytes, 1, 1) == "no error");
  CHECK(contains(of_devices(0, kBytes, 0, 1), ": attribute 'devices' must be 1 to"));
  CHECK(contains(of_devices(2, 3 * kBytes, 0, 1), ": attribute 'device_memory' must be an address and a power of two"));
  CHECK(contains(of_devices(2, kBytes, 2, 1), ":/launches: kernel 0 is on device 2 of 2"));
  CHECK(contains(of_devices(2, kBytes, 0, 2), ":/launches: its columns are not of one row per kernel"));
  CHECK(contains(of_devices(2, kBytes, 0, 0), ":/launches: this table cannot be read"));
}

TEST_CASE("a column that claims more elements than its bytes can hold is refused before memory is taken") {
  const auto extend = [](H5::H5File& file) {
    const hsize_t extent = 1ull << 50;
    file.openDataSet("/allocations/address").extend(&extent);
  };
  CHECK(contains(after(extend), ":/allocations/address: claims 1125899906842624 elements, more than its data can be"));
}

TEST_CASE("a block index that does not fit grid and columns is refused when the kernel is opened") {
  CHECK(contains(after(poke("block_index", 6, 3)), "/block_index: ends at CTA 3, but the grid has 2"));
  CHECK(contains(after(poke("block_index", 9, 5)), "/op_kind: has 2 elements, but block_index ends at 5"));
  CHECK(contains(after(poke("block_index", 2, 9)), "/block_index: column 2 does not rise from 0"));
}

TEST_CASE("a kernel or CTA that the trace does not have is an InputError") {
  const Scratch scratch;
  TraceWorkload trace(small_trace(scratch));
  CtaProgram cta;
  CHECK(contains(message_of([&] { trace.load_cta(1, 0, cta); }), "t.h5: kernel 1 of 1 is asked for"));
  CHECK(contains(message_of([&] { trace.load_cta(0, 2, cta); }), "t.h5:/kernels/000000: CTA 2 of 2 is asked for"));
}

}  // namespace atl::test
