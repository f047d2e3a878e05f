#pragma once
#include <stdexcept>
#include <string>

namespace atl {

/// Every error that a user can cause or must hear of. The message names what (file, key, offset) and the remedy.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bad configuration, trace, workload or command line: the user's input is at fault. Exit code 2.
class InputError : public Error {
 public:
  InputError(const std::string& where, const std::string& what) : Error(where + ": " + what), where_(where) {}
  const std::string& where() const { return where_; }

 private:
  std::string where_;
};

/// The simulated machine stopped moving, or broke one of its own rules. Exit code 3.
class SimulationError : public Error {
 public:
  using Error::Error;
};

/// Reading or writing failed: disk full, no permission, file vanished. Exit code 4.
class IoError : public Error {
 public:
  IoError(const std::string& path, const std::string& what) : Error(path + ": " + what) {}
};

}  // namespace atl
