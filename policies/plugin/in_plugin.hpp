#pragma once
#include <cfenv>
#include <string>

namespace atl {

/// While the program runs a plug-in's code. A plug-in that ends the program would end it like a run that was done, and one
/// that crashes without a line that says whose fault it was: both name the plug-in's `file`, and neither ends with 0. Paths
/// of the run are relative to the folder in which it began, to which the destructor goes back. Numbers are rounded as
/// before, since the run's energies are sums of them.
class InPlugin {
 public:
  explicit InPlugin(const std::string& file);
  InPlugin(const InPlugin&) = delete;
  InPlugin& operator=(const InPlugin&) = delete;
  ~InPlugin();

 private:
  int folder_;
  std::fenv_t rounding_{};
};

}  // namespace atl
