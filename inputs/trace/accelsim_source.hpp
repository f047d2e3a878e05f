#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atl::accelsim {

/// Where the bytes of a trace come from.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills up to `size` bytes and returns how many; 0 at the end.
  virtual std::size_t read(char* to, std::size_t size) = 0;
};

inline constexpr char kCompressedOtherwise[] =
    "is compressed in a way that is not read; .traceg, .traceg.xz and .tracez are: decompress it";

/// Plain files, and .xz and .tracez files, decompressed while they are read. Throws InputError for other compressed ones.
std::unique_ptr<ByteSource> open_source(const std::string& path);

/// The lines of a file, in a window over it: memory does not grow with the trace.
class LineReader {
 public:
  explicit LineReader(const std::string& path);
  /// The next line without its end; valid until the next call. False at the end of the file.
  bool next(std::string_view& line);
  const std::string& path() const { return path_; }
  [[noreturn]] void fail(const std::string& what) const;  ///< InputError at `path:line`

 private:
  bool refill();
  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t number_ = 0;  ///< of the line last returned, from 1
};

}  // namespace atl::accelsim
