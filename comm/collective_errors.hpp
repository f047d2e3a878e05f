#pragma once
#include <exception>
#include <functional>

#include "comm/transport.hpp"
#include "core/engine/error.hpp"

namespace atl {

/// Another rank has failed and reports it; this one only has to end, with the same exit code.
class PeerFailure : public Error {
 public:
  explicit PeerFailure(int exit_code) : Error("another rank failed"), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// An ExitCode.
int exit_code_of(const std::exception_ptr& error);

/// Collective: every rank says whether it failed (`mine`, null if not). If any did, all of them throw: the lowest rank
/// that failed its own error, the others PeerFailure. So a job ends as a whole, with one message.
void throw_if_any_failed(Transport& transport, const std::exception_ptr& mine);

/// Runs `step` on every rank and agrees on the outcome. The step itself is nothing collective: a rank that fails in it
/// would answer the others' question with its own.
void run_collectively(Transport& transport, const std::function<void()>& step);

}  // namespace atl
