#include "inputs/trace/write_failure.hpp"

#include <H5Epublic.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace atl {
namespace {

/// HDF5 tells the system's reason within a text: "..., errno = 28, error message = 'No space left on device', ...".
std::string reason_in(std::string_view text) {
  constexpr std::string_view kBefore = "error message = '";
  const auto at = text.find(kBefore);
  if (at == text.npos) return "";
  const std::string_view rest = text.substr(at + kBefore.size());
  return std::string(rest.substr(0, rest.find('\'')));
}

std::string reason_of_stack() {
  std::string reason;
  const auto look = [](unsigned, const H5E_error2_t* error, void* found) -> herr_t {
    auto& out = *static_cast<std::string*>(found);
    if (out.empty() && error->desc != nullptr) out = reason_in(error->desc);
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, look, &reason);
  return reason;
}

/// What was closed on the way of the exception may have cleared HDF5's texts.
bool disk_is_full(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  struct statvfs disk {};
  return statvfs(folder.empty() ? "." : folder.c_str(), &disk) == 0 && disk.f_bavail == 0;
}

/// HDF5 1.10 crashes at the program's end over a file that it could not close, so nothing that ends it is called.
void end_at_once(int code, void*) {
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace

std::string write_failure(const std::string& path, const H5::Exception& e) {
  std::string reason = reason_of_stack();
  if (!reason.empty()) return reason;
  return disk_is_full(path) ? std::strerror(ENOSPC) : e.getDetailMsg();
}

OutputFile::~OutputFile() {
  try {
    close();
  } catch (const H5::Exception&) {  // was reported by the call that met it first
  }
}

void OutputFile::open(const std::string& path, const H5::FileCreatPropList& creation, const H5::FileAccPropList& access) {
  file_ = std::make_unique<H5::H5File>(path, H5F_ACC_TRUNC, creation, access);
}

void OutputFile::close() {
  H5::H5File* const file = file_.release();
  if (file == nullptr) return;
  try {
    file->close();
  } catch (const H5::Exception&) {  // the object stays for ever
    on_exit(end_at_once, nullptr);
    throw;
  }
  delete file;
}

}  // namespace atl
