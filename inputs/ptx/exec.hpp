#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "inputs/ptx/exec_device.hpp"
#include "inputs/ptx/ir.hpp"

/// Executes kernels on the host, 32 lanes at a time, as a GPU's warps would.
namespace atl::ptx {

class AccessCheck;
class GlobalRaces;
class OutOfBounds;

/// How warps take turns where CTAs can learn of each other. With CTAs that cannot, turns are long.
enum class Schedule : std::uint8_t {
  long_turns,   ///< a warp runs to the next barrier, one CTA after the other: fast
  interleaved,  ///< all resident warps in turn, from one access of global memory to the next, in an order at random
};

struct LaunchSpec {
  const Module* module = nullptr;  ///< loaded into the device
  std::uint32_t kernel = kNone;    ///< Module::functions
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{32, 1, 1};
  std::array<std::uint32_t, 3> cluster{};  ///< CTAs that share their shared memory; 0: as the kernel says, or one by one
  std::uint32_t dynamic_shared = 0;
  std::uint32_t sms = 1;                      ///< of the GPU, among which blocks are dealt out by their number, for %smid
  std::uint32_t shared_unit = 128;            ///< bytes: %total_smem_size is a multiple
  std::uint32_t shared_reserved = 1024;       ///< bytes of a block beside its own: %aggr_smem_size has both
  unsigned device = 0;                        ///< of several GPUs: where it runs
  std::uint64_t visible = ~std::uint64_t{0};  ///< bit i: memory of GPU i may be used
  std::vector<std::byte> params;              ///< Function::param_block bytes
  bool cooperative = false;                   ///< blocks may wait for each other: all of them are interleaved
  bool read_only_marks = true;  ///< false: arguments overlap, so that Instruction::read_only does not hold here
  bool nc_holds = true;         ///< false: the launch may write what ld.global.nc reads, which is a load like any other
  bool textures_hold = true;    ///< false: the launch may write what its textures lie in
  unsigned threads = 1;         ///< host threads, used where CTAs cannot learn of each other (independent_ctas())
  Schedule schedule = Schedule::long_turns;
  std::uint64_t schedule_seed = 0;  ///< interleaved: of the order
  std::uint32_t resident_ctas = 0;  ///< interleaved: so many run at a time; 0: as many as memory allows
  AccessCheck* check = nullptr;     ///< watches every access; then CTAs run on one thread
  GlobalRaces* races = nullptr;     ///< hears of what CTAs do to memory that others see
  OutOfBounds* outside = nullptr;   ///< hears of accesses near allocations, but out of bounds; null: they are errors
};

class RecordSink;

struct LaunchStats {
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  std::uint64_t missed_meetings = 0;  ///< .sync instructions executed by other lanes than their member mask names
  std::uint64_t repeated_polls = 0;   ///< rounds of spin loops that the RecordSink did not hear of, as nothing had changed
};

/// A kernel that is executed turn by turn, so that others may run beside it and it may wait for them.
class Execution {
 public:
  enum class State : std::uint8_t {
    done,
    moved,  ///< something has changed that others may notice
    runs,   ///< nothing has changed
    polls,  ///< it has done nothing but look at memory for so long that it seems to wait for something from outside
  };

  /// Throws as execute() does. `spec.module`, `device`, `sink` and what else `spec` points to must outlive it.
  Execution(LaunchSpec spec, Device& device, RecordSink* sink);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// A turn of each resident CTA; of CTAs that can learn of nothing, all of them to their end. Throws ExecutionError.
  State turn();
  /// After `polls`: it has stood still ever since, without a look at a clock, or has polled for very long, so that it is
  /// taken to wait for ever unless something changes from outside.
  bool stuck() const;
  /// Something outside has moved: what was seen of its polling counts no more.
  void others_moved();
  /// It polled, and it is asked whether it still does. Takes less turns to see than the first time.
  void look_again();
  /// Ends it with the line, and the CTAs, that poll.
  [[noreturn]] void raise_deadlock() const;
  /// It is not gone on with: what it has done so far counts.
  void give_up();
  const LaunchStats& stats() const;  ///< once it is done, or given up
  const LaunchSpec& spec() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Runs a kernel to its end, as LaunchSpec::schedule says. With long turns, CTAs that seem to wait for others take turns;
/// independent ones share LaunchSpec::threads. Where nothing goes on but polling, it throws. Throws ExecutionError; what the
/// kernel had done until then stays done.
LaunchStats execute(const LaunchSpec& spec, Device& device, RecordSink* sink = nullptr);

/// Whether CTAs of the kernel can learn nothing of each other, so that the result does not depend on their order: no
/// volatile or synchronising accesses, clocks or calls of the runtime; atomics only if they commute, their results are
/// unused and the kernel reads nothing that it writes; no reading of what the kernel also writes, and no storing of
/// anything but constants, at addresses that come from memory. Addresses made of indices alone are taken to keep CTAs
/// apart, as they do in a program without races.
bool independent_ctas(const LaunchSpec& spec, Device& device);

inline constexpr std::uint64_t kMostClusterCtas = 16;  ///< of GPUs that let kernels ask for more than the portable 8

/// The CTAs of a cluster, each way: LaunchSpec::cluster, or what the kernel says, or 1.
std::array<std::uint32_t, 3> cluster_of(const LaunchSpec& spec);

/// Bytes of shared memory per CTA.
std::uint32_t shared_bytes(const LaunchSpec& spec);

}  // namespace atl::ptx
