#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "tests/fuzz/harness.hpp"

/// Without libFuzzer: runs every file of the folders that are given. A crash, an exception that is no atl::Error, and
/// memory beyond 2 GiB (where no sanitizer reserves address space) fail; the last name printed is the input.
int main(int count, char** folders) {
#if !defined(__SANITIZE_ADDRESS__)
  const rlimit memory{2ull << 30, 2ull << 30};
  setrlimit(RLIMIT_AS, &memory);
#endif
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < count; ++i)
    for (const auto& entry : fs::directory_iterator(folders[i]))
      if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    try {
      LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    } catch (const std::exception& e) {
      std::printf("not an error for users: %s\n", e.what());
      return 1;
    }
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
