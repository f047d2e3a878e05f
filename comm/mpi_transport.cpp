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

/// First part of every message: received without knowing the size of the rest. Stays below the eager limit set below.
constexpr std::size_t kFirstBytes = 60 * 1024;
/// MPI counts in int: what is large goes in pieces.
constexpr std::size_t kPieceBytes = 1 << 20;

/// f(pointer, count) for each piece of `bytes`.
template <class F> void in_pieces(char* data, std::size_t bytes, F&& f) {
  for (std::size_t at = 0; at < bytes; at += kPieceBytes) f(data + at, static_cast<int>(std::min(kPieceBytes, bytes - at)));
}

/// Polls for a while, then, if ranks outnumber processors, sleeps for moments. A waiting rank that only yields stays in the
/// run queue, and on processors that others want too it gets its turn back after whole time slices; one that sleeps is woken
/// at once.
void wait_for(MPI_Request& request, bool crowded) {
  constexpr int kPollsBeforeSleep = 100;
  for (int polls = 0;; ++polls) {
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    if (crowded && polls >= kPollsBeforeSleep) {
      const timespec moment{0, 1000};
      nanosleep(&moment, nullptr);
    }
  }
}

/// A message goes in parts: one of bounded size that starts with the total size, and, seldom, the rest.
class MpiStream final : public Stream {
 public:
  MpiStream(int rank, int number, bool crowded) : rank_(rank), first_tag_(2 * number + 1), crowded_(crowded) {
    first_in_.resize(kFirstBytes);
  }
  ~MpiStream() override {
    for (Sending& s : sending_) finish(s);
  }

  void send(const std::string& body) override {
    Sending& s = sending_[turn_];
    turn_ = 1 - turn_;
    finish(s);
    const std::uint64_t total = body.size();
    s.bytes.resize(sizeof total + total);
    std::memcpy(s.bytes.data(), &total, sizeof total);
    std::memcpy(s.bytes.data() + sizeof total, body.data(), total);
    const std::size_t first = std::min(s.bytes.size(), kFirstBytes);
    const auto start = [&](char* data, int count, int tag) {
      MPI_Isend(data, count, MPI_BYTE, rank_, tag, MPI_COMM_WORLD, &s.parts.emplace_back());
    };
    s.parts.reserve(1 + (s.bytes.size() - first + kPieceBytes - 1) / kPieceBytes);
    start(s.bytes.data(), static_cast<int>(first), first_tag_);
    in_pieces(s.bytes.data() + first, s.bytes.size() - first,
              [&](char* data, int count) { start(data, count, first_tag_ + 1); });
  }

  void receive(std::string& body) override {
    MPI_Request request;
    MPI_Irecv(first_in_.data(), static_cast<int>(kFirstBytes), MPI_BYTE, rank_, first_tag_, MPI_COMM_WORLD, &request);
    wait_for(request, crowded_);
    std::uint64_t total;
    std::memcpy(&total, first_in_.data(), sizeof total);
    const std::size_t first = std::min<std::size_t>(total, kFirstBytes - sizeof total);
    body.assign(first_in_.data() + sizeof total, first);
    if (total == first) return;
    body.resize(total);
    in_pieces(body.data() + first, total - first, [&](char* data, int count) {
      MPI_Irecv(data, count, MPI_BYTE, rank_, first_tag_ + 1, MPI_COMM_WORLD, &request);
      wait_for(request, crowded_);
    });
  }

 private:
  struct Sending {
    std::string bytes{};
    std::vector<MPI_Request> parts{};
  };
  void finish(Sending& s) {
    for (MPI_Request& request : s.parts) wait_for(request, crowded_);
    s.parts.clear();
  }
  int rank_, first_tag_;
  bool crowded_;
  std::string first_in_;
  Sending sending_[2];  ///< used in turn
  int turn_ = 0;
};

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(bool crowded) : crowded_(crowded) {
    if (crowded_) prctl(PR_SET_TIMERSLACK, 1);  // nanoseconds; 50,000 otherwise
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::unique_ptr<Stream> open(int rank, int number) override { return std::make_unique<MpiStream>(rank, number, crowded_); }

  std::uint64_t all_min(std::uint64_t value) override {
    std::uint64_t result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return result;
  }

  void broadcast(std::string& body, int root) override {
    std::uint64_t size = body.size();
    MPI_Bcast(&size, 1, MPI_UINT64_T, root, MPI_COMM_WORLD);
    body.resize(size);
    in_pieces(body.data(), size, [&](char* data, int count) { MPI_Bcast(data, count, MPI_BYTE, root, MPI_COMM_WORLD); });
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
  int rank_ = 0, size_ = 1;
  bool crowded_;
};

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv, bool parallel) {
  if (!parallel || !started_by_launcher()) {
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

void MpiSession::abort(int exit_code) {
  if (active_) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

std::string MpiSession::host() const {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace atl
