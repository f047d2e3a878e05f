#pragma once
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// The directory of SAC's hardware coherence (SAC section 2.1, footnote 3): for each line of the home that
/// other chips have cached, which of them, and whether one of them has written it. Full map and unbounded: SAC names no
/// capacity. An open-addressed table that only grows; a line that nobody shares any more keeps its place.
class FullMapDirectory {
 public:
  static constexpr std::uint8_t kNobody = 0xFF;

  /// Chip `reader` fetches the line. Returns the chip that has written it last and still has it, kNobody if memory is right.
  std::uint8_t read(LineAddr line, std::uint8_t reader) {
    Entry& e = at(line);
    e.sharers |= bit(reader);
    return e.owner == reader ? kNobody : e.owner;
  }
  /// Who has written the line, for reads of the home itself, which the directory need not remember.
  std::uint8_t owner(LineAddr line) const {
    const Entry* e = find(line);
    return e == nullptr ? kNobody : e->owner;
  }
  bool has_sharers(LineAddr line) const {
    const Entry* e = find(line);
    return e != nullptr && e->sharers != 0;
  }
  /// Chip `writer` writes the line, and all other copies end. Returns their chips, one bit each.
  std::uint64_t write(LineAddr line, std::uint8_t writer) {
    Entry& e = at(line);
    const std::uint64_t others = e.sharers & ~bit(writer);
    e.sharers = bit(writer);
    e.owner = writer;
    return others;
  }
  /// The home itself has written the line, or chip `writer` past its cache: no copy is new, and all end but the writer's, if
  /// it has one. Returns their chips.
  std::uint64_t write_through(LineAddr line, std::uint8_t writer) {
    Entry* e = find(line);
    if (e == nullptr) return 0;
    e->owner = kNobody;
    return std::exchange(e->sharers, e->sharers & bit(writer)) & ~bit(writer);
  }
  /// What `writer` wrote is in memory. It may keep a clean copy.
  void written_back(LineAddr line, std::uint8_t writer) {
    Entry* e = find(line);
    if (e != nullptr && e->owner == writer) e->owner = kNobody;
  }
  /// Chips that may have the line, one bit each. No operation of the directory: for checks.
  std::uint64_t sharers_of(LineAddr line) const {
    const Entry* e = find(line);
    return e == nullptr ? 0 : e->sharers;
  }
  void clear() {
    table_.assign(kFirstSize, {});
    used_ = 0;
  }
  std::size_t lines() const { return used_; }
  void check_state() const {
    require_state(table_.size() >= kFirstSize && std::has_single_bit(table_.size()) && used_ * 2 <= table_.size());
    std::size_t found = 0;
    for (const Entry& e : table_) found += e.line != kFree;
    require_state(found == used_);
  }
  /// Calls see(line, sharers, owner).
  template <class See> void for_each(See&& see) const {
    for (const Entry& e : table_)
      if (e.line != kFree) see(LineAddr{e.line}, e.sharers, e.owner);
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, table_, used_); }

 private:
  static constexpr std::size_t kFirstSize = 64;
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  struct Entry {
    std::uint64_t line = kFree;
    std::uint64_t sharers = 0;
    std::uint8_t owner = kNobody;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, line, sharers, owner); }
  };
  static std::uint64_t bit(std::uint8_t chip) { return std::uint64_t{1} << chip; }
  std::size_t slot(std::uint64_t line) const { return (line * 0x9E3779B97F4A7C15ull >> 20) & (table_.size() - 1); }

  const Entry* find(LineAddr line) const {
    for (std::size_t i = slot(line.value);; i = (i + 1) & (table_.size() - 1)) {
      if (table_[i].line == line.value) return &table_[i];
      if (table_[i].line == kFree) return nullptr;
    }
  }
  Entry* find(LineAddr line) { return const_cast<Entry*>(std::as_const(*this).find(line)); }
  Entry& at(LineAddr line) {
    if (Entry* e = find(line)) return *e;
    if (used_ * 2 >= table_.size()) grow();
    ++used_;
    return insert({line.value, 0, kNobody});
  }
  Entry& insert(const Entry& e) {
    std::size_t i = slot(e.line);
    while (table_[i].line != kFree) i = (i + 1) & (table_.size() - 1);
    return table_[i] = e;
  }
  void grow() {
    std::vector<Entry> old(table_.size() * 2);
    old.swap(table_);
    for (const Entry& e : old) {
      if (e.line != kFree) insert(e);
    }
  }

  std::vector<Entry> table_ = std::vector<Entry>(kFirstSize);
  std::size_t used_ = 0;
};

}  // namespace atl
