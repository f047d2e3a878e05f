#include "core/monitor/client.hpp"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>

namespace atl {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::seconds kAnswerLimit{30};  ///< twice what a monitor takes to answer a poll
constexpr std::size_t kLargestState = std::size_t{64} << 20;

}  // namespace

std::string fetch_state(const MonitorUrl& url, std::uint64_t after) {
  asio::io_context io;
  tcp::socket socket(io);
  const std::string where = monitor_url(url.port, url.token);
  // Runs one operation, which calls what it is given when it is done.
  const auto step = [&](auto&& operation) {
    std::optional<error_code> done;
    operation([&done](error_code e, auto&&...) { done = e; });
    io.restart();
    io.run_for(kAnswerLimit);
    if (!done) {
      error_code ignored;
      socket.close(ignored);
      io.run();  // the operation ends now
      throw Unreachable(where, "does not answer");
    }
    if (*done == asio::error::connection_refused)
      throw Unreachable(where, "nothing listens there: the run has ended, or this is the address of another one");
    if (*done) throw Unreachable(where, "the connection failed: " + done->message());
  };
  step([&](auto handler) { socket.async_connect({asio::ip::address_v4::loopback(), url.port}, handler); });
  http::request<http::empty_body> request(http::verb::get, fmt::format("/{}/state.json?after={}", url.token, after), 11);
  request.set(http::field::host, fmt::format("127.0.0.1:{}", url.port));
  request.keep_alive(false);
  step([&](auto handler) { http::async_write(socket, request, handler); });
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> response;
  response.body_limit(kLargestState);
  step([&](auto handler) { http::async_read(socket, buffer, response, handler); });
  const auto& answer = response.get();
  if (answer.result_int() == 200) return answer.body();
  std::string reason = answer.body().substr(0, 200);
  while (!reason.empty() && reason.back() == '\n') reason.pop_back();
  throw InputError(where, fmt::format("refused ({}): {}", answer.result_int(), reason));
}

}  // namespace atl
