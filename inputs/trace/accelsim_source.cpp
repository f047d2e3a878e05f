#include "inputs/trace/accelsim_source.hpp"

#include <lzma.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/engine/error.hpp"
#include "core/engine/input_file.hpp"
#include "core/engine/printable.hpp"
#include "inputs/trace/accelsim_tracez.hpp"

namespace atl::accelsim {
namespace {

constexpr std::size_t kWindow = 1u << 18;
constexpr std::size_t kLongestLine = 1u << 20;  // an instruction with 32 addresses has well under 1 KiB

class PlainFile : public ByteSource {
 public:
  explicit PlainFile(const std::string& path) : path_(path), file_(opened(path)) {
    if (!file_) throw InputError(path, std::string("cannot be opened: ") + std::strerror(errno));
    std::setvbuf(file_, nullptr, _IONBF, 0);  // the LineReader's window is the buffer
  }
  ~PlainFile() override { std::fclose(file_); }
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t count = std::fread(to, 1, size, file_);
    if (count == 0 && std::ferror(file_)) throw InputError(path_, std::string("cannot be read: ") + std::strerror(errno));
    return count;
  }

 private:
  static std::FILE* opened(const std::string& path) {
    check_input(path);
    return std::fopen(path.c_str(), "rb");
  }
  std::string path_;
  std::FILE* file_;
};

class XzFile : public ByteSource {
 public:
  explicit XzFile(const std::string& path) : path_(path), file_(path), input_(kWindow) {
    if (lzma_stream_decoder(&stream_, UINT64_MAX, LZMA_CONCATENATED) != LZMA_OK)
      throw InputError(path, "cannot start the xz decoder");
  }
  ~XzFile() override { lzma_end(&stream_); }
  std::size_t read(char* to, std::size_t size) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = size;
    while (!ended_ && stream_.avail_out > 0) {
      if (stream_.avail_in == 0 && !input_ended_) {
        stream_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
        stream_.avail_in = file_.read(input_.data(), input_.size());
        input_ended_ = stream_.avail_in == 0;
      }
      const lzma_ret result = lzma_code(&stream_, input_ended_ ? LZMA_FINISH : LZMA_RUN);
      if (result == LZMA_STREAM_END)
        ended_ = true;
      else if (result != LZMA_OK)
        fail(result);
    }
    return size - stream_.avail_out;
  }

 private:
  [[noreturn]] void fail(lzma_ret result) const {
    const std::string at = " at byte " + std::to_string(stream_.total_in);
    if (result == LZMA_FORMAT_ERROR) throw InputError(path_, "is named .xz but is not xz data");
    if (result == LZMA_BUF_ERROR) throw InputError(path_, "xz data is truncated" + at);
    throw InputError(path_, "xz data is damaged" + at);
  }
  std::string path_;
  PlainFile file_;
  std::vector<char> input_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool input_ended_ = false, ended_ = false;
};

/// Compressed files may have lost their ending.
bool is_xz(const std::string& path) {
  using namespace std::literals;
  char first[6] = {};
  const std::string_view bytes(first, PlainFile(path).read(first, sizeof first));
  for (const std::string_view other : {"\x1f\x8b"sv, "\x28\xb5\x2f\xfd"sv, "BZh"sv})
    if (bytes.starts_with(other)) throw InputError(path, kCompressedOtherwise);
  return bytes ==
         "\xfd"
         "7zXZ\0"sv;
}

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  if (path.ends_with(".tracez")) return open_tracez(path);
  if (path.ends_with(".xz") || is_xz(path)) return std::make_unique<XzFile>(path);
  return std::make_unique<PlainFile>(path);
}

LineReader::LineReader(const std::string& path) : path_(path), source_(open_source(path)), buffer_(kWindow) {}

void LineReader::fail(const std::string& what) const {
  throw InputError(path_ + ":" + std::to_string(number_), cited(what));
}

bool LineReader::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= kLongestLine) {
      ++number_;
      fail("a line of more than " + std::to_string(kLongestLine) + " bytes; this is not a text trace");
    }
    buffer_.resize(2 * buffer_.size());
  }
  const std::size_t count = source_->read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += count;
  return count > 0;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  for (;;) {
    const char* begin = buffer_.data() + begin_;
    const std::size_t size = end_ - begin_;
    const char* found = static_cast<const char*>(std::memchr(begin + searched, '\n', size - searched));
    if (found) {
      line = {begin, static_cast<std::size_t>(found - begin)};
      begin_ += line.size() + 1;
      break;
    }
    searched = size;
    if (refill()) continue;
    if (size == 0) return false;
    line = {buffer_.data() + begin_, size};
    begin_ = end_;
    break;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++number_;
  // It shows in no message that cites the line, and a list's first line would be taken for one to ignore.
  if (number_ == 1 && line.starts_with("\xEF\xBB\xBF")) fail("begins with a byte order mark; save it without");
  return true;
}

}  // namespace atl::accelsim
