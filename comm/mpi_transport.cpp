#include "comm/mpi_transport.hpp"

#include <mpi.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "comm/launcher.hpp"
#include "comm/serial_transport.hpp"

namespace atl {
namespace {

constexpr int kFirstTag = 1, kRestTag = 2;
/// First part of every exchange: sent without knowing the size of the other's. Stays below the eager limit set below.
constexpr std::size_t kFirstBytes = 60 * 1024;

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(bool crowded) : crowded_(crowded) {
    if (crowded_) prctl(PR_SET_TIMERSLACK, 1);  // nanoseconds; 50,000 otherwise
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  /// Two steps: a first part of bounded size that starts with the total size, and, seldom, the rest.
  void exchange(std::vector<Peer*>& peers) override {
    const std::size_t n = peers.size();
    if (first_in_.size() < n) first_in_.resize(n), first_out_.resize(n);
    requests_.clear();
    for (std::size_t i = 0; i < n; ++i) {
      first_in_[i].resize(kFirstBytes);
      MPI_Irecv(first_in_[i].data(), static_cast<int>(kFirstBytes), MPI_BYTE, peers[i]->rank, kFirstTag, MPI_COMM_WORLD,
                &requests_.emplace_back());
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::string& body = peers[i]->send;
      const std::uint64_t total = body.size();
      const std::size_t part = std::min<std::size_t>(total, kFirstBytes - sizeof total);
      std::string& out = first_out_[i];
      out.resize(sizeof total + part);
      std::memcpy(out.data(), &total, sizeof total);
      std::memcpy(out.data() + sizeof total, body.data(), part);
      MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, peers[i]->rank, kFirstTag, MPI_COMM_WORLD,
                &requests_.emplace_back());
    }
    wait_all();
    for (std::size_t i = 0; i < n; ++i) {
      std::uint64_t total;
      std::memcpy(&total, first_in_[i].data(), sizeof total);
      const std::size_t part = std::min<std::size_t>(total, kFirstBytes - sizeof total);
      peers[i]->receive.assign(first_in_[i].data() + sizeof total, part);
      if (total > part) {
        peers[i]->receive.resize(total);
        MPI_Irecv(peers[i]->receive.data() + part, static_cast<int>(total - part), MPI_BYTE, peers[i]->rank, kRestTag,
                  MPI_COMM_WORLD, &requests_.emplace_back());
      }
      const std::string& body = peers[i]->send;
      const std::size_t sent = std::min<std::size_t>(body.size(), kFirstBytes - sizeof total);
      if (body.size() > sent) {
        MPI_Isend(body.data() + sent, static_cast<int>(body.size() - sent), MPI_BYTE, peers[i]->rank, kRestTag,
                  MPI_COMM_WORLD, &requests_.emplace_back());
      }
    }
    if (!requests_.empty()) wait_all();
  }

  std::uint64_t all_min(std::uint64_t value) override {
    std::uint64_t result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return result;
  }

  void broadcast(std::string& body, int root) override {
    std::uint64_t size = body.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, root, MPI_COMM_WORLD);
    body.resize(size);
    MPI_Bcast(body.data(), static_cast<int>(size), MPI_BYTE, root, MPI_COMM_WORLD);
  }

  std::vector<std::string> all_gather(const std::string& body) override {
    std::vector<std::string> all(static_cast<std::size_t>(size_));
    for (int r = 0; r < size_; ++r) {
      auto& slot = all[static_cast<std::size_t>(r)];
      if (r == rank_) slot = body;
      broadcast(slot, r);
    }
    return all;
  }

 private:
  /// Polls for a while, then sleeps for moments. A waiting rank that only yields stays in the run queue, and on processors
  /// that others want too it gets its turn back after whole time slices; one that sleeps is woken at once.
  void wait_all() {
    const int n = static_cast<int>(requests_.size());
    for (int polls = 0;; ++polls) {
      int done = 0;
      MPI_Testall(n, requests_.data(), &done, MPI_STATUSES_IGNORE);
      if (done) break;
      if (crowded_ && polls >= kPollsBeforeSleep) {
        const timespec moment{0, 1000};
        nanosleep(&moment, nullptr);
      }
    }
    requests_.clear();
  }

  static constexpr int kPollsBeforeSleep = 100;
  int rank_ = 0, size_ = 1;
  bool crowded_;
  std::vector<MPI_Request> requests_;
  std::vector<std::string> first_in_, first_out_;
};

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  if (!started_by_launcher()) {
    transport_ = std::make_unique<SerialTransport>();
    return;
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  const int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const int local = ranks_on_this_host();
  const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  // A rank bound to one processor has it to itself; only a mask that several ranks share says that they are too many.
  const bool crowded = local > online || (processors > 1 && local > processors);
  if (crowded) setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  setenv("OMPI_MCA_btl_vader_eager_limit", "65536", 0);
  MPI_Init(&argc, &argv);
  active_ = true;
  transport_ = std::make_unique<MpiTransport>(crowded);
}

MpiSession::~MpiSession() {
  if (active_) MPI_Finalize();
}

std::string MpiSession::host() const {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace atl
