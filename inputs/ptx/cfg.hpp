#pragma once
#include <cstdint>
#include <vector>

#include "inputs/ptx/ir.hpp"

namespace atl::ptx {

/// A basic block: instructions first to last, and the blocks that may come next. A guarded ret or exit ends none: the
/// threads that take it are gone, the others go on behind it.
struct Block {
  std::uint32_t first = 0, last = 0;
  std::vector<std::uint32_t> next;  ///< block numbers; empty after ret, exit, trap
};

struct FlowGraph {
  std::vector<Block> blocks;            ///< in the order of the code
  std::vector<std::uint32_t> block_of;  ///< per instruction
};

FlowGraph make_flow_graph(const Function& f);

/// Immediate post-dominator of every block with respect to the paths that end in block `end`; kNone for `end` itself and
/// for blocks that never get there.
std::vector<std::uint32_t> immediate_post_dominators(const FlowGraph& g, std::uint32_t end);

/// Sets Instruction::reconverge of every guarded bra and of every brx: the first instruction of the immediate post-dominator
/// of its block. Threads that return early do not keep the others from meeting: only paths to the main return count (the
/// one that most blocks lead to). kNone: the threads meet nowhere before they end.
void find_reconvergence(Function& f);

}  // namespace atl::ptx
