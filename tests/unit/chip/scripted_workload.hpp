#pragma once
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "inputs/workload/workload.hpp"

/// Workloads written by hand, op by op.
namespace atl::test {

/// One warp's program; the exit is added when it is loaded. Addresses are byte addresses.
class Program {
 public:
  static constexpr std::uint8_t kNoResult = kNoSlot;

  Program& load(std::uint64_t address, std::uint8_t slot = kNoResult, unsigned sectors = 0xF) {
    return memory(OpKind::load, {Access::make(address, sectors)}, slot);
  }
  Program& loads(const std::vector<Access>& accesses, std::uint8_t slot) { return memory(OpKind::load, accesses, slot); }
  Program& store(std::uint64_t address, unsigned sectors = 0xF) {
    return memory(OpKind::store, {Access::make(address, sectors)}, kNoResult);
  }
  Program& atomic(std::uint64_t address, std::uint8_t slot = kNoResult, unsigned sectors = 0x1) {
    return memory(OpKind::atomic, {Access::make(address, sectors)}, slot);
  }
  Program& compute(std::uint16_t issue, std::uint16_t latency) {
    Op op;
    op.issue = issue, op.latency = latency;
    return push(op);
  }
  /// Waits so many cycles and does nothing else.
  Program& pause(std::uint16_t cycles) { return compute(1, cycles); }
  Program& shared(std::uint16_t passes, std::uint8_t slot) {
    Op op;
    op.kind = OpKind::shared, op.issue = passes, op.slot = slot;
    return push(op);
  }
  Program& barrier(std::uint16_t latency = 1) {
    Op op;
    op.kind = OpKind::barrier;
    op.latency = latency;
    return push(op);
  }
  /// The next op waits for these scoreboard slots.
  Program& after(std::initializer_list<unsigned> slots) {
    for (const unsigned s : slots) wait_ |= 1u << s;
    return *this;
  }
  /// The last op passes the L1 by.
  Program& past_l1() {
    ops.back().flags |= kBypassL1;
    return *this;
  }

  /// The last op reads data that the kernel does not write.
  Program& read_only() {
    ops.back().flags |= kReadOnly;
    return *this;
  }

  /// The last op is of local memory: its address is 128 times a row.
  Program& local() {
    ops.back().flags |= kLocal;
    return *this;
  }
  /// The last op, a store, leaves bytes of its sectors as they are.
  Program& partly() {
    ops.back().flags |= kPartial;
    return *this;
  }

  std::vector<Op> ops;
  std::vector<Access> accesses;

 private:
  Program& memory(OpKind kind, const std::vector<Access>& list, std::uint8_t slot) {
    Op op;
    op.kind = kind, op.slot = slot;
    op.first_access = static_cast<std::uint32_t>(accesses.size());
    op.accesses = static_cast<std::uint8_t>(list.size());
    accesses.insert(accesses.end(), list.begin(), list.end());
    return push(op);
  }
  Program& push(Op op) {
    op.wait = std::exchange(wait_, 0);
    ops.push_back(op);
    return *this;
  }
  std::uint32_t wait_ = 0;
};

class ScriptedWorkload : public Workload {
 public:
  /// Starts the next kernel; the warps written from now on belong to it.
  KernelInfo& kernel(std::uint32_t ctas, std::uint32_t warps_per_cta = 1) {
    KernelInfo info;
    info.name = "kernel" + std::to_string(infos_.size());
    info.grid[0] = ctas, info.block[0] = 32 * warps_per_cta;
    infos_.push_back(info);
    return infos_.back();
  }
  /// A warp's program in the last kernel; warps never named only exit.
  Program& warp(std::uint64_t cta, std::uint32_t warp = 0) { return programs_[{infos_.size() - 1, cta, warp}]; }

  /// In the order of addresses.
  void structure(const std::string& name, std::uint64_t address, std::uint64_t bytes) {
    structures_.push_back({name, address, bytes});
  }

  const std::vector<KernelInfo>& kernels() const override { return infos_; }
  std::vector<DataStructure> structures() const override { return structures_; }
  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override {
    out.clear();
    Op exit;
    exit.kind = OpKind::exit;
    for (std::uint32_t w = 0; w < infos_[kernel].warps(); ++w) {
      const auto first = static_cast<std::uint32_t>(out.ops.size()), base = static_cast<std::uint32_t>(out.accesses.size());
      if (const auto it = programs_.find({kernel, cta, w}); it != programs_.end()) {
        for (Op op : it->second.ops) op.first_access += base, out.ops.push_back(op);
        out.accesses.insert(out.accesses.end(), it->second.accesses.begin(), it->second.accesses.end());
      }
      out.ops.push_back(exit);
      out.warps.push_back({first, static_cast<std::uint32_t>(out.ops.size()) - first});
    }
  }

 private:
  struct Key {
    std::size_t kernel;
    std::uint64_t cta;
    std::uint32_t warp;
    auto operator<=>(const Key&) const = default;
  };
  std::vector<KernelInfo> infos_;
  std::map<Key, Program> programs_;
  std::vector<DataStructure> structures_;
};

}  // namespace atl::test
