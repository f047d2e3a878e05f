#include "inputs/experiment/experiment.hpp"
#include "tests/fuzz/harness.hpp"

/// An experiment's JSON file. What is accepted must read back as itself: a sweep leaves it beside its results.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace atl;
  static const fuzz::Folder folder;
  const std::string path = folder.write("experiment.json", fuzz::text_of(data, size));
  fuzz::accepted([&] {
    const Experiment experiment = read_experiment(path);
    const auto again = [&](const std::string& text) {
      std::string out;
      folder.write("again.json", text);
      fuzz::accepted([&] { out = to_json(read_experiment(folder.path("again.json")), folder.path("")); });
      return out;
    };
    const std::string text = again(to_json(experiment, folder.path("")));  // keys are in another order from here on
    fuzz::require(!text.empty() && again(text) == text, "an experiment reads back as itself");
    std::size_t checked = 0;
    for (const Point& point : expand(experiment))
      if (++checked <= 4) fuzz::accepted([&] { check_point(experiment, point); });
  });
  return 0;
}
