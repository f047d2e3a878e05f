#include "inputs/trace/accelsim_workload.hpp"

#include <map>
#include <unordered_map>

#include "core/engine/error.hpp"
#include "inputs/trace/accelsim_kernel.hpp"
#include "inputs/trace/trace_writer.hpp"
#include "inputs/workload/count.hpp"

namespace atl {
namespace {

[[noreturn]] void cut_short(const accelsim::KernelFile& file, std::uint64_t found, std::uint64_t cta) {
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
    if (!found.contains(i)) cut_short(file, found.size(), i);
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

std::string AccelSimWorkload::incomplete(std::size_t kernel) {
  accelsim::KernelFile file(list_.kernels.at(kernel));
  CtaProgram program;
  std::uint64_t cta = 0;
  while (file.next_cta(cta, program)) {
  }
  return file.incomplete();
}

namespace {

/// One kernel on its way into a container: its CTAs come in any order, leave in theirs, and only those that are chosen.
class KernelImport {
 public:
  KernelImport(TraceWriter& writer, const std::string& path, const ImportOptions& options)
      : writer_(writer), selection_(options.selection), file_(path, options.latencies) {
    CtaProgram program;
    std::uint64_t cta = 0;
    // Those that are not chosen write as well: of one selection there is one program, whoever makes it.
    for (accelsim::KernelFile first(path); first.next_cta(cta, program);) read_only_.note(program);
  }

  void run(ImportProgress& progress) {
    const KernelInfo& info = file_.header().info;
    writer_.begin_kernel(info, selection_.count(info.ctas()) < info.ctas() ? selection_.nth(0) : 0);
    CtaProgram program;
    std::uint64_t cta = 0, found = 0;
    for (; file_.next_cta(cta, program); ++found) {
      if (cta < next_ || early_.contains(cta)) twice(file_, cta);
      early_.emplace(cta, selection_.has_cta(cta) ? std::move(program) : CtaProgram{});
      for (auto held = early_.begin(); held != early_.end() && held->first == next_; held = early_.erase(held), ++next_)
        if (selection_.has_cta(next_)) write(held->second, progress);
    }
    if (next_ != file_.header().info.ctas()) cut_short(file_, found, next_);
  }
  std::string incomplete() const { return file_.incomplete(); }
  const KernelInfo& info() const { return file_.header().info; }

 private:
  void write(CtaProgram& cta, ImportProgress& progress) {
    read_only_.mark(cta);
    progress.instructions += count_instructions(cta), ++progress.ctas;
    writer_.add_cta(cta);
  }

  TraceWriter& writer_;
  const WorkloadSelection& selection_;
  accelsim::KernelFile file_;
  ReadOnlyOracle read_only_;
  std::map<std::uint64_t, CtaProgram> early_;  // tracers may write thread blocks in any order: those ahead of their turn
  std::uint64_t next_ = 0;
};

}  // namespace

std::string import_accel_sim(const std::string& list_path, const std::string& out_path, const ImportOptions& options) {
  const accelsim::KernelList list = accelsim::read_kernel_list(list_path);
  std::vector<KernelInfo> kernels;
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < list.kernels.size(); ++k) {
    const KernelInfo& info = kernels.emplace_back(accelsim::KernelFile(list.kernels[k]).header().info);
    if (options.selection.has_kernel(k, info.name) && options.selection.count(info.ctas()) != 0) chosen.push_back(k);
  }
  options.selection.check(kernels);
  std::string selected = options.selection.text(chosen.size(), list.kernels.size());
  std::string importer = "atoll import, Accel-Sim SASS traces; read-only: loads from blocks their kernel never writes";
  if (options.latencies == accelsim::Latencies::accel_sim) importer += "; latencies as in Accel-Sim's pipeline";
  TraceWriter writer(out_path, {list_path, importer, selected});
  for (const TraceAllocation& allocation : list.allocations) writer.add_allocation(allocation);
  ImportProgress state;
  state.kernels = chosen.size();
  for (const std::size_t k : chosen) {
    KernelImport import(writer, list.kernels[k], options);
    import.run(state);
    if (const std::string what = import.incomplete(); !what.empty()) {
      if (options.strict) throw InputError(list.kernels[k], what);
      if (options.warn) options.warn(list.kernels[k] + ": " + what);
      writer.set_incomplete(what);
    }
    writer.end_kernel();
    ++state.kernel;
    if (options.progress) options.progress(state);
  }
  writer.finish();
  return selected;
}

}  // namespace atl
