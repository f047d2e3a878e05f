#include <fmt/format.h>

#include "core/chip/observe/consistency_checker.hpp"
#include "core/engine/error.hpp"

// What the consistency checker says when it finds a violation: the line's last events with it.
namespace atl {

using namespace consistency;

void ConsistencyChecker::note(const Context& c, Line& l, What what, std::uint32_t unit, std::uint8_t sectors,
                              const Versions& data) {
  if (l.notes.size() >= notes_kept) l.notes.pop_front();
  l.notes.push_back({c.now(), what, c.chip, sectors, unit, data});
}

void ConsistencyChecker::fail(const std::string& what, LineAddr line) const {
  static constexpr std::array kNames{"SM {} stores",
                                     "SM {} adds to",
                                     "SM {} asks for, visible to it",
                                     "L1 of SM {} holds",
                                     "L1 of SM {} answers a neighbour",
                                     "SM {} is given",
                                     "slice {} is written",
                                     "slice {} writes back",
                                     "slice {} asks for, newer ones of its own",
                                     "slice {} takes",
                                     "slice {} refers a read to another chip",
                                     "home hears that chip {} has written, which holds",
                                     "home ends the copy of chip {}",
                                     "slice {} ends its copy",
                                     "channel {} reads",
                                     "channel {} writes"};
  std::string text = fmt::format("line {:#x}: {}; its last events:", line.value * line_bytes_, what);
  for (const Note& n : lines_.at(line.value).notes) {
    text += fmt::format("\n  cycle {}, chip {}: {}", n.cycle, n.chip,
                        fmt::format(fmt::runtime(kNames[static_cast<std::size_t>(n.what)]), n.unit));
    each(n.sectors,
         [&](unsigned s) { text += n.data[s] == kUnknown ? fmt::format(" {}:?", s) : fmt::format(" {}:{}", s, n.data[s]); });
  }
  throw SimulationError(text);
}

}  // namespace atl
