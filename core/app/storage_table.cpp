#include "core/app/storage_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "core/chip/sm/ownership_table.hpp"
#include "partition/replica_map.hpp"
#include "policies/coherence/directory_layout.hpp"
#include "policies/llc/sac.hpp"
#include "policies/replication/degree_policies.hpp"

namespace atl {
namespace {

struct Part {
  std::string name;
  double bytes;  ///< of a chip
  std::string made_of;
};

void add_sac(std::vector<Part>& parts, const SystemConfig& c) {
  const SacStorage s = sac_storage(c);
  const auto add = [&](const char* name, std::uint64_t bytes, std::string made_of) {
    parts.push_back({name, static_cast<double>(bytes), std::move(made_of)});
  };
  add("SAC: Chip Request Directory", s.crd,
      fmt::format("{} sets x {} ways, tags of {} bits, presence of {} chips{} (SAC 3.6)", c.sac.crd_sets, c.sac.crd_ways,
                  c.sac.crd_tag_bits, c.chips, c.llc.sectored ? " in 4 sectors" : ""));
  add("SAC: use of slices", s.slice_counters, fmt::format("2 counters of 16 bits for each of {} slices", c.llc.slices));
  add("SAC: rates", s.counters, "4 counters of 24 bits");
}

void add_replication(std::vector<Part>& parts, std::string& unknown, const SystemConfig& c) {
  const ReplicaMap map(c);
  const auto s = c.llc.replication == Replication::selrep ? selrep_storage(c) : std::nullopt;
  if (s) {
    parts.push_back({"replication: directory", static_cast<double>(s->directory), "as SelRep III-D prints it"});
    parts.push_back({"replication: counters", static_cast<double>(s->counters),
                     fmt::format("of 16 bits, for {} degrees and {} slices of a router", map.levels(), map.slices())});
  } else if (row_of(c.llc.replication).profiles) {
    unknown += fmt::format("what `llc.replication` = {} counts by has a published size with SelRep's own settings only\n",
                           row_of(c.llc.replication).word);
  }
  // A bit for each doubling of the highest degree, which may be any where a policy decides.
  const ReplicationRow& row = row_of(c.llc.replication);
  const std::uint32_t highest = map.levels() - 1;
  const std::uint32_t bits = row.profiles || row.degree == 0
                                 ? highest
                                 : std::min(highest, static_cast<std::uint32_t>(std::bit_width(row.degree)) - 1);
  const double lines = c.llc.size_kib * 1024.0 / c.line_bytes;
  parts.push_back({"replication: bits in tags", lines * bits / 8,
                   fmt::format("{} for each of {:.0f} lines, as a line may be in more slices", bits, lines)});
}

void add_directory(std::vector<Part>& parts, const SystemConfig& c) {
  const DirectoryLayout l = directory_layout(c);
  parts.push_back({fmt::format("home directory ({})", row_of(c.coherence.protocol).word),
                   static_cast<double>(directory_bytes(c)),
                   fmt::format("{} entries of {} bits: {} address, {} positions, {} sharers, 1 valid ({})",
                               c.coherence.directory_entries, l.bits(), l.base_bits, l.position_bits, l.sharer_bits,
                               c.coherence.protocol == CoherenceProtocol::hmg ? "inferred" : "REC table 1")});
}

void add_colab(std::vector<Part>& parts, const SystemConfig& c) {
  const OwnershipTableShape shape = OwnershipTableShape::of(c);
  const std::uint32_t clusters = c.sm.count / c.noc.sms_per_cluster;
  const std::uint32_t queued = c.cluster.input_queue + c.cluster.access_queue * c.noc.sms_per_cluster;
  parts.push_back(
      {"COLAB: tables of owners", clusters * (shape.entries() * shape.entry_bits(c.line_bytes) / 8.0),
       fmt::format("of {} clusters: {} entries of {} bits", clusters, shape.entries(), shape.entry_bits(c.line_bytes))});
  parts.push_back(
      {"COLAB: queues", clusters * 8.0 * queued, fmt::format("of {} clusters: {} requests of 8 bytes", clusters, queued)});
}

}  // namespace

std::string storage_table(const SystemConfig& c) {
  std::vector<Part> parts;
  std::string unknown;
  const ProtocolRow& protocol = row_of(c.coherence.protocol);
  if (c.llc.organisation == LlcOrganisation::sac) add_sac(parts, c);
  if (c.llc.organisation == LlcOrganisation::plugin) unknown += "what a policy of your own keeps is not known\n";
  if (c.llc.replication != Replication::shared) add_replication(parts, unknown, c);
  if (protocol.home.present && !protocol.home.unbounded) add_directory(parts, c);
  if (protocol.home.unbounded || protocol.full_map)
    unknown +=
        fmt::format("the directory of `coherence.protocol` = {} has room for all lines, and no size\n", protocol.word);
  if (c.cluster.sharing == ClusterShare::colab) add_colab(parts, c);

  if (parts.empty()) return unknown.empty() ? "nothing besides caches and queues\n" : unknown;
  const double llc = c.llc.size_kib * 1024.0;
  double all = 0;
  std::string text = fmt::format("{:<28} {:>12} {:>10}  {}\n", "storage of a chip", "bytes", "of the LLC", "made of");
  for (const Part& p : parts) {
    all += p.bytes;
    text += fmt::format("{:<28} {:>12.0f} {:>8.3f} %  {}\n", p.name, p.bytes, 100 * p.bytes / llc, p.made_of);
  }
  return text + fmt::format("{:<28} {:>12.0f} {:>8.3f} %\n{}", "all", all, 100 * all / llc, unknown);
}

}  // namespace atl
