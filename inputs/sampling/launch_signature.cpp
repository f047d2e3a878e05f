#include "inputs/sampling/launch_signature.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "inputs/sampling/cta_places.hpp"
#include "inputs/workload/count.hpp"

namespace atl {

void SignatureReader::touch(std::uint64_t block, bool write, Lines& lines) {
  // Fibonacci hashing: neighbouring lines, which the strides of programs prefer, are chosen as often as others.
  if ((block * 0x9E3779B97F4A7C15ull >> 32) % kLinesPerChosen != 0) return;
  const auto [at, unknown] = lines_.try_emplace(block, Touch{launch_, false});
  Touch& t = at->second;
  if (unknown || t.last != launch_) {
    lines.fresh += unknown, lines.recent += !unknown && t.last + 1 == launch_;
    ++lines.all;
    t = {launch_, false};
  }
  lines.written += write && !t.written;
  t.written |= write;
}

LaunchSignature SignatureReader::next() {
  using S = LaunchSignature;
  const KernelInfo& info = workload_.kernels()[launch_];
  S s;
  s.kind = fmt::format("{} {} {} {} {} {}", info.name, info.block[0], info.block[1], info.block[2],
                       info.registers_per_thread, info.shared_bytes);
  const std::uint64_t all = info.ctas(), looked = std::min(all, kCtas);
  Lines lines;
  for (std::uint64_t i = 0; i < looked; ++i) {
    workload_.load_cta(launch_, place_in_part(i, looked, all), program_);
    std::uint32_t instructions = 0;
    for (const Op& op : program_.ops) {
      instructions += instructions_of(op), s.amount[S::sectors] += sectors_of(op, program_);
      s.amount[S::loads] += op.kind == OpKind::load, s.amount[S::stores] += op.kind == OpKind::store;
      s.amount[S::atomics] += op.kind == OpKind::atomic, s.amount[S::shared] += op.kind == OpKind::shared;
      s.amount[S::barriers] += op.kind == OpKind::barrier;
      if (!has_accesses(op.kind)) continue;
      for (std::uint32_t a = 0; a < op.accesses; ++a) {
        const Access& access = program_.accesses[op.first_access + a];
        if ((op.flags & kLocal) == 0) touch(access.block(), op.kind != OpKind::load, lines);
      }
    }
    s.amount[S::instructions] += instructions;
    if (looked < all) s.looked.push_back(instructions);
  }
  // Lines are not scaled: CTAs share them, and launches of one grid are looked at in the same CTAs.
  for (double& amount : s.amount)
    amount *= static_cast<double>(all) / static_cast<double>(std::max<std::uint64_t>(1, looked));
  s.amount[S::ctas] = static_cast<double>(all);
  s.amount[S::lines] = lines.all, s.amount[S::written] = lines.written;
  if (lines.all > 0) s.part = {lines.fresh / lines.all, lines.recent / lines.all};
  ++launch_;
  return s;
}

}  // namespace atl
