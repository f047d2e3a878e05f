#pragma once
#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

namespace atl::test {

/// A cache as a text book describes it: lists in order of use, maps of what is under way. Slow and plain on purpose.
class ReferenceCache {
 public:
  enum class Outcome { hit, merge, fetch };

  ReferenceCache(std::uint32_t sets, std::uint32_t ways, bool sectored, std::uint8_t full_line)
      : ways_(ways), sectored_(sectored), full_line_(full_line), sets_(sets) {}

  /// A load, or an atomic at its home.
  Outcome read(std::uint32_t set, std::uint64_t line, std::uint8_t sectors, bool atomic = false) {
    const auto at = find(set, line);
    const std::uint8_t valid = at == sets_[set].end() ? 0 : at->valid;
    if ((sectors & ~valid) == 0) {
      use(set, at);
      return Outcome::hit;
    }
    Pending& p = pending_[line];
    const std::uint8_t wanted = sectored_ ? sectors & ~valid : full_line_;
    const std::uint8_t more = wanted & ~(p.coming | p.came);
    p.coming |= more, p.came |= sectors & valid;
    if (at != sets_[set].end()) use(set, at);  // of a sector that the line lacks, but of the line all the same
    if (atomic) p.atomics.push_back(sectors);
    return more == 0 ? Outcome::merge : Outcome::fetch;
  }

  /// A write into a write-back cache: takes a place without fetching.
  Outcome write(std::uint32_t set, std::uint64_t line, std::uint8_t sectors) {
    auto at = find(set, line);
    const bool hit = at != sets_[set].end();
    hit ? use(set, at) : insert(set, line);
    sets_[set].front().valid |= sectored_ ? sectors : full_line_;
    return hit ? Outcome::hit : Outcome::fetch;
  }

  /// A store through an L1: counts as a use of the line if it is there.
  void pass_store(std::uint32_t set, std::uint64_t line) {
    if (const auto at = find(set, line); at != sets_[set].end()) use(set, at);
  }
  void forget(std::uint32_t set, std::uint64_t line) {
    if (const auto at = find(set, line); at != sets_[set].end()) sets_[set].erase(at);
  }

  /// What is under way of the line will be old when it comes.
  void make_stale(std::uint64_t line) {
    if (const auto p = pending_.find(line); p != pending_.end()) p->second.stale = true;
  }

  /// Data arrives; unless `keep`, only for those who wait. False: nobody had asked for it.
  bool fill(std::uint32_t set, std::uint64_t line, std::uint8_t sectors, bool keep = true) {
    const auto p = pending_.find(line);
    if (p == pending_.end() || (sectors & ~p->second.coming) != 0) return false;
    if (!keep || p->second.stale) {
      p->second.coming &= ~sectors, p->second.came |= sectors;
      if (p->second.coming == 0) pending_.erase(p);
      return true;
    }
    if (find(set, line) == sets_[set].end()) insert(set, line);
    Entry& e = *find(set, line);
    e.valid |= sectors;
    p->second.coming &= ~sectors, p->second.came |= sectors;
    const std::uint8_t here = p->second.came | e.valid;
    std::erase_if(p->second.atomics, [&](std::uint8_t a) { return (a & ~here) == 0 ? e.valid |= a, true : false; });
    if (p->second.coming == 0) pending_.erase(p);
    return true;
  }
  bool has(std::uint32_t set, std::uint64_t line, std::uint8_t sectors) {
    const auto at = find(set, line);
    return at != sets_[set].end() && (sectors & ~at->valid) == 0;
  }
  bool nothing_pending() const { return pending_.empty(); }

 private:
  struct Entry {
    std::uint64_t line;
    std::uint8_t valid;
  };
  struct Pending {
    std::uint8_t coming = 0, came = 0;
    bool stale = false;
    std::vector<std::uint8_t> atomics;
  };
  using Set = std::list<Entry>;  ///< most recently used first

  Set::iterator find(std::uint32_t set, std::uint64_t line) {
    return std::find_if(sets_[set].begin(), sets_[set].end(), [&](const Entry& e) { return e.line == line; });
  }
  void use(std::uint32_t set, Set::iterator at) { sets_[set].splice(sets_[set].begin(), sets_[set], at); }
  void insert(std::uint32_t set, std::uint64_t line) {
    if (sets_[set].size() == ways_) sets_[set].pop_back();
    sets_[set].push_front({line, 0});
  }

  std::uint32_t ways_;
  bool sectored_;
  std::uint8_t full_line_;
  std::vector<Set> sets_;
  std::map<std::uint64_t, Pending> pending_;
};

}  // namespace atl::test
