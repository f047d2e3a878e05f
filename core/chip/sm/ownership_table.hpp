#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/prefetch.hpp"
#include "core/engine/types.hpp"
#include "inputs/config/system_config.hpp"
#include "partition/set_indexer.hpp"

namespace atl {

/// Shape of COLAB's table of line ownership. Unless configured otherwise it has as many entries as the L1s of the cluster
/// have lines, and the sets of one L1, so that a set holds whatever the same set of all L1s can hold (the split of the
/// published 3,072 entries into 64 x 48 is COLAB's, the shared index inferred).
struct OwnershipTableShape {
  std::uint32_t sets = 0, ways = 0, sms = 0;

  static OwnershipTableShape of(const SystemConfig& c) {
    const std::uint32_t l1_sets = c.l1.size_kib * 1024 / c.line_bytes / c.l1.ways;
    return {c.cluster.table_sets != 0 ? c.cluster.table_sets : l1_sets,
            c.cluster.table_ways != 0 ? c.cluster.table_ways : c.l1.ways * c.noc.sms_per_cluster, c.noc.sms_per_cluster};
  }
  std::uint32_t entries() const { return sets * ways; }
  /// Tag, pointer to an SM and a valid bit.
  std::uint32_t entry_bits(std::uint32_t line_bytes) const {
    constexpr std::uint32_t kAddressBits = 40;  // of physical addresses
    const auto log2 = [](std::uint32_t n) { return static_cast<std::uint32_t>(std::bit_width(n - 1)); };
    return kAddressBits - log2(line_bytes) - log2(sets) + log2(sms) + 1;
  }
};

/// COLAB's table of line ownership: which SM of a cluster fetched a line last. Set-associative with LRU; look-ups that hit
/// count as uses (inferred). L1s do not tell it what they replace, so an entry may be stale.
class OwnershipTable {
 public:
  static constexpr std::uint8_t kNobody = 0xFF;

  OwnershipTable(SetIndex index, const OwnershipTableShape& shape)
      : index_(index, shape.sets),
        ways_(shape.ways),
        low_(shape.entries()),
        line_(shape.entries(), kFree),
        used_(shape.entries()),
        owner_(shape.entries()) {}

  /// SM of the cluster (0 ...) that fetched the line last, or kNobody.
  std::uint8_t find(LineAddr line) {
    const std::uint32_t i = at(line);
    if (i == kMiss) return kNobody;
    touch(i);
    return owner_[i];
  }
  /// SM `owner` has fetched the line. Replaces an invalid entry, else the least recently used.
  void put(LineAddr line, std::uint8_t owner) {
    std::uint32_t i = at(line);
    if (i == kMiss) i = victim(index_(line.value) * ways_);
    line_[i] = line.value, low_[i] = static_cast<std::uint32_t>(line.value), owner_[i] = owner;
    touch(i);
  }
  /// The line's entry ends, unless it names `but`.
  void erase(LineAddr line, std::uint8_t but = kNobody) {
    const std::uint32_t i = at(line);
    if (i != kMiss && owner_[i] != but) line_[i] = kFree, used_[i] = 0;
  }
  /// What a look-up of the line will touch.
  void prefetch(LineAddr line) const {
    const std::uint32_t first = index_(line.value) * ways_;
    for (std::uint32_t w = 0; w < ways_ && w < 64; w += 16) {
      prefetch_address(&low_[first + w]);
      prefetch_address(&used_[first + w]);
    }
  }
  void clear() {
    std::fill(line_.begin(), line_.end(), kFree);
    std::fill(used_.begin(), used_.end(), 0);
    clock_ = 0;
  }

  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, fixed(low_), fixed(line_), fixed(used_), fixed(owner_), clock_);
  }
  /// Every owner is one of so many SMs.
  void check(std::uint32_t sms) const {
    for (const std::uint8_t owner : owner_) require_state(owner < sms);
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  static constexpr std::uint32_t kMiss = ~std::uint32_t{0};

  /// Last of the set's values that equals `wanted`, or kMiss. Written so that the compiler makes vectors of it.
  std::uint32_t last_equal(const std::uint32_t* set, std::uint32_t wanted) const {
    const std::uint32_t ways = ways_;
    std::uint32_t found = 0;
    for (std::uint32_t w = 0; w < ways; ++w) found = std::max(found, (w + 1) & (0u - (set[w] == wanted)));
    return found - 1;
  }
  std::uint32_t at(LineAddr line) const {
    const std::uint32_t first = index_(line.value) * ways_;
    const std::uint32_t way = last_equal(low_.data() + first, static_cast<std::uint32_t>(line.value));
    if (way == kMiss) return kMiss;
    if (line_[first + way] == line.value) return first + way;
    for (std::uint32_t i = first; i < first + ways_; ++i)  // two lines of the set, terabytes apart
      if (line_[i] == line.value) return i;
    return kMiss;
  }
  /// Invalid entries were used at 0, all others later.
  std::uint32_t victim(std::uint32_t first) const {
    const std::uint32_t* used = used_.data() + first;
    std::uint32_t oldest = used[0];
    for (std::uint32_t w = 1; w < ways_; ++w) oldest = std::min(oldest, used[w]);
    return first + last_equal(used, oldest);
  }
  void touch(std::uint32_t i) {
    if (++clock_ == 0) {  // once in four billion uses: all lines are equally old then
      for (std::uint32_t e = 0; e < line_.size(); ++e) used_[e] = line_[e] != kFree;
      clock_ = 2;
    }
    used_[i] = clock_;
  }

  SetIndexer index_;
  std::uint32_t ways_;
  // Apart, because a set of 48 ways is searched by line, and replaced by age.
  std::vector<std::uint32_t> low_;  ///< of the line, to search by
  std::vector<std::uint64_t> line_;
  std::vector<std::uint32_t> used_;
  std::vector<std::uint8_t> owner_;
  std::uint32_t clock_ = 0;
};

}  // namespace atl
