#pragma once
#include <functional>
#include <vector>

#include "core/chip/dram/dram_channel.hpp"
#include "core/chip/llc/llc_slice.hpp"
#include "core/chip/noc/links.hpp"
#include "core/chip/noc/request_network.hpp"
#include "core/chip/noc/response_network.hpp"
#include "run.hpp"

namespace atl::test {

/// A chip without a chip: its components, unconnected by events. A test handles the events of the component that it drives,
/// and plays the others itself. They are there because they own the gates whose credits the component asks for.
struct Alone {
  struct Noted {
    Cycle at;
    Event event;
    bool operator==(EventKind kind) const { return event.kind == kind; }
  };

  explicit Alone(const SystemConfig& config, std::uint8_t chip = 0) : machine(config), c{.machine = machine, .chip = chip} {
    for (std::uint16_t i = 0; i < config.llc.slices; ++i) slices.emplace_back(c, slice_packets, i, links.directions());
    for (std::uint16_t i = 0; i < config.dram.channels; ++i) channels.emplace_back(c, i);
    requests.connect(slices, links);
    links.connect(slices, responses);
    for (LlcSlice& s : slices) s.connect(channels, links, responses, nullptr);
  }

  /// Does something of the test's at this cycle.
  void at(Cycle cycle, std::function<void()> action) {
    c.schedule(cycle, EventKind::control, static_cast<std::uint32_t>(actions.size()));
    actions.push_back(std::move(action));
  }
  /// Handles all events before `end`. Those that handle(event) refuses are others' and only noted.
  template <class Handle> void run(Cycle end, Handle&& handle) {
    c.queue.run_until(end, [&](Cycle now, const Event& e) {
      if (e.kind == EventKind::control) {
        actions[e.index]();
      } else if (!handle(e)) {
        noted.push_back({now, e});
      }
    });
  }
  /// When others' events of this kind came due.
  std::vector<Cycle> cycles(EventKind kind) const {
    std::vector<Cycle> all;
    for (const Noted& n : noted)
      if (n == kind) all.push_back(n.at);
    return all;
  }
  /// The tokens of their packets.
  std::vector<std::uint32_t> tokens(EventKind kind) const {
    std::vector<std::uint32_t> all;
    for (const Noted& n : noted)
      if (n == kind) all.push_back(n.event.packet.token);
    return all;
  }

  const Machine machine;
  Context c;
  Outbox outbox{};
  Links links{c, outbox};
  RequestNetwork requests{c, links.directions()};
  ResponseNetwork responses{c};
  PacketQueues slice_packets{};
  std::vector<LlcSlice> slices;
  std::vector<DramChannel> channels;
  std::vector<Noted> noted;
  std::vector<std::function<void()>> actions;
};

/// Leaves others no credit of this gate. Returns how many there were.
inline std::uint32_t take_all(Gate& gate) {
  std::uint32_t taken = 0;
  while (gate.acquire()) ++taken;
  return taken;
}

using Cycles = std::vector<Cycle>;
using Tokens = std::vector<std::uint32_t>;

}  // namespace atl::test
