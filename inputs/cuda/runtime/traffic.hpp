#pragma once
#include <cstddef>
#include <initializer_list>
#include <vector>

#include "inputs/cuda/copy_kernel.hpp"

namespace atl::cudart {
struct Runtime;

/// What one call of the program copies between devices. The outermost of several such objects collects; when the copy is
/// done it becomes a launch of the trace. What goes to and from the host is in no trace, but the program may wait for it.
class Traffic {
 public:
  /// `devices`: that must be idle before, besides the one that copies.
  explicit Traffic(Runtime& r, std::initializer_list<unsigned> devices = {});
  ~Traffic();
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  void add(const void* to, const void* from, std::size_t bytes);
  /// Of the outermost one: hands over what was collected. Throws IoError. Returns `status`.
  int end(int status);

 private:
  Runtime& r_;
  Traffic* outer_;
  std::initializer_list<unsigned>::size_type count_ = 0;
  unsigned also_[2] = {};
  std::vector<cuda::CopiedRow> rows_;
  bool host_ = false;  // something went to the host, or came from it
};

}  // namespace atl::cudart
