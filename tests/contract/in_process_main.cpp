#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <utility>

#include "comm/serial_transport.hpp"
#include "comm/thread_transport.hpp"
#include "comm/worker_transport.hpp"
#include "tests/contract/transport_contract.hpp"

namespace atl::test {

void on_all_ranks(const std::function<void(Transport&)>& body) {
  SerialTransport alone;
  body(alone);
  for (int ranks = 2; ranks <= 5; ++ranks) run_threads(ranks, body);
  for (const auto& [processes, threads] : {std::pair(1, 2), std::pair(2, 2), std::pair(2, 3)})
    run_threads(processes, [&](Transport& process) { run_workers(process, threads, body, [](const auto&) {}); });
}

}  // namespace atl::test
