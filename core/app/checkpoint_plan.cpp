#include "core/app/checkpoint_plan.hpp"

#include <charconv>

#include "core/app/commands.hpp"
#include "core/engine/error.hpp"
#include "core/engine/whole_number.hpp"

namespace atl {
namespace {

/// Minutes of `10min`, `90s` or `2h`; 0 if it is none of these.
double minutes_of(const std::string& text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || !(number > 0 && number < 1e6)) return 0;
  const std::string unit(end, text.data() + text.size());
  return unit == "min" ? number : unit == "s" ? number / 60 : unit == "h" ? number * 60 : 0;
}

}  // namespace

void CheckpointOptions::add_to(CLI::App& command) {
  command
      .add_option("--checkpoint-every", every,
                  "leave a checkpoint beside the output after so many cycles (500000) or so much time (90s, 10min, 2h); "
                  "`none`: only when asked by SIGUSR1")
      ->type_name("CYCLES|TIME")
      ->check(kNamed);
  command.add_option("--time-limit", time_limit, "leave a checkpoint after so much time, and end with exit code 75")
      ->type_name("TIME")
      ->check(kNamed);
}

CheckpointPlan CheckpointOptions::plan(CheckpointPlan plan) const {
  if (!every.empty()) {
    plan.every_cycles = 0, plan.every_minutes = minutes_of(every);
    if (plan.every_minutes == 0 && every != "none") {
      plan.every_cycles = whole_number<Cycle>(every).value_or(0);
      if (plan.every_cycles == 0)
        throw InputError("--checkpoint-every", "'" + every + "' is neither a number of cycles, nor a time such as 10min");
    }
  }
  if (!time_limit.empty() && (plan.time_limit_minutes = minutes_of(time_limit)) == 0)
    throw InputError("--time-limit", "'" + time_limit + "' is not a time such as 90s, 10min or 2h");
  return plan;
}

}  // namespace atl
