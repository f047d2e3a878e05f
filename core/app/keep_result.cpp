#include "core/app/keep_result.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

#include "core/engine/error.hpp"
#include "core/stats/hdf5_result_writer.hpp"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// A name that nobody else has, in a folder of the user's own.
std::string place_elsewhere(const std::string& output) {
  const char* set = std::getenv("TMPDIR");
  std::string folder = fs::path(set != nullptr && *set != '\0' ? set : "/tmp") / "atoll-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw IoError(folder, std::string("cannot be made: ") + std::strerror(errno));
  return fs::path(folder) / fs::path(output).filename();
}

}  // namespace

std::string keep_result(const RunResult& result, const std::string& output, bool force) {
  std::string what;
  try {
    write_result(result, output, force);
    return {};
  } catch (const std::bad_alloc&) {
    what = "not written: out of memory";
  } catch (const std::exception& e) {
    what = e.what();
    if (what.starts_with(output + ": ")) what.erase(0, output.size() + 2);
  }
  std::string elsewhere;
  try {
    elsewhere = place_elsewhere(output);
    write_result(result, elsewhere, false);
    return fmt::format("{}; the result is kept in {}", what, elsewhere);
  } catch (const std::exception& e) {
    std::error_code ignored;
    if (!elsewhere.empty()) fs::remove(fs::path(elsewhere).parent_path(), ignored);
    return fmt::format("{}; nor could it be kept below $TMPDIR ({})", what, e.what());
  }
}

void print_for_sure(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  const int error = errno;
  std::clearerr(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
  throw IoError("standard output", std::string("cannot be written: ") + std::strerror(error));
}

}  // namespace atl
