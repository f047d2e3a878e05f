#include "core/control/mode_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/engine/error.hpp"
#include "core/engine/printable.hpp"
#include "partition/replica_map.hpp"
#include "policies/coherence/directory_layout.hpp"

namespace atl {

void ModeRules::refuse(std::size_t kernel, const std::string& why) const {
  throw InputError("policy " + policy_, fmt::format("its modes for kernel {} cannot be obeyed: {}", kernel, why));
}

std::vector<Modes> ModeRules::accept(std::vector<Modes> modes, std::span<const Modes> before, std::size_t kernel) const {
  check(modes, kernel);
  if (!row_of(config_.coherence.protocol).llc_keeps_remote)
    for (Modes& m : modes) m.llc = LlcRole::memory_side;
  if (!before.empty() && !traits_.switches && before[0].llc != modes[0].llc)
    refuse(kernel, fmt::format("the role changes from {} to {}, but its traits do not declare `switches`",
                               name_of(before[0].llc), name_of(modes[0].llc)));
  return modes;
}

void ModeRules::check(std::span<const Modes> modes, std::size_t kernel) const {
  if (modes.size() != config_.chips)
    refuse(kernel, fmt::format("they are for {} chips, and the system has {}", modes.size(), config_.chips));
  for (std::size_t chip = 0; chip < modes.size(); ++chip) {
    const Modes& m = modes[chip];
    const auto alike = [&](bool same, std::string_view field) {
      if (!same)
        refuse(kernel, fmt::format("`{}` differs between chips 0 and {}; it must be the same for all", field, chip));
    };
    alike(m.llc == modes[0].llc, "llc");
    alike(m.epoch_cycles == modes[0].epoch_cycles, "epoch_cycles");
    alike(m.epoch_gone == modes[0].epoch_gone, "epoch_gone");
    alike(m.beside_cycles == modes[0].beside_cycles, "beside_cycles");
    alike(m.beside_gone == modes[0].beside_gone, "beside_gone");
    alike(m.profile == modes[0].profile, "profile");
    alike(m.replication.all_lines == modes[0].replication.all_lines, "replication.all_lines");
    alike(m.replication.profile == modes[0].replication.profile, "replication.profile");
    alike(m.range_bytes == modes[0].range_bytes, "range_bytes");
    check_role(m, kernel);
    check_replication(m, kernel);
    check_range(m, kernel);
  }
}

void ModeRules::check(const Decision& d, std::size_t kernel, Cycle launched, Cycle now) const {
  const auto refuse = [&](const std::string& why) { throw InputError("policy " + policy_, why); };
  if (d.kernel > kernel) refuse(fmt::format("decides for kernel {} in kernel {}", d.kernel, kernel));
  if (d.cycle < launched || d.cycle > now)
    refuse(fmt::format("its decision for kernel {} is of cycle {}; the kernel was launched at {}, and it is {} now",
                       d.kernel, d.cycle, launched, now));
  if (!printable(d.choice))
    refuse(fmt::format("the choice of its decision for kernel {} has signs that do not print", d.kernel));
  for (const auto& [name, value] : d.values) {
    if (name.empty() || name.size() > kLongestName || name == "." || name == ".." || name.find('/') != name.npos ||
        !printable(name))
      refuse(
          fmt::format("a value of its decision for kernel {} is named `{}`: results keep values under their names, of 1 to "
                      "{} signs that print and are no `/`",
                      d.kernel, printable(name) ? name.substr(0, kLongestName) : "?", kLongestName));
  }
}

void ModeRules::check_role(const Modes& m, std::size_t kernel) const {
  if (static_cast<std::size_t>(m.llc) >= kRoleNames.size())
    refuse(kernel, fmt::format("`llc` = {} is no role", static_cast<unsigned>(m.llc)));
  if (!traits_.roles.has(m.llc)) refuse(kernel, fmt::format("its traits do not declare the role {}", name_of(m.llc)));
  const ProtocolRow& protocol = row_of(config_.coherence.protocol);
  if (m.llc == LlcRole::split) {
    if (m.local_ways >= config_.llc.ways || m.local_ways == 0)
      refuse(kernel, fmt::format("split needs `local_ways` from 1 to {}, not {}", config_.llc.ways - 1, m.local_ways));
    if (protocol.full_map || !protocol.llc_keeps_remote)
      refuse(kernel, fmt::format("`coherence.protocol` = {} is not defined for the role split", protocol.word));
    if (protocol.home.present && config_.llc.remote_writes == RemoteWrites::back)
      refuse(kernel, fmt::format("`coherence.protocol` = {} writes remote lines through: set `llc.remote_writes` = through",
                                 protocol.word));
    if (config_.llc.write_back_at_end && config_.llc.remote_writes == RemoteWrites::back)
      refuse(kernel, "split with `llc.remote_writes` = back needs `llc.write_back_at_end` = false");
    if (config_.llc.replication != Replication::shared && config_.llc.remote_writes == RemoteWrites::back &&
        row_of(config_.llc.replication).read_only)
      refuse(kernel, "split beside replication needs `llc.remote_writes` = through");
  }
  if (m.llc != LlcRole::split && m.local_ways != 0)
    refuse(kernel, fmt::format("`local_ways` = {} is set, and the role is {}, not split", m.local_ways, name_of(m.llc)));
  if (m.profile && !traits_.llc_profile) refuse(kernel, "`profile` is set, but its traits do not declare `llc_profile`");
}

void ModeRules::check_replication(const Modes& m, std::size_t kernel) const {
  const ReplicationModes& r = m.replication;
  if (r == ReplicationModes{}) return;
  const ReplicationRow& row = row_of(config_.llc.replication);
  if (row.value == Replication::shared)
    refuse(kernel, "`replication` is set, but `llc.replication` = shared: set `llc.replication` = policy");
  if (row.value == Replication::policy && !traits_.replicates)
    refuse(kernel, "`replication` is set, but its traits do not declare `replicates`");
  const std::uint32_t levels = ReplicaMap(config_).levels();
  if (r.level >= levels) refuse(kernel, fmt::format("`replication.level` = {} is not from 0 to {}", r.level, levels - 1));
  if (r.profile && !row.profiles) refuse(kernel, fmt::format("`llc.replication` = {} has no profile", row.word));
  if (!r.all_lines) return;
  if (!row.all_lines || config_.coherence.protocol != CoherenceProtocol::software)
    refuse(kernel, fmt::format("`replication.all_lines` needs `coherence.protocol` = software, not {}",
                               row_of(config_.coherence.protocol).word));
}

void ModeRules::check_range(const Modes& m, std::size_t kernel) const {
  if (m.range_bytes == 0) return;
  if (!row_of(config_.coherence.protocol).home.ranges)
    refuse(kernel, fmt::format("`range_bytes` is set, but `coherence.protocol` = {} has no ranges",
                               row_of(config_.coherence.protocol).word));
  if (!std::has_single_bit(m.range_bytes) || m.range_bytes <= config_.line_bytes || m.range_bytes > 64 * config_.line_bytes)
    refuse(kernel, fmt::format("`range_bytes` = {} is not a power of two from {} to {}", m.range_bytes,
                               2 * config_.line_bytes, 64 * config_.line_bytes));
  const DirectoryShape shape = directory_shape(config_, m.range_bytes);
  if (shape.sets * shape.ways < config_.coherence.directory_ways)
    refuse(kernel,
           fmt::format("no set of entries of `range_bytes` = {} has room where `coherence.directory_entries` = {} of "
                       "{} bytes are",
                       m.range_bytes, config_.coherence.directory_entries, config_.coherence.range_bytes));
  // Who configures such a range is told of it (keys_at_odds); a policy that chooses one by itself has nobody to tell.
  const bool own = row_of(config_.coherence.protocol).home.range_per_kernel;
  const std::uint32_t asked = own ? config_.rec_adaptive.max_range_bytes : config_.coherence.range_bytes;
  if (const std::uint32_t page = config_.partition.page_bytes(); m.range_bytes > std::max(page, asked))
    refuse(kernel, fmt::format("`range_bytes` = {} is more than a page holds (`partition.page_kib` = {}), and than `{}` "
                               "asks for: an entry would cover pages that are not neighbours",
                               m.range_bytes, config_.partition.page_kib,
                               own ? "rec_adaptive.max_range_bytes" : "coherence.range_bytes"));
}

}  // namespace atl
