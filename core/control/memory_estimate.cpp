#include "core/control/memory_estimate.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "inputs/config/protocols.hpp"
#include "policies/coherence/directory_layout.hpp"

namespace atl {

std::uint64_t memory_of_chip(const SystemConfig& c) {
  constexpr std::uint64_t kTag = 16, kHome = 1, kDirectoryEntry = 24, kSharers = 8, kSmBesides = 64 << 10;
  const std::uint64_t kib = std::uint64_t{c.llc.size_kib} + (c.l2.present() ? c.l2.size_kib : 0);
  const std::uint64_t llc = kib * 1024 / c.line_bytes * (kTag + kHome);
  const std::uint64_t l1 = c.l1.enabled ? std::uint64_t{c.l1.size_kib} * 1024 / c.line_bytes * kTag : 0;
  std::uint64_t directory = 0;
  if (const HomeDirectoryTraits& home = row_of(c.coherence.protocol).home; home.present && !home.unbounded) {
    const DirectoryShape shape = directory_shape(c);
    directory =
        std::uint64_t{shape.sets} * shape.ways * (kDirectoryEntry + kSharers * (shape.common_sharers ? 1 : shape.lines));
  }
  return llc + directory + c.sm.count * (l1 + kSmBesides);
}

std::uint64_t memory_of_machine() {
  const std::uint64_t pages = static_cast<std::uint64_t>(std::max(0l, sysconf(_SC_PHYS_PAGES)));
  std::uint64_t bytes = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)), limit = 0;
  for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (std::ifstream(file) >> limit && limit != 0) bytes = std::min(bytes, limit);
  return bytes;
}

}  // namespace atl
