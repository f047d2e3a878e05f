#include "inputs/trace/chunk_queue.hpp"

#include <system_error>

namespace atl {
namespace {

constexpr std::size_t kEnough = 16;     // chunks that wait before helpers are worth starting
constexpr std::size_t kPerHelper = 16;  // that may wait for each; more is done by those who make more
constexpr std::size_t kWakeAt = 8;      // chunks for which one is woken
constexpr std::size_t kMostSpare = 32;

}  // namespace

std::unique_ptr<Chunk> ChunkQueue::spare() {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) return std::make_unique<Chunk>();
  std::unique_ptr<Chunk> chunk = std::move(spare_.back());
  spare_.pop_back();
  chunk->bytes.clear();
  chunk->done = false;
  return chunk;
}

void ChunkQueue::give_back(std::unique_ptr<Chunk> chunk) {
  const std::lock_guard lock(mutex_);
  if (spare_.size() < kMostSpare) spare_.push_back(std::move(chunk));
}

void ChunkQueue::push(std::unique_ptr<Chunk> chunk) {
  const std::lock_guard lock(mutex_);
  chunks_.push_back(std::move(chunk));
  ++waiting_;
  if (helpers_.empty() && waiting_ >= kEnough) start_helpers();
  if (!helpers_.empty() && waiting_ % kWakeAt == 0) due_.notify_one();
}

std::unique_ptr<Chunk> ChunkQueue::take_done() {
  const std::lock_guard lock(mutex_);
  if (chunks_.empty() || !chunks_.front()->done) return nullptr;
  std::unique_ptr<Chunk> chunk = std::move(chunks_.front());
  chunks_.pop_front();
  if (chunk->error) std::rethrow_exception(chunk->error);
  return chunk;
}

/// Compresses the oldest chunk that nobody has taken; false: there is none.
bool ChunkQueue::work(std::unique_lock<std::mutex>& lock) {
  if (waiting_ == 0) return false;
  Chunk& chunk = *chunks_[chunks_.size() - waiting_--];
  std::unique_ptr<ChunkFilter> filter;
  if (!filters_.empty()) filter = std::move(filters_.back()), filters_.pop_back();
  lock.unlock();
  try {
    if (filter == nullptr) filter = std::make_unique<ChunkFilter>(level_);
    filter->apply(chunk.bytes, chunk.element, chunk.packed);
  } catch (...) {
    chunk.error = std::current_exception();
  }
  lock.lock();
  chunk.done = true;
  if (filter != nullptr) filters_.push_back(std::move(filter));
  if (waiting_ == 0) done_.notify_all();
  return true;
}

void ChunkQueue::help() {
  std::unique_lock lock(mutex_);
  while (waiting_ > kPerHelper * helpers_.size() && work(lock)) {
  }
}

void ChunkQueue::finish() {
  std::unique_lock lock(mutex_);
  while (work(lock)) {
  }
  done_.wait(lock, [&] {
    for (const auto& chunk : chunks_)
      if (!chunk->done) return false;
    return true;
  });
}

void ChunkQueue::clear() {
  std::vector<std::thread> ended;
  {
    std::unique_lock lock(mutex_);
    chunks_.erase(chunks_.end() - static_cast<std::ptrdiff_t>(waiting_), chunks_.end());
    waiting_ = 0, ending_ = true;
    ended.swap(helpers_);
  }
  due_.notify_all();
  for (std::thread& t : ended) t.join();
  finish();  // what others than helpers have taken
  const std::lock_guard lock(mutex_);
  chunks_.clear();
  ending_ = false;
}

void ChunkQueue::start_helpers() {
  try {
    while (helpers_.size() < helpers_allowed_) helpers_.emplace_back([this] { helper(); });
  } catch (const std::system_error&) {  // no more threads are to be had: those that run do the work
  }
}

void ChunkQueue::helper() {
  std::unique_lock lock(mutex_);
  while (!ending_)
    if (!work(lock)) due_.wait(lock);
}

}  // namespace atl
