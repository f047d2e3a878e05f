#include "core/app/shipped_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/app/child_process.hpp"
#include "core/engine/error.hpp"
#include "inputs/config/suggest.hpp"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// Where to look, relative to the folder of all of them, and with which suffix.
struct Place {
  const char *folder, *suffix;
};
constexpr Place kWorkloads[] = {{"workloads", ".json"}, {"workloads/sac", ".json"}, {"workloads/traces", ".h5"}};
constexpr Place kExperiments[] = {{"experiments", ".json"}};

fs::path shipped() {
  const fs::path installed = fs::path(this_program()).parent_path() / "../share/atoll";
  return fs::exists(installed / "experiments") ? installed : fs::path(ATOLL_SOURCE_INPUTS);
}

template <std::size_t N> std::vector<std::string> names(const Place (&places)[N]) {
  std::vector<std::string> found;
  const fs::path root = shipped();
  for (const Place& p : places) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root / p.folder, none))
      if (entry.path().extension() == p.suffix) found.push_back(entry.path().stem().string());
  }
  std::ranges::sort(found);
  return found;
}

/// Empty if there is none.
template <std::size_t N> std::string find(const std::string& name, const Place (&places)[N]) {
  const fs::path root = shipped();
  std::error_code error;
  for (const Place& p : places) {
    fs::path file = root / p.folder / (name + p.suffix);
    if (fs::exists(file, error)) return file.lexically_normal().string();
  }
  return "";
}

template <std::size_t N> std::string file_of(const std::string& word, const Place (&places)[N], std::string_view what) {
  std::error_code error;
  const bool is_path = word.find_first_of("./") != std::string::npos;
  // A folder may be of results of what is asked for; with a list in it, it is a workload itself.
  const bool traces = what == "workload" && fs::exists(fs::path(word) / "kernelslist.g", error);
  const bool folder = !is_path && fs::is_directory(word, error) && !traces;
  if (!folder && (is_path || fs::exists(word, error))) return word;
  if (std::string file = find(word, places); !file.empty()) return file;
  if (folder) return word;
  const std::string close = closest_key(word, names(places));
  throw InputError(word,
                   fmt::format("there is no such file, and no {} of this name comes with Atoll{}", what,
                               close.empty() ? "; `atoll list` shows them" : fmt::format("; did you mean `{}`?", close)));
}

template <std::size_t N> std::string hidden(const std::string& word, const Place (&places)[N], std::string_view what) {
  const bool is_path = word.find_first_of("./") != std::string::npos;
  const std::string other = !is_path && file_of(word, places, what) == word ? find(word, places) : "";
  if (other.empty()) return "";
  std::error_code error;
  return fmt::format("`{}` is the {} in this folder; the {} of this name that comes with Atoll is {}", word,
                     fs::is_directory(word, error) ? "folder" : "file", what, other);
}

}  // namespace

std::string shipped_workload(const std::string& name) { return find(name, kWorkloads); }
std::string workload_file(const std::string& word) { return file_of(word, kWorkloads, "workload"); }
std::string experiment_file(const std::string& word) { return file_of(word, kExperiments, "experiment"); }
std::string hidden_workload(const std::string& word) { return hidden(word, kWorkloads, "workload"); }
std::string hidden_experiment(const std::string& word) { return hidden(word, kExperiments, "experiment"); }
std::vector<std::string> shipped_workloads() { return names(kWorkloads); }
std::vector<std::string> shipped_experiments() { return names(kExperiments); }

}  // namespace atl
