#include "core/chip/sm/l1_cache.hpp"

namespace atl {
namespace {
std::uint32_t l1_sets(const SystemConfig& c) {
  if (!c.l1.enabled) return 1;
  return c.l1.size_kib * 1024 / c.line_bytes / c.l1.ways;
}
}  // namespace

L1Cache::L1Cache(const Machine& m)
    : enabled_(m.config.l1.enabled),
      full_line_(m.full_line),
      sectored_(m.config.l1.sectored),
      sets_(m.config.l1.index, l1_sets(m.config)),
      tags_(l1_sets(m.config), m.config.l1.ways),
      mshr_(m.config.l1.mshrs, m.config.l1.mshr_merges) {}

L1Cache::Lookup L1Cache::lookup(LineAddr line, std::uint8_t sectors, std::uint32_t at) {
  if (has(at, sectors)) {
    tags_.touch(at);
    return {Outcome::hit, 0, 0, 0};
  }
  const std::uint8_t valid = at == TagArray::kMiss ? 0 : tags_.valid(at);
  const std::uint8_t wanted = sectored_ ? static_cast<std::uint8_t>(sectors & ~valid) : full_line_;
  const auto here = static_cast<std::uint8_t>(sectors & valid);
  const std::uint32_t e = mshr_.find(line);
  if (e == mshr_.kNone) {
    if (mshr_.full()) return {Outcome::stall, 0, 0, 0};
    return {Outcome::fetch, wanted, here, e};
  }
  if (!mshr_.can_merge(e)) return {Outcome::stall, 0, 0, 0};
  const auto more = static_cast<std::uint8_t>(wanted & ~(mshr_[e].pending | mshr_[e].arrived));
  return {more == 0 ? Outcome::merge : Outcome::fetch, more, here, e};
}

std::uint32_t L1Cache::wait_for(const Lookup& l, LineAddr line, const Waiter& w) {
  if (sectored_) {  // a use of the line, though of a sector that it does not have yet
    const std::uint32_t i = find(line);
    if (i != TagArray::kMiss) tags_.touch(i);
  }
  const std::uint32_t e = l.entry == mshr_.kNone ? mshr_.open(line) : l.entry;
  mshr_[e].pending |= l.fetch;
  mshr_[e].arrived |= l.valid;  // read now: the line may be replaced before the rest comes
  mshr_.add_waiter(e, w);
  return e;
}

void L1Cache::store(LineAddr line) {
  const std::uint32_t i = tags_.find(sets_(line.value), line);
  if (i != TagArray::kMiss) tags_.touch(i);
}

void L1Cache::allocate(LineAddr line, std::uint8_t sectors) {
  const std::uint32_t set = sets_(line.value);
  std::uint32_t i = tags_.find(set, line);
  if (i == TagArray::kMiss)
    tags_.install(i = tags_.victim(set), line);
  else
    tags_.touch(i);
  tags_.valid(i) |= sectors;
}

void L1Cache::atomic(LineAddr line) {
  const std::uint32_t i = tags_.find(sets_(line.value), line);
  if (i != TagArray::kMiss) tags_.invalidate(i);
  if (const std::uint32_t e = mshr_.find(line); e != mshr_.kNone) mshr_[e].void_on_arrival = true;
}

}  // namespace atl
