#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "inputs/ptx/record_sink.hpp"
#include "inputs/trace/warp_timeline.hpp"

namespace atl::ptx {

/// What the instructions that warps of a kernel executed became, for warps that execute the same ones: which ops these are
/// depends on no address and no lane, so that only the accesses must be worked out again. Any number of threads may use it.
class OpMemo {
 public:
  /// How a memory instruction reaches memory; `some_lanes`: in global memory those that RecordInfo has under this name.
  enum class Place : std::uint8_t { global, shared, some_lanes };
  struct Item {
    std::uint32_t op = 0;     ///< in Step::ops
    std::uint32_t event = 0;  ///< in the batch
    Place place = Place::global;
    bool stores = false;      ///< known in a step
    std::uint16_t width = 0;  ///< bytes per lane
  };

  /// A batch of instructions behind all those before.
  struct Step {
    std::vector<WarpEvent> events;
    /// The first one is the last of the step before, with its final length, if there is one. Those of `items` in global
    /// memory have one access each, of which the first is number 0, and fill their sectors.
    std::vector<atl::Op> ops;
    std::vector<Item> items;  ///< memory instructions that some lane executed
    bool some_lanes = false;  ///< one of these is of this place
    WarpTimeline::State after;
    std::atomic<Step*> next{nullptr};  ///< the newest of those that came after it
    Step* sibling = nullptr;           ///< an older one that came after the same
    Step* made_before = nullptr;
  };

  OpMemo() = default;
  ~OpMemo() { clear(); }
  OpMemo(const OpMemo&) = delete;
  OpMemo& operator=(const OpMemo&) = delete;

  /// For the next kernel, whose warps begin with `begin`; nobody uses what was before.
  void reset(WarpTimeline::State begin);
  /// Where all warps begin.
  const Step* start() const { return &start_; }
  /// What `events` became behind `step`; null: not known.
  const Step* find(const Step& step, std::span<const WarpEvent> events) const;
  /// Null if there is no room for more.
  const Step* add(const Step& step, std::span<const WarpEvent> events, std::span<const atl::Op> ops,
                  std::span<const Item> items, const WarpTimeline::State& after);

 private:
  void clear();

  Step start_;
  std::atomic<std::uint64_t> kept_{0};  ///< bytes of all steps
  std::atomic<Step*> made_{nullptr};    ///< all steps, newest first
};

}  // namespace atl::ptx
