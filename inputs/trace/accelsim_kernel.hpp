#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "inputs/trace/accelsim_converter.hpp"
#include "inputs/trace/accelsim_source.hpp"
#include "inputs/trace/trace_findings.hpp"
#include "inputs/workload/workload.hpp"

namespace atl::accelsim {

struct KernelHeader {
  KernelInfo info;
  unsigned tracer_version = 0;                    ///< major; 1 to 6
  unsigned architecture = 0;                      ///< "binary version": 90 for sm_90; 0: not known
  bool source_lines = false;                      ///< "enable lineinfo"
  std::uint64_t shared_base = 0, local_base = 0;  ///< of the windows in generic addresses; 0: not known
};

/// One kernel file: the header at once, then one thread block after the other, in the order of the file.
class KernelFile {
 public:
  explicit KernelFile(const std::string& path, Latencies latencies = Latencies::gpu);
  const KernelHeader& header() const { return header_; }
  /// Replaces `out` by the next thread block and `cta` by its flattened id. False after the last one.
  bool next_cta(std::uint64_t& cta, CtaProgram& out);
  /// About the thread blocks read so far.
  const TraceFindings& findings() const { return findings_; }
  /// The same in words, with opcodes that are not known; empty: nothing.
  std::string incomplete() const;
  [[noreturn]] void fail(const std::string& what) const { lines_.fail(what); }

 private:
  std::set<std::string, std::less<>> read_header();  ///< the keys that it has
  void read_header_line(std::string_view line, std::set<std::string, std::less<>>& seen);
  std::uint64_t read_block_id(std::string_view line) const;
  Space space_of(std::uint64_t address) const;
  void find_offsets();
  void add_instruction(bool last);
  void add_parts();
  void look_at_instruction();
  void read_warp(std::string_view line, CtaProgram& out);
  bool next_text(std::string_view& line);

  LineReader lines_;
  KernelHeader header_;
  bool windows_ = false;  ///< the header says where shared and local memory lie in generic addresses
  LineFormat format_;
  OpcodeTable opcodes_;
  WarpConverter converter_;
  SassInstruction instruction_;
  std::vector<bool> seen_warps_;
  TraceFindings findings_;
  std::uint64_t lost_ = 0;              ///< instructions with addresses that are taken for compute
  std::set<std::string> lost_opcodes_;  ///< of these, without suffixes
};

}  // namespace atl::accelsim
