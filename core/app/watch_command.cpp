#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "core/app/commands.hpp"
#include "core/monitor/client.hpp"
#include "core/monitor/live_text.hpp"

namespace atl {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct WatchOptions {
  std::string url;
  double every = 0;  ///< seconds; 0: as suits the output
  bool json = false;
};

/// Rewrites itself on a terminal.
class Screen {
 public:
  void show(const std::vector<std::string>& lines) {
    winsize size{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1 && size.ws_col > 1;
    const std::size_t rows = known ? size.ws_row - 1 : 23, columns = known ? size.ws_col - 1 : 79;
    std::string text = up_ > 0 ? fmt::format("\033[{}A", up_) : "";
    up_ = std::min(lines.size(), rows);
    // Lines that wrap, and more of them than the window has, cannot be rewritten.
    for (std::size_t i = 0; i < up_; ++i) text += "\r" + lines[i].substr(0, columns) + "\033[K\n";
    std::fputs((text + "\033[J").c_str(), stdout);
  }

 private:
  std::size_t up_ = 0;
};

/// One lost connection may be the machine's load; several are not.
json fetch(const MonitorUrl& url, std::uint64_t after) {
  constexpr int kTries = 3;
  for (int tried = 1;; ++tried) {
    try {
      return json::parse(fetch_state(url, after));
    } catch (const Unreachable&) {
      if (tried == kTries) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }
}

int show_until_end(const WatchOptions& o, const MonitorUrl& url) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0 && !o.json;
  const std::chrono::duration<double> every(o.every > 0 ? o.every : terminal || o.json ? 0 : 10);
  Screen screen;
  std::uint64_t number = 0;
  std::optional<Clock::time_point> shown;
  for (;;) {
    json got;
    try {
      got = fetch(url, number);
    } catch (const Unreachable& e) {
      if (number == 0) throw;
      throw IoError(o.url, "the run cannot be reached any more: it was ended from outside, or its host was");
    }
    const bool news = got.at("number") != number;
    number = got.at("number");
    const json& state = got.at("state");
    if (state.is_null()) continue;
    const json& ended = state.at("ended");
    if (!ended.is_null() || (news && (!shown || Clock::now() - *shown >= every))) {
      shown = Clock::now();
      if (terminal) screen.show(live_screen(state));
      if (o.json) fmt::print("{}\n", state.dump());
      if (!o.json && (!terminal || !ended.is_null())) fmt::print("{}\n", live_line(state));
      std::fflush(stdout);
    }
    if (!ended.is_null()) return ended.at("exit_code");
  }
}

int watch(const WatchOptions& o) {
  const MonitorUrl url = parse_monitor_url(o.url);
  try {
    return show_until_end(o, url);
  } catch (const json::exception& e) {  // no JSON, or not what a monitor says
    throw IoError(monitor_url(url.port, url.token), std::string("what answers there is no monitor: ") + e.what());
  }
}

}  // namespace

void add_watch(Commands& c) {
  auto o = std::make_shared<WatchOptions>();
  CLI::App* cmd = c.app.add_subcommand("watch", "Show a run that goes on, until it ends");
  cmd->footer(
      "Examples:\n"
      "  atoll run sac-4chip -w mixed --monitor 0             prints the address\n"
      "  atoll watch http://127.0.0.1:PORT/TOKEN/             at a terminal, rewritten in place; else a line now and then\n"
      "  atoll watch http://127.0.0.1:PORT/TOKEN/ --json      every state, for programs (docs/monitor.md)\n"
      "Ends with the run's own exit code: 2 also if the token is wrong, and 4 if nothing listens there (any more).");
  cmd->add_option("URL", o->url, "that `atoll run --monitor` or `atoll resume --monitor` printed")
      ->required()
      ->check(kNamed);
  cmd->add_flag("--json", o->json, "for programs: a state in each line");
  cmd->add_option("--every", o->every, "at most one update in so many seconds; by default all on a terminal, else one in 10")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 86400.0));
  cmd->callback([&c, o] { c.chosen = [&c, o] { c.exit_code = watch(*o); }; });
}

}  // namespace atl
