#pragma once
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// Numbers of a policy's own, given for a run by `llc.policy_options` = "threshold=0.6 window=3": they stand in its result
/// as every key does, and a sweep goes over them.
namespace atl {

struct PolicyOption {
  std::string name;
  double value = 0;  ///< where the run gives none
};

/// By its bits: a plug-in may be compiled with -ffast-math, for which every number is finite.
inline bool is_finite(double value) { return (std::bit_cast<std::uint64_t>(value) >> 52 & 0x7FF) != 0x7FF; }

/// `known` with the values of `text`. Throws std::invalid_argument, with what is wrong: a name that the policy does not
/// have would change nothing, and nobody would see.
inline std::vector<PolicyOption> policy_options(const std::string& text, std::vector<PolicyOption> known) {
  const auto refuse = [&](const std::string& what) {
    std::string names;
    for (const PolicyOption& o : known) names += (names.empty() ? "" : ", ") + o.name;
    throw std::invalid_argument("`llc.policy_options`: " + what + "; " +
                                (known.empty() ? "this policy has none" : "NAME=NUMBER, apart by spaces, of: " + names));
  };
  for (const PolicyOption& o : known) {
    if (o.name.empty() || o.name.find_first_of(" \t\n=") != std::string::npos)
      throw std::invalid_argument("its options list `" + o.name + "`: a name has no blank and no `=`");
    if (!is_finite(o.value)) throw std::invalid_argument("its options list `" + o.name + "` with a value that is no number");
    if (std::ranges::count(known, o.name, &PolicyOption::name) > 1)
      throw std::invalid_argument("its options list `" + o.name + "` twice");
  }
  std::set<std::string, std::less<>> given;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto option = std::ranges::find(known, name, &PolicyOption::name);
    if (option == known.end()) refuse("there is no `" + name + "`");
    if (!given.insert(name).second) refuse("`" + name + "` is given twice");
    const char *first = word.data() + std::min(equals, word.size() - 1) + 1, *last = word.data() + word.size();
    const auto [end, error] = std::from_chars(first, last, option->value);
    if (error != std::errc{} || end != last || !is_finite(option->value)) refuse("`" + word + "` has no number");
  }
  return known;
}

/// The value of one of `Class::options()`, a policy's list of them.
template <class Class> double policy_option(const std::string& text, std::string_view name) {
  for (const PolicyOption& o : policy_options(text, Class::options()))
    if (o.name == name) return o.value;
  throw std::logic_error("options() of the policy does not list `" + std::string(name) + "`");
}

}  // namespace atl
