#pragma once
#include <stdexcept>
#include <string>

/// Checks of what a caller promises, at the places that trust it because they run for every event. They are compiled in
/// where the build has ATOLL_ASSERTIONS (presets dev, asan-ubsan and tsan; CONTRIBUTING.md) and cost nothing elsewhere.
namespace atl {

/// A component broke the contract of another: a defect of the program and of nobody's input.
class AssertionFailure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

#ifdef ATOLL_ASSERTIONS
inline constexpr bool kAssertions = true;
#else
inline constexpr bool kAssertions = false;
#endif

[[noreturn]] inline void fail_assertion(const char* condition, const char* file, int line) {
  throw AssertionFailure(std::string(file) + ":" + std::to_string(line) + ": assertion failed: " + condition);
}

}  // namespace atl

#ifdef ATOLL_ASSERTIONS
#define ATOLL_ASSERT(condition) \
  (static_cast<bool>(condition) ? static_cast<void>(0) : ::atl::fail_assertion(#condition, __FILE__, __LINE__))
#else
#define ATOLL_ASSERT(condition) static_cast<void>(0)
#endif
