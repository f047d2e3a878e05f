#include "core/engine/assert.hpp"

#include <doctest/doctest.h>

#include "core/chip/base/gate.hpp"
#include "core/chip/base/mshr.hpp"
#include "core/chip/base/server.hpp"
#include "core/chip/dram/dram_channel.hpp"
#include "core/chip/noc/vc_router.hpp"

/// What components promise each other, where assertions are built in: each case breaks one promise.
namespace atl {
namespace {

TEST_SUITE("assertions" * doctest::skip(!kAssertions)) {
  TEST_CASE("more credits than a gate has cannot be given back") {
    Gate gate(2);
    CHECK(gate.acquire());
    CHECK(!gate.release());
    CHECK_THROWS_AS(gate.release(), AssertionFailure);
  }

  TEST_CASE("nothing comes out of an empty queue") {
    Fifo<int> fifo;
    CHECK_THROWS_AS(fifo.pop(), AssertionFailure);
    CHECK_THROWS_AS(fifo.take(), AssertionFailure);
    CHECK_THROWS_AS(fifo.front(), AssertionFailure);
    fifo.push(1);
    CHECK_THROWS_AS(fifo.at(1), AssertionFailure);
    CHECK_THROWS_AS(fifo.take_at(1), AssertionFailure);
    CHECK(fifo.take() == 1);
  }

  TEST_CASE("a server is not asked beyond the times that it can hold") {
    Server server(32);
    CHECK_NOTHROW(server.serve(kCycleLimit, 32));
    CHECK_THROWS_AS(server.serve(2 * kCycleLimit, 32), AssertionFailure);
  }

  TEST_CASE("a line has one MSHR, which is closed once and with nobody in its list") {
    MshrFile<int> mshr(4, 8);
    const std::uint32_t e = mshr.open({5});
    CHECK_THROWS_AS(mshr.open({5}), AssertionFailure);
    mshr.add_waiter(e, 1), mshr.add_waiter(e, 2);
    CHECK_THROWS_AS(mshr.close(e), AssertionFailure);
    mshr.release_waiters(e, [](int) { return true; });
    CHECK_NOTHROW(mshr.close(e));
    CHECK_THROWS_AS(mshr.close(e), AssertionFailure);
  }

  TEST_CASE("a request for DRAM holds a credit") {
    SystemConfig config;
    config.dram.queue = 1;
    const Machine machine(config);
    Context context{machine, 0};
    DramChannel channel(context, 0);
    channel.push({});
    CHECK_THROWS_AS(channel.push({}), AssertionFailure);
  }

  TEST_CASE("a router's input takes what it has room for") {
    VcRouter router(1, 1, 1, 4, 1, 1);
    const auto output = [](const Packet&) { return 0u; };
    const auto begin = [](auto&&...) {};
    router.arrive(0, {}, output, begin);  // begins to pass
    router.arrive(0, {}, output, begin);
    CHECK_THROWS_AS(router.arrive(0, {}, output, begin), AssertionFailure);
    router.finish(0, output, begin);
    CHECK_THROWS_AS(router.finish(0, output, begin), AssertionFailure);
  }
}

}  // namespace
}  // namespace atl
