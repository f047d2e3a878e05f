#include <doctest/doctest.h>

#include <future>
#include <nlohmann/json.hpp>

#include "core/monitor/client.hpp"
#include "core/monitor/page.hpp"
#include "core/monitor/server.hpp"

namespace atl {
namespace {

using nlohmann::json;

TEST_CASE("a state that is published is fetched, and the end reaches a poll that waits for it") {
  MonitorServer server(0);
  const MonitorUrl url = parse_monitor_url(server.url());
  server.publish(R"({"a":1})");
  const json first = json::parse(fetch_state(url, 0));
  CHECK(first.at("state") == json({{"a", 1}}));
  const std::uint64_t number = first.at("number");
  auto poll = std::async(std::launch::async, [&] { return json::parse(fetch_state(url, number)); });
  server.end(R"({"ended":true})");
  const json last = poll.get();
  CHECK(last.at("number") == number + 1);
  CHECK(last.at("state") == json({{"ended", true}}));
  CHECK_THROWS_AS(fetch_state(url, 0), Unreachable);
}

TEST_CASE("a wrong token is refused, and a port that is taken is an error of the command line") {
  MonitorServer server(0);
  MonitorUrl url = parse_monitor_url(server.url());
  CHECK_THROWS_AS(MonitorServer{url.port}, InputError);
  url.token.back() = url.token.back() == '0' ? '1' : '0';
  CHECK_THROWS_WITH_AS(fetch_state(url, 0), doctest::Contains("token"), InputError);
}

TEST_CASE("a monitor that nobody asked ends at once, and one that is destroyed lets a poll go") {
  MonitorServer(0).end("{}");
  auto server = std::make_unique<MonitorServer>(0);
  const MonitorUrl url = parse_monitor_url(server->url());
  server->publish("{}");
  const json first = json::parse(fetch_state(url, 0));
  auto poll = std::async(std::launch::async, [&] { return fetch_state(url, first.at("number")); });
  server.reset();
  CHECK_THROWS_AS(poll.get(), Unreachable);
}

TEST_CASE("the page has the nonce in its style and its script, and asks no other server") {
  const std::string page = monitor_page("77");
  CHECK(page.find("<style nonce=\"77\">") != std::string::npos);
  CHECK(page.find("<script nonce=\"77\">") != std::string::npos);
  CHECK(page.find("{nonce}") == std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("</html>") != std::string::npos);
}

}  // namespace
}  // namespace atl
