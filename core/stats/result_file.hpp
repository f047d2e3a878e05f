#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/stats/hdf5_helpers.hpp"
#include "core/stats/hdf5_result_reader.hpp"

namespace atl {

/// An open result file, sealed unless that was waived. Every look-up that fails is an InputError of the file that says what
/// was looked for; extents that the file's own size cannot hold are refused before memory is taken.
class ResultFile {
 public:
  using Values = std::vector<std::uint64_t>;
  using Dims = std::vector<hsize_t>;
  static constexpr hsize_t kAny = HSIZE_UNDEF;  ///< an extent that the file determines

  ResultFile(const std::string& path, Unsealed unsealed);

  [[noreturn]] void fail(const std::string& what) const;

  bool has(const std::string& name) const { return file_.nameExists(name); }
  bool has_attribute(const std::string& group, const char* name) const;
  H5::Attribute attribute(const std::string& group, const char* name) const;
  std::string text(const std::string& group, const char* name) const;
  std::uint64_t number(const std::string& group, const char* name) const;
  double real(const std::string& group, const char* name) const;

  /// Values of an attribute that is a list of numbers, of HDF5's class `type`.
  template <class T> std::vector<T> list(const std::string& group, const char* name, H5T_class_t type) const {
    const H5::Attribute a = list_of(group, name, type);
    std::vector<T> values(static_cast<std::size_t>(a.getSpace().getSimpleExtentNpoints()));
    const H5::DataType& as = type == H5T_FLOAT ? H5::PredType::NATIVE_DOUBLE : H5::PredType::NATIVE_UINT64;
    if (!values.empty()) a.read(as, values.data());
    return values;
  }
  std::vector<std::string> text_list(const std::string& group, const char* name) const;

  std::vector<std::string> text_column(const std::string& name) const;
  /// Reads a whole dataset of counts; extents that are not kAny must match, the others are returned in `dims`.
  Values counts(const std::string& name, Dims& dims) const;
  Values counts(const std::string& name, Dims&& dims) const { return counts(name, dims); }
  /// Fails as counts() does, without reading.
  void check_counts(const std::string& name, const Dims& dims) const { dataset(name, H5T_INTEGER, dims); }
  std::vector<double> reals(const std::string& name, const Dims& dims) const;

  std::vector<std::string> names_in(const std::string& group) const;

 private:
  static H5::H5File open(const std::string& path, Unsealed unsealed);
  H5::Attribute scalar(const std::string& group, const char* name, H5T_class_t kind) const;
  H5::Attribute list_of(const std::string& group, const char* name, H5T_class_t type) const;
  H5::DataSet dataset(const std::string& name, H5T_class_t kind, const Dims& expected) const;

  std::string path_;
  H5::H5File file_;
};

}  // namespace atl
