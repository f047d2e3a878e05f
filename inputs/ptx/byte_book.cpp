#include "inputs/ptx/byte_book.hpp"

#include <algorithm>
#include <bit>

namespace atl::ptx {

std::optional<ByteBook::Clash> ByteBook::note(Side side, std::uint64_t address, std::uint32_t bytes, std::uint32_t line) {
  std::optional<Clash> clash;
  while (bytes != 0) {
    Page& p = page(address / kPage);
    const std::uint64_t at = address % kPage, first = at % kGroup;
    const auto part = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, kGroup - first));
    const std::uint64_t mask = (~std::uint64_t{0} >> (kGroup - part)) << first;
    p.bits[side][at / kGroup] |= mask;
    for (std::uint64_t word = at / 4; word <= (at + part - 1) / 4; ++word) p.lines[side][word] = line;
    const Side other = side == written ? promised : written;
    if (const std::uint64_t both = p.bits[other][at / kGroup] & mask; both != 0 && !clash) {
      const std::uint64_t byte = at - first + static_cast<std::uint64_t>(std::countr_zero(both));
      clash = Clash{address - at + byte, p.lines[other][byte / 4]};
    }
    address += part, bytes -= part;
  }
  return clash;
}

void ByteBook::clear() {
  pages_.clear();
  last_number_ = ~std::uint64_t{0}, last_ = nullptr;
}

ByteBook::Page& ByteBook::page(std::uint64_t number) {
  if (number == last_number_) return *last_;
  std::unique_ptr<Page>& p = pages_[number];
  if (p == nullptr) p = std::make_unique<Page>();
  last_number_ = number, last_ = p.get();
  return *p;
}

}  // namespace atl::ptx
