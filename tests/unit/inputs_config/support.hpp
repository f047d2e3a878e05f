#pragma once
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "core/engine/error.hpp"
#include "inputs/config/reader.hpp"

/// Helpers of the configuration tests.
namespace atl::test {

/// A file in the system's temporary folder that lives as long as the test.
class TempFile {
 public:
  TempFile(const std::string& name, const std::string& text) {
    // The test's own address keeps two runs apart that share the temporary folder.
    folder_ = std::filesystem::temp_directory_path() /
              ("atoll_config_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)) + "_" +
               std::to_string(std::filesystem::file_time_type::clock::now().time_since_epoch().count()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / name) << text;
    path_ = (folder_ / name).string();
  }
  ~TempFile() { std::filesystem::remove_all(folder_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::filesystem::path folder_;
  std::string path_;
};

/// The message of the InputError that the call throws, or "" if it throws none.
inline std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

/// The message about an override of the SAC system.
inline std::string set_error(const std::vector<std::string>& sets) {
  return error_of([&] { read_system("sac-4chip", sets); });
}

/// The message about a file's text, without the file's own name in front.
inline std::string file_error(const std::string& text) {
  const TempFile file("mine.json", text);
  const std::string message = error_of([&] { read_system(file.path()); });
  const std::string front = file.path() + ": ";
  return message.starts_with(front) ? message.substr(front.size()) : "not about the file: " + message;
}

}  // namespace atl::test
