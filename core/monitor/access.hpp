#pragma once
#include <cstdint>
#include <string>
#include <string_view>

/// Who may ask a run's monitor, and for what. Anything on this machine can connect, and a page of any site can have its
/// reader's browser try: only who knows the token is answered.
namespace atl {

/// 128 bits of the system's, in hexadecimal.
std::string random_token();

/// Takes the same time wherever they differ, so that no token is guessed digit by digit.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// `127.0.0.1:PORT` or `localhost:PORT`. Another name that resolves to this machine is somebody else's (DNS rebinding).
bool own_host(std::string_view host, std::uint16_t port);

struct MonitorRequest {
  std::string_view method, target, host;
};

/// What a request is answered with.
struct MonitorAccess {
  enum class Wanted : std::uint8_t { nothing, page, state };
  unsigned status = 200;  ///< of HTTP
  Wanted wanted = Wanted::nothing;
  bool polls = false;  ///< `?after=N`: answer when there is a newer state than this
  std::uint64_t after = 0;
  std::string_view reason;  ///< a line for people, unless status is 200
};

/// `/TOKEN/` is the page and `/TOKEN/state.json` the state, for GET alone.
MonitorAccess monitor_access(const MonitorRequest& request, std::uint16_t port, std::string_view token);

/// Where a monitor is. Throws InputError unless the text is `http://127.0.0.1:PORT/TOKEN/`, as `atoll run` prints it.
struct MonitorUrl {
  std::uint16_t port = 0;
  std::string token;
};
MonitorUrl parse_monitor_url(const std::string& text);
std::string monitor_url(std::uint16_t port, std::string_view token);

}  // namespace atl
