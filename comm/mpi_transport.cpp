#include "comm/mpi_transport.hpp"

#include <mpi.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "comm/launcher.hpp"
#include "comm/mpi_doorbells.hpp"
#include "comm/patience.hpp"
#include "comm/serial_transport.hpp"
#include "comm/short_slices.hpp"

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

/// Waits for messages of one rank: polls for a while, then sleeps.
class MpiWait {
 public:
  /// `bells`: those that the other rank rings; nullptr: it is on another host.
  explicit MpiWait(MpiDoorbells* bells) : bells_(bells) {}

  void wait_for(MPI_Request& request) {
    const auto done = [&] {
      int flag = 0;
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      return flag != 0;
    };
    const auto start = Clock::now();
    if (patience_.poll(done)) return;
    for (;;) {
      const std::uint32_t rings = bells_ != nullptr ? bells_->rings() : 0;
      if (done()) return;
      if (bells_ != nullptr) {
        bells_->sleep(rings);
      } else {
        // A quarter of what it has waited: it comes at most that much too late.
        const auto moment = std::clamp<Clock::duration>((Clock::now() - start) / 4, kShortest, kLongest);
        const timespec t{0, std::chrono::nanoseconds(moment).count()};
        nanosleep(&t, nullptr);
      }
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kShortest = std::chrono::microseconds(1), kLongest = std::chrono::microseconds(500);
  MpiDoorbells* bells_;
  Patience patience_;
};

/// A message goes in parts: one of bounded size that starts with the total size, and, seldom, the rest.
class MpiStream final : public Stream {
 public:
  MpiStream(MpiDoorbells& bells, int rank, int number)
      : bells_(bells), first_here_(bells.reaches(rank) ? &bells : nullptr), rank_(rank), first_tag_(2 * number + 1) {
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
    bells_.ring(rank_);
  }

  void receive(std::string& body) override {
    MPI_Request request;
    MPI_Irecv(first_in_.data(), static_cast<int>(kFirstBytes), MPI_BYTE, rank_, first_tag_, MPI_COMM_WORLD, &request);
    first_here_.wait_for(request);
    std::uint64_t total;
    std::memcpy(&total, first_in_.data(), sizeof total);
    const std::size_t first = std::min<std::size_t>(total, kFirstBytes - sizeof total);
    body.assign(first_in_.data() + sizeof total, first);
    if (total == first) return;
    body.resize(total);
    in_pieces(body.data() + first, total - first, [&](char* data, int count) {
      MPI_Irecv(data, count, MPI_BYTE, rank_, first_tag_ + 1, MPI_COMM_WORLD, &request);
      large_.wait_for(request);
    });
  }

 private:
  struct Sending {
    std::string bytes{};
    std::vector<MPI_Request> parts{};
  };
  void finish(Sending& s) {
    for (MPI_Request& request : s.parts) large_.wait_for(request);
    s.parts.clear();
  }
  MpiDoorbells& bells_;
  MpiWait first_here_;
  MpiWait large_{nullptr};  ///< what goes on in steps of both sides, without rings
  int rank_, first_tag_;
  std::string first_in_;
  Sending sending_[2];  ///< used in turn
  int turn_ = 0;
};

class MpiTransport final : public Transport {
 public:
  MpiTransport() {
    prctl(PR_SET_TIMERSLACK, 1);  // nanoseconds; 50,000 otherwise: sleeps are for moments
    ask_for_short_slices();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int address_space(int rank) const override { return rank; }
  std::unique_ptr<Stream> open(int rank, int number) override { return std::make_unique<MpiStream>(bells_, rank, number); }

  /// In each round a rank knows the minimum of twice as many ranks before it. Not by MPI_Allreduce, which polls.
  std::uint64_t all_min(std::uint64_t value) override {
    for (int distance = 1; distance < size_; distance *= 2) {
      const int to = (rank_ + distance) % size_, from = (rank_ - distance + size_) % size_;
      std::uint64_t other = 0;
      MPI_Request in, out;
      MPI_Irecv(&other, 1, MPI_UINT64_T, from, kMinTag, MPI_COMM_WORLD, &in);
      MPI_Isend(&value, 1, MPI_UINT64_T, to, kMinTag, MPI_COMM_WORLD, &out);
      bells_.ring(to);
      MpiWait(bells_.reaches(from) ? &bells_ : nullptr).wait_for(in);
      MpiWait(nullptr).wait_for(out);
      value = std::min(value, other);
    }
    return value;
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
  static constexpr int kMinTag = 0;  // of streams: from 1 on
  int rank_ = 0, size_ = 1;
  MpiDoorbells bells_;
};

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv, bool parallel, int threads) : threads_(threads) {
  if (!parallel || !started_by_launcher()) {
    transport_ = std::make_unique<SerialTransport>();
    return;
  }
  const int processors = processors_of_process();
  const int local = ranks_on_this_host() * threads;
  const int online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  // A thread bound to one processor has it to itself; only a mask that several share says that they are too many.
  const bool crowded = local > online || (processors > 1 && local > processors);
  if (crowded) setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  setenv("OMPI_MCA_btl_vader_eager_limit", "65536", 0);
  int provided = MPI_THREAD_SINGLE;  // more costs every call a lock
  MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  active_ = true;
  transport_ = std::make_unique<MpiTransport>();
}

MpiSession::~MpiSession() {
  if (!active_) return;
  transport_.reset();
  MPI_Finalize();
}

void MpiSession::abort(int exit_code) {
  if (active_) MPI_Abort(MPI_COMM_WORLD, exit_code);
}

std::string MpiSession::no_threads() const {
  if (!active_) return {};
  int provided = MPI_THREAD_SINGLE, found = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE) return "this MPI lets one thread of a rank talk (no MPI_THREAD_MULTIPLE)";
  const int* largest = nullptr;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&largest), &found);
  const std::int64_t needed = std::int64_t{2} * Transport::kStreams * threads_ * threads_;
  if (found != 0 && *largest < needed) return "this MPI has too few tags for so many threads of a rank";
  return {};
}

std::string MpiSession::host() const {
  char name[256] = "localhost";
  gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace atl
