#pragma once
#include <H5Cpp.h>

#include <memory>
#include <string>

namespace atl {

/// Why `path` could not be written, of which HDF5 threw `e`: the system's reason, such as "No space left on device", and
/// where there is none what HDF5 says. To be called first where the exception is caught.
std::string write_failure(const std::string& path, const H5::Exception& e);

/// A file that is written. HDF5 frees what it has of a file whose closing fails, as on a full disk, and keeps its handle: it
/// must not be closed again, which the destructor of H5::H5File would do, printing what HDF5 says of it.
class OutputFile {
 public:
  OutputFile() = default;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void open(const std::string& path, const H5::FileCreatPropList& creation, const H5::FileAccPropList& access);
  /// Throws H5::Exception. Afterwards there is no file, whether that failed or not.
  void close();
  H5::H5File& operator*() { return *file_; }
  H5::H5File* operator->() { return file_.get(); }

 private:
  std::unique_ptr<H5::H5File> file_;
};

}  // namespace atl
