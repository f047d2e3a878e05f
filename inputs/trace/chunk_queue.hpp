#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "inputs/trace/chunk_filter.hpp"

namespace atl {

/// A chunk of a column on its way to the file.
struct Chunk {
  unsigned column = 0, element = 1;         ///< bytes of an element
  std::vector<std::uint8_t> bytes, packed;  ///< before and after the filters
  std::exception_ptr error;
  bool done = false;
};

/// Chunks that are compressed by whoever has time for it, and come out in the order in which they went in, so that a file
/// does not depend on the number of threads. Helpers begin when there is enough to do, and end with each kernel: the
/// program that is recorded may fork in between.
class ChunkQueue {
 public:
  /// `helpers`: threads of its own at most.
  ChunkQueue(unsigned level, unsigned helpers) : level_(level), helpers_allowed_(helpers) {}
  ~ChunkQueue() { clear(); }
  ChunkQueue(const ChunkQueue&) = delete;
  ChunkQueue& operator=(const ChunkQueue&) = delete;

  // ---- for the thread that fills the file ----
  /// An empty one, with the buffers of one that was given back.
  std::unique_ptr<Chunk> spare();
  void push(std::unique_ptr<Chunk> chunk);
  /// The oldest chunk, if it is done; null otherwise. Throws what went wrong with it.
  std::unique_ptr<Chunk> take_done();
  void give_back(std::unique_ptr<Chunk> chunk);
  /// Compresses until all are done.
  void finish();
  /// Forgets all chunks, and ends the helpers.
  void clear();

  // ---- for any thread ----
  /// Compresses while more waits than the helpers will do.
  void help();

 private:
  bool work(std::unique_lock<std::mutex>& lock);
  void start_helpers();
  void helper();

  const unsigned level_, helpers_allowed_;
  std::mutex mutex_;
  std::condition_variable due_, done_;
  std::deque<std::unique_ptr<Chunk>> chunks_;  ///< oldest first
  std::size_t waiting_ = 0;                    ///< the last of them, which nobody has taken
  std::vector<std::unique_ptr<Chunk>> spare_;
  std::vector<std::unique_ptr<ChunkFilter>> filters_;  ///< that nobody uses
  std::vector<std::thread> helpers_;
  bool ending_ = false;
};

}  // namespace atl
