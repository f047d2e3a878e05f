#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "inputs/config/system_config.hpp"
#include "inputs/config/walk.hpp"
#include "policies/plugin/options.hpp"
#include "policies/policy.hpp"

/// What a policy outside of Atoll exports. An author writes a class derived from `Policy` and one line:
///
///     ATOLL_POLICY_PLUGIN("mine", (atl::PolicyTraits{.roles = atl::LlcRole::sm_side}), Mine)
///
/// where `Mine` is made from a `const SystemConfig&`. If it has numbers of its own, it lists them in a function
/// `static std::vector<PolicyOption> options()`. If it has members and no `save`, checkpoints are refused unless it says
/// that these do not change: `static constexpr bool remembers_nothing = true`. Everything it needs is in headers; it links
/// nothing of Atoll.
namespace atl {

/// Raised whenever a plug-in must be compiled anew: the types that pass between it and Atoll have changed.
inline constexpr std::uint32_t kPolicyApiVersion = 3;

/// The name of a value of an enum, as compilers tell it: `atl::Topology::ring`; `(atl::Topology)9` if it has none. The
/// tables of words are no part of headers, and plug-ins link nothing.
template <auto V> constexpr std::string_view enumerator() {
  std::string_view text = __PRETTY_FUNCTION__;
  text.remove_prefix(text.find("V = ") + 4);
  return text.substr(0, text.find_first_of(";]"));
}
inline constexpr std::size_t kMostWords = 32;  ///< of an enum of the configuration: what is hashed
template <class E, class F> void for_each_enumerator(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (f(enumerator<static_cast<E>(I)>()), ...); }
  (std::make_index_sequence<kMostWords>{});
}

/// An archive that notes sizes of members: one that is put where there was padding changes no size of the whole.
struct MemberSizes {
  using is_saving = std::true_type;
  std::string list{};
  void save_binary(const void*, std::size_t size) { list += static_cast<char>(size); }
};

/// Where members of a struct lie: two of one type that change places change no size.
template <class T, class... M> std::array<std::uint64_t, sizeof...(M)> member_places(M T::*... members) {
  const T t{};
  const auto at = [](const auto& part) { return reinterpret_cast<std::uintptr_t>(&part); };
  return {at(t.*members) - at(t)...};
}

/// Changes with the types that pass between a plug-in and Atoll, where nobody has raised the version: their sizes, the sizes
/// of the members of modes and the places of all, the names of roles and counters in their order, and name, size and place
/// of every key of the configuration, and of its words in their order.
inline std::uint64_t policy_api_layout() {
  std::uint64_t h = kPolicyApiVersion;
  const auto number = [&h](std::uint64_t x) { h = (h ^ x) * 0x100000001B3ull; };
  const auto text = [&](std::string_view t) {
    for (const char c : t) number(static_cast<unsigned char>(c));
    number(t.size());
  };
  for (const std::uint64_t x : {sizeof(SystemConfig), sizeof(Modes), sizeof(ChipEpoch), sizeof(Epoch), sizeof(KernelEnd),
                                sizeof(Verdict), sizeof(Decision), sizeof(PolicyTraits), sizeof(Counters)})
    number(x);
  const auto places = [&](auto... members) {
    for (const std::uint64_t x : member_places(members...)) number(x);
  };
  places(&Modes::llc, &Modes::local_ways, &Modes::profile, &Modes::epoch_cycles, &Modes::replication, &Modes::range_bytes,
         &Modes::epoch_gone, &Modes::beside_cycles, &Modes::beside_gone);
  places(&ReplicationModes::level, &ReplicationModes::all_lines, &ReplicationModes::profile, &ReplicationModes::restart);
  places(&ChipEpoch::count, &ChipEpoch::profile, &ChipEpoch::degrees);
  places(&LlcProfile::at_home, &LlcProfile::at_requester, &LlcProfile::requests, &LlcProfile::hits, &LlcProfile::merges,
         &LlcProfile::local, &LlcProfile::remote, &LlcProfile::crd_requests, &LlcProfile::crd_hits);
  places(&DegreeCounts::sampled, &DegreeCounts::hits, &DegreeCounts::routed, &DegreeCounts::sending,
         &DegreeCounts::conflicts);
  places(&Epoch::kernel, &Epoch::end, &Epoch::length, &Epoch::chips);
  places(&KernelEnd::kernel, &KernelEnd::end, &KernelEnd::chips);
  places(&Verdict::decisions, &Verdict::modes);
  places(&Decision::kernel, &Decision::cycle, &Decision::choice, &Decision::values);
  places(&PolicyTraits::roles, &PolicyTraits::switches, &PolicyTraits::replicates, &PolicyTraits::llc_profile,
         &PolicyTraits::saves);
  constexpr std::string_view kNames[] = {
#define ATOLL_COUNTER(id, name, unit, doc) name,
#define ATOLL_SAMPLED(id, name, unit, doc) name,
#include "core/stats/counters.def"
  };
  for (const std::string_view name : kNames) text(name);
  MemberSizes sizes;
  Modes modes;
  carry(sizes, modes);
  text(sizes.list);
  for_each_enumerator<LlcRole>(text);
  const SystemConfig config;
  for_each_leaf(config, "", [&]<class T>(const T& value, const Field&, const std::string& key) {
    text(key), number(sizeof(T));
    if constexpr (std::is_enum_v<T>) for_each_enumerator<T>(text);
    number(static_cast<std::uint64_t>(reinterpret_cast<const char*>(&value) - reinterpret_cast<const char*>(&config)));
  });
  return h;
}

struct PolicyPlugin {
  std::uint32_t version = kPolicyApiVersion;
  std::uint64_t layout = policy_api_layout();
  const char* name = nullptr;
  PolicyTraits (*traits)(const SystemConfig&) = nullptr;
  std::unique_ptr<Policy> (*make)(const SystemConfig&) = nullptr;
};

template <class Class> std::unique_ptr<Policy> make_policy(const SystemConfig& c) {
  if constexpr (requires { Class::options(); }) {
    policy_options(c.llc.policy_options, Class::options());
  } else {
    policy_options(c.llc.policy_options, {});
  }
  return std::make_unique<Class>(c);
}

/// Never called: a member that is inherited has the type of one of its base's.
template <class C> std::type_identity<C> class_of(void (C::*save)(SaveArchive&));
/// No class from `Policy` to `Class` overrides `save`. An override that is private has no name here, and is one all the
/// same.
template <class Class>
concept InheritsSave = std::is_same_v<decltype(class_of(&Class::save)), std::type_identity<Policy>>;
template <class Class>
concept RemembersNothing = sizeof(Class) == sizeof(Policy) || requires {
  requires Class::remembers_nothing;
};

/// What the author declares, and whether checkpoints can keep what the class remembers.
template <class Class> constexpr PolicyTraits policy_traits(PolicyTraits declared) {
  declared.saves = declared.saves && (!InheritsSave<Class> || RemembersNothing<Class>);
  return declared;
}

/// The function that a plug-in exports under this name.
using PolicyPluginEntry = const PolicyPlugin* (*)();
inline constexpr const char* kPolicyPluginEntry = "atoll_policy_plugin";

}  // namespace atl

// Its arguments are an initialiser and a class, which parentheses would not fit. NOLINTBEGIN(bugprone-macro-parentheses)
#define ATOLL_POLICY_PLUGIN(plugin_name, plugin_traits, Class)                                       \
  extern "C" __attribute__((visibility("default"))) const atl::PolicyPlugin* atoll_policy_plugin() { \
    static const atl::PolicyPlugin plugin{                                                           \
        .name = plugin_name,                                                                         \
        .traits = [](const atl::SystemConfig&) { return atl::policy_traits<Class>(plugin_traits); }, \
        .make = [](const atl::SystemConfig& c) { return atl::make_policy<Class>(c); }};              \
    return &plugin;                                                                                  \
  }
// NOLINTEND(bugprone-macro-parentheses)
