#pragma once
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <system_error>

namespace atl {
class MpiSession;

/// One function per command: declares its options and what to run when it is chosen.
struct Commands {
  CLI::App& app;
  MpiSession& mpi;
  std::function<void()> chosen{};  ///< set by the command that the user gave
  /// Tells an error of which the other ranks do not know, and ends the whole job.
  std::function<void(const std::exception_ptr&)> give_up{};
  std::string line{};  ///< the whole command line, for results
  int exit_code = 0;   ///< of a command that throws nothing
};

/// Of texts that mean something when they are not given: an empty one, as an unset variable gives, is refused.
inline const CLI::Validator kNamed([](std::string& text) { return std::string(text.empty() ? "the text is empty" : ""); },
                                   "");

inline constexpr std::uint64_t kAnyNumber = std::numeric_limits<std::uint64_t>::max();

/// A whole number in decimal: CLI11 itself takes 010 for 8.
inline CLI::Validator whole(std::uint64_t min, std::uint64_t max) {
  const auto check = [min, max](const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool all = error == std::errc{} && end == text.data() + text.size() && (text.front() != '0' || text.size() == 1);
    if (all && min <= value && value <= max) return std::string();
    return fmt::format("'{}' is no whole number from {} to {}", text, min, max);
  };
  return CLI::Validator(check, max == kAnyNumber ? "" : fmt::format("[{} - {}]", min, max));
}

/// --kernels and --ctas: which part of a workload.
inline void add_selection(CLI::App& cmd, std::string& kernels, std::string& ctas) {
  cmd.add_option("--kernels", kernels, "only these kernels, by number as in `atoll info` or by name, e.g. 3-10,name=conv*")
      ->type_name("LIST")
      ->check(kNamed);
  cmd.add_option("--ctas", ctas, "only these CTAs of each kernel, by flattened number, e.g. 0-99,500")
      ->type_name("LIST")
      ->check(kNamed);
}

/// --monitor: of commands that simulate.
inline void add_monitor(CLI::App& cmd, std::optional<std::uint16_t>& port) {
  cmd.add_option(
         "--monitor", port,
         "show the run while it goes on, at an address of this machine that is printed (docs/monitor.md); 0: any free "
         "port")
      ->type_name("PORT")
      ->check(whole(0, 65535));
}

void add_run(Commands& c);
void add_resume(Commands& c);
void add_watch(Commands& c);
void add_import(Commands& c);
void add_record(Commands& c);
void add_info(Commands& c);
void add_explain(Commands& c);
void add_compare(Commands& c);
void add_export(Commands& c);
void add_config(Commands& c);
void add_list(Commands& c);
void add_list_counters(Commands& c, CLI::App& list);
void add_ptx(Commands& c);
void add_sweep(Commands& c);
void add_table(Commands& c);
void add_completion(Commands& c);
void add_manual(Commands& c);

}  // namespace atl
