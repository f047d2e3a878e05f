// Stable merge sort of keys with values. `sort_blocks` sorts 512 elements per CTA in shared memory; each launch of `merge`
// merges pairs of sorted runs: an element's place is its place in its own run plus its rank in the other, found by
// bisection.
//
//   from_keys, from_values  read-only in a pass. A thread reads its own element (private) and bisects in the other run: the
//                           middle of a run is read by all CTAs that work on the pair, the rest by a few
//   to_keys, to_values      written, each element once, by a CTA near by in the first passes and from anywhere in the last;
//                           they are the `from` of the next pass
#include <algorithm>
#include <numeric>

#include "common.cuh"

using namespace workload;

constexpr int kBlock = 512;

// The place of element i after merging the sorted runs of `width` elements, of `count` elements in all.
__device__ int merged_place(const unsigned* keys, int i, int width, int count) {
  const int run = i / width, other = run ^ 1;
  const int begin = min(other * width, count), end = min(begin + width, count);
  const unsigned key = keys[i];
  int low = begin, high = end;
  while (low < high) {  // equal keys of the left run come first
    const int middle = low + (high - low) / 2;
    if (keys[middle] < key || (other < run && keys[middle] == key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return (run & ~1) * width + (i - run * width) + (low - begin);
}

__global__ void sort_blocks(unsigned* keys, int* values, int count) {
  __shared__ unsigned block_keys[kBlock];
  __shared__ int block_values[kBlock];
  const int first = blockIdx.x * kBlock, used = min(kBlock, count - first), t = threadIdx.x;
  if (t < used) {
    block_keys[t] = keys[first + t];
    block_values[t] = values[first + t];
  }
  __syncthreads();
  for (int width = 1; width < used; width *= 2) {
    int place = 0, value = 0;
    unsigned key = 0;
    if (t < used) {
      place = merged_place(block_keys, t, width, used);
      key = block_keys[t];
      value = block_values[t];
    }
    __syncthreads();
    if (t < used) {
      block_keys[place] = key;
      block_values[place] = value;
    }
    __syncthreads();
  }
  if (t < used) {
    keys[first + t] = block_keys[t];
    values[first + t] = block_values[t];
  }
}

__global__ void merge(unsigned* to_keys, int* to_values, const unsigned* from_keys, const int* from_values, int width,
                      int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int place = merged_place(from_keys, i, width, count);
  to_keys[place] = from_keys[i];
  to_values[place] = from_values[i];
}

int main(int argc, char** argv) {
  Args args(argc, argv, "mergesort: stable sort of keys with values");
  const int count = args.number("count", 65536, 1, 1 << 29, "elements");
  args.done();

  Random random(1);
  std::vector<unsigned> keys(count);
  for (unsigned& key : keys) key = unsigned(random.below(count));  // some are equal
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  DeviceArray<unsigned> from_keys(keys), to_keys(count);
  DeviceArray<int> from_values(order), to_values(count);
  const int ctas = ceil_div(count, kBlock);
  sort_blocks<<<ctas, kBlock>>>(from_keys, from_values, count);
  finish_kernel();
  for (int width = kBlock; width < count; width *= 2) {
    merge<<<ctas, kBlock>>>(to_keys, to_values, from_keys, from_values, width, count);
    finish_kernel();
    from_keys.swap(to_keys);
    from_values.swap(to_values);
  }

  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  std::vector<unsigned> sorted(count);
  for (int i = 0; i < count; ++i) sorted[i] = keys[order[i]];
  Check check;
  check.equal("keys", from_keys.download(), sorted);
  check.equal("values", from_values.download(), order);
  return check.report();
}
