#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace atl {

/// How ranks talk. Implementations: one rank alone, threads of one process, MPI. All pass one contract test suite.
class Transport {
 public:
  struct Peer {
    int rank = 0;
    std::string send;     ///< filled by the caller
    std::string receive;  ///< replaced by what the peer sent
  };

  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Swaps one buffer of any size with each peer. Each peer must call it with this rank among its own peers; returns
  /// when all of them have arrived. Ranks that are no peers of each other do not wait for each other.
  virtual void exchange(std::vector<Peer*>& peers) = 0;

  /// Collective: the minimum over all ranks.
  virtual std::uint64_t all_min(std::uint64_t value) = 0;
  /// Collective: `body` of rank `root` on every rank.
  virtual void broadcast(std::string& body, int root) = 0;
  /// Collective: every rank's body, in rank order, on every rank.
  virtual std::vector<std::string> all_gather(const std::string& body) = 0;
};

}  // namespace atl
