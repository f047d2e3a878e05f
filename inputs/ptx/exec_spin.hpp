#pragma once
#include <cstdint>
#include <vector>

#include "inputs/ptx/exec_code.hpp"
#include "inputs/ptx/exec_stack.hpp"

/// Leaves the rounds of spin loops out of what a RecordSink hears, and tells loops that wait from those that read on.
namespace atl::ptx::exec {

struct Warp;

/// How a warp stood when it last polled memory. If it stands there again, with the same lanes, the same callers, the same
/// values in all registers and nothing stored by it in between, then what it did since has no effect whatever it was: one
/// round of a loop that waits.
struct SpinPoint {
  bool known = false;
  std::uint32_t pc = 0, active = 0;
  std::vector<Path> paths;
  std::vector<Frame> frames;
  std::size_t events = 0, addresses = 0;  ///< behind the poll
  bool again = false;                     ///< it had stood here before, with other registers
  std::size_t events_before = 0, addresses_before = 0;
  std::uint32_t others = 0;  ///< polls elsewhere since
  Bytes registers;           ///< of all frames
  bool stood = false;        ///< it came back to this point since this was cleared
  bool went_on = false;      ///< it polled and was not where it had been, since this was cleared
  void forget() { known = false; }
};

/// A load or atomic that spin loops are made of, and that changed nothing, has been executed.
void note_poll(Warp& w);

}  // namespace atl::ptx::exec
