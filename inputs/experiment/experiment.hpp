#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/config/field.hpp"

/// A comparison: some workloads, each on some variants of one system (docs/experiments.md).
namespace atl {

struct ExperimentWorkload {
  std::string name, path, group;
  std::vector<std::string> sets;  ///< key=value, above the experiment's and below those of a variant

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.name, {"name", "", 0, 0, "row of the table and part of the result's file name"});
    v(s.path,
      {"path", "", 0, 0, "trace or workload, relative to the experiment's file, or the name of one that comes with Atoll"});
    v(s.group, {"group", "", 0, 0, "workloads that have a mean of their own"});
  }
};

/// A system with these overrides: a column of the table.
struct Variant {
  std::string name, baseline;
  std::vector<std::string> sets;  ///< key=value

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.name, {"name", "", 0, 0, "column of the table and part of the result's file name"});
    v(s.baseline, {"baseline", "", 0, 0, "variant that its speed-up refers to, if not the experiment's"});
  }
};

/// Figures of a paper, by variant and then by workload or group. `kAllGroups` is the group of all.
struct Reference {
  using Figures = std::map<std::string, std::map<std::string, double>>;
  std::string source;
  Figures speedup, mean;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.source, {"source", "", 0, 0, "paper and figure"});
  }
};
inline constexpr std::string_view kAllGroups = "ALL";

struct Experiment {
  std::string doc, recorded_by, system, baseline, sample;
  std::uint32_t scale = 0, ranks = 0;  ///< scale 0: as the system has it
  std::vector<std::string> sets;       ///< key=value, below those of workloads and variants
  std::vector<ExperimentWorkload> workloads;
  std::vector<Variant> variants;  ///< multiplied by `sweeps`, each with its baseline, without those of `except`
  Reference reference;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.doc, {"doc", "", 0, 0, "free text"});
    v(s.recorded_by,
      {"recorded_by", "", 0, 0, "what records workloads that do not come with it: told where one is missing"});
    v(s.system, {"system", "", 0, 0, "preset or JSON file, relative to the experiment's file"});
    v(s.baseline, {"baseline", "", 0, 0, "variant that speed-ups refer to; the first one, if not given"});
    v(s.sample, {"sample", "", 0, 0, "all runs are sampled: what --sample takes, such as error=3%"});
    v(s.scale, {"scale", "", 1, 1024, "divides LLC and footprints; 1: as published; without it: as the system has it"});
    v(s.ranks, {"ranks", "", 0, 65, "MPI ranks of each run; 0: one process without MPI"});
  }
};

/// Reads strictly: unknown keys, names given twice, a baseline or a reference that names nothing are InputErrors at file and
/// key. Paths come out relative to the current folder. Whether they exist is for check_point to say: a table needs no
/// inputs. `shipped`: the file of a workload that comes with Atoll, by its name; empty if there is none.
using ShippedFile = std::function<std::string(const std::string& name)>;
Experiment read_experiment(const std::string& path, const ShippedFile& shipped = {});

/// As a file in `folder` that read_experiment understands, with `sweeps` multiplied out.
std::string to_json(const Experiment& experiment, const std::string& folder);

/// One run: a workload on a variant.
struct Point {
  std::string name;  ///< workload__variant
  const ExperimentWorkload* workload;
  const Variant* variant;
};

/// All points, workload by workload. They refer to `experiment`.
std::vector<Point> expand(const Experiment& experiment);

/// The keys of `key=value` overrides; a section as its keys: `llc={"ways":8}` has llc.ways.
std::vector<std::string> keys_set(const std::vector<std::string>& sets);
/// These, and those in which the system's file departs from its base, each once.
std::vector<std::string> keys_given(const std::string& system, const std::vector<std::string>& sets);

/// `key=value` overrides of a point, weakest first.
std::vector<std::string> overrides(const Experiment& experiment, const Point& point);

/// The configuration that a run of this point would store (`effective_json`). Throws InputError, naming the point, if the
/// system or one of the overrides is wrong.
std::string effective_config(const Experiment& experiment, const Point& point);

/// Throws InputError if the point cannot be run, before hours are spent on the others.
void check_point(const Experiment& experiment, const Point& point);
/// That there is no file of the point's workload, and what to do; empty: there is one.
std::string absent_workload(const Experiment& experiment, const Point& point);

}  // namespace atl
