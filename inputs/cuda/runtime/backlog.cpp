#include "inputs/cuda/runtime/backlog.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "core/engine/function_name.hpp"
#include "inputs/cuda/runtime/ending.hpp"
#include "inputs/cuda/runtime/runtime.hpp"
#include "inputs/ptx/turn_order.hpp"

namespace atl::cudart {
namespace {

using State = StreamTask::State;
using Clock = std::chrono::steady_clock;

// A program that asks whether a stream is done so often, and for kPatience, is taken to wait for it.
constexpr std::uint64_t kMostQuestions = 20'000;
// So long other threads of the program may do something else before they make a call that helps.
constexpr auto kPatience = std::chrono::seconds(10);
constexpr auto kBetweenLooks = std::chrono::milliseconds(2);

class CallTask final : public StreamTask {
 public:
  explicit CallTask(std::function<int(Runtime&)> work) : work_(std::move(work)) {}
  State turn(Runtime& r) override {
    if (const int status = work_(r); status != kSuccess)
      std::fprintf(stderr, "atoll: what waited in a stream behind a kernel fails (error %d)\n", status);
    return State::done;
  }

 private:
  std::function<int(Runtime&)> work_;
};

class HostTask final : public StreamTask {
 public:
  explicit HostTask(std::function<void()> function) : function_(std::move(function)) {}
  State turn(Runtime& r) override {
    r.mutex.without(function_);  // it may wait for another thread that calls us
    return State::done;
  }

 private:
  std::function<void()> function_;
};

bool is_legacy(const void* stream) { return reinterpret_cast<std::uintptr_t>(stream) < kLastBuiltInStream; }

/// A handle of another stream in each thread.
bool is_per_thread(const void* stream) { return reinterpret_cast<std::uintptr_t>(stream) == kLastBuiltInStream; }

/// Whether it waits for the default stream, which then waits for it.
bool blocks(const Runtime& r, const void* stream) { return r.free_streams.count(stream) == 0; }

std::string name_of(const ptx::Execution& kernel) {
  return function_name(kernel.spec().module->functions[kernel.spec().kernel].name);
}

unsigned threads_of_program() {
  unsigned threads = 0;
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored))
    threads += thread.path().empty() ? 0 : 1;
  return threads - std::min(threads, own_threads());
}

}  // namespace

bool Backlog::pending(std::uint64_t task) const {
  return std::any_of(entries_.begin(), entries_.end(), [=](const Entry& e) { return e.number == task; });
}

bool Backlog::any_pending(const std::vector<std::uint64_t>& tasks) const {
  return std::any_of(tasks.begin(), tasks.end(), [&](std::uint64_t task) { return pending(task); });
}

std::vector<std::uint64_t> Backlog::before(const Runtime& r, InStream::Place place) const {
  std::vector<std::uint64_t> all;
  for (const Entry& e : entries_) {
    if (e.place.device != place.device) continue;
    const bool legacy = is_legacy(place.stream), other_legacy = is_legacy(e.place.stream);
    const bool others = is_per_thread(place.stream) && e.thread != std::this_thread::get_id();
    const bool same = legacy ? other_legacy : e.place.stream == place.stream && !others;
    if (same || (legacy && blocks(r, e.place.stream)) || (other_legacy && blocks(r, place.stream))) all.push_back(e.number);
  }
  return all;
}

std::vector<std::uint64_t> Backlog::of_device(unsigned device) const {
  std::vector<std::uint64_t> all;
  for (const Entry& e : entries_)
    if (e.place.device == device) all.push_back(e.number);
  return all;
}

std::vector<std::uint64_t> Backlog::all() const {
  std::vector<std::uint64_t> all;
  for (const Entry& e : entries_) all.push_back(e.number);
  return all;
}

Backlog::Entry& Backlog::enter(Runtime& r, std::unique_ptr<StreamTask> task, const std::vector<std::uint64_t>& also) {
  InStream::Place place = InStream::now();
  std::vector<std::uint64_t> after = before(r, place);
  after.insert(after.end(), also.begin(), also.end());
  place.waits = false;
  entries_.push_back({++last_, place, std::this_thread::get_id(), current_device(), std::move(after), std::move(task)});
  return entries_.back();
}

int Backlog::line_up(Runtime& r, std::function<int(Runtime&)> work) {
  const InStream::Place place = InStream::now();
  const std::vector<std::uint64_t> first = before(r, place);
  if (place.waits) finish(r, first);
  if (place.waits || first.empty()) return work(r);
  enter(r, std::make_unique<CallTask>(std::move(work)), {});
  return kSuccess;
}

std::uint64_t Backlog::add(Runtime& r, std::function<int(Runtime&)> work, const std::vector<std::uint64_t>& also) {
  if (idle() || (!any_pending(also) && before(r, InStream::now()).empty())) return work(r), 0;
  return enter(r, std::make_unique<CallTask>(std::move(work)), also).number;
}

bool Backlog::add_host_function(Runtime& r, std::function<void()> function) {
  if (idle() || before(r, InStream::now()).empty()) return false;
  enter(r, std::make_unique<HostTask>(std::move(function)), {});
  return true;
}

void Backlog::give(Runtime& r, std::unique_ptr<StreamTask> task) {
  if (entries_.empty() || runner_ != std::this_thread::get_id()) {
    if (enter(r, std::move(task), {}).after.empty()) go_on(r, false);
    return;
  }
  // By a function of the program that was in a stream.
  while (task->turn(r) != State::done) {
    if (!task->execution() || !task->execution()->stuck()) continue;
    task->fail();
    task->execution()->raise_deadlock();
  }
}

/// Those that wait for nothing that is before them.
std::vector<Backlog::Entry*> Backlog::ready() {
  std::vector<Entry*> ready;
  for (Entry& e : entries_)
    if (!any_pending(e.after)) ready.push_back(&e);
  return ready;
}

State Backlog::turn(Runtime& r, Entry& e) {
  const InStream in(e.place);
  const unsigned device = current_device();
  choose_device(e.current_device);
  const State state = e.task->turn(r);
  choose_device(device);
  return state;
}

/// Goes on with everything in turns until it is done or only polls; `until_stuck`: so that it will not stop to without help.
/// Returns whether anything has changed.
bool Backlog::go_on(Runtime& r, bool until_stuck) {
  if (runner_ != std::thread::id{}) return false;  // by another thread, whose function of the program runs
  runner_ = std::this_thread::get_id();
  for (const Entry& e : entries_)
    if (ptx::Execution* kernel = e.task->execution()) until_stuck ? kernel->others_moved() : kernel->look_again();
  bool changed = false;
  for (;;) {
    std::vector<Entry*> turns = ready();
    ptx::shuffle_turns(turns, random_);
    bool moved = false, waits = true;
    for (Entry* e : turns) {
      const State state = turn(r, *e);
      ptx::Execution* kernel = e->task->execution();
      moved |= state == State::done || state == State::moved;
      waits &= state == State::polls && (!until_stuck || kernel->stuck());
      if (state == State::done) entries_.remove_if([=](const Entry& other) { return &other == e; });
      if (r.sticky != kSuccess) entries_.clear();  // nothing of the program's goes on after a failed assertion
      if (r.sticky != kSuccess) break;
    }
    changed |= moved;
    if (entries_.empty() || turns.empty() || (waits && !moved)) break;
    if (moved && turns.size() > 1)
      for (const Entry& e : entries_)
        if (ptx::Execution* kernel = e.task->execution()) kernel->others_moved();
  }
  runner_ = {};
  if (changed) asked_in_vain_ = 0;
  return changed;
}

bool Backlog::done(Runtime& r, const std::vector<std::uint64_t>& tasks) {
  if (idle() || !any_pending(tasks)) return true;
  go_on(r, false);
  if (!any_pending(tasks)) return true;
  if (asked_in_vain_++ == 0) asking_since_ = Clock::now();
  if (asked_in_vain_ > kMostQuestions && Clock::now() - asking_since_ > kPatience) finish(r, tasks);
  return !any_pending(tasks);
}

/// Other threads of the program may launch what is waited for, or store it. Lets them, for a moment.
bool Backlog::others_may_help(Runtime& r, std::uint64_t& calls) const {
  if (threads_of_program() < 2) return false;
  calls = r.mutex.calls();
  r.mutex.without([] { std::this_thread::sleep_for(kBetweenLooks); });
  return true;
}

void Backlog::finish(Runtime& r, const std::vector<std::uint64_t>& tasks) {
  if (idle()) return;
  for (auto since = Clock::now(); any_pending(tasks);) {
    bool changed = runner_ != std::thread::id{};  // another thread goes on, in a function of the program just now
    changed |= go_on(r, false);
    if (!any_pending(tasks)) return;
    std::uint64_t calls = 0;
    if (Clock::now() - since < kPatience && others_may_help(r, calls)) {
      if (changed || r.mutex.calls() != calls) since = Clock::now();
      continue;
    }
    // What has left its loop a moment ago, and computes, is seen in the second half only.
    for (int half = 0; half < 2; ++half) changed |= go_on(r, true);
    if (!changed && any_pending(tasks)) raise();
    since = Clock::now();
  }
}

void Backlog::raise() const {
  std::string others;
  const ptx::Execution* first = nullptr;
  for (const Entry& e : entries_)
    if (const ptx::Execution* kernel = e.task->execution()) {
      if (first) others += (others.empty() ? "; so does kernel " : ", ") + name_of(*kernel);
      if (!first) first = kernel;
      e.task->fail();
    }
  try {
    if (first) first->raise_deadlock();
    throw ptx::ExecutionError(ptx::ExecutionError::Kind::deadlock, "streams wait for each other");
  } catch (const ptx::ExecutionError& e) {
    throw ptx::ExecutionError(e.kind(),
                              e.what() + others +
                                  ". The program waits for this: what is waited for must be stored, or launched in "
                                  "a stream that does not come after these, before that");
  }
}

void Backlog::end(Runtime& r) {
  if (idle()) return;
  go_on(r, false);
  for (const Entry& e : entries_)
    if (const ptx::Execution* kernel = e.task->execution())
      std::fprintf(stderr, "atoll: warning: the program ended while kernel %s waited: it is not in the trace\n",
                   name_of(*kernel).c_str());
}

}  // namespace atl::cudart
