#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "core/engine/error.hpp"
#include "core/monitor/access.hpp"

namespace atl {
namespace {

using Wanted = MonitorAccess::Wanted;

constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";

MonitorAccess ask(std::string_view target, std::string_view method = "GET", std::string_view host = "127.0.0.1:8123") {
  return monitor_access({method, target, host}, 8123, kToken);
}

TEST_CASE("tokens are 32 hexadecimal digits, and no two are alike") {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string token = random_token();
    CHECK(token.size() == 32);
    CHECK(token.find_first_not_of("0123456789abcdef") == std::string::npos);
    seen.insert(token);
  }
  CHECK(seen.size() == 100);
}

TEST_CASE("texts are equal in constant time if every byte is") {
  CHECK(equal_in_constant_time("", ""));
  CHECK(equal_in_constant_time(kToken, std::string(kToken)));
  CHECK_FALSE(equal_in_constant_time(kToken, kToken.substr(1)));
  for (std::size_t i = 0; i < kToken.size(); ++i) {
    std::string other(kToken);
    other[i] ^= 1;
    CHECK_FALSE(equal_in_constant_time(kToken, other));
  }
}

TEST_CASE("a host is the monitor's own if it is 127.0.0.1 or localhost, and the port is right") {
  CHECK(own_host("127.0.0.1:8123", 8123));
  CHECK(own_host("LocalHost:8123", 8123));
  CHECK(own_host("localhost", 80));
  for (const char* other : {"", "127.0.0.1", "localhost", "127.0.0.1:81230", "127.0.0.1:8124", "127.0.0.1.evil.example:8123",
                            "evil.example:8123", "localhost:8123.evil.example", "[::1]:8123", "0.0.0.0:8123"})
    CHECK_FALSE_MESSAGE(own_host(other, 8123), other);
}

TEST_CASE("with the token there are the page and the state, and nothing else") {
  const std::string at = "/" + std::string(kToken);
  CHECK(ask(at + "/").wanted == Wanted::page);
  CHECK(ask(at + "/?from=bookmark").wanted == Wanted::page);
  CHECK(ask(at + "/state.json").wanted == Wanted::state);
  CHECK_FALSE(ask(at + "/state.json").polls);
  const MonitorAccess poll = ask(at + "/state.json?after=17");
  CHECK(poll.wanted == Wanted::state);
  CHECK(poll.polls);
  CHECK(poll.after == 17);
  CHECK(ask(at + "/state.json?after=x").status == 400);
  CHECK(ask(at + "/state.json?after=99999999999999999999").status == 400);
  for (const char* other : {"", "/state", "/../state.json", "//", "/state.json/"}) {
    CHECK_MESSAGE(ask(at + other).status == 404, other);
    CHECK(ask(at + other).wanted == Wanted::nothing);
  }
}

TEST_CASE("without the token nothing is told, not even what there is") {
  for (const char* target : {"", "/", "/state.json", "/0123456789abcdef0123456789abcdee/",
                             "/0123456789abcdef0123456789abcdef0/", "*", "http://127.0.0.1:8123/", "/favicon.ico"}) {
    CHECK_MESSAGE(ask(target).status == 403, target);
    CHECK(ask(target).wanted == Wanted::nothing);
  }
}

TEST_CASE("another method is refused with the token, and another host in any case") {
  const std::string page = "/" + std::string(kToken) + "/";
  for (const char* method : {"POST", "PUT", "DELETE", "HEAD", "OPTIONS", "get"})
    CHECK_MESSAGE(ask(page, method).status == 405, method);
  CHECK(ask(page, "GET", "evil.example:8123").status == 403);
  CHECK(ask(page, "GET", "").status == 403);
  CHECK(ask(page, "GET", "localhost:8123").status == 200);
}

TEST_CASE("an address has a port and a token, with or without the last slash, and is written as it is read") {
  const MonitorUrl url = parse_monitor_url(monitor_url(8123, kToken));
  CHECK(url.port == 8123);
  CHECK(url.token == kToken);
  CHECK(parse_monitor_url("http://localhost:1/ab").token == "ab");
}

TEST_CASE("what is no address of a monitor is refused with what is wrong") {
  const auto message = [](const char* text) {
    try {
      parse_monitor_url(text);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const char* text : {"", "https://127.0.0.1:8123/ab/", "out.h5"})
    CHECK_MESSAGE(message(text).find("is no address of a monitor") != std::string::npos, text);
  CHECK(message("http://node7:8123/ab/").find("have ssh forward") != std::string::npos);
  for (const char* text :
       {"http://127.0.0.1:/ab/", "http://127.0.0.1:0/ab/", "http://127.0.0.1:65536/ab/", "http://127.0.0.1:8 /ab/"})
    CHECK_MESSAGE(message(text).find("has no port") != std::string::npos, text);
  for (const char* text :
       {"http://127.0.0.1:8123", "http://127.0.0.1:8123/", "http://127.0.0.1:8123/xyz/", "http://127.0.0.1:8123/ab/ab"})
    CHECK_MESSAGE(message(text).find("lacks the token") != std::string::npos, text);
}

}  // namespace
}  // namespace atl
