#include "inputs/trace/trace_objects.hpp"

#include <sys/stat.h>

#include <functional>

#include "inputs/trace/trace_workload.hpp"
#include "inputs/trace/trace_writer.hpp"
#include "support.hpp"

/// Where the data of a trace lie: in its file, all of them, and packed by filters that HDF5 has.
namespace atl::test::trace_objects_test {
namespace {

constexpr hsize_t kLoads = 1000;  // so many that columns have chunks

void add_cta(TraceWriter& writer, unsigned warps) {
  CtaProgram cta;
  for (unsigned w = 0; w < warps; ++w) {
    cta.warps.push_back({static_cast<std::uint32_t>(cta.ops.size()), kLoads + 1});
    for (unsigned n = 0; n <= kLoads; ++n) {
      Op op;
      op.kind = n < kLoads ? OpKind::load : OpKind::exit;
      op.first_access = static_cast<std::uint32_t>(cta.accesses.size());
      if (n < kLoads) op.accesses = 1, cta.accesses.push_back(Access::make(n * n % 12289 * 128, 0xF));
      cta.ops.push_back(op);
    }
  }
  writer.add_cta(cta);
}

void write_trace(const std::string& path) {
  TraceWriter writer(path, {"s", "i"});
  writer.add_allocation({0, 128, 0, "a"});
  KernelInfo info;
  info.name.push_back('k');
  writer.begin_kernel(info);
  add_cta(writer, 1);
  writer.finish();
}

/// What reading a trace ends with after a change of it, without the trace's path. Beside it, `side.h5` is what it was.
std::string after(const std::function<void(H5::H5File&, const Scratch&)>& change) {
  const Scratch scratch;
  const std::string path = scratch.path("t.h5");
  write_trace(path);
  std::filesystem::copy_file(path, scratch.path("side.h5"));
  {
    H5::H5File file(path, H5F_ACC_RDWR);
    change(file, scratch);
  }
  const std::string message = message_of([&] {
    CtaProgram cta;
    TraceWorkload(path).load_cta(0, 0, cta);
  });
  return message.substr(0, path.size()) == path ? message.substr(path.size()) : message;
}

void link_outside(H5::H5File& file, const std::string& name) {
  file.unlink(name);
  REQUIRE(H5Lcreate_external("side.h5", name.c_str(), file.getId(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT) >= 0);
}

const char* const kWaits = "/kernels/000000/op_wait";

/// Ops wait for nothing, so that what HDF5 makes up is what was there.
void replace_waits(H5::H5File& file, const H5::DSetCreatPropList& properties, hsize_t written, hsize_t most = 0) {
  const std::vector<std::uint32_t> none(kLoads + 1);
  const hsize_t elements = none.size(), start = 0;
  file.unlink(kWaits);
  const H5::DataSpace space(1, &elements, most == 0 ? nullptr : &most), memory(1, &written);
  const H5::DataSet data = file.createDataSet(kWaits, H5::PredType::STD_U32LE, space, properties);
  space.selectHyperslab(H5S_SELECT_SET, &written, &start);
  if (written != 0) data.write(none.data(), H5::PredType::NATIVE_UINT32, memory, space);
}

H5::DSetCreatPropList chunks_of(hsize_t elements, bool deflated) {
  H5::DSetCreatPropList properties;
  properties.setChunk(1, &elements);
  if (deflated) properties.setDeflate(6);
  return properties;
}

}  // namespace

TEST_CASE("what a link of a trace names in another file is refused, at whatever step, and that file is never opened") {
  const std::string refusal = ": lies outside this file";
  const auto linked = [](const char* name) {
    return after([=](H5::H5File& file, const Scratch&) { link_outside(file, name); });
  };
  CHECK(after([](H5::H5File&, const Scratch&) {}) == "no error");
  CHECK(contains(linked("/kernels"), ":/kernels/000000" + refusal));
  CHECK(contains(linked("/kernels/000000"), ":/kernels/000000" + refusal));
  CHECK(contains(linked("/kernels/000000/access_delta"), ":/kernels/000000/access_delta" + refusal));
  CHECK(contains(linked("/allocations"), ":/allocations" + refusal));
  CHECK(contains(linked("/allocations/size"), "`h5repack --merge -f GZIP=6 OLD NEW` takes it in"));
  const auto by_way_of = [](const char* name) {
    return after([=](H5::H5File& file, const Scratch&) {
      file.move(kWaits, "/elsewhere");
      if (name != std::string("/elsewhere")) link_outside(file, "/allocations");
      REQUIRE(H5Lcreate_soft(name, file.getId(), kWaits, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    });
  };
  CHECK(by_way_of("/elsewhere") == "no error");
  CHECK(contains(by_way_of("/allocations/address"), refusal));
  CHECK(contains(after([](H5::H5File& file, const Scratch& scratch) {
                   link_outside(file, "/kernels/000000/access_delta");
                   std::filesystem::remove(scratch.path("side.h5"));
                   REQUIRE(mkfifo(scratch.path("side.h5").c_str(), 0600) == 0);  // would hang whoever opens it
                 }),
                 "/access_delta" + refusal));
}

TEST_CASE("a column whose data are in other files, though it is in the trace, is refused") {
  CHECK(contains(after([](H5::H5File& file, const Scratch& scratch) {
                   H5::DSetCreatPropList raw;
                   raw.setExternal(scratch.path("raw").c_str(), 0, 4 * (kLoads + 1));
                   replace_waits(file, raw, kLoads + 1);
                 }),
                 std::string(":") + kWaits + ": lies outside this file"));
  CHECK(contains(after([](H5::H5File& file, const Scratch&) {
                   const hsize_t elements = kLoads + 1;
                   const H5::DataSpace space(1, &elements);
                   H5::DSetCreatPropList view;
                   view.setVirtual(space, "side.h5", kWaits, space);
                   replace_waits(file, view, 0);
                 }),
                 std::string(":") + kWaits + ": lies outside this file"));
}

TEST_CASE("a column that was never written, or only in part, is refused, however it is stored") {
  const auto stored = [](const H5::DSetCreatPropList& properties, hsize_t written, hsize_t most = 0) {
    return after([&](H5::H5File& file, const Scratch&) { replace_waits(file, properties, written, most); });
  };
  const std::string refusal = std::string(":") + kWaits + ": not all of its 1001 elements were ever written";
  constexpr hsize_t kAll = kLoads + 1, kGrows = H5S_UNLIMITED, kMore = 2 * kAll;
  CHECK(contains(stored({}, 0), refusal));
  CHECK(stored({}, kAll) == "no error");
  for (const bool deflated : {false, true})
    for (const hsize_t most : {hsize_t{0}, kMore, kGrows})
      for (const hsize_t chunk : {hsize_t{100}, kAll}) {
        CAPTURE(deflated);
        CAPTURE(most);
        CAPTURE(chunk);
        CHECK(contains(stored(chunks_of(chunk, deflated), 0, most), refusal));
        CHECK(stored(chunks_of(chunk, deflated), kAll, most) == "no error");
        if (chunk < kAll) CHECK(contains(stored(chunks_of(chunk, deflated), kLoads, most), refusal));
      }
}

TEST_CASE("a column packed by a filter that HDF5 does not have is refused by the filter's name") {
  const auto as_is = [](unsigned, std::size_t, const unsigned*, std::size_t n, std::size_t*, void**) { return n; };
  constexpr H5Z_filter_t kFilter = 400;  // of those for tests
  CHECK(contains(after([&](H5::H5File& file, const Scratch&) {
                   const H5Z_class2_t filter = {H5Z_CLASS_T_VERS, kFilter, 1, 1, "squeeze", nullptr, nullptr, as_is};
                   REQUIRE(H5Zregister(&filter) >= 0);
                   {
                     H5::DSetCreatPropList properties = chunks_of(kLoads + 1, false);
                     properties.setFilter(kFilter, 0);
                     replace_waits(file, properties, kLoads + 1);
                     file.flush(H5F_SCOPE_GLOBAL);
                   }
                   REQUIRE(H5Zunregister(kFilter) >= 0);
                 }),
                 std::string(":") + kWaits + ": is packed by the filter 'squeeze', which HDF5 lacks here"));
}

TEST_CASE("a kernel of fewer warps than its blocks promise is incomplete, besides what the trace says of it") {
  const auto incomplete = [](const char* said) {
    const Scratch scratch;
    const std::string path = scratch.path("t.h5");
    {
      TraceWriter writer(path, {"s", "i"});
      KernelInfo info;
      info.name.push_back('k');
      info.grid[0] = 3, info.block[0] = 65;
      writer.begin_kernel(info);
      for (const unsigned warps : {1u, 3u, 0u}) add_cta(writer, warps);
      writer.set_incomplete(said);
      writer.finish();
    }
    return TraceWorkload(path).incomplete(0);
  };
  CHECK(incomplete("") == "5 warps of 2 CTAs are missing: the blocks' dimensions promise them");
  CHECK(incomplete("little") == "little; 5 warps of 2 CTAs are missing: the blocks' dimensions promise them");
}

}  // namespace atl::test::trace_objects_test
