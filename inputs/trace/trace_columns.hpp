#pragma once
#include <H5Cpp.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/error.hpp"
#include "core/engine/hdf5_memory.hpp"
#include "inputs/trace/trace_format.hpp"

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

/// Values are collected in `values` and moved to the file by flush().
template <typename T> class ColumnWriter {
 public:
  std::vector<T> values;

  /// Of the datasets that are begun from now on: deflate 1 to 9, or 0 for none.
  void set_compression(unsigned level) { compression_ = level; }

  /// `last`: no more will follow, so a short column gets a chunk of its own size and not a padded one;
  /// if it is `fixed`, nobody can make it longer later.
  void flush(H5::Group& group, const char* name, bool last, hsize_t chunk = trace_format::kChunk, bool fixed = true) {
    const hsize_t count = values.size();
    const bool whole = fixed && last && !created_ && count <= chunk;
    if (whole)
      create_whole(group, name, count);
    else if (!created_)
      create(group, name, last ? std::clamp<hsize_t>(count, 1, chunk) : chunk);
    if (whole && count > 0) {
      data_.write(values.data(), memory_type<T>());
    } else if (count > 0) {
      const hsize_t extent = written_ + count;
      data_.extend(&extent);
      H5::DataSpace file = data_.getSpace(), memory(1, &count);
      file.selectHyperslab(H5S_SELECT_SET, &count, &written_);
      data_.write(values.data(), memory_type<T>(), memory, file);
      written_ = extent;
    }
    values.clear();
    if (last) reset();
  }

  /// Forgets the values that are not in the file yet; the next flush() begins another dataset.
  void reset() {
    values.clear();
    data_.close();
    created_ = false, written_ = 0;
  }

 private:
  void create(H5::Group& group, const char* name, hsize_t chunk) {
    const hsize_t none = 0, unlimited = H5S_UNLIMITED;
    const H5::DSetCreatPropList properties = chunked(chunk);
    data_ = group.createDataSet(name, file_type<T>(), H5::DataSpace(1, &none, &unlimited), properties);
    created_ = true;
  }

  /// A column that will not grow needs no index of its chunks, and a few bytes no chunk: they lie in the object header,
  /// which has a checksum of its own.
  void create_whole(H5::Group& group, const char* name, hsize_t count) {
    H5::DSetCreatPropList properties;
    if (count * sizeof(T) <= trace_format::kCompactBytes) {
      properties.setLayout(H5D_COMPACT);
      plain_header(properties);
    } else {
      properties = chunked(count);
    }
    data_ = group.createDataSet(name, file_type<T>(), H5::DataSpace(1, &count), properties);
    created_ = true;
  }

  /// Without a time, so that recording twice gives the same bytes, and without room for attributes, which none has.
  static void plain_header(H5::DSetCreatPropList& properties) {
    H5Pset_obj_track_times(properties.getId(), false);
    H5Pset_dset_no_attrs_hint(properties.getId(), true);
  }

  H5::DSetCreatPropList chunked(hsize_t chunk) const {
    H5::DSetCreatPropList properties;
    properties.setChunk(1, &chunk);
    if (compression_ != 0) {
      properties.setShuffle();
      properties.setDeflate(static_cast<int>(compression_));
    }
    plain_header(properties);
    properties.setFletcher32();  // a flipped bit is an error, never another address
    return properties;
  }
  H5::DataSet data_;
  hsize_t written_ = 0;
  bool created_ = false;
  unsigned compression_ = trace_format::kCompression;
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
      data_ = group.openDataSet(name);
      const H5::DataSpace space = data_.getSpace();
      if (space.getSimpleExtentNdims() != 1 || data_.getTypeClass() != H5T_INTEGER ||
          data_.getIntType().getSize() != sizeof(T))
        throw InputError(where_, "expected one dimension of " + std::to_string(8 * sizeof(T)) + "-bit integers");
      space.getSimpleExtentDims(&size_);
      const auto within = [&](hsize_t bytes) { return size_ / trace_format::kMostDeflated <= bytes / sizeof(T); };
      // The file's size first: the library counts what is stored chunk by chunk.
      if (!within(file_bytes(data_)) || !within(data_.getStorageSize()))
        throw InputError(where_,
                         "claims " + std::to_string(size_) + " elements, more than its data can be; the file is damaged");
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
      throw InputError(where_, "elements from " + std::to_string(first) + " on cannot be read; the file is damaged");
    }
  }

 private:
  H5::DataSet data_;
  hsize_t size_ = 0;
  std::string where_;
};

}  // namespace atl
