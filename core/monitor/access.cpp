#include "core/monitor/access.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "core/engine/error.hpp"
#include "core/engine/whole_number.hpp"

namespace atl {
namespace {

bool take(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return false;
  text.remove_prefix(front.size());
  return true;
}

}  // namespace

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw IoError("--monitor", "the system has no random numbers for a token");
  std::string text;
  for (const unsigned char b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;  // the length is no secret
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference =
        static_cast<unsigned char>(difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  return difference == 0;
}

bool own_host(std::string_view host, std::uint16_t port) {
  std::string lower(host);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (port == 80 && (lower == "127.0.0.1" || lower == "localhost")) return true;  // of HTTP, which nobody writes
  return lower == fmt::format("127.0.0.1:{}", port) || lower == fmt::format("localhost:{}", port);
}

MonitorAccess monitor_access(const MonitorRequest& request, std::uint16_t port, std::string_view token) {
  const auto refuse = [](unsigned status, std::string_view reason) {
    MonitorAccess no;
    no.status = status, no.reason = reason;
    return no;
  };
  if (!own_host(request.host, port)) return refuse(403, "This monitor answers to 127.0.0.1 and localhost alone.");
  std::string_view path = request.target, query;
  if (const std::size_t at = path.find('?'); at != std::string_view::npos)
    query = path.substr(at + 1), path = path.substr(0, at);
  const std::size_t end = path.find('/', 1);
  const std::string_view given = path.empty() ? path : path.substr(1, end == std::string_view::npos ? end : end - 1);
  if (!equal_in_constant_time(given, token)) return refuse(403, "The token in the address is not this run's.");
  if (request.method != "GET") return refuse(405, "A run can be watched, not changed: GET alone is answered.");
  const std::string_view name = end == std::string_view::npos ? "" : path.substr(end);
  MonitorAccess access;
  if (name == "/") {
    access.wanted = MonitorAccess::Wanted::page;
  } else if (name == "/state.json") {
    access.wanted = MonitorAccess::Wanted::state;
    if (take(query, "after=")) {
      const auto after = whole_number<std::uint64_t>(query);
      if (!after) return refuse(400, "`after` takes the number of a state.");
      access.polls = true, access.after = *after;
    }
  } else {
    return refuse(404, "There is the page, whose address ends with a slash, and state.json.");
  }
  return access;
}

MonitorUrl parse_monitor_url(const std::string& text) {
  const auto refuse = [&](const std::string& what) { return InputError(text, what); };
  std::string_view rest = text;
  if (!take(rest, "http://"))
    throw refuse("is no address of a monitor; give the one that `atoll run --monitor` printed, http://127.0.0.1:...");
  if (!take(rest, "127.0.0.1:") && !take(rest, "localhost:"))
    throw refuse("monitors listen on 127.0.0.1 alone; have ssh forward the same port from the run's host (docs/monitor.md)");
  const std::size_t slash = rest.find('/');
  const auto port = whole_number<std::uint16_t>(rest.substr(0, slash));
  if (!port || *port == 0) throw refuse("has no port that can be");
  MonitorUrl url{*port, slash == std::string_view::npos ? "" : std::string(rest.substr(slash + 1))};
  if (url.token.ends_with('/')) url.token.pop_back();
  const auto is_hex = [](unsigned char c) { return std::isxdigit(c) != 0; };
  if (url.token.empty() || !std::ranges::all_of(url.token, is_hex))
    throw refuse("lacks the token; give the whole address that `atoll run --monitor` printed");
  return url;
}

std::string monitor_url(std::uint16_t port, std::string_view token) {
  return fmt::format("http://127.0.0.1:{}/{}/", port, token);
}

}  // namespace atl
