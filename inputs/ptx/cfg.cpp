#include "inputs/ptx/cfg.hpp"

#include <algorithm>
#include <utility>

namespace atl::ptx {
namespace {

bool ends_thread(const Instruction& i) {
  return i.guard == kNone && (i.op == Op::ret || i.op == Op::exit || i.op == Op::trap);
}
bool is_branch(const Instruction& i) { return i.op == Op::bra || i.op == Op::brx; }
bool falls_through(const Instruction& i) { return !ends_thread(i) && (i.guard != kNone || !is_branch(i)); }

template <typename Each> void for_each_target(const Function& f, const Instruction& i, Each each) {
  if (i.op == Op::bra) each(i.target);
  if (i.op == Op::brx)
    for (const std::uint32_t target : f.branch_tables[i.table]) each(target);
}

using Edges = std::vector<std::vector<std::uint32_t>>;

Edges edges_into(const FlowGraph& g) {
  Edges before(g.blocks.size());
  for (std::uint32_t b = 0; b < g.blocks.size(); ++b)
    for (const std::uint32_t n : g.blocks[b].next) before[n].push_back(b);
  return before;
}

/// Blocks that lead to `end`, in post-order of the walk against the edges.
std::vector<std::uint32_t> walk_back(const Edges& before, std::uint32_t end) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(before.size());
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{end, 0}};
  seen[end] = true;
  while (!stack.empty()) {
    auto& [block, edge] = stack.back();
    if (edge == before[block].size()) {
      order.push_back(block);
      stack.pop_back();
    } else if (const std::uint32_t n = before[block][edge++]; !seen[n]) {
      seen[n] = true;
      stack.emplace_back(n, 0);
    }
  }
  return order;
}

bool returns(const Function& f, const Block& b) {
  const Op last = f.code[b.last].op;
  return (last == Op::ret || last == Op::exit) && !(f.gives_up_at_end && b.last + 1 == f.code.size());
}

/// The end that most blocks lead to, of those that blocks without a meeting point yet lead to; the later of equals. An end
/// that returns goes before any that gives up, by a trap or a call that does not come back: in a loop, all blocks may lead
/// to a failed assertion.
std::uint32_t main_end(const Function& f, const FlowGraph& g, const Edges& before, const std::vector<bool>& settled) {
  std::uint32_t best = kNone;
  std::pair<bool, std::size_t> most{};
  for (std::uint32_t b = 0; b < g.blocks.size(); ++b) {
    if (settled[b] || !g.blocks[b].next.empty()) continue;
    const std::pair rank(returns(f, g.blocks[b]), walk_back(before, b).size());
    if (best == kNone || rank >= most) most = rank, best = b;
  }
  if (best == kNone)  // what is left runs for ever: any block may stand for the end
    for (std::uint32_t b = 0; b < g.blocks.size(); ++b)
      if (!settled[b]) best = b;
  return best;
}

}  // namespace

FlowGraph make_flow_graph(const Function& f) {
  std::vector<bool> leader(f.code.size() + 1);
  leader[0] = true;
  for (std::uint32_t at = 0; at < f.code.size(); ++at) {
    for_each_target(f, f.code[at], [&](std::uint32_t target) { leader[target] = true; });
    if (is_branch(f.code[at]) || ends_thread(f.code[at])) leader[at + 1] = true;
  }
  FlowGraph g;
  g.block_of.resize(f.code.size());
  for (std::uint32_t at = 0; at < f.code.size(); ++at) {
    if (leader[at]) g.blocks.push_back({at, at, {}});
    g.blocks.back().last = at;
    g.block_of[at] = static_cast<std::uint32_t>(g.blocks.size() - 1);
  }
  for (std::uint32_t b = 0; b < g.blocks.size(); ++b) {
    Block& block = g.blocks[b];
    const Instruction& last = f.code[block.last];
    for_each_target(f, last, [&](std::uint32_t target) { block.next.push_back(g.block_of[target]); });
    if (falls_through(last) && b + 1 < g.blocks.size()) block.next.push_back(b + 1);
    std::sort(block.next.begin(), block.next.end());
    block.next.erase(std::unique(block.next.begin(), block.next.end()), block.next.end());
  }
  return g;
}

// Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", on the reversed graph.
std::vector<std::uint32_t> immediate_post_dominators(const FlowGraph& g, std::uint32_t end) {
  const std::vector<std::uint32_t> order = walk_back(edges_into(g), end);
  std::vector<std::uint32_t> number(g.blocks.size(), kNone), idom(g.blocks.size(), kNone);
  for (std::uint32_t n = 0; n < order.size(); ++n) number[order[n]] = n;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = idom[a];
      while (number[b] < number[a]) b = idom[b];
    }
    return a;
  };
  idom[end] = end;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = order.rbegin(); block != order.rend(); ++block) {
      if (*block == end) continue;
      std::uint32_t found = kNone;
      for (const std::uint32_t n : g.blocks[*block].next)
        if (number[n] != kNone && idom[n] != kNone) found = found == kNone ? n : meet(found, n);
      if (found != idom[*block]) idom[*block] = found, changed = true;
    }
  }
  idom[end] = kNone;
  return idom;
}

void find_reconvergence(Function& f) {
  if (f.code.empty()) return;
  const FlowGraph g = make_flow_graph(f);
  const Edges before = edges_into(g);
  std::vector<bool> settled(g.blocks.size());
  std::vector<std::uint32_t> meeting(g.blocks.size(), kNone);
  // One round per end is rare: nvcc mostly leads every path to one ret. The rest are ways out of errors.
  for (std::uint32_t end = main_end(f, g, before, settled); end != kNone; end = main_end(f, g, before, settled)) {
    const std::vector<std::uint32_t> idom = immediate_post_dominators(g, end);
    for (std::uint32_t b = 0; b < g.blocks.size(); ++b) {
      if (settled[b] || (idom[b] == kNone && b != end)) continue;
      settled[b] = true;
      meeting[b] = idom[b];
    }
  }
  for (std::uint32_t at = 0; at < f.code.size(); ++at) {
    Instruction& i = f.code[at];
    if (!is_branch(i) || (i.op == Op::bra && i.guard == kNone)) continue;
    const std::uint32_t block = meeting[g.block_of[at]];
    if (block != kNone) i.reconverge = g.blocks[block].first;
  }
}

}  // namespace atl::ptx
