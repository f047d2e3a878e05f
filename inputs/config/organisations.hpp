#pragma once
#include <cstdint>

#include "inputs/config/table.hpp"

/// How an LLC can be organised over chips, and what the machine must know of each way.
namespace atl {

/// Whose lines an LLC slice holds: its own chip's, for the SMs of every chip; any chip's, for the SMs of its own chip; or
/// both, each in ways of its own.
enum class LlcRole : std::uint8_t { memory_side, sm_side, split };
inline constexpr std::array<std::string_view, 3> kRoleNames{"memory_side", "sm_side", "split"};
constexpr std::string_view name_of(LlcRole r) { return kRoleNames[static_cast<std::size_t>(r)]; }

/// A set of roles.
struct Roles {
  std::uint8_t bits = 0;
  constexpr Roles() = default;
  constexpr Roles(LlcRole r) : bits(static_cast<std::uint8_t>(1u << static_cast<unsigned>(r))) {}  // NOLINT: a role is a set
  constexpr bool has(LlcRole r) const { return (bits >> static_cast<unsigned>(r) & 1) != 0; }
  constexpr friend Roles operator|(Roles a, Roles b) {
    Roles r;
    r.bits = static_cast<std::uint8_t>(a.bits | b.bits);
    return r;
  }
  constexpr bool operator==(const Roles&) const = default;
};
inline constexpr Roles kAllRoles = Roles(LlcRole::memory_side) | LlcRole::sm_side | LlcRole::split;

/// What a policy may ask of the chips. It declares this before the run; the machine is prepared for it, and the controller
/// refuses modes that go beyond it.
struct PolicyTraits {
  Roles roles = LlcRole::memory_side;  ///< that it may return
  bool switches = false;               ///< the role may change, within a kernel or from one to the next
  bool replicates = false;             ///< it decides degrees of replication (`llc.replication` = policy)
  bool llc_profile = false;            ///< it has SAC's profilers count (`Modes::profile`)
  bool saves = true;                   ///< checkpoints can keep what it remembers, or it remembers nothing
};

enum class LlcOrganisation : std::uint8_t { memory_side, sm_side, fixed_split, dynamic_split, sac, plugin };

struct OrganisationRow {
  LlcOrganisation value;
  std::string_view word, doc;
  PolicyTraits traits;
};

/// A plug-in declares its own traits when it is loaded; the machine is prepared for any.
inline constexpr std::array kOrganisations{
    OrganisationRow{LlcOrganisation::memory_side,
                    "memory_side",
                    "lines of the chip's own memory, for the SMs of every chip",
                    {.roles = LlcRole::memory_side}},
    OrganisationRow{LlcOrganisation::sm_side,
                    "sm_side",
                    "lines of any chip's memory, for the chip's own SMs",
                    {.roles = LlcRole::sm_side}},
    OrganisationRow{LlcOrganisation::fixed_split,
                    "static",
                    "local_ways of each set as memory_side, the others as sm_side for remote lines",
                    {.roles = LlcRole::split}},
    OrganisationRow{LlcOrganisation::dynamic_split,
                    "dynamic",
                    "as static, with a division that follows the load of links and memory",
                    {.roles = LlcRole::split}},
    OrganisationRow{LlcOrganisation::sac,
                    "sac",
                    "memory_side or sm_side, whichever SAC's model prefers for the kernel",
                    {.roles = Roles(LlcRole::memory_side) | LlcRole::sm_side, .switches = true, .llc_profile = true}},
    OrganisationRow{LlcOrganisation::plugin,
                    "plugin",
                    "what the policy in the file `llc.policy` decides (--policy)",
                    {.roles = kAllRoles, .switches = true, .replicates = true, .llc_profile = true}},
};
static_assert(in_order(kOrganisations));

constexpr const OrganisationRow& row_of(LlcOrganisation o) { return kOrganisations[static_cast<std::size_t>(o)]; }

template <> std::span<const Word<LlcOrganisation>> words();

}  // namespace atl
