// Search in a B+ tree: `find` looks up single keys, `count_range` counts the keys of a range. One CTA per query; the threads
// of a CTA compare all keys of a node at once, then the CTA goes down one level.
//
//   keys, children  of the nodes, level by level, root first: read-only. The upper levels are shared by all CTAs, leaves are
//                   reached at random.
//   record_keys, record_values  read-only, reached at random
//   queries         read-only, one element per CTA, so that a line belongs to CTAs of one neighbourhood
//   results         written, as the queries: neighbouring CTAs write into one line (false sharing)
#include <algorithm>
#include <climits>

#include "common.cuh"

using namespace workload;

struct Tree {
  const int *keys, *children;
  int levels, order;
};

// The last record whose key is not above `key`, -1 if there is none; for all threads of the CTA.
__device__ int last_not_above(Tree tree, int key) {
  __shared__ int next;
  int node = 0;
  for (int level = 0; level < tree.levels && node >= 0; ++level) {
    if (threadIdx.x == 0) next = -1;
    __syncthreads();
    const int* keys = tree.keys + node * tree.order;
    const int t = threadIdx.x;
    if (keys[t] <= key && (t + 1 == tree.order || keys[t + 1] > key)) next = tree.children[node * tree.order + t];
    __syncthreads();
    node = next;
    __syncthreads();
  }
  return node;
}

__global__ void find(int* results, Tree tree, const int* record_keys, const int* record_values, const int* queries) {
  const int key = queries[blockIdx.x];
  const int record = last_not_above(tree, key);
  if (threadIdx.x == 0) results[blockIdx.x] = record >= 0 && record_keys[record] == key ? record_values[record] : -1;
}

__global__ void count_range(int* results, Tree tree, const int* first, const int* last) {
  const int end = last_not_above(tree, last[blockIdx.x]);
  const int begin = last_not_above(tree, first[blockIdx.x] - 1);
  if (threadIdx.x == 0) results[blockIdx.x] = end - begin;
}

// All nodes but the last of a level are full; missing keys are INT_MAX, which no query reaches.
struct HostTree {
  std::vector<int> keys, children;
  int levels = 0;

  HostTree(const std::vector<int>& record_keys, int order) {
    std::vector<std::vector<int>> firsts = {record_keys};  // smallest keys of the children of each level, from the leaves up
    do {
      std::vector<int> up;
      for (std::size_t i = 0; i < firsts.back().size(); i += order) up.push_back(firsts.back()[i]);
      firsts.push_back(up);
    } while (firsts.back().size() > 1);
    levels = int(firsts.size()) - 1;
    int next_level = 0;  // number of its first node
    for (int level = levels - 1; level >= 0; --level) {
      const int nodes = int(firsts[level + 1].size()), used = int(firsts[level].size());
      next_level += nodes;
      for (int i = 0; i < nodes * order; ++i) {
        keys.push_back(i < used ? firsts[level][i] : INT_MAX);
        children.push_back(i >= used ? -1 : level == 0 ? i : next_level + i);
      }
    }
  }
};

int main(int argc, char** argv) {
  Args args(argc, argv, "btree: queries in a B+ tree");
  const int records = args.number("records", 200000, 1, 1 << 28, "keys in the tree");
  const int queries = args.number("queries", 4096, 1, 1 << 24, "queries of each kernel, one CTA each");
  const int order = args.number("order", 128, 2, 1024, "keys of a node, threads of a CTA");
  args.done();

  Random random(1);
  std::vector<int> keys(records), values(records), first(queries), last(queries);
  for (int i = 0; i < records; ++i) keys[i] = 4 * i + random.below(4) + 1, values[i] = random.below(1 << 20);
  std::vector<int> wanted(queries);
  for (int q = 0; q < queries; ++q) {
    wanted[q] =
        random.below(2) != 0 ? keys[random.below(records)] : random.below(4 * records);  // half of them hits at least
    first[q] = random.below(4 * records);
    last[q] = first[q] + random.below(4000);
  }
  const HostTree host(keys, order);
  const DeviceArray<int> node_keys(host.keys), children(host.children), record_keys(keys), record_values(values);
  const DeviceArray<int> device_wanted(wanted), device_first(first), device_last(last), found(queries), counts(queries);
  const Tree tree = {node_keys, children, host.levels, order};
  find<<<queries, order>>>(found, tree, record_keys, record_values, device_wanted);
  finish_kernel();
  count_range<<<queries, order>>>(counts, tree, device_first, device_last);
  finish_kernel();

  std::vector<int> want_found(queries), want_counts(queries);
  for (int q = 0; q < queries; ++q) {
    const auto at = std::lower_bound(keys.begin(), keys.end(), wanted[q]);
    want_found[q] = at != keys.end() && *at == wanted[q] ? values[at - keys.begin()] : -1;
    const auto from = std::lower_bound(keys.begin(), keys.end(), first[q]);
    want_counts[q] = int(std::upper_bound(from, keys.end(), last[q]) - from);
  }
  Check check;
  check.equal("found", found.download(), want_found);
  check.equal("counts", counts.download(), want_counts);
  return check.report();
}
