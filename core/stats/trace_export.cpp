#include "core/stats/trace_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "core/engine/function_name.hpp"
#include "core/stats/human.hpp"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;
using Part = StackPart;

enum Thread : int { kKernels = 1, kDecisions = 2, kPhases = 1 };

/// Events in the order of writing; a viewer wants those of a track by time.
class Trace {
 public:
  void name(const char* what, std::size_t process, int thread, const std::string& text) {
    Json e = {{"ph", "M"}, {"name", what}, {"pid", process}};
    if (thread != 0) e["tid"] = thread;
    e["args"]["name"] = text;
    add(std::move(e));
  }
  void sort_index(std::size_t process, std::size_t index) {
    add({{"ph", "M"}, {"name", "process_sort_index"}, {"pid", process}, {"args", {{"sort_index", index}}}});
  }
  void slice(std::size_t process, int thread, const std::string& name, double from, double cycles, Json args) {
    if (cycles <= 0) return;
    add({{"ph", "X"}, {"name", name}, {"pid", process}, {"tid", thread}, {"ts", from}, {"dur", cycles}, {"args", args}});
  }
  void instant(std::size_t process, int thread, const std::string& name, double at, Json args) {
    add({{"ph", "i"}, {"s", "t"}, {"name", name}, {"pid", process}, {"tid", thread}, {"ts", at}, {"args", args}});
  }
  void counter(std::size_t process, const std::string& name, double at, Json args) {
    add({{"ph", "C"}, {"name", name}, {"pid", process}, {"ts", at}, {"args", args}});
  }
  std::string take(Json&& other) {
    // A name that is not UTF-8 must not cost the user the rest.
    const std::string about = other.dump(-1, ' ', false, Json::error_handler_t::replace);
    return fmt::format("{{\"displayTimeUnit\": \"ms\",\n\"otherData\": {},\n\"traceEvents\": [\n{}\n]}}\n", about, events_);
  }

 private:
  void add(Json&& e) {
    if (!events_.empty()) events_ += ",\n";
    events_ += e.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  std::string events_;
};

double cycles(Cycle c) { return static_cast<double>(c); }

/// Ends of what a stopped run did not finish lie at its end.
double end_of(const RunResult& r, Cycle at) { return cycles(std::min(at, r.cycles)); }

void add_kernels(Trace& t, const RunResult& r) {
  const std::size_t controller = r.chips.size();
  for (std::size_t k = 0; k < r.kernels.size(); ++k) {
    const KernelResult& kernel = r.kernels[k];
    if (kernel.launched >= r.cycles) continue;  // never begun
    const double from = cycles(kernel.launched);
    const Json args = {{"kernel", k}, {"ctas", kernel.ctas}, {"finished", kernel.finished <= r.cycles}};
    t.slice(controller, kKernels, kernel.name.empty() ? fmt::format("kernel {}", k) : function_name(kernel.name), from,
            end_of(r, kernel.finished) - from, args);
  }
  for (const Decision& d : r.decisions) {
    Json args = {{"kernel", d.kernel}};
    for (const auto& [name, value] : d.values) args[name] = std::isfinite(value) ? Json(value) : Json();
    t.instant(controller, kDecisions, d.choice.empty() ? "decision" : d.choice, cycles(d.cycle), args);
  }
}

/// What a chip does during a kernel, and what its warps wait for meanwhile. Phases of one kind may have alternated; they are
/// drawn one after another.
void add_phases(Trace& t, const RunResult& r, std::size_t chip) {
  for (std::size_t k = 0; k < std::min(r.stack.size(), r.kernels.size()); ++k) {
    const Stack& s = r.stack[k][chip];
    if (s.total() <= 0) continue;
    double at = cycles(r.kernels[k].launched);
    const auto phase = [&](const char* name, double length) {
      t.slice(chip, kPhases, name, at, length, {{"kernel", k}});
      at += length;
    };
    const double ending = s[Part::flush] + s[Part::coherence] + s[Part::balance];
    const double running = s.total() - s[Part::launch] - ending;
    phase("launch", s[Part::launch]);
    Json shares;
    for (const StackPartInfo& p : stack_parts()) {
      const bool runs = p.id != Part::launch && p.id != Part::flush && p.id != Part::coherence && p.id != Part::balance;
      if (runs && running > 0) shares[std::string(p.label)] = 100 * s[p.id] / running;
    }
    if (running > 0) t.counter(chip, "% of running", at, shares);
    phase("running", running);
    phase("drain and flush", s[Part::flush]);
    phase("coherence", s[Part::coherence]);
    phase("wait for other chips", s[Part::balance]);
  }
}

/// How many packets or entries were in all queues of a kind of this chip, on average over the looks of the period.
void add_queues(Trace& t, const Counters& c, std::size_t chip, double at) {
  struct Queue {
    Counter counter;
    const char *name, *unit;
  };
  static constexpr Queue kQueues[] = {{Counter::queue_l1_mshrs, "L1 MSHRs", "in use"},
                                      {Counter::queue_request, "request crossbar", "packets"},
                                      {Counter::queue_slice, "LLC slices", "packets"},
                                      {Counter::queue_llc_mshrs, "LLC MSHRs", "in use"},
                                      {Counter::queue_dram, "DRAM", "packets"},
                                      {Counter::queue_response, "response crossbar", "packets"},
                                      {Counter::queue_link_out, "links outwards", "packets"},
                                      {Counter::queue_link_in, "links inwards", "packets"}};
  const auto looked = static_cast<double>(c[Counter::queue_looked]);
  if (looked <= 0) return;
  for (const Queue& q : kQueues)
    t.counter(chip, fmt::format("queue: {}", q.name), at, {{q.unit, static_cast<double>(c[q.counter]) / looked}});
}

void add_series(Trace& t, const RunResult& r, const Capacity& capacity, std::size_t chip) {
  Cycle from = 0;
  for (const Sample& sample : std::span(r.samples).first(periods_with_rates(r))) {
    const Counters& c = sample.chips[chip];
    const double at = cycles(from), length = cycles(sample.end - from);
    from = sample.end;
    if (length <= 0 || at >= cycles(r.cycles)) continue;
    const auto n = [&](Counter counter) { return static_cast<double>(c[counter]); };
    const auto value = [&](const char* name, const char* unit, double amount) {
      t.counter(chip, name, at, {{unit, amount}});
    };
    const auto rate = [&](const char* name, Counter part, Counter whole) {
      if (c[whole] != 0) value(name, "%", 100 * n(part) / n(whole));
    };
    value("IPC", "instructions/cycle", n(Counter::warp_instructions) / length);
    rate("L1 hits", Counter::l1_hits, Counter::l1_accesses);
    rate("L2 hits", Counter::l2_hits, Counter::l2_accesses);
    rate("LLC hits", Counter::llc_hits, Counter::llc_accesses);
    value("DRAM", "bytes/cycle", (n(Counter::dram_read_bytes) + n(Counter::dram_write_bytes)) / length);
    value("links outwards", "bytes/cycle", n(Counter::link_bytes) / length);
    value("links inwards", "bytes/cycle", n(Counter::link_received_bytes) / length);
    // Little's law: the loads that are under way at a time, on average.
    value("loads under way", "loads", n(Counter::load_latency_cycles) / length);
    add_queues(t, c, chip, at);
    for (const ResourceInfo& i : resources()) {
      if (capacity[i.id] <= 0) continue;
      t.counter(chip, fmt::format("busy: {}", i.label), at,
                {{"%", 100 * work_of(c, capacity, i.id) / (capacity[i.id] * length)}});
    }
  }
}

}  // namespace

std::string perfetto_trace(const RunResult& r, const Capacities& capacities) {
  Trace t;
  const std::size_t controller = r.chips.size();
  t.name("process_name", controller, 0, "kernels");
  t.sort_index(controller, 0);
  t.name("thread_name", controller, kKernels, "kernels");
  t.name("thread_name", controller, kDecisions, "decisions");
  add_kernels(t, r);
  for (std::size_t chip = 0; chip < r.chips.size(); ++chip) {
    t.name("process_name", chip, 0, fmt::format("chip {}", chip));
    t.sort_index(chip, chip + 1);
    t.name("thread_name", chip, kPhases, "phases");
    add_phases(t, r, chip);
    add_series(t, r, capacities[chip], chip);
  }
  return t.take({{"time_unit", "1 us in this trace is 1 core cycle"},
                 {"system", r.provenance.system},
                 {"workload", r.provenance.workload},
                 {"digest", hex(r.digest)},
                 {"version", r.provenance.version}});
}

}  // namespace atl
