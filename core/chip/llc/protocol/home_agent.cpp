#include "core/chip/llc/protocol/home_agent.hpp"

#include <utility>

#include "core/chip/llc/llc_slice.hpp"
#include "policies/coherence/directory_layout.hpp"

namespace atl {
namespace {

/// HMG's entry has one field of sharers for its lines, and an invalidation that comes down its hierarchy ends a whole entry
/// (HPCA 2020, table of transitions); REC's section 4.2 invalidates the sharers of each position.
bool one_message_per_entry(const CoherenceConfig& c) {
  return c.invalidate == InvalidationMessage::range ||
         (c.invalidate == InvalidationMessage::line && row_of(c.protocol).home.common_sharers);
}

}  // namespace

HomeAgent::HomeAgent(Context& c)
    : c_(c),
      unbounded_(row_of(c.machine.config.coherence.protocol).home.unbounded),
      together_(one_message_per_entry(c.machine.config.coherence)),
      range_bytes_(c.machine.config.coherence.range_bytes),
      pages_(c.machine.config, c.chip),
      directory_(unbounded_ ? DirectoryShape{.sets = 1, .ways = 1} : directory_shape(c.machine.config)) {}

void HomeAgent::send(LineAddr line, std::uint64_t chips, InvalidationCause cause, std::uint64_t told) {
  (*slices_)[c_.machine.map.slice(line)].send_invalidations(line, chips, told, cause);
}

/// For one operation of the directory, which ends copies of many ranges when it takes another shape, of one otherwise.
auto HomeAgent::sender() {
  return [this, range = ~std::uint64_t{0}, told = std::uint64_t{0}](LineAddr local, std::uint64_t chips,
                                                                    InvalidationCause cause) mutable {
    if (std::exchange(range, directory_.range(local)) != range) told = 0;
    send(pages_.global(local), chips, cause, told);
    if (together_) told |= chips;
  };
}

void HomeAgent::read(LineAddr line, std::uint8_t reader) {
  ++c_.count[Counter::directory_lookups];
  if (unbounded_) {
    all_.read(line, reader);
  } else {
    tally(directory_.remote_read(pages_.local(line), reader, sender()));
  }
}

void HomeAgent::write(LineAddr line, std::uint8_t writer) {
  ++c_.count[Counter::directory_lookups];
  const bool keeps_copy = writer != c_.chip && !c_.machine.has_l2;
  if (unbounded_) {
    const std::uint64_t chips = keeps_copy ? all_.write(line, writer) : all_.write_through(line, writer);
    if (chips != 0) send(line, chips, InvalidationCause::write);
  } else if (keeps_copy) {
    tally(directory_.remote_write(pages_.local(line), writer, sender()));
  } else {
    directory_.write_through(pages_.local(line), writer, sender());
  }
}

void HomeAgent::tally(const HomeDirectory::Outcome& outcome) {
  c_.count[Counter::directory_allocations] += outcome.allocated;
  c_.count[Counter::directory_evictions] += outcome.evicted_lines != 0;
  c_.count[Counter::directory_evicted_lines] += outcome.evicted_lines;
}

void HomeAgent::cover(std::uint32_t range_bytes) {
  if (range_bytes == 0 || range_bytes == range_bytes_) return;
  range_bytes_ = range_bytes;
  directory_.reshape(directory_shape(c_.machine.config, range_bytes), sender());
}

void HomeAgent::forget() {
  directory_.clear();
  all_.clear();
}

}  // namespace atl
