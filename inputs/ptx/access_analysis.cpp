#include "inputs/ptx/access_analysis.hpp"

#include <algorithm>
#include <set>

#include "inputs/ptx/access_flow.hpp"
#include "inputs/ptx/shared_layout.hpp"

namespace atl::ptx {
namespace {

/// The kernel and every function that it may call.
std::vector<std::uint32_t> runs(const Module& m, std::uint32_t kernel) {
  std::vector<std::uint32_t> found{kernel};
  for (std::size_t at = 0; at < found.size(); ++at)
    for (const std::uint32_t f : callees(m, m.functions[found[at]]))
      if (std::find(found.begin(), found.end(), f) == found.end()) found.push_back(f);
  return found;
}

/// Goes over all accesses once the flow is known.
class Collector {
 public:
  Collector(const Module& m, AccessFlow& flow, KernelAccess& out) : m_(m), flow_(flow), out_(out) {}

  void collect(std::uint32_t f) {
    const Function& function = m_.functions[f];
    for (std::uint32_t at = 0; at < function.code.size(); ++at) instruction(f, at, function.code[at]);
  }

  void conclude() {
    for (DataObject& o : out_.objects) {
      for (auto* lines : {&o.reads, &o.writes, &o.atomics}) sort_unique(*lines);
      const bool constant = !o.parameter && m_.variables[o.index].space == Space::constant;
      o.kind = !o.writes.empty()    ? AccessKind::written
               : !o.atomics.empty() ? AccessKind::atomic
               : o.reads.empty()    ? AccessKind::unused
                                    : AccessKind::read_only;
      // Nothing writes constant memory.
      if (!out_.unknown_writes.empty() && o.kind == AccessKind::read_only && !constant) o.kind = AccessKind::unknown;
    }
    sort_unique(out_.unknown_writes);
    for (GlobalLoad& l : out_.loads)
      l.read_only = l.known && std::all_of(l.objects.begin(), l.objects.end(),
                                           [&](std::uint32_t o) { return out_.objects[o].kind == AccessKind::read_only; });
  }

 private:
  static void sort_unique(std::vector<std::uint32_t>& lines) {
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  }

  void instruction(std::uint32_t f, std::uint32_t at, const Instruction& i) {
    const bool global = i.space == Space::generic || i.space == Space::global || i.space == Space::constant;
    switch (i.op) {
      case Op::ld:
      case Op::ldu:
        if (global) read(f, at, i, i.src[0]);
        break;
      case Op::st:
        if (global) change(f, i, i.src[0], &DataObject::writes);
        // A parameter that changes behind a pointer is not followed.
        if (i.space == Space::param && !i.src[0].is(Operand::param)) out_.unknown_writes.push_back(i.line);
        break;
      case Op::atom:
      case Op::red:
        if (global) change(f, i, i.src[0], &DataObject::atomics);
        break;
      case Op::wmma:
        if (global && i.mode == Mode::store_d) change(f, i, i.src[0], &DataObject::writes);
        if (global && (i.mode == Mode::load_a || i.mode == Mode::load_b || i.mode == Mode::load_c)) read(f, at, i, i.src[0]);
        break;
      case Op::cp:
        if (i.mode == Mode::copy) note(flow_.address(f, i.src[1]), i.line, &DataObject::reads);
        break;
      case Op::bulk:
        if (i.mode == Mode::commit_group || i.mode == Mode::wait_group) break;
        if (i.shape != 0) {  // the address is in a tensor map
          if (i.space == Space::global && i.mode != Mode::prefetch) out_.unknown_writes.push_back(i.line);
          break;
        }
        if (i.source_space == Space::global) note(flow_.address(f, i.src[1]), i.line, &DataObject::reads);
        if (i.space != Space::global) break;
        if (i.mode == Mode::prefetch)
          note(flow_.address(f, i.src[0]), i.line, &DataObject::reads);
        else
          change(f, i, i.src[0], i.mode == Mode::copy ? &DataObject::writes : &DataObject::atomics);
        break;
      case Op::tex:
      case Op::tld4:
        note(flow_.address(f, i.src[0]), i.line, &DataObject::reads);
        out_.textures.push_back(load_of(f, at, flow_.address(f, i.src[0])));
        break;
      case Op::suld:
        note(flow_.address(f, i.src[0]), i.line, &DataObject::reads);
        break;
      // Surfaces lie in arrays, which no pointer reaches.
      case Op::sust:
        note(flow_.address(f, i.src[0]), i.line, &DataObject::writes);
        out_.unknown_surfaces |= !load_of(f, at, flow_.address(f, i.src[0])).known;
        break;
      case Op::call: {
        const std::vector<std::uint32_t> targets = call_targets(m_, m_.functions[f].calls[i.table]);
        const bool known = std::all_of(targets.begin(), targets.end(), [&](std::uint32_t t) {
          const Function& callee = m_.functions[t];
          return callee.defined || external_effect(callee.name) != External::unknown;
        });
        if (targets.empty() || !known) out_.unknown_writes.push_back(i.line);
        break;
      }
      case Op::unsupported:
        out_.unknown_writes.push_back(i.line);
        break;
      default:
        break;
    }
  }

  void note(const ObjectSet& places, std::uint32_t line, std::vector<std::uint32_t> DataObject::*lines) {
    places.for_each([&](std::uint32_t p) {
      if (p >= flow_.first_object()) (out_.objects[p - flow_.first_object()].*lines).push_back(line);
    });
  }

  void read(std::uint32_t f, std::uint32_t at, const Instruction& i, const Operand& address) {
    const ObjectSet places = flow_.address(f, address);
    note(places, i.line, &DataObject::reads);
    if (i.space == Space::constant) return;
    GlobalLoad l = load_of(f, at, places);
    // Volatile and ordered loads want to see what others write, be it the host or another kernel.
    l.known &= !i.has(kVolatile) && (i.order == Order::none || i.order == Order::weak);
    out_.loads.push_back(std::move(l));
  }

  GlobalLoad load_of(std::uint32_t f, std::uint32_t at, const ObjectSet& places) const {
    GlobalLoad l;
    l.function = f;
    l.instruction = at;
    l.known = !places.empty();
    places.for_each([&](std::uint32_t p) {
      if (p >= flow_.first_object())
        l.objects.push_back(p - flow_.first_object());
      else
        l.known = false;
    });
    return l;
  }

  void change(std::uint32_t f, const Instruction& i, const Operand& address, std::vector<std::uint32_t> DataObject::*lines) {
    const ObjectSet places = flow_.address(f, address);
    note(places, i.line, lines);
    if (places.empty() || places.has(Places::kUnknown) || places.has(Places::kFrame)) out_.unknown_writes.push_back(i.line);
  }

  const Module& m_;
  AccessFlow& flow_;
  KernelAccess& out_;
};

}  // namespace

const char* name_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::unused:
      return "no access";
    case AccessKind::read_only:
      return "read-only";
    case AccessKind::written:
      return "written";
    case AccessKind::atomic:
      return "atomic";
    default:
      return "unknown";
  }
}

KernelAccess analyse_kernel(const Module& m, std::uint32_t kernel) {
  KernelAccess out;
  out.kernel = kernel;
  const std::vector<std::uint32_t> functions = runs(m, kernel);
  AccessFlow flow(m, kernel, functions, out.objects);
  flow.run();
  Collector collector(m, flow, out);
  for (const std::uint32_t f : functions) collector.collect(f);
  collector.conclude();
  return out;
}

std::vector<KernelAccess> analyse(Module& m) {
  std::vector<KernelAccess> all;
  for (std::uint32_t f = 0; f < m.functions.size(); ++f)
    if (m.functions[f].entry && m.functions[f].defined) all.push_back(analyse_kernel(m, f));
  for (Function& f : m.functions)
    for (Instruction& i : f.code) i.read_only = false;
  for (const bool claim : {true, false})  // one kernel that disagrees is enough
    for (const KernelAccess& k : all)
      for (const GlobalLoad& l : k.loads)
        if (l.read_only == claim) m.functions[l.function].code[l.instruction].read_only = claim;
  return all;
}

std::vector<bool> read_only_at_launch(const KernelAccess& access, const std::vector<std::uint64_t>& allocation) {
  std::set<std::uint64_t> changed;
  for (std::uint32_t o = 0; o < access.objects.size(); ++o) {
    const AccessKind kind = access.objects[o].kind;
    if (kind == AccessKind::written || kind == AccessKind::atomic) changed.insert(allocation[o]);
  }
  std::vector<bool> result;
  for (const GlobalLoad& l : access.loads) {
    bool pointer = false, stays = l.known && access.unknown_writes.empty();
    for (const std::uint32_t o : l.objects) {
      if (allocation[o] == 0) continue;
      pointer = true;
      stays = stays && changed.count(allocation[o]) == 0;
    }
    result.push_back(stays && pointer);
  }
  return result;
}

}  // namespace atl::ptx
