// What a run would take on any number of ranks, from its events per process and window, or on threads that share its chips'
// parts: for docs/scaling.md. Prints a line of JSON for each layout.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <bit>

#include "core/chip/noc/topology.hpp"
#include "inputs/config/reader.hpp"
#include "partition/rank_map.hpp"
#include "tests/bench/part_log.hpp"
#include "tests/bench/replay.hpp"

using namespace atl;
using namespace atl::bench;

namespace {

struct Options {
  std::string system, workload;
  std::vector<std::string> sets, maps;
  std::vector<std::uint32_t> ranks, threads;
  double seconds = 0, batch = 0, wire = 0, match = 0, sync = 0.1;
};

Costs costs_of(const Options& o, std::uint64_t events, std::uint32_t ranks, double batch) {
  // All ranks learn the earliest event of all in as many steps of messages as their number has binary digits.
  const auto steps = static_cast<double>(std::bit_width(ranks - 1));
  const double wire = 1e-6 * o.wire;
  return {o.seconds / static_cast<double>(events), batch, wire, steps * (batch + wire)};
}

void tell(const Options& o, const WorkLog& log, const RankMap& map, const std::vector<std::vector<Edge>>& edges) {
  std::vector<int> rank_of;
  for (LpId lp = 0; lp < map.lps(); ++lp) rank_of.push_back(static_cast<int>(map.rank_of(lp)));
  const auto with = [&](double batch) { return replay(log, rank_of, edges, costs_of(o, log.events, map.ranks(), batch)); };
  double batch = 1e-6 * o.batch;
  if (o.match > 0) {  // time grows with what a batch costs
    double low = 0, high = o.match;
    for (int i = 0; i < 60; ++i) (with(batch = (low + high) / 2).seconds < o.match ? low : high) = batch;
  }
  const Replayed r = with(batch);
  fmt::print(R"({{"ranks": {}, "seconds": {}, "waited": {}, "windows": {}, "batch_us": {}, "events": {}}})"
             "\n",
             map.ranks(), r.seconds, r.waited, r.windows, 1e6 * batch, log.events);
}

}  // namespace

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape): what it throws ends it, with its words
  Options o;
  CLI::App app("What a run takes on ranks, from its events per process and window");
  app.add_option("system", o.system)->required();
  app.add_option("workload", o.workload)->required();
  app.add_option("--set", o.sets, "KEY=VALUE")->allow_extra_args(false);
  app.add_option("--seconds", o.seconds, "that the run takes on one rank")->required();
  app.add_option("--map", o.maps, "ranks of all processes, as for `atoll run`")->allow_extra_args(false);
  app.add_option("--ranks", o.ranks, "the default map of so many")->allow_extra_args(false);
  app.add_option("--batch", o.batch, "microseconds of a batch to and fro");
  app.add_option("--wire", o.wire, "microseconds until a batch is there");
  app.add_option("--threads", o.threads, "so many, which share the parts of all chips")->allow_extra_args(false);
  app.add_option("--sync", o.sync, "microseconds until a thread hears that another has ended a step");
  app.add_option("--match", o.match, "find the batch with which the run takes so many seconds");
  CLI11_PARSE(app, argc, argv);

  const SystemConfig config = read_system(o.system, o.sets);
  const auto workload = open_workload(o.workload, {config.scale, config.partition.page_bytes(), config.chips});
  if (!o.threads.empty()) {
    const PartLog log = log_parts(config, *workload);
    const double event = 1e6 * o.seconds / static_cast<double>(log.total);
    for (const std::uint32_t threads : o.threads)
      fmt::print(R"({{"threads": {}, "speed_up": {}, "steps": {}, "cycles": {}, "events": {}, "uncore": {}}})"
                 "\n",
                 threads, speed_up(log, threads, o.sync / event), log.steps(), log.length, log.total, log.uncore);
    return 0;
  }
  const auto edges = system_edges(config);
  const WorkLog log = log_work(config, *workload);
  for (const std::string& map : o.maps) {
    std::uint32_t ranks = 0;
    for (std::size_t at = 0; at != std::string::npos; at = map.find(',', at + 1))
      ranks = std::max(ranks, static_cast<std::uint32_t>(std::stoul(map.substr(at == 0 ? 0 : at + 1))) + 1);
    tell(o, log, RankMap::parse(map, config.chips, ranks), edges);
  }
  for (const std::uint32_t ranks : o.ranks) tell(o, log, RankMap::spread(config.chips, ranks), edges);
}
