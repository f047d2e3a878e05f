#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "inputs/config/dram_config.hpp"

/// The rules that a DRAM device makes for the commands of its controller, as its data sheet has them: which command must
/// keep which distance from which earlier one. Written from the rules alone: nothing of the channel is used here.
namespace atl::test {

enum class Rule { state, rcd, ras, rp, rc, rrd, faw, ccd, ccdl, bus, cdlr, wr, rtp };
inline constexpr std::size_t kRules = 13;
inline const char* name(Rule r) {
  constexpr std::array<const char*, kRules> kNames{"state", "rcd",  "ras", "rp",   "rc", "rrd", "faw",
                                                   "ccd",   "ccdl", "bus", "cdlr", "wr", "rtp"};
  return kNames[static_cast<std::size_t>(r)];
}

/// A command on a channel's command bus. The `bursts` column commands of one access follow each other at tCCD.
struct DramCommand {
  enum Kind { precharge, activate, read, write } kind;
  std::uint32_t bank = 0, row = 0, bursts = 1;
  double at = 0;  ///< in command clocks
};

class DramRules {
 public:
  /// Clocks by which a channel that counts in fractions of other clocks may round.
  static constexpr double kTolerance = 0.01;

  explicit DramRules(const DramTiming& timing) : t_(timing), bank_(timing.banks), group_(timing.bank_groups) {
    activates_.fill(-kAges);
  }

  /// Checks the commands of a channel in the order of time, whatever the order in which they were planned. Later calls go
  /// on from there.
  void check(std::vector<DramCommand> commands) {
    std::stable_sort(commands.begin(), commands.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
    for (const DramCommand& c : commands) see(c);
  }

  /// Counts what the rules of another channel have seen as well.
  void add(const DramRules& other) {
    if (what_.empty()) what_ = other.what_;
    commands_ += other.commands_;
    for (std::size_t r = 0; r < kRules; ++r) violations_[r] += other.violations_[r], on_time_[r] += other.on_time_[r];
  }

  std::uint64_t commands() const { return commands_; }
  std::uint64_t violations() const { return sum(violations_); }
  std::uint64_t violations(Rule r) const { return violations_[static_cast<std::size_t>(r)]; }
  /// Commands that came at the very moment at which the rule let them through.
  std::uint64_t on_time(Rule r) const { return on_time_[static_cast<std::size_t>(r)]; }
  /// The first violation.
  const std::string& what() const { return what_; }
  /// Names of the rules that were violated.
  std::string violated() const {
    std::string names;
    for (std::size_t r = 0; r < kRules; ++r) {
      if (violations_[r] != 0) names += std::string(names.empty() ? "" : " ") + name(static_cast<Rule>(r));
    }
    return names;
  }

 private:
  static constexpr double kAges = std::numeric_limits<double>::infinity();
  using PerRule = std::array<std::uint64_t, kRules>;
  /// For each rule the moment from which it lets a command through.
  struct Allowed : std::array<double, kRules> {
    Allowed() { fill(-kAges); }
    double& operator[](Rule r) { return std::array<double, kRules>::operator[](static_cast<std::size_t>(r)); }
    void hold(Rule r, double until) { (*this)[r] = std::max((*this)[r], until); }
  };
  struct Bank : Allowed {
    bool open = false;
    std::uint32_t row = 0;
  };

  static std::uint64_t sum(const PerRule& all) {
    std::uint64_t n = 0;
    for (const std::uint64_t one : all) n += one;
    return n;
  }

  void violation(Rule r, const DramCommand& c, const std::string& why) {
    constexpr std::array<const char*, 4> kKinds{"precharge", "activate", "read", "write"};
    if (violations() == 0) {
      what_ =
          fmt::format("{}: {} of bank {}, row {}, at {:.2f} clocks, {}", name(r), kKinds[c.kind], c.bank, c.row, c.at, why);
    }
    ++violations_[static_cast<std::size_t>(r)];
  }
  void in_state(bool right, const DramCommand& c, const Bank& b) {
    if (!right) violation(Rule::state, c, b.open ? fmt::format("with row {} open", b.row) : "with no row open");
  }
  void keep(Rule r, const DramCommand& c, Allowed& allowed, double at) {
    if (at < allowed[r] - kTolerance) {
      violation(r, c, fmt::format("allowed {:.2f} clocks later", allowed[r] - at));
    } else if (at < allowed[r] + kTolerance) {
      ++on_time_[static_cast<std::size_t>(r)];
    }
  }
  void keep(Rule r, const DramCommand& c, Allowed& allowed) { keep(r, c, allowed, c.at); }

  void see(const DramCommand& c) {
    ++commands_;
    Bank& b = bank_[c.bank];
    switch (c.kind) {
      case DramCommand::precharge:
        return see_precharge(c, b);
      case DramCommand::activate:
        return see_activate(c, b);
      default:
        return see_column(c, b, group_[c.bank % t_.bank_groups]);
    }
  }

  void see_precharge(const DramCommand& c, Bank& b) {
    in_state(b.open, c, b);
    for (const Rule r : {Rule::ras, Rule::wr, Rule::rtp}) keep(r, c, b);
    b.open = false;
    b.hold(Rule::rp, c.at + t_.rp);
  }

  void see_activate(const DramCommand& c, Bank& b) {
    in_state(!b.open, c, b);
    for (const Rule r : {Rule::rp, Rule::rc}) keep(r, c, b);
    for (const Rule r : {Rule::rrd, Rule::faw}) keep(r, c, channel_);
    b.open = true, b.row = c.row;
    b.hold(Rule::rcd, c.at + t_.rcd), b.hold(Rule::ras, c.at + t_.ras), b.hold(Rule::rc, c.at + t_.rc);
    channel_.hold(Rule::rrd, c.at + t_.rrd);
    // The window that begins with the oldest of four activates ends before a fifth.
    std::rotate(activates_.begin(), activates_.begin() + 1, activates_.end());
    activates_.back() = c.at;
    if (t_.faw != 0) channel_.hold(Rule::faw, activates_.front() + t_.faw);
  }

  void see_column(const DramCommand& c, Bank& b, Allowed& group) {
    const bool write = c.kind == DramCommand::write;
    const double data = c.at + (write ? t_.wl : t_.cl), end = data + c.bursts * t_.ccd;
    const double last = c.at + (c.bursts - 1) * t_.ccd;
    in_state(b.open && b.row == c.row, c, b);
    keep(Rule::rcd, c, b);
    keep(Rule::ccd, c, channel_);
    keep(Rule::ccdl, c, group);
    keep(Rule::bus, c, channel_, data);
    if (!write) keep(Rule::cdlr, c, channel_);
    channel_.hold(Rule::ccd, last + t_.ccd);
    group.hold(Rule::ccdl, last + t_.ccdl);
    channel_.hold(Rule::bus, end);
    if (write) {
      channel_.hold(Rule::cdlr, end + t_.cdlr);
      b.hold(Rule::wr, end + t_.wr);
    } else {
      b.hold(Rule::rtp, last + t_.rtp);
    }
  }

  const DramTiming t_;
  std::vector<Bank> bank_;
  std::vector<Allowed> group_;
  Allowed channel_;
  std::array<double, 4> activates_;
  std::uint64_t commands_ = 0;
  PerRule violations_{}, on_time_{};
  std::string what_;
};

}  // namespace atl::test
