#include "inputs/trace/prefix_code.hpp"

#include <algorithm>
#include <array>

namespace atl {
namespace {

constexpr unsigned kSymbols = 512, kSymbolBits = 9, kLongest = 15;

/// Frequencies in rising order become depths in falling order, in place (Moffat and Katajainen, "In-place calculation of
/// minimum-redundancy codes", WADS 1995).
void frequencies_to_depths(std::uint32_t* a, unsigned n) {
  a[0] += a[1];
  unsigned root = 0, leaf = 2;
  for (unsigned next = 1; next < n - 1; ++next) {
    for (unsigned half = 0; half < 2; ++half) {
      const bool inner = leaf >= n || (root < next && a[root] < a[leaf]);
      const std::uint32_t taken = inner ? a[root] : a[leaf];
      if (inner)
        a[root++] = next;
      else
        ++leaf;
      a[next] = half == 0 ? taken : a[next] + taken;
    }
  }
  a[n - 2] = 0;
  for (unsigned next = n - 2; next-- > 0;) a[next] = a[a[next]] + 1;
  unsigned available = 1, used = 0, depth = 0;
  int inner = static_cast<int>(n) - 2, next = static_cast<int>(n) - 1;
  while (available > 0) {
    for (; inner >= 0 && a[inner] == depth; --inner) ++used;
    for (; available > used; --available) a[next--] = depth;
    available = 2 * used, ++depth, used = 0;
  }
}

/// Codes that are too long are cut, and others made longer until all fit again.
void limit(std::uint32_t* of_length, unsigned longest) {
  std::uint32_t taken = 0;
  for (unsigned l = 1; l <= longest; ++l) taken += of_length[l] << (longest - l);
  for (; taken > 1u << longest; --taken) {
    --of_length[longest];
    for (unsigned l = longest - 1; l > 0; --l)
      if (of_length[l] != 0) {
        --of_length[l], of_length[l + 1] += 2;
        break;
      }
  }
}

}  // namespace

void prefix_code_lengths(const std::uint32_t* frequency, unsigned count, unsigned longest, std::uint8_t* length) {
  std::array<std::uint32_t, kSymbols> sorted, depth;
  unsigned used = 0;
  std::fill(length, length + count, std::uint8_t{0});
  for (unsigned s = 0; s < count; ++s)
    if (frequency[s] != 0) sorted[used++] = frequency[s] << kSymbolBits | s;
  for (unsigned s = 0; used < 2; ++s)
    if (frequency[s] == 0) sorted[used++] = 1u << kSymbolBits | s;
  std::sort(sorted.begin(), sorted.begin() + used);
  for (unsigned i = 0; i < used; ++i) depth[i] = sorted[i] >> kSymbolBits;
  frequencies_to_depths(depth.data(), used);
  std::array<std::uint32_t, kLongest + 1> of_length{};
  for (unsigned i = 0; i < used; ++i) ++of_length[std::min<unsigned>(depth[i], longest)];
  limit(of_length.data(), longest);
  unsigned next = 0;
  for (unsigned l = longest; l > 0; --l)
    for (std::uint32_t n = of_length[l]; n > 0; --n) length[sorted[next++] & (kSymbols - 1)] = static_cast<std::uint8_t>(l);
}

void prefix_codes(const std::uint8_t* length, unsigned count, std::uint16_t* code) {
  std::array<std::uint16_t, kLongest + 2> next{};
  for (unsigned s = 0; s < count; ++s)
    if (length[s] != 0) ++next[length[s] + 1];
  for (unsigned l = 2; l <= kLongest; ++l) next[l] = static_cast<std::uint16_t>((next[l - 1] + next[l]) << 1);
  for (unsigned s = 0; s < count; ++s) {
    if (length[s] == 0) continue;
    unsigned bits = next[length[s]]++, turned = 0;
    for (unsigned l = length[s]; l > 0; --l, bits >>= 1) turned = turned << 1 | (bits & 1);
    code[s] = static_cast<std::uint16_t>(turned);
  }
}

}  // namespace atl
