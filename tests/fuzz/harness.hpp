#pragma once
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "core/engine/error.hpp"

/// What the harnesses share. Readers take paths, so an input becomes a file in memory (/dev/shm where there is one).
namespace atl::fuzz {

/// A folder of this process, removed at its end.
class Folder {
 public:
  Folder() {
    namespace fs = std::filesystem;
    const fs::path root = fs::is_directory("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path();
    std::string name = (root / "atoll-fuzz-XXXXXX").string();
    if (!mkdtemp(name.data())) std::abort();
    folder_ = name;
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
  void remove(const std::string& name) const { std::filesystem::remove(folder_ / name); }

 private:
  std::filesystem::path folder_;
};

/// True if `read` accepted the input. Refusing it by an error meant for the user is fine; any other exception ends the
/// process, as a crash does.
template <class F> bool accepted(F&& read) {
  try {
    read();
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// A property of what a reader has accepted.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "accepted input breaks a rule: %s\n", what);
  std::abort();
}

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::string_view text_of(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace atl::fuzz

/// The entry that libFuzzer and corpus_main.cpp call.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);
