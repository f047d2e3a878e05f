#include "core/monitor/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <csignal>
#include <deque>
#include <exception>
#include <functional>
#include <list>
#include <thread>
#include <utility>

#include "core/engine/error.hpp"
#include "core/monitor/access.hpp"
#include "core/monitor/page.hpp"

namespace atl {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;
using namespace std::chrono_literals;

constexpr std::size_t kConnections = 32, kRequestBytes = 8192, kDrained = 65536;
constexpr auto kTransfer = 5s;   ///< for a request to arrive, or an answer to leave
constexpr auto kLinger = 1s;     ///< for the client to close first
constexpr auto kPatience = 15s;  ///< that a poll waits for another state
constexpr auto kReturn = 10s;    ///< within which whoever polls does so again
constexpr auto kFarewell = 10s;  ///< for the last state to be fetched

}  // namespace

/// Everything below runs in the loop's thread, but for what the constructor and post() do.
class MonitorServer::Loop {
 public:
  explicit Loop(std::uint16_t port) : acceptor_(io_), rest_(io_), farewell_(io_), token_(random_token()) {
    try {
      const tcp::endpoint here(asio::ip::address_v4::loopback(), port);
      acceptor_.open(here.protocol());
      acceptor_.set_option(tcp::acceptor::reuse_address(true));
      acceptor_.bind(here);
      acceptor_.listen();
      port_ = acceptor_.local_endpoint().port();
    } catch (const boost::system::system_error& e) {
      throw InputError(
          fmt::format("--monitor {}", port),
          fmt::format("this port cannot be used: {}; give another, or 0 for any that is free", e.code().message()));
    }
    accept();
    // Signals are the simulation's: no call of this thread is to be interrupted, and no handler to run in it.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

  std::string url() const { return monitor_url(port_, token_); }
  void publish(std::string state) {
    asio::post(io_, [this, state = std::move(state)]() mutable { take(std::move(state)); });
  }
  void end(std::string state) {
    asio::post(io_, [this, state = std::move(state)]() mutable {
      ended_ = true;
      take(std::move(state));
      while (!owed_.empty() && owed_.front().second + kReturn < Clock::now()) owed_.pop_front();
      farewell_.expires_after(kFarewell);
      farewell_.async_wait([this](error_code) { io_.stop(); });
      stop_if_all_know();
    });
    thread_.join();
    error_code ignored;
    acceptor_.close(ignored);  // who comes now is refused, and does not wait for an answer
  }

 private:
  void run() {
    for (;;) {
      try {
        io_.run();
        return;
      } catch (const std::exception&) {  // for want of memory, say: an answer is missing, and the simulation goes on
      }
    }
  }

  struct Connection : std::enable_shared_from_this<Connection> {
    explicit Connection(Loop& l, tcp::socket s) : loop(l), socket(std::move(s)), timer(socket.get_executor()) {
      parser.header_limit(kRequestBytes);
    }
    Loop& loop;
    tcp::socket socket;
    asio::steady_timer timer;
    boost::beast::flat_buffer buffer{kRequestBytes};
    http::request_parser<http::empty_body> parser;
    http::response<http::string_body> response;
    std::array<char, 1024> rest{};
    std::size_t drained = 0;
    bool known = false;    ///< it has the token
    bool waiting = false;  ///< for another state than `access.after`
    bool draining = false, sent = false;
    MonitorAccess access;

    void within(Clock::duration time, std::function<void()> or_else) {
      timer.expires_after(time);
      timer.async_wait([self = shared_from_this(), f = std::move(or_else)](error_code e) {
        if (!e) f();
      });
    }
    void read() {
      within(kTransfer, [this] { close(); });
      http::async_read_header(socket, buffer, parser,
                              [self = shared_from_this()](error_code e, std::size_t) { self->on_request(e); });
    }
    void on_request(error_code e) {
      if (!socket.is_open()) return;
      if (e == http::error::header_limit || e == http::error::buffer_overflow) return say(431, "The request is too large.");
      if (e && e.category() == http::make_error_code(http::error::bad_method).category() &&
          e != http::error::end_of_stream && e != http::error::partial_message)
        return say(400, "This is no request of HTTP/1.1.");
      if (e) return close();
      const auto& request = parser.get();
      const auto text = [](auto view) { return std::string_view(view.data(), view.size()); };
      access = monitor_access({text(request.method_string()), text(request.target()), text(request[http::field::host])},
                              loop.port_, loop.token_);
      known = access.status == 200;
      drain();
      if (!known) return say(access.status, access.reason);
      if (access.wanted == MonitorAccess::Wanted::page) return send_page();
      if (access.polls) loop.is_back(access.after);
      if (!access.polls || access.after != loop.number_ || loop.ended_) return send_state();
      waiting = true;
      within(kPatience, [this] { send_state(); });
    }
    /// What a client sends after its request, such as the body of a POST; most of all, that it has gone.
    void drain() {
      draining = true;
      socket.async_read_some(asio::buffer(rest), [self = shared_from_this()](error_code e, std::size_t n) {
        if (!self->socket.is_open()) return;
        const bool over = e == asio::error::eof && !self->waiting && !self->sent;
        if (over) return;  // it has nothing more to say, and is still to be answered
        if (e || (self->drained += n) > kDrained) return self->close();
        self->drain();
      });
    }
    void say(unsigned status, std::string_view line) {
      response.set(http::field::content_type, "text/plain; charset=utf-8");
      if (status == 405) response.set(http::field::allow, "GET");
      send(status, std::string(line) + "\n");
    }
    void send_page() {
      const std::string nonce = random_token();
      response.set(http::field::content_type, "text/html; charset=utf-8");
      response.set(
          "Content-Security-Policy",
          fmt::format("default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src 'self'; img-src "
                      "data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                      nonce));
      send(200, monitor_page(nonce));
    }
    void send_state() {
      if (!socket.is_open()) return;
      waiting = false;
      response.set(http::field::content_type, "application/json");
      if (access.polls && !loop.ended_) {
        loop.owed_.emplace_back(loop.number_, Clock::now());
        if (loop.owed_.size() > kConnections) loop.owed_.pop_front();
      }
      send(200, fmt::format("{{\"number\":{},\"state\":{}}}\n", loop.number_, loop.state_));
    }
    void send(unsigned status, std::string body) {
      response.result(status);
      response.version(11), response.keep_alive(false);
      response.set(http::field::cache_control, "no-store");
      response.set("X-Content-Type-Options", "nosniff");
      response.set("Referrer-Policy", "no-referrer");
      response.set("Cross-Origin-Resource-Policy", "same-origin");
      if (response.find("Content-Security-Policy") == response.end())
        response.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
      response.body() = std::move(body);
      response.prepare_payload();
      within(kTransfer, [this] { close(); });
      http::async_write(socket, response, [self = shared_from_this()](error_code e, std::size_t) {
        if (e) return self->close();
        error_code ignored;
        self->socket.shutdown(tcp::socket::shutdown_send, ignored);
        self->sent = true;  // the client reads to the end, and closes
        self->within(kLinger, [self] { self->close(); });
        if (!self->draining) self->drain();
      });
    }
    void close() {
      error_code ignored;
      socket.close(ignored);
      timer.cancel();
      loop.forget(this);
    }
  };

  void accept() {
    acceptor_.async_accept([this](error_code e, tcp::socket socket) {
      if (e) {  // no more files, say
        rest_.expires_after(100ms);
        rest_.async_wait([this](error_code) { accept(); });
        return;
      }
      if (make_room()) connections_.emplace_back(std::make_shared<Connection>(*this, std::move(socket)))->read();
      accept();
    });
  }
  /// Who has shown no token makes room for who may.
  bool make_room() {
    if (connections_.size() < kConnections) return true;
    for (const auto& c : connections_) {
      if (c->known) continue;
      const auto oldest = c;
      oldest->close();
      return true;
    }
    return false;
  }
  void forget(const Connection* gone) {
    connections_.remove_if([&](const auto& c) { return c.get() == gone; });
    stop_if_all_know();
  }
  /// Somebody who knows the state of this number.
  void is_back(std::uint64_t number) {
    const auto who = std::find_if(owed_.begin(), owed_.end(), [&](const auto& o) { return o.first == number; });
    if (who != owed_.end()) owed_.erase(who);
  }
  void take(std::string&& state) {
    ++number_;
    state_ = std::move(state);
    for (const auto& c : std::list(connections_))
      if (c->waiting) c->send_state();
  }
  void stop_if_all_know() {
    if (!ended_ || !owed_.empty()) return;
    for (const auto& c : connections_)
      if (c->known) return;  // is being told
    io_.stop();
  }

  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer rest_, farewell_;
  const std::string token_;
  std::uint16_t port_ = 0;
  std::list<std::shared_ptr<Connection>> connections_;
  /// Number of the state that a poll was answered with, and when; of whoever has not been back.
  std::deque<std::pair<std::uint64_t, Clock::time_point>> owed_;
  std::uint64_t number_ = 0;  ///< of the state
  std::string state_ = "null";
  bool ended_ = false;
  std::thread thread_;
};

MonitorServer::MonitorServer(std::uint16_t port) : loop_(std::make_unique<Loop>(port)) {}
MonitorServer::~MonitorServer() = default;
std::string MonitorServer::url() const { return loop_->url(); }
void MonitorServer::publish(std::string state) { loop_->publish(std::move(state)); }
void MonitorServer::end(std::string state) { loop_->end(std::move(state)); }

}  // namespace atl
