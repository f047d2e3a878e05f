#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace atl::ptx {

/// Who touched which bytes of memory, on two sides that should not meet: bytes written, and bytes read by loads that
/// promise that nobody writes them. Exact to the byte; pages are made where something is touched.
class ByteBook {
 public:
  enum Side : std::uint8_t { written, promised };
  struct Clash {
    std::uint64_t address = 0;  ///< the first byte that both sides hold
    std::uint32_t line = 0;     ///< of the other side's last access to its word
  };
  /// Notes an access; says whether the other side holds a byte of it.
  std::optional<Clash> note(Side side, std::uint64_t address, std::uint32_t bytes, std::uint32_t line);
  void clear();

 private:
  static constexpr std::uint64_t kPage = 4096, kGroup = 64;
  struct Page {
    std::array<std::array<std::uint64_t, kPage / kGroup>, 2> bits{};  ///< by side: a bit per byte
    std::array<std::array<std::uint32_t, kPage / 4>, 2> lines{};      ///< by side: a line per word
  };
  Page& page(std::uint64_t number);

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::uint64_t last_number_ = ~std::uint64_t{0};
  Page* last_ = nullptr;
};

}  // namespace atl::ptx
