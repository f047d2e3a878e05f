#include "inputs/trace/accelsim_tracez.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/error.hpp"
#include "core/engine/input_file.hpp"

namespace atl::accelsim {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kLongestHeader = 1u << 20, kLargestDictionary = 1u << 24;
constexpr std::uint32_t kMostWarps = 32, kMostParts = 1u << 24;
constexpr std::size_t kPiece = 1u << 16;

/// A position in the file, read forward. The index has one and the warps have another.
class Cursor {
 public:
  Cursor(const std::string& path, std::FILE* file) : path_(path), file_(file) {}

  void go_to(std::uint64_t offset, const char* what) {
    if (::fseeko(file_.get(), static_cast<off_t>(offset), SEEK_SET) != 0) fail(what);
    offset_ = offset;
  }
  void read(void* to, std::size_t bytes, const char* what) {
    const std::size_t count = std::fread(to, 1, bytes, file_.get());
    if (count != bytes && std::ferror(file_.get()) != 0)
      throw InputError(path_, std::string("cannot be read: ") + std::strerror(errno));
    if (count != bytes) fail(what);
    offset_ += bytes;
  }
  std::uint32_t number(const char* what) {
    std::uint32_t value = 0;
    read(&value, sizeof value, what);
    return value;
  }
  std::uint32_t number(const char* what, std::uint32_t most) {
    const std::uint32_t value = number(what);
    if (value > most) refuse(fmt::format("{} is {}, more than {}", what, value, most));
    return value;
  }
  std::uint64_t offset() const { return offset_; }
  const std::string& path() const { return path_; }
  [[noreturn]] void fail(const char* what) const { refuse(fmt::format("expected {}, but the file ends", what)); }
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(path_, fmt::format("{} at byte {}; the .tracez file is damaged", what, offset_));
  }

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t offset_ = 0;
};

std::FILE* opened(const std::string& path) {
  check_input(path);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) throw InputError(path, std::string("cannot be opened: ") + std::strerror(errno));
  return file;
}

class TracezFile : public ByteSource {
 public:
  explicit TracezFile(const std::string& path)
      : index_(path, opened(path)), data_(path, opened(path)), decoder_(ZSTD_createDCtx()) {
    if (!decoder_) throw InputError(path, "cannot start the zstd decoder");
    read_header();
    find_index(path);
  }

  std::size_t read(char* to, std::size_t size) override {
    while (at_ == text_.size() && advance()) {
    }
    const std::size_t count = std::min(size, text_.size() - at_);
    std::memcpy(to, text_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* d) const { ZSTD_freeDCtx(d); }
  };

  void read_header() {
    char first[4] = {};
    data_.read(first, sizeof first, "a header");
    using namespace std::literals;
    if (std::string_view(first, sizeof first) == "\x28\xb5\x2f\xfd"sv)
      throw InputError(data_.path(), "is named .tracez but is plain zstd: decompress it (zstd -d), as .traceg");
    data_.go_to(0, "a header");
    for (char c = 1; c != 0;) {
      data_.read(&c, 1, "the header's end, a zero byte");
      if (c != 0) text_ += c;
      if (text_.size() > kLongestHeader) data_.refuse("a header of more than 1 MiB");
    }
    if (!text_.ends_with('\n')) text_ += '\n';
    // The line that ends the header of a .traceg.
    if (!text_.starts_with('#') && text_.find("\n#") == std::string::npos) text_ += "#traces format\n";
    const std::uint32_t bytes = data_.number("the bytes of the dictionary", kLargestDictionary);
    data_.number("the instructions of a part");
    std::vector<char> dictionary(bytes);
    data_.read(dictionary.data(), bytes, "the dictionary");
    if (bytes != 0 && ZSTD_isError(ZSTD_DCtx_loadDictionary(decoder_.get(), dictionary.data(), bytes)))
      data_.refuse("a dictionary that zstd does not take");
    first_ = data_.offset();
  }

  void find_index(const std::string& path) {
    std::uint64_t start = 0;
    const std::uint64_t size = file_size(path);
    if (size < first_ + sizeof start + sizeof blocks_) data_.fail("an index");
    index_.go_to(size - sizeof start, "an index");
    index_.read(&start, sizeof start, "the index' offset");
    if (start < first_ || start > size - sizeof start - sizeof blocks_)
      index_.refuse(fmt::format("an index at byte {}, outside the file", start));
    index_.go_to(start, "an index");
    end_ = start;
    blocks_ = index_.number("the number of thread blocks");
  }

  static std::uint64_t file_size(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(opened(path), std::fclose);
    ::fseeko(file.get(), 0, SEEK_END);
    return static_cast<std::uint64_t>(::ftello(file.get()));
  }

  /// Puts the next piece into text_. False at the end.
  bool advance() {
    text_.clear(), at_ = 0;
    if (in_part_) return decompress(), true;
    if (parts_ != 0) return begin_part(), true;
    if (in_warp_) check_instructions();
    if (warps_ != 0) return begin_warp(), true;
    if (in_block_) {
      in_block_ = false;
      text_ = "\n#END_TB\n";
      return true;
    }
    if (block_ == blocks_) return false;
    begin_block();
    return true;
  }

  void begin_block() {
    std::uint32_t id[10];  // the thread block, its cluster, its place and rank there
    index_.read(id, sizeof id, "a thread block");
    warps_ = index_.number("the warps of a thread block", kMostWarps);
    ++block_;
    warp_ = 0;
    in_block_ = true;
    text_ = fmt::format(
        "\n#BEGIN_TB\n\nthread block = {},{},{}\ncluster id = {},{},{}\ncluster cta = {},{},{}\n"
        "cluster rank = {}\n",
        id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9]);
  }

  void begin_warp() {
    const std::uint32_t instructions = index_.number("a warp's instructions");
    parts_ = index_.number("a warp's parts", kMostParts);
    std::uint64_t offset = 0, sum = 0;
    index_.read(&offset, sizeof offset, "a warp's offset");
    for (std::uint32_t p = 0; p < parts_; ++p) sum += index_.number("the instructions of a part");
    if (sum != instructions) index_.refuse(fmt::format("a warp of {} instructions, whose parts have {}", instructions, sum));
    if (offset < first_ || offset >= end_) index_.refuse(fmt::format("a warp at byte {}, outside the data", offset));
    data_.go_to(offset, "a warp");
    if (data_.number("a warp's instructions") != instructions || data_.number("a warp's parts") != parts_)
      data_.refuse("a warp that is not what the index says");
    --warps_;
    in_warp_ = true;
    wanted_ = instructions, lines_ = 0;
    text_ = fmt::format("\nwarp = {}\ninsts = {}\n", warp_++, instructions);
  }

  void begin_part() {
    const std::uint32_t bytes = data_.number("the bytes of a part");
    if (bytes > end_ - std::min(end_, data_.offset())) data_.refuse(fmt::format("a part of {} bytes", bytes));
    packed_.resize(bytes);
    data_.read(packed_.data(), bytes, "a part of a warp");
    --parts_;
    input_ = {packed_.data(), packed_.size(), 0};
    in_part_ = true;
    ZSTD_DCtx_reset(decoder_.get(), ZSTD_reset_session_only);
    decompress();
  }

  void decompress() {
    text_.resize(kPiece);
    ZSTD_outBuffer out{text_.data(), text_.size(), 0};
    const std::size_t left = ZSTD_decompressStream(decoder_.get(), &out, &input_);
    if (ZSTD_isError(left)) data_.refuse(fmt::format("a part that zstd calls '{}' before", ZSTD_getErrorName(left)));
    const bool ended = left == 0;
    if (ended && input_.pos != input_.size) data_.refuse("a part that goes on after its frame, before");
    if (!ended && input_.pos == input_.size && out.pos < out.size) data_.refuse("a part that is cut, before");
    text_.resize(out.pos);
    lines_ += static_cast<std::uint64_t>(std::ranges::count(text_, '\n'));
    if (out.pos != 0) open_line_ = text_.back() != '\n';
    if (!ended) return;
    in_part_ = false;
    if (open_line_) text_ += '\n', ++lines_, open_line_ = false;
  }

  void check_instructions() {
    in_warp_ = false;
    if (lines_ != wanted_) data_.refuse(fmt::format("{} lines of a warp of {} instructions, before", lines_, wanted_));
  }

  Cursor index_, data_;
  std::unique_ptr<ZSTD_DCtx, Free> decoder_;
  std::uint64_t first_ = 0, end_ = 0;  // of the warps' data
  std::uint32_t blocks_ = 0, block_ = 0, warps_ = 0, warp_ = 0, parts_ = 0;
  bool in_block_ = false, in_warp_ = false, in_part_ = false, open_line_ = false;
  std::uint64_t wanted_ = 0, lines_ = 0;
  std::vector<char> packed_;
  ZSTD_inBuffer input_{};
  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_tracez(const std::string& path) { return std::make_unique<TracezFile>(path); }

}  // namespace atl::accelsim
