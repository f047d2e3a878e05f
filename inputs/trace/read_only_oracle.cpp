#include "inputs/trace/read_only_oracle.hpp"

#include <algorithm>

namespace atl {

void ReadOnlyOracle::note(const CtaProgram& cta) {
  for (const Op& op : cta.ops) {
    if ((op.kind != OpKind::store && op.kind != OpKind::atomic) || (op.flags & kLocal) != 0) continue;
    for (std::uint32_t i = 0; i < op.accesses; ++i) {
      const std::uint64_t block = cta.accesses[op.first_access + i].block();
      if (written_.empty() || written_.back() != block) written_.push_back(block);
    }
  }
  constexpr std::size_t kSlack = 1 << 16;
  if (written_.size() > 2 * settled_ + kSlack) settle();
}

void ReadOnlyOracle::settle() {
  std::sort(written_.begin() + static_cast<std::ptrdiff_t>(settled_), written_.end());
  std::inplace_merge(written_.begin(), written_.begin() + static_cast<std::ptrdiff_t>(settled_), written_.end());
  written_.erase(std::unique(written_.begin(), written_.end()), written_.end());
  settled_ = written_.size();
}

void ReadOnlyOracle::mark(CtaProgram& cta) {
  if (settled_ != written_.size()) settle();
  for (Op& op : cta.ops) {
    if (op.kind != OpKind::load || (op.flags & (kReadOnly | kLocal)) != 0 || op.accesses == 0) continue;
    const Access* first = cta.accesses.data() + op.first_access;
    const bool unwritten = std::none_of(first, first + op.accesses, [&](const Access& a) {
      return std::binary_search(written_.begin(), written_.end(), a.block());
    });
    if (unwritten) op.flags |= kReadOnly;
  }
}

}  // namespace atl
