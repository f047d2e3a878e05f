#include "inputs/trace/accelsim_workload.hpp"

#include <map>
#include <unordered_map>

#include "core/engine/error.hpp"
#include "inputs/trace/accelsim_kernel.hpp"
#include "inputs/trace/count.hpp"
#include "inputs/trace/trace_writer.hpp"

namespace atl {
namespace {

[[noreturn]] void incomplete(const accelsim::KernelFile& file, std::uint64_t found, std::uint64_t cta) {
  file.fail("the file ends after " + std::to_string(found) + " of " + std::to_string(file.header().info.ctas()) +
            " thread blocks; block " + std::to_string(cta) + " is missing");
}

[[noreturn]] void twice(const accelsim::KernelFile& file, std::uint64_t cta) {
  file.fail("thread block " + std::to_string(cta) + " a second time");
}

}  // namespace

AccelSimWorkload::AccelSimWorkload(const std::string& list_path)
    : path_(list_path), list_(accelsim::read_kernel_list(list_path)) {
  for (const std::string& path : list_.kernels) kernels_.push_back(accelsim::KernelFile(path).header().info);
}

void AccelSimWorkload::load_kernel(std::size_t kernel) {
  loaded_ = ~std::size_t{0};
  ctas_.clear();
  read_only_.clear();
  accelsim::KernelFile file(list_.kernels[kernel]);
  std::unordered_map<std::uint64_t, std::uint64_t> found;  // a header may announce more blocks than memory holds
  CtaProgram program;
  std::uint64_t cta = 0;
  while (file.next_cta(cta, program)) {
    if (!found.try_emplace(cta, ctas_.size()).second) twice(file, cta);
    ctas_.append(program);
    read_only_.note(program);
  }
  for (std::uint64_t i = 0; found.size() != kernels_[kernel].ctas(); ++i)
    if (!found.contains(i)) incomplete(file, found.size(), i);
  position_.resize(found.size());
  for (const auto& [id, at] : found) position_[id] = at;
  loaded_ = kernel;
}

void AccelSimWorkload::load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) {
  if (kernel >= kernels_.size())
    throw InputError(path_, "kernel " + std::to_string(kernel) + " of " + std::to_string(kernels_.size()) + " is asked for");
  if (cta >= kernels_[kernel].ctas())
    throw InputError(list_.kernels[kernel],
                     "CTA " + std::to_string(cta) + " of " + std::to_string(kernels_[kernel].ctas()) + " is asked for");
  if (loaded_ != kernel) load_kernel(kernel);
  ctas_.extract(position_[cta], out);
  read_only_.mark(out);
}

void import_accel_sim(const std::string& list_path, const std::string& out_path,
                      const std::function<void(const ImportProgress&)>& progress) {
  const accelsim::KernelList list = accelsim::read_kernel_list(list_path);
  TraceWriter writer(
      out_path, {list_path, "atoll import, Accel-Sim SASS traces; read-only: loads from blocks their kernel never writes"});
  for (const TraceAllocation& allocation : list.allocations) writer.add_allocation(allocation);
  ImportProgress state;
  state.kernels = list.kernels.size();
  ReadOnlyOracle read_only;
  for (const std::string& path : list.kernels) {
    read_only.clear();
    CtaProgram program;
    std::uint64_t next = 0, cta = 0, found = 0;
    for (accelsim::KernelFile file(path); file.next_cta(cta, program);) read_only.note(program);
    accelsim::KernelFile file(path);
    writer.begin_kernel(file.header().info);
    // Tracers may write thread blocks in any order; those ahead of their turn are held back.
    std::map<std::uint64_t, CtaProgram> early;
    const auto write = [&](const CtaProgram& ready) {
      state.instructions += count_instructions(ready);
      writer.add_cta(ready);
      ++next;
    };
    while (file.next_cta(cta, program)) {
      if (cta < next || early.contains(cta)) twice(file, cta);
      ++found;
      read_only.mark(program);
      if (cta > next) {
        early.emplace(cta, program);
        continue;
      }
      write(program);
      for (auto held = early.begin(); held != early.end() && held->first == next; held = early.erase(held))
        write(held->second);
    }
    if (next != file.header().info.ctas()) incomplete(file, found, next);
    state.ctas += next;
    ++state.kernel;
    if (progress) progress(state);
  }
  writer.finish();
}

}  // namespace atl
