#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

namespace atl::cudart {

/// Which launches of different devices a program leaves free to run at the same time. Each gets a step: later than those of
/// everything that it comes after by its stream, by events or because the program has waited, and later than all that its
/// device got before, since a device runs one launch at a time in the trace. Launches of one step are unordered.
class Order {
 public:
  /// Made by the program's first thread.
  explicit Order(unsigned devices);

  /// The step of a launch or copy that a stream of `device` gets, and that takes these devices.
  std::uint64_t next(const void* stream, unsigned device, std::initializer_list<unsigned> taken);
  /// The step with which all is done that the stream has got. The default stream waits for all others of its device.
  std::uint64_t last(const void* stream, unsigned device) const;
  /// What the stream gets from now on comes after `step`.
  void wait(const void* stream, unsigned device, std::uint64_t step);
  /// What the calling thread launches from now on comes after `step`. A thread that has waited for nothing yet begins where
  /// the program's first thread is.
  void host_waits(std::uint64_t step);

 private:
  std::vector<std::uint64_t> latest_;                                     // step by device
  std::map<std::pair<const void*, unsigned>, std::uint64_t> of_streams_;  // the default stream is another for each device
};

}  // namespace atl::cudart
