#pragma once
#include <utility>

#include "core/chip/profile/degree_directory.hpp"
#include "core/chip/profile/shadow_tags.hpp"
#include "core/engine/archive.hpp"
#include "policies/replication/degree_counts.hpp"

namespace atl {

/// What one chip counts for the choice of a replication degree, at its first memory-side router (SelRep section III-D).
class DegreeProfiler {
 public:
  DegreeProfiler(const SystemConfig& c, const ReplicaMap& map)
      : map_(&map),
        adaptive_(!row_of(c.llc.replication).read_only),
        shadow_(!adaptive_ && c.selrep.directory == DegreePrediction::shadow_tags),
        sampled_sets_(adaptive_ ? c.adaptive.directory_sets : c.selrep.directory_sets),
        sets_(c.llc.size_kib * 1024 / c.line_bytes / c.llc.ways / c.llc.slices),
        directory_(shadow_ ? 0 : sampled_sets_, adaptive_ ? c.llc.ways : c.selrep.directory_ways, map),
        tags_(shadow_ ? map.levels() : 0, map.slices(), sampled_sets_, c.selrep.directory_ways) {
    if (!row_of(c.llc.replication).profiles) return;
    sample_.assign(std::size_t{map.slices()} * sets_, kNotSampled);
    for (std::uint32_t k = 0; k < sampled_sets_; ++k) sample(k);
    clear();
  }

  bool on() const { return on_; }
  /// `restart`: forgets what was counted and what was asked for.
  void turn(bool on, bool restart) {
    on_ = on;
    if (restart) clear();
  }

  /// Whether a request belongs to the profile: at the first router, and for data that replication is about.
  bool watches(std::uint32_t slice, bool read_only) const { return slice < map_->slices() && (adaptive_ || read_only); }
  /// `shared`: the line's slice at degree 1; `set`: its set there, the same in every slice.
  void request(std::uint32_t shared, std::uint32_t set, LineAddr line, std::uint32_t cluster) {
    for (std::uint32_t level = 0; level < map_->levels(); ++level)
      ++counts_.routed[level * map_->slices() + map_->slice(shared, cluster, level)];
    const std::uint16_t k = sample_[shared * sets_ + set];
    if (k == kNotSampled) return;
    const std::uint32_t hits = shadow_ ? 0 : directory_.access(k, line, cluster);
    for (std::uint32_t level = 0; level < map_->levels(); ++level) {
      ++counts_.sampled[level];
      counts_.hits[level] += shadow_ ? tags_.access(level, map_->slice(shared, cluster, level), k, line) : hits >> level & 1;
    }
  }
  /// A slice of the router sends a reply for so many cycles, before which it was kept from it for so many.
  void reply(Cycle sending, Cycle conflict) {
    if (on_) counts_.sending += sending, counts_.conflicts += conflict;
  }
  /// What was counted since last taken. Tags stay.
  DegreeCounts take() {
    DegreeCounts taken = zero();
    std::swap(taken, counts_);
    return taken;
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, on_, directory_, tags_, counts_);
    const DegreeCounts sound = sample_.empty() ? DegreeCounts{} : zero();
    require_state(counts_.sampled.size() == sound.sampled.size() && counts_.hits.size() == sound.hits.size() &&
                  counts_.routed.size() == sound.routed.size());
  }

 private:
  static constexpr std::uint16_t kNotSampled = 0xFFFF;
  DegreeCounts zero() const {
    DegreeCounts c;
    c.sampled.resize(map_->levels()), c.hits.resize(map_->levels());
    c.routed.resize(std::size_t{map_->levels()} * map_->slices());
    return c;
  }
  void clear() { counts_ = zero(), directory_.clear(), tags_.clear(); }
  /// Shadow tags see one index of every slice, since each degree sends a line to another slice. Line tags see one set of one
  /// slice; sampled sets lie apart in different slices, so that no pattern of addresses meets all or none of them.
  void sample(std::uint32_t k) {
    if (shadow_) {
      const std::uint32_t index = (k * sets_ + sets_ / 2) / sampled_sets_ % sets_;
      for (std::uint32_t s = 0; s < map_->slices(); ++s) sample_[s * sets_ + index] = static_cast<std::uint16_t>(k);
      return;
    }
    const std::uint32_t all = map_->slices() * sets_;
    std::uint32_t at = (k * (all / sampled_sets_) + (k * 37 + 5) % sets_) % all;
    while (sample_[at] != kNotSampled) at = (at + 1) % all;
    sample_[at] = static_cast<std::uint16_t>(k);
  }

  const ReplicaMap* map_;
  bool adaptive_, shadow_, on_ = false;
  std::uint32_t sampled_sets_, sets_;
  DegreeDirectory directory_;
  ShadowTags tags_;
  std::vector<std::uint16_t> sample_;  ///< [shared slice][set] which sampled set it is
  DegreeCounts counts_;
};

}  // namespace atl
