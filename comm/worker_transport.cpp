#include "comm/worker_transport.hpp"

#include <string>
#include <utility>
#include <vector>

#include "comm/collective_errors.hpp"
#include "comm/control_message.hpp"
#include "comm/thread_transport.hpp"

namespace atl {
namespace {

/// Collectives go in three steps: among the threads of a process, among the processes by the first thread of each, and
/// from there to the other threads.
class WorkerTransport final : public Transport {
 public:
  WorkerTransport(Transport& threads, Transport& processes) : threads_(threads), processes_(processes) {}

  int rank() const override { return processes_.rank() * threads_.size() + threads_.rank(); }
  int size() const override { return processes_.size() * threads_.size(); }
  int address_space(int rank) const override { return process_of(rank); }

  /// Between processes, streams of other threads may have the same number: it is one of as many as there are pairs.
  std::unique_ptr<Stream> open(int rank, int number) override {
    const int process = process_of(rank), there = rank % threads_.size(), here = threads_.rank();
    if (process == processes_.rank()) return threads_.open(there, number);
    const auto [lower, higher] = process < processes_.rank() ? std::pair(there, here) : std::pair(here, there);
    return processes_.open(process, (number * threads_.size() + lower) * threads_.size() + higher);
  }

  std::uint64_t all_min(std::uint64_t value) override {
    value = threads_.all_min(value);
    if (first()) value = processes_.all_min(value);
    return threads_.all_min(first() ? value : ~std::uint64_t{0});
  }

  void broadcast(std::string& body, int root) override {
    const bool here = process_of(root) == processes_.rank();
    if (here) threads_.broadcast(body, root % threads_.size());
    if (first()) processes_.broadcast(body, process_of(root));
    if (!here) threads_.broadcast(body, 0);
  }

  std::vector<std::string> all_gather(const std::string& body) override {
    std::string mine = pack(threads_.all_gather(body));
    if (first()) mine = pack(processes_.all_gather(mine));
    threads_.broadcast(mine, 0);
    std::vector<std::string> all;
    for (const std::string& of_process : unpack<std::vector<std::string>>(mine))
      for (std::string& one : unpack<std::vector<std::string>>(of_process)) all.push_back(std::move(one));
    return all;
  }

 private:
  int process_of(int rank) const { return rank / threads_.size(); }
  bool first() const { return threads_.rank() == 0; }
  Transport& threads_;    ///< between those of this process
  Transport& processes_;  ///< of all of them
};

}  // namespace

void run_workers(Transport& processes, int threads, const std::function<void(Transport&)>& body,
                 const std::function<void(const std::exception_ptr&)>& give_up) {
  run_threads(threads, [&](Transport& thread) {
    WorkerTransport worker(thread, processes);
    try {
      body(worker);
    } catch (const PeerFailure&) {
      throw;
    } catch (const std::exception&) {
      if (!worker.failure_known()) give_up(std::current_exception());
      throw;
    }
  });
}

}  // namespace atl
