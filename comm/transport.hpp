#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace atl {

/// One of several independent streams of messages between this rank and another. The other one opens it as well; each
/// direction keeps its order.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Sends a message of any size. Does not wait for the other rank to take it, nor the one before, at most the one before
  /// that; the body may be reused at once.
  virtual void send(const std::string& body) = 0;
  /// Replaces `body` by the next message of the other rank, once it is here.
  virtual void receive(std::string& body) = 0;
};

/// How ranks talk. Implementations: one rank alone, threads of one process, MPI, threads of several processes. All pass one
/// contract test suite.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The address space in which a rank works, by number: ranks of the same are threads of one process, and can hand each
  /// other objects (hand_over.hpp).
  virtual int address_space(int rank) const = 0;

  /// Stream `number`, from 0 to kStreams - 1, between this rank and `rank`. Both must close it with nothing under way.
  virtual std::unique_ptr<Stream> open(int rank, int number) = 0;
  static constexpr int kStreams = 4096;

  /// Collective: the minimum over all ranks.
  virtual std::uint64_t all_min(std::uint64_t value) = 0;
  /// Collective: `body` of rank `root` on every rank.
  virtual void broadcast(std::string& body, int root) = 0;
  /// Collective: every rank's body, in rank order, on every rank.
  virtual std::vector<std::string> all_gather(const std::string& body) = 0;

  /// Whether all ranks know that one of them has failed, and are about to end (throw_if_any_failed).
  bool failure_known() const { return failure_known_; }
  void agree_on_failure(bool failed) { failure_known_ = failed; }

 private:
  bool failure_known_ = false;
};

}  // namespace atl
