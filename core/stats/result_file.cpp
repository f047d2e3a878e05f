#include "core/stats/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/engine/error.hpp"
#include "core/engine/file_exists.hpp"
#include "core/engine/input_file.hpp"
#include "core/stats/file_seal.hpp"

namespace atl {
namespace {

constexpr double kMostDeflated = 1032;  ///< bytes that one deflated byte can become (zlib)

/// HDF5 allocates each text, and hands out a null pointer for an empty one.
std::vector<std::string> take(const std::vector<char*>& raw) {
  std::vector<std::string> out;
  for (char* text : raw) {
    out.emplace_back(text == nullptr ? "" : text);
    H5free_memory(text);
  }
  return out;
}

std::vector<std::string> texts(const H5::Attribute& a, std::size_t n) {
  std::vector<char*> raw(n);
  if (n != 0) a.read(hdf5::text_type(), static_cast<void*>(raw.data()));
  return take(raw);
}

}  // namespace

ResultFile::ResultFile(const std::string& path, Unsealed unsealed) : path_(path), file_(open(path, unsealed)) {}

void ResultFile::fail(const std::string& what) const { throw InputError(path_, what); }

bool ResultFile::has_attribute(const std::string& group, const char* name) const {
  return file_.nameExists(group) && file_.openGroup(group).attrExists(name);
}

H5::Attribute ResultFile::attribute(const std::string& group, const char* name) const {
  if (!file_.nameExists(group)) fail(fmt::format("group {} is missing", group));
  const auto object = file_.openGroup(group);
  if (!object.attrExists(name)) fail(fmt::format("attribute {} of {} is missing", name, group));
  return object.openAttribute(name);
}

std::string ResultFile::text(const std::string& group, const char* name) const {
  const auto a = attribute(group, name);
  if (a.getTypeClass() != H5T_STRING || a.getSpace().getSimpleExtentNpoints() != 1) {
    fail(fmt::format("attribute {} of {} is not a text", name, group));
  }
  return texts(a, 1)[0];
}

std::uint64_t ResultFile::number(const std::string& group, const char* name) const {
  std::uint64_t value = 0;
  scalar(group, name, H5T_INTEGER).read(H5::PredType::NATIVE_UINT64, &value);
  return value;
}

double ResultFile::real(const std::string& group, const char* name) const {
  double value = 0;
  scalar(group, name, H5T_FLOAT).read(H5::PredType::NATIVE_DOUBLE, &value);
  return value;
}

H5::Attribute ResultFile::list_of(const std::string& group, const char* name, H5T_class_t type) const {
  auto a = attribute(group, name);
  if (a.getTypeClass() != type) fail(fmt::format("attribute {} of {} is not a list of such numbers", name, group));
  return a;
}

std::vector<std::string> ResultFile::text_list(const std::string& group, const char* name) const {
  const auto a = attribute(group, name);
  if (a.getTypeClass() != H5T_STRING) fail(fmt::format("attribute {} of {} is not a list of texts", name, group));
  return texts(a, static_cast<std::size_t>(a.getSpace().getSimpleExtentNpoints()));
}

std::vector<std::string> ResultFile::text_column(const std::string& name) const {
  const auto set = dataset(name, H5T_STRING, {kAny});
  std::vector<char*> raw(static_cast<std::size_t>(set.getSpace().getSimpleExtentNpoints()));
  if (!raw.empty()) set.read(static_cast<void*>(raw.data()), hdf5::text_type());
  return take(raw);
}

ResultFile::Values ResultFile::counts(const std::string& name, Dims& dims) const {
  const auto set = dataset(name, H5T_INTEGER, dims);
  set.getSpace().getSimpleExtentDims(dims.data());
  Values values(static_cast<std::size_t>(set.getSpace().getSimpleExtentNpoints()));
  if (!values.empty()) set.read(values.data(), H5::PredType::NATIVE_UINT64);
  return values;
}

std::vector<double> ResultFile::reals(const std::string& name, const Dims& dims) const {
  const auto set = dataset(name, H5T_FLOAT, dims);
  std::vector<double> values(static_cast<std::size_t>(set.getSpace().getSimpleExtentNpoints()));
  if (!values.empty()) set.read(values.data(), H5::PredType::NATIVE_DOUBLE);
  return values;
}

std::vector<std::string> ResultFile::names_in(const std::string& group) const {
  if (!file_.nameExists(group)) fail(fmt::format("group {} is missing", group));
  const auto g = file_.openGroup(group);
  std::vector<std::string> names;
  for (hsize_t i = 0; i < g.getNumObjs(); ++i) names.push_back(g.getObjnameByIdx(i));
  return names;
}

/// Nothing of the library looks at a file before its checksum was right, unless that is asked for.
H5::H5File ResultFile::open(const std::string& path, Unsealed unsealed) {
  check_input(path);
  if (!file_exists(path)) throw InputError(path, "there is no such file");
  if (unsealed == Unsealed::refused) check_seal(path);
  bool hdf5 = false;
  try {
    hdf5 = H5::H5File::isHdf5(path);
  } catch (const H5::Exception&) {
    throw InputError(path, "cannot be read");
  }
  if (!hdf5) throw InputError(path, "is not an HDF5 file, so it is no result of Atoll");
  try {
    return {path, H5F_ACC_RDONLY};
  } catch (const H5::Exception&) {
    throw InputError(path, "is an HDF5 file that cannot be opened: it is truncated or damaged, or still being written");
  }
}

H5::Attribute ResultFile::scalar(const std::string& group, const char* name, H5T_class_t kind) const {
  const auto a = attribute(group, name);
  if (a.getTypeClass() != kind || a.getSpace().getSimpleExtentNpoints() != 1) {
    fail(fmt::format("attribute {} of {} is not a number of the expected kind", name, group));
  }
  return a;
}

H5::DataSet ResultFile::dataset(const std::string& name, H5T_class_t kind, const Dims& expected) const {
  const auto slash = name.rfind('/');
  if (!file_.nameExists(name.substr(0, slash))) fail(fmt::format("group {} is missing", name.substr(0, slash)));
  if (!file_.nameExists(name)) {
    fail(fmt::format("dataset {} is missing; Atoll {} wrote this file", name, text("/provenance", "version")));
  }
  auto set = file_.openDataSet(name);
  if (set.getTypeClass() != kind) fail(fmt::format("dataset {} holds another type of data than expected", name));
  const auto space = set.getSpace();
  Dims found(static_cast<std::size_t>(space.getSimpleExtentNdims()));
  if (!found.empty()) space.getSimpleExtentDims(found.data());
  const auto fits = [](hsize_t want, hsize_t have) { return want == kAny || want == have; };
  if (!std::ranges::equal(expected, found, fits)) {
    fail(fmt::format("dataset {} has extents [{}], which do not fit the rest of the file", name, fmt::join(found, ", ")));
  }
  double bytes = static_cast<double>(set.getDataType().getSize());
  for (const hsize_t extent : found) bytes *= static_cast<double>(extent);
  const auto within = [&](hsize_t stored) { return bytes <= kMostDeflated * static_cast<double>(stored); };
  // The file's size first: the library counts what is stored chunk by chunk.
  if (!within(file_.getFileSize()) || !within(set.getStorageSize())) {
    fail(fmt::format("dataset {} has extents [{}], more than its data can be", name, fmt::join(found, ", ")));
  }
  return set;
}

}  // namespace atl
