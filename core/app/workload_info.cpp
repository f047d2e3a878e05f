#include "core/app/workload_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/engine/function_name.hpp"
#include "core/stats/human.hpp"
#include "inputs/trace/accelsim_workload.hpp"
#include "inputs/trace/trace_workload.hpp"
#include "inputs/workload/count.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

/// What all CTAs of a kernel do.
struct KernelCounts {
  std::uint64_t instructions = 0, loads = 0, stores = 0, atomics = 0, barriers = 0;
  std::uint64_t lines = 0, written = 0;  ///< distinct blocks of 128 bytes that are touched, and written among them
  std::uint64_t local = 0;               ///< bytes of local memory that threads use
  std::uint64_t contradicted = 0;        ///< lines with sectors that are read as read-only, and written
};

using Lines = std::unordered_set<std::uint64_t>;

/// Adds the lines to `all`.
KernelCounts count_kernel(Workload& workload, std::size_t kernel, Lines& all) {
  KernelCounts n;
  Lines touched, rows;
  std::unordered_map<std::uint64_t, unsigned> written, promised;  // sectors of lines
  CtaProgram program;
  for (std::uint64_t cta = 0; cta < workload.kernels()[kernel].ctas(); ++cta) {
    workload.load_cta(kernel, cta, program);
    for (const Op& op : program.ops) {
      n.instructions += instructions_of(op);
      n.loads += op.kind == OpKind::load, n.stores += op.kind == OpKind::store, n.atomics += op.kind == OpKind::atomic;
      n.barriers += op.kind == OpKind::barrier;
      if (!has_accesses(op.kind)) continue;
      for (std::uint32_t i = 0; i < op.accesses; ++i) {
        const Access& access = program.accesses[op.first_access + i];
        const std::uint64_t block = access.block();
        if ((op.flags & kLocal) != 0) {
          rows.insert(block);
          continue;
        }
        touched.insert(block);
        if (op.kind != OpKind::load)
          written[block] |= access.sectors();
        else if ((op.flags & kReadOnly) != 0)
          promised[block] |= access.sectors();
      }
    }
  }
  n.lines = touched.size(), n.written = written.size(), n.local = 4 * rows.size();
  for (const auto& [block, sectors] : promised)
    if (const auto found = written.find(block); found != written.end()) n.contradicted += (found->second & sectors) != 0;
  all.merge(touched);
  return n;
}

struct WorkloadFacts {
  std::string format, source, importer;
  std::vector<KernelInfo> kernels;
  std::vector<KernelCounts> counts;  ///< [kernel]; empty: not counted
  std::vector<std::string> incomplete;
  std::string selection, lacks;
  DeviceMemories devices;
  std::uint64_t lines = 0;  ///< that any kernel touches
  std::vector<DataStructure> structures;
};

/// Bytes of text or container, about: small traces are counted unasked.
bool is_small(const std::string& path, const Workload& workload) {
  constexpr std::uintmax_t kSmall = 64 << 20, kPacked = 16;
  namespace fs = std::filesystem;
  std::error_code error;
  if (dynamic_cast<const TraceWorkload*>(&workload) != nullptr) return kPacked * fs::file_size(path, error) <= kSmall;
  const auto* traces = dynamic_cast<const AccelSimWorkload*>(&workload);
  if (traces == nullptr) return false;
  std::uintmax_t bytes = 0;
  for (const std::string& file : traces->files())
    bytes += (file.ends_with(".traceg") ? 1 : kPacked) * fs::file_size(file, error);
  return bytes <= kSmall;
}

WorkloadFacts facts_of(const std::string& path, bool count) {
  WorkloadFacts f;
  const std::unique_ptr<Workload> workload = open_workload(path);
  f.kernels = workload->kernels(), f.structures = workload->structures();
  if (const auto* trace = dynamic_cast<const TraceWorkload*>(workload.get())) {
    f.format = "Atoll trace", f.source = trace->provenance().source, f.importer = trace->provenance().importer;
  } else {
    const bool sass = dynamic_cast<const AccelSimWorkload*>(workload.get()) != nullptr;
    f.format = sass ? "SASS traces" : "parametric workload, as it fits a system of four chips";
  }
  f.selection = workload->selection(), f.lacks = workload->lacks(), f.devices = workload->devices();
  count = count || is_small(path, *workload);
  Lines all;
  for (std::size_t k = 0; count && k < f.kernels.size(); ++k) {
    f.counts.push_back(count_kernel(*workload, k, all));
    f.incomplete.push_back(workload->incomplete(k));
  }
  f.lines = all.size();
  return f;
}

std::string shape(const std::uint32_t (&size)[3]) {
  if (size[2] != 1) return fmt::format("{} x {} x {}", size[0], size[1], size[2]);
  return size[1] != 1 ? fmt::format("{} x {}", size[0], size[1]) : fmt::format("{}", size[0]);
}

/// Whose memory a structure is, where there are several devices.
std::string owner(const DeviceMemories& devices, const DataStructure& s) {
  if (devices.count == 0) return "";
  const std::uint64_t device = (s.address - devices.base) / devices.bytes;
  return s.address >= devices.base && device < devices.count ? fmt::format(", device {}", device) : ", of no device";
}

std::string bytes(std::uint64_t n) { return si(static_cast<double>(n)) + (n < 1000 ? " B" : "B"); }

}  // namespace

std::string workload_text(const std::string& path, bool count) {
  const WorkloadFacts f = facts_of(path, count);
  std::string out = fmt::format("  workload     {}\n  format       {}\n", path, f.format);
  if (!f.source.empty()) out += fmt::format("  source       {}\n", f.source);
  if (!f.importer.empty()) out += fmt::format("  written by   {}\n", f.importer);
  if (!f.selection.empty()) out += fmt::format("  selection    {}\n", f.selection);
  if (!f.lacks.empty()) out += fmt::format("  lacks        {}\n", f.lacks);
  count = !f.counts.empty();
  std::uint64_t ctas = 0, instructions = 0;
  for (const KernelInfo& k : f.kernels) ctas += k.ctas();
  for (const KernelCounts& n : f.counts) instructions += n.instructions;
  if (f.devices.count != 0)
    out += fmt::format("  devices      {}; launches of one step run together, each on its device\n", f.devices.count);
  out += fmt::format("  kernels      {}, {} CTAs\n", f.kernels.size(), grouped(ctas));
  if (count)
    out += fmt::format("  instructions {} of warps\n  footprint    {} in lines of 128 bytes\n", grouped(instructions),
                       bytes(f.lines * Access::kBlockBytes));
  for (std::size_t i = 0; i < f.kernels.size(); ++i) {
    const KernelInfo& k = f.kernels[i];
    out += fmt::format("    {:>3}  {:<28} grid {:<14} block {}", i, function_name(k.name), shape(k.grid), shape(k.block));
    if (f.devices.count != 0) out += fmt::format(", device {}, step {}", k.place.device, k.place.step);
    if (k.launched_ctas != 0) out += fmt::format(", a sample of {} CTAs", grouped(k.launched_ctas));
    if (count) {
      const KernelCounts& n = f.counts[i];
      out += fmt::format("; {} instructions, {} loads, {} stores, {} atomics; {} touched, {} written",
                         si(static_cast<double>(n.instructions)), si(static_cast<double>(n.loads)),
                         si(static_cast<double>(n.stores)), si(static_cast<double>(n.atomics)),
                         bytes(n.lines * Access::kBlockBytes),
                         percent(static_cast<double>(n.written), static_cast<double>(n.lines)));
      if (n.local != 0) out += fmt::format("; {} of local memory per thread", bytes(n.local));
    }
    out += "\n";
    if (count && f.counts[i].contradicted != 0)
      out += fmt::format("         {} lines are read as read-only (op_flags), and written: replicas of them may be stale\n",
                         grouped(f.counts[i].contradicted));
    if (count && !f.incomplete[i].empty()) out += fmt::format("         incomplete: {}\n", f.incomplete[i]);
  }
  if (!f.structures.empty()) {
    std::uint64_t all = 0;
    for (const DataStructure& s : f.structures) all += s.bytes;
    out += fmt::format("  data         {}, {}\n",
                       f.structures.size() == 1 ? "1 structure" : fmt::format("{} structures", f.structures.size()),
                       bytes(all));
    for (const DataStructure& s : f.structures)
      out += fmt::format("         {:<28} {:>10} at {:#x}{}\n", s.name, bytes(s.bytes), s.address, owner(f.devices, s));
  }
  if (!count) out += "  --count reads every CTA: instructions, and the lines that they touch\n";
  return out;
}

std::string workload_json(const std::string& path, bool count) {
  const WorkloadFacts f = facts_of(path, count);
  Json out{{"workload", path}, {"format", f.format}, {"source", f.source}, {"written_by", f.importer}};
  out["selection"] = f.selection, out["lacks"] = f.lacks;
  if (f.devices.count != 0) out["devices"] = f.devices.count;
  count = !f.counts.empty();
  if (count) out["touched_bytes"] = f.lines * Access::kBlockBytes;
  out["kernels"] = Json::array();
  for (std::size_t i = 0; i < f.kernels.size(); ++i) {
    const KernelInfo& k = f.kernels[i];
    Json row{{"name", k.name},
             {"function", function_name(k.name)},
             {"grid", k.grid},
             {"block", k.block},
             {"ctas", k.ctas()},
             {"launched_ctas", k.launched_ctas},
             {"shared_bytes", k.shared_bytes}};
    if (f.devices.count != 0) row.update({{"device", k.place.device}, {"step", k.place.step}});
    if (count) {
      const KernelCounts& n = f.counts[i];
      row.update({{"instructions", n.instructions},
                  {"loads", n.loads},
                  {"stores", n.stores},
                  {"atomics", n.atomics},
                  {"barriers", n.barriers},
                  {"touched_bytes", n.lines * Access::kBlockBytes},
                  {"written_bytes", n.written * Access::kBlockBytes},
                  {"local_bytes_per_thread", n.local},
                  {"read_only_written_lines", n.contradicted},
                  {"incomplete", f.incomplete[i]}});
    }
    out["kernels"].push_back(std::move(row));
  }
  out["structures"] = Json::array();
  for (const DataStructure& s : f.structures)
    out["structures"].push_back({{"name", s.name}, {"address", s.address}, {"bytes", s.bytes}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace atl
