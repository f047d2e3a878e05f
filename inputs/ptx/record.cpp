#include "inputs/ptx/record.hpp"

#include <algorithm>
#include <bit>

#include "inputs/ptx/register_pressure.hpp"
#include "inputs/trace/coalesce.hpp"

namespace atl::ptx {
namespace {

// Local memory in the trace: interleaved by words, so that the lanes of a warp touch one block, as on a GPU. CTAs reuse
// the region as SMs would; the region of a warp is 1 MiB.
constexpr std::uint64_t kLocalBase = std::uint64_t{1} << 48;
constexpr std::uint64_t kLocalPerWarp = std::uint64_t{1} << 20, kLocalCtas = 4096;
constexpr unsigned kMostAccesses = 64, kMostLocal = 32 * 8;

bool in_shared(std::uint64_t address) { return (address & exec::kWindowMask) == exec::kSharedWindow; }
bool in_local(std::uint64_t address) { return (address & exec::kWindowMask) == exec::kLocalWindow; }

}  // namespace

Recorder::Recorder(RecordOutput& output, RecordOptions options) : output_(output), options_(options) {
  options_.max_ctas = std::max<std::uint64_t>(options_.max_ctas, 1);
}
Recorder::~Recorder() = default;

void Recorder::begin_kernel(const LaunchSpec& spec, const exec::Image& image, const Device&) {
  table_ = make_record_table(image);
  if (!spec.read_only_marks) {
    for (RecordInfo& i : table_.infos) i.flags &= static_cast<std::uint8_t>(~kReadOnly);
  }
  info_ = {};
  info_.name = spec.module->functions[spec.kernel].name;
  std::copy(spec.grid.begin(), spec.grid.end(), info_.grid);
  std::copy(spec.block.begin(), spec.block.end(), info_.block);
  info_.shared_bytes = shared_bytes(spec);
  info_.registers_per_thread = registers_at_launch(image.registers, info_.threads());
  total_ = std::min(info_.ctas(), options_.max_ctas);
  if (total_ < info_.ctas()) info_.grid[0] = static_cast<std::uint32_t>(total_), info_.grid[1] = info_.grid[2] = 1;
  kernel_ops_ = next_ = 0;
  live_.clear(), early_.clear(), held_.clear();
  live_cta_ = nullptr;
  ++counts_.kernels;
  if (options_.max_ops == 0) output_.begin_kernel(info_);
}

bool Recorder::wants(std::uint64_t cta) {
  return cta < total_ && (options_.max_ops == 0 || cta == 0 || kernel_ops_ < options_.max_ops);
}

Recorder::Cta& Recorder::live(std::uint64_t number) {
  if (live_cta_ != nullptr && live_number_ == number) return *live_cta_;
  std::unique_ptr<Cta>& cta = live_[number];
  if (cta == nullptr) {
    if (spare_.empty()) {
      cta = std::make_unique<Cta>();
    } else {
      cta = std::move(spare_.back());
      spare_.pop_back();
    }
    cta->warps.resize(info_.warps());
    for (WarpTimeline& w : cta->warps) w.begin(table_.register_count);
  }
  live_number_ = number;
  live_cta_ = cta.get();
  return *cta;
}

void Recorder::events(std::uint64_t cta, std::uint32_t warp, std::span<const WarpEvent> events,
                      std::span<const std::uint64_t> addresses) {
  WarpTimeline& timeline = live(cta).warps[warp];
  local_base_ = kLocalBase + (cta % kLocalCtas * info_.warps() + warp) * kLocalPerWarp;
  counts_.warp_instructions += events.size();
  const std::uint64_t* address = addresses.data();
  for (const WarpEvent& event : events) {
    const RecordInfo& info = table_.infos[event.id];
    const std::uint32_t* registers = table_.registers.data() + info.first;
    switch (info.kind) {
      case RecordInfo::compute:
        timeline.compute(info, registers, event.mask != 0);
        break;
      case RecordInfo::free:
        if (!timeline.rename(info, registers)) timeline.compute(info, registers, event.mask != 0);
        break;
      case RecordInfo::copy_commit:
        timeline.compute(info, registers, false);
        timeline.commit_copies();
        break;
      case RecordInfo::copy_wait:
        timeline.wait_for_copies(info, registers);
        break;
      case RecordInfo::barrier:
        if (event.mask != 0)
          timeline.memory(OpKind::barrier, info, registers, false);
        else
          timeline.compute(info, registers, false);
        break;
      default:
        if (event.mask == 0) {
          timeline.compute(info, registers, false);
        } else {
          memory(timeline, info, event, address);
          address += std::popcount(event.mask) * (info.kind == RecordInfo::copy ? 2 : 1);
        }
    }
  }
}

void Recorder::memory(WarpTimeline& warp, const RecordInfo& info, const WarpEvent& event, const std::uint64_t* address) {
  const std::uint32_t* registers = table_.registers.data() + info.first;
  const auto lanes = static_cast<unsigned>(std::popcount(event.mask));
  if (info.kind == RecordInfo::copy) {
    // The arrival in shared memory costs nothing of its own.
    coalesced(warp, warp.copy(info, registers), address + lanes, lanes, info.width);
    return;
  }
  if (in_shared(address[0])) {
    atl::Op& op = warp.memory(OpKind::shared, info, registers, info.results != 0);
    op.flags = 0;
    op.issue = static_cast<std::uint16_t>(shared_passes(address, lanes, info.width));
    return;
  }
  const OpKind kind = info.kind == RecordInfo::load    ? OpKind::load
                      : info.kind == RecordInfo::store ? OpKind::store
                                                       : OpKind::atomic;
  if (in_local(address[0])) {
    local_addresses(event, address, info.width);
    global(warp, kind, info, local_.data(), static_cast<unsigned>(local_.size()), std::min<unsigned>(info.width, 4));
  } else {
    global(warp, kind, info, address, lanes, info.width);
  }
}

void Recorder::global(WarpTimeline& warp, OpKind kind, const RecordInfo& info, const std::uint64_t* address, unsigned lanes,
                      unsigned width) {
  const bool answers = kind == OpKind::load || (kind == OpKind::atomic && info.results != 0);
  atl::Op& op = warp.memory(kind, info, table_.registers.data() + info.first, answers);
  coalesced(warp, op, address, lanes, width);
}

void Recorder::coalesced(WarpTimeline& warp, atl::Op& op, const std::uint64_t* address, unsigned lanes, unsigned width) {
  Access found[2 * kMostLocal];
  unsigned count = 0;
  const std::uint64_t block = address[0] / Access::kBlockBytes;
  const bool row = lanes == 32 && width == 4 && address[0] % Access::kBlockBytes == 0 && address[31] == address[0] + 124;
  bool consecutive = row;
  if (row)
    for (unsigned l = 0; l < 32; ++l) consecutive &= address[l] == address[0] + 4 * l;
  if (consecutive) {  // what most accesses are
    found[0] = Access::make(block * Access::kBlockBytes, 0xF);
    count = 1;
  } else {
    count = coalesce(address, lanes, width, found);
    if (op.kind == OpKind::store && lanes <= 32 && touches_partly(address, lanes, width, found, count)) op.flags |= kPartial;
  }
  count = std::min(count, kMostAccesses);
  op.accesses = static_cast<std::uint8_t>(count);
  warp.accesses.insert(warp.accesses.end(), found, found + count);
}

/// Words of local memory: lane after lane within a word, word after word.
void Recorder::local_addresses(const WarpEvent& event, const std::uint64_t* address, unsigned width) {
  local_.clear();
  const unsigned words = std::max(1u, width / 4);
  for (unsigned word = 0; word < words; ++word) {
    const std::uint64_t* from = address;
    for (std::uint32_t left = event.mask; left != 0; left &= left - 1, ++from) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      const std::uint64_t offset = (*from & ~exec::kWindowMask) + word * 4;
      local_.push_back(local_base_ + ((offset / 4 * 32 + lane) * 4 + offset % 4) % kLocalPerWarp);
    }
  }
}

void Recorder::assemble(Cta& cta) {
  program_.clear();
  for (WarpTimeline& w : cta.warps) {
    w.end();
    const auto first_access = static_cast<std::uint32_t>(program_.accesses.size());
    program_.warps.push_back({static_cast<std::uint32_t>(program_.ops.size()), static_cast<std::uint32_t>(w.ops.size())});
    for (atl::Op& op : w.ops) op.first_access += first_access;
    program_.ops.insert(program_.ops.end(), w.ops.begin(), w.ops.end());
    program_.accesses.insert(program_.accesses.end(), w.accesses.begin(), w.accesses.end());
  }
  kernel_ops_ += program_.ops.size();
}

void Recorder::deliver(const CtaProgram& program) {
  counts_.ctas += 1, counts_.ops += program.ops.size(), counts_.accesses += program.accesses.size();
  output_.add_cta(program);
}

void Recorder::end_cta(std::uint64_t number) {
  assemble(live(number));
  spare_.push_back(std::move(live_[number]));
  live_.erase(number);
  live_cta_ = nullptr;
  if (number != next_) {
    early_.emplace(number, program_);
    return;
  }
  const auto pass = [&](const CtaProgram& program) {
    ++next_;
    if (options_.max_ops != 0)
      held_.push_back(program);
    else
      deliver(program);
  };
  pass(program_);
  for (auto at = early_.find(next_); at != early_.end(); at = early_.find(next_)) {
    pass(at->second);
    early_.erase(at);
  }
}

void Recorder::end_kernel() {
  if (options_.max_ops == 0) return;
  if (held_.size() < info_.ctas())
    info_.grid[0] = static_cast<std::uint32_t>(held_.size()), info_.grid[1] = info_.grid[2] = 1;
  output_.begin_kernel(info_);
  for (const CtaProgram& program : held_) deliver(program);
  held_.clear();
}

}  // namespace atl::ptx
