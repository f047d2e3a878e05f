#include "core/control/checkpoint_file.hpp"

#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include "core/engine/archive_bytes.hpp"
#include "core/engine/error.hpp"
#include "core/engine/whole_number.hpp"
#include "core/stats/durable_file.hpp"
#include "core/stats/version.hpp"

namespace atl {
namespace {

constexpr std::string_view kMagic = "ATOLLCKP", kSuffix = ".ckpt", kUnfinished = ".ckpt.part";
constexpr std::uint32_t kFormat = 3;

/// The first bytes of a file, as they lie in memory.
struct Preamble {
  char magic[8];
  std::uint32_t format = kFormat, reserved = 0;
  std::uint64_t header_bytes = 0, header_checksum = 0;
  std::uint64_t config_hash = 0;  ///< of the header's configuration: tells from outside which checkpoints belong together
  std::uint64_t checksum = 0;     ///< of everything above
};
static_assert(sizeof(Preamble) == 48 && std::is_trivially_copyable_v<Preamble>);

struct Block {
  using PlainState = void;
  std::uint64_t bytes = 0, checksum = 0;
};

/// What the header's bytes hold.
struct Contents {
  CheckpointHeader header;
  std::vector<Block> blocks;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, header, blocks); }
};

std::uint64_t crc(std::string_view bytes) {
  return lzma_crc64(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), 0);
}

std::string_view bytes_of(const Preamble& p, std::size_t size = sizeof(Preamble)) {
  return {reinterpret_cast<const char*>(&p), size};
}

std::uint64_t own_checksum(const Preamble& p) { return crc(bytes_of(p, offsetof(Preamble, checksum))); }

/// All of it, or its first `most` bytes.
std::string read_file(const std::string& path, std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::exists(path, error)) throw InputError(path, "there is no such file");
  if (!fs::is_regular_file(path, error)) throw InputError(path, "is not a checkpoint of Atoll");
  std::ifstream file(path, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(fs::file_size(path, error), most)), '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) throw IoError(path, "cannot be read");
  return bytes;
}

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
  throw InputError(path, "is damaged: " + what + "; resume an older checkpoint of the run");
}

Preamble preamble_of(const std::string& path, std::string_view file) {
  Preamble p{};
  if (file.size() < sizeof p || !file.starts_with(kMagic)) throw InputError(path, "is not a checkpoint of Atoll");
  std::memcpy(&p, file.data(), sizeof p);
  if (p.checksum != own_checksum(p)) damaged(path, "its first bytes do not match their checksum");
  if (p.format != kFormat)
    throw InputError(path, fmt::format("has format {}, and this program reads format {}", p.format, kFormat));
  return p;
}

/// `rest`: what follows the preamble.
Contents contents_of(const std::string& path, const Preamble& p, std::string_view rest) {
  if (rest.size() < p.header_bytes) damaged(path, "it is cut short");
  const std::string text(rest.substr(0, p.header_bytes));
  if (crc(text) != p.header_checksum) damaged(path, "its header does not match its checksum");
  Contents contents;
  try {
    load_state(text, [&](LoadArchive& a) { carry(a, contents); });
  } catch (const SimulationError&) {
    damaged(path, "its header cannot be decoded");
  }
  const CheckpointHeader& h = contents.header;
  if (crc(h.config) != p.config_hash) damaged(path, "its configuration does not match its hash");
  if (h.version != version() || h.commit != git_commit())
    throw InputError(path, fmt::format("was written by atoll {} ({}), and only that build can read it; this is {} ({})",
                                       h.version, h.commit, version(), git_commit()));
  return contents;
}

}  // namespace

void write_checkpoint(const std::string& path, CheckpointHeader header, const SystemState& state) {
  header.boundary = state.boundary, header.windows = state.windows;
  Contents contents{header, {}};
  for (const std::string& p : state.processes) contents.blocks.push_back({p.size(), crc(p)});
  const std::string text = bytes_of_state([&](SaveArchive& a) { carry(a, contents); });

  Preamble p{};
  std::copy(kMagic.begin(), kMagic.end(), p.magic);
  p.format = kFormat;
  p.header_bytes = text.size(), p.header_checksum = crc(text), p.config_hash = crc(header.config);
  p.checksum = own_checksum(p);
  std::vector<char> file;
  const auto append = [&](std::string_view bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); };
  append(bytes_of(p)), append(text);
  for (const std::string& process : state.processes) append(process);
  write_then_rename(path, file);
}

Checkpoint read_checkpoint(const std::string& path) {
  const std::string file = read_file(path);
  const Preamble p = preamble_of(path, file);
  std::string_view rest = std::string_view(file).substr(sizeof p);
  Contents contents = contents_of(path, p, rest);
  rest.remove_prefix(p.header_bytes);
  Checkpoint c{std::move(contents.header), {}, crc(file)};
  c.state.file = path;
  c.state.boundary = c.header.boundary, c.state.windows = c.header.windows;
  for (const Block& b : contents.blocks) {
    if (rest.size() < b.bytes) damaged(path, "it is cut short");
    if (crc(rest.substr(0, b.bytes)) != b.checksum)
      damaged(path, fmt::format("process {} does not match its checksum", c.state.processes.size()));
    c.state.processes.emplace_back(rest.substr(0, b.bytes));
    rest.remove_prefix(b.bytes);
  }
  if (!rest.empty()) damaged(path, "something follows its end");
  return c;
}

CheckpointHeader read_checkpoint_header(const std::string& path) {
  const Preamble p = preamble_of(path, read_file(path, sizeof p));
  // No more than the file has, whatever the preamble says.
  const std::uint64_t most = std::min(p.header_bytes, std::numeric_limits<std::uint64_t>::max() - sizeof p) + sizeof p;
  return contents_of(path, p, std::string_view(read_file(path, most)).substr(sizeof p)).header;
}

bool is_checkpoint(const std::string& path) {
  char head[kMagic.size()] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(head, sizeof head) && std::string_view(head, sizeof head) == kMagic;
}

std::string checkpoint_path(const std::string& output, Cycle boundary) {
  return fmt::format("{}.{}{}", output, boundary, kSuffix);
}

namespace {

/// The cycle in `name`, if it is `stem.<cycle>` and the suffix.
std::optional<Cycle> cycle_in(std::string_view name, std::string_view stem, std::string_view suffix) {
  if (!name.starts_with(stem) || !name.ends_with(suffix) || name.size() <= stem.size() + suffix.size() + 1) return {};
  if (name[stem.size()] != '.') return {};
  return whole_number<Cycle>(name.substr(stem.size() + 1, name.size() - stem.size() - 1 - suffix.size()));
}

/// By ascending cycle.
std::vector<std::pair<Cycle, std::string>> files_of(const std::string& output, std::string_view suffix) {
  namespace fs = std::filesystem;
  const fs::path path(output);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::vector<std::pair<Cycle, std::string>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (const auto cycle = cycle_in(name, path.filename().string(), suffix))
      found.emplace_back(*cycle, path.has_parent_path() ? (folder / name).string() : name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> paths_of(const std::vector<std::pair<Cycle, std::string>>& files) {
  std::vector<std::string> paths;
  for (const auto& [cycle, name] : files) paths.push_back(name);
  return paths;
}

}  // namespace

std::vector<std::string> checkpoints_of(const std::string& output) { return paths_of(files_of(output, kSuffix)); }

std::vector<std::string> unfinished_checkpoints_of(const std::string& output) {
  return paths_of(files_of(output, kUnfinished));
}

void remove_old_checkpoints(const std::string& output, Cycle newest, std::size_t kept) {
  std::error_code ignored;
  for (const std::string& path : unfinished_checkpoints_of(output)) std::filesystem::remove(path, ignored);
  auto all = files_of(output, kSuffix);
  std::erase_if(all, [&](const auto& file) { return file.first > newest; });
  for (std::size_t i = 0; i + kept < all.size(); ++i) std::filesystem::remove(all[i].second, ignored);
}

std::string output_of_checkpoint(const std::string& path) {
  const std::string_view name = path;
  if (name.ends_with(kSuffix)) {
    const auto dot = name.rfind('.', name.size() - kSuffix.size() - 1);
    if (dot != std::string_view::npos && dot != 0 && cycle_in(name, name.substr(0, dot), kSuffix))
      return path.substr(0, dot);
  }
  throw InputError(path, "does not say which result it belongs to; give one with -o");
}

}  // namespace atl
