#pragma once
#include <memory>
#include <string>

#include "comm/transport.hpp"

namespace atl {

/// MPI_Init to MPI_Finalize. Without mpirun there is one rank and MPI is not started at all.
class MpiSession {
 public:
  /// Looks at the launcher's environment only. When ranks outnumber the processors of this process, Open MPI is told to
  /// yield while it waits; that must happen before MPI_Init, which reads it once.
  /// `parallel`: else there is one rank, and MPI is not started, whoever started this process. `threads`: that will use the
  /// transport in each rank.
  MpiSession(int& argc, char**& argv, bool parallel, int threads = 1);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  Transport& transport() { return *transport_; }
  std::string host() const;
  /// Why its threads cannot be ranks; empty: they can.
  std::string no_threads() const;
  /// Ends the whole job, if there is one, whatever the other ranks do.
  void abort(int exit_code);

 private:
  bool active_ = false;
  int threads_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace atl
