#pragma once
#include <H5Cpp.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/error.hpp"
#include "core/engine/hdf5_memory.hpp"
#include "inputs/trace/trace_format.hpp"
#include "inputs/trace/trace_objects.hpp"

/// One column of a trace: a one-dimensional, chunked, compressed HDF5 dataset of small integers.
namespace atl {

template <typename T> const H5::PredType& memory_type() {
  if constexpr (sizeof(T) == 1) return H5::PredType::NATIVE_UINT8;
  if constexpr (sizeof(T) == 2) return H5::PredType::NATIVE_UINT16;
  if constexpr (sizeof(T) == 4) return H5::PredType::NATIVE_UINT32;
  if constexpr (sizeof(T) == 8) return H5::PredType::NATIVE_UINT64;
}

template <typename T> const H5::PredType& file_type() {
  if constexpr (sizeof(T) == 1) return H5::PredType::STD_U8LE;
  if constexpr (sizeof(T) == 2) return H5::PredType::STD_U16LE;
  if constexpr (sizeof(T) == 4) return H5::PredType::STD_U32LE;
  if constexpr (sizeof(T) == 8) return H5::PredType::STD_U64LE;
}

/// A column of a table that grows now and then. Values are collected in `values` and moved to the file by flush().
template <typename T> class ColumnWriter {
 public:
  std::vector<T> values;

  /// `last`: no more will follow, so a short column gets a chunk of its own size and not a padded one.
  void flush(H5::Group& group, const char* name, bool last) {
    using trace_format::kTableChunk;
    const hsize_t count = values.size(), none = 0, unlimited = H5S_UNLIMITED;
    if (!H5Iis_valid(data_.getId())) {
      const H5::DSetCreatPropList properties = chunked(last ? std::clamp<hsize_t>(count, 1, kTableChunk) : kTableChunk);
      data_ = group.createDataSet(name, file_type<T>(), H5::DataSpace(1, &none, &unlimited), properties);
    }
    if (count > 0) {
      const hsize_t extent = written_ + count;
      data_.extend(&extent);
      H5::DataSpace file = data_.getSpace(), memory(1, &count);
      file.selectHyperslab(H5S_SELECT_SET, &count, &written_);
      data_.write(values.data(), memory_type<T>(), memory, file);
      written_ = extent;
      values.clear();
    }
    if (last) data_.close();
  }

 private:
  static H5::DSetCreatPropList chunked(hsize_t chunk) {
    H5::DSetCreatPropList properties;
    properties.setChunk(1, &chunk);
    properties.setShuffle();
    properties.setDeflate(trace_format::kTableCompression);
    // Without a time, so that recording twice gives the same bytes, and without room for attributes, which none has.
    H5Pset_obj_track_times(properties.getId(), false);
    H5Pset_dset_no_attrs_hint(properties.getId(), true);
    properties.setFletcher32();  // a flipped bit is an error, never another address
    return properties;
  }

  H5::DataSet data_;
  hsize_t written_ = 0;
};

inline hsize_t file_bytes(const H5::DataSet& data) {
  const hid_t file = H5Iget_file_id(data.getId());
  hsize_t bytes = 0;
  H5Fget_filesize(file, &bytes);
  H5Fclose(file);
  return bytes;
}

template <typename T> class ColumnReader {
 public:
  /// `where` names the group, for messages.
  void open(const H5::Group& group, const std::string& where, const char* name) {
    where_ = where + "/" + name;
    if (!group.nameExists(name)) throw InputError(where_, "this dataset is missing; the file is not a complete trace");
    try {
      data_ = trace_objects::open_dataset(group, name, where_);
      const H5::DSetCreatPropList storage = trace_objects::storage_of(data_, where_);
      const H5::DataSpace space = data_.getSpace();
      if (space.getSimpleExtentNdims() != 1 || data_.getTypeClass() != H5T_INTEGER ||
          data_.getIntType().getSize() != sizeof(T) || data_.getIntType().getSign() != H5T_SGN_NONE)
        throw InputError(where_, "expected one dimension of unsigned " + std::to_string(8 * sizeof(T)) + "-bit integers");
      space.getSimpleExtentDims(&size_);
      const auto within = [&](hsize_t bytes) { return size_ / trace_format::kMostDeflated <= bytes / sizeof(T); };
      // The file's size first: the library counts what is stored chunk by chunk.
      if (!within(file_bytes(data_)) || !within(data_.getStorageSize()))
        throw InputError(where_,
                         "claims " + std::to_string(size_) + " elements, more than its data can be; the file is damaged");
      if (!trace_objects::is_written(data_, storage, size_))
        throw InputError(where_, "not all of its " + std::to_string(size_) +
                                     " elements were ever written; the file is not a complete trace");
    } catch (const H5::Exception&) {
      throw_if_hdf5_lacks_memory();
      throw InputError(where_, "this dataset cannot be opened; the file is damaged");
    }
  }

  std::uint64_t size() const { return size_; }
  const std::string& where() const { return where_; }

  /// Replaces `out` by elements [first, first + count).
  void read(std::uint64_t first, std::uint64_t count, std::vector<T>& out) {
    if (first > size_ || count > size_ - first)
      throw InputError(where_, "elements " + std::to_string(first) + " to " + std::to_string(first + count) + " of " +
                                   std::to_string(size_) + " are asked for");
    out.resize(count);
    if (count == 0) return;
    try {
      const hsize_t offset = first, length = count;
      H5::DataSpace file = data_.getSpace(), memory(1, &length);
      file.selectHyperslab(H5S_SELECT_SET, &length, &offset);
      data_.read(out.data(), memory_type<T>(), memory, file);
    } catch (const H5::Exception&) {
      throw_if_hdf5_lacks_memory();
      if (const std::string filter = trace_objects::absent_filter(data_); !filter.empty())
        throw InputError(where_, "is packed by the filter '" + filter +
                                     "', which HDF5 lacks here; write it with gzip (h5py: compression=\"gzip\"), or "
                                     "where HDF5 has the filter: `h5repack -f GZIP=6 OLD NEW`");
      throw InputError(where_, "elements from " + std::to_string(first) + " on cannot be read; the file is damaged");
    }
  }

 private:
  H5::DataSet data_;
  hsize_t size_ = 0;
  std::string where_;
};

}  // namespace atl
