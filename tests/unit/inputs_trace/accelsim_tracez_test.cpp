#include "inputs/trace/accelsim_tracez.hpp"

#include <zstd.h>

#include "inputs/trace/accelsim_workload.hpp"
#include "support.hpp"

// Files as Accel-Sim 2.0's post-processing writes them, byte by byte.
namespace atl::test::accelsim_tracez_test {
namespace {

const std::string kExit = "0ff0 ffffffff 0 EXIT 0 0 0 0 NoVal";

std::string number(std::uint32_t n) { return {reinterpret_cast<const char*>(&n), sizeof n}; }
std::string number64(std::uint64_t n) { return {reinterpret_cast<const char*>(&n), sizeof n}; }

struct Tracez {
  using Lines = std::vector<std::string>;

  explicit Tracez(const std::string& head, const std::string& dictionary = "") : dictionary_(dictionary) {
    bytes = head + '\0' + number(static_cast<std::uint32_t>(dictionary.size())) + number(2) + dictionary;
  }
  void block(std::uint32_t x, std::uint32_t warps) {
    ++blocks;
    for (const std::uint32_t n : {x, 0u, 0u, x / 2, 0u, 0u, x % 2, 0u, 0u, x % 2, warps}) index += number(n);
  }
  /// The lines of each part.
  void warp(const std::vector<Lines>& parts) {
    std::uint32_t instructions = 0;
    for (const Lines& lines : parts) instructions += static_cast<std::uint32_t>(lines.size());
    const std::string counts = number(instructions) + number(static_cast<std::uint32_t>(parts.size()));
    index += counts + number64(bytes.size());
    bytes += counts;
    for (const Lines& lines : parts) {
      std::string text;
      for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;  // no end of line at the end
      const std::string packed = pack(text);
      bytes += number(static_cast<std::uint32_t>(packed.size())) + packed;
      index += number(static_cast<std::uint32_t>(lines.size()));
    }
  }
  std::string finish() const { return bytes + number(blocks) + index + number64(bytes.size()); }

  std::string bytes, index;
  std::uint32_t blocks = 0;

 private:
  std::string pack(const std::string& text) const {
    std::string out(ZSTD_compressBound(text.size()), '\0');
    ZSTD_CCtx* c = ZSTD_createCCtx();
    const std::size_t size = ZSTD_compress_usingDict(c, out.data(), out.size(), text.data(), text.size(), dictionary_.data(),
                                                     dictionary_.size(), 3);
    ZSTD_freeCCtx(c);
    REQUIRE_FALSE(ZSTD_isError(size));
    out.resize(size);
    return out;
  }
  std::string dictionary_;
};

std::string load(unsigned block) {
  return "0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x" + std::to_string(1000 + 80 * block) + " 4 0 0 NoVal";
}

std::string head() {
  const std::string whole = header("6", "(2,1,1)", "(64,1,1)");
  return whole.substr(0, whole.find("#traces"));
}

/// Two blocks of two warps; the first warp is in two parts.
Tracez two_blocks(const std::string& dictionary = "") {
  Tracez z(head(), dictionary);
  z.block(0, 2);
  z.warp({{load(0), load(1)}, {load(2), kExit}});
  z.warp({{kExit}});
  z.block(1, 2);
  z.warp({{load(3), kExit}});
  z.warp({});
  return z;
}

std::string two_blocks_text() {
  const auto insts = [](unsigned n, const std::vector<std::string>& lines) { return warp(n, lines); };
  return head() + "#traces format\n" +
         thread_block("0,0,0", insts(0, {load(0), load(1), load(2), kExit}) + insts(1, {kExit})) +
         thread_block("1,0,0", "cluster id = 0,0,0\ncluster rank = 1\n" + insts(0, {load(3), kExit}) + insts(1, {}));
}

TEST_CASE("a .tracez has the kernels, CTAs and ops of the .traceg that it stands for, with and without a dictionary") {
  for (const std::string& dictionary : {std::string(), load(7) + "\n" + kExit + "\n"}) {
    const Scratch scratch;
    scratch.write("kernel-1.tracez", two_blocks(dictionary).finish());
    scratch.write("kernel-2.traceg", two_blocks_text());
    AccelSimWorkload w(scratch.write("kernelslist.g", "kernel-1.tracez\nkernel-2.traceg\n"));
    REQUIRE(w.kernels().size() == 2);
    CHECK(w.kernels()[0].name == "k");
    CHECK(w.kernels()[0].ctas() == 2);
    for (const std::uint64_t cta : {0, 1}) {
      CtaProgram packed, text;
      w.load_cta(0, cta, packed);
      w.load_cta(1, cta, text);
      CHECK(packed.ops.size() > 2);
      CHECK(same(packed, text));
    }
    CHECK(w.incomplete(0).empty());
  }
}

TEST_CASE("a part of any size goes through a window of fixed size") {
  const Scratch scratch;
  Tracez z(head());
  z.block(0, 1);
  std::vector<std::string> lines(40'000, load(5));
  lines.push_back(kExit);
  z.warp({lines});
  z.block(1, 0);
  AccelSimWorkload w(scratch.write("kernelslist.g", (scratch.write("kernel-1.tracez", z.finish()), "kernel-1.tracez\n")));
  CtaProgram cta;
  w.load_cta(0, 0, cta);
  CHECK(std::ranges::count(cta.ops, OpKind::load, &Op::kind) == 40'000);
  CHECK(w.incomplete(0) == "3 warps of 2 CTAs are missing: the blocks' dimensions promise them");
}

std::string failure(const std::string& bytes) {
  const Scratch scratch;
  const std::string list = scratch.write("kernelslist.g", (scratch.write("kernel-1.tracez", bytes), "kernel-1.tracez\n"));
  const std::string text = message_of([&] { import_accel_sim(list, scratch.path("out.h5")); });
  return text.substr(std::min(text.size(), text.find("kernel-1")));
}

TEST_CASE("a .tracez that is cut, or whose index does not fit its data, is refused with the byte") {
  const std::string good = two_blocks().finish();
  CHECK(failure(good).empty());
  for (std::size_t size = 0; size < good.size(); size += 7) {
    CAPTURE(size);
    CHECK(contains(failure(good.substr(0, size)), "kernel-1.tracez"));
  }
  CHECK(contains(failure("\x28\xb5\x2f\xfd and what follows"), "is named .tracez but is plain zstd: decompress it"));
  std::string bytes = good;
  bytes.replace(bytes.size() - 8, 8, number64(1u << 30));
  CHECK(contains(failure(bytes), "an index at byte 1073741824, outside the file at byte "));
  Tracez z = two_blocks();
  z.index.replace(44, 4, number(9));  // the instructions of the first warp
  CHECK(contains(failure(z.finish()), "a warp of 9 instructions, whose parts have 4 at byte "));
  z = two_blocks();
  z.index.replace(52, 8, number64(3));
  CHECK(contains(failure(z.finish()), "a warp at byte 3, outside the data at byte "));
  z = two_blocks();
  z.bytes[z.bytes.size() - 3] ^= 0x55;
  CHECK(contains(failure(z.finish()), "the .tracez file is damaged"));
}

TEST_CASE("a .tracez with any one byte changed is read or refused, and never crashes") {
  const std::string good = two_blocks(load(7)).finish();
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0xFF);
    CAPTURE(at);
    const std::string what = failure(bytes);
    CHECK((what.empty() || what.starts_with("kernel-1.tracez")));
  }
}

}  // namespace
}  // namespace atl::test::accelsim_tracez_test
