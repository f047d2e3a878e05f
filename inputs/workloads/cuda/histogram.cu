// Histogram of bytes with 256 bins. `count_bytes` counts in shared memory with atomics, a fixed number of CTAs walks over
// the data with the stride of the whole grid; `add_up` has one CTA per bin, which adds the counts of all CTAs.
//
//   data     read-only, four bytes per thread and step, private; a page holds data of many CTAs
//   partial  ctas x 256: written by `count_bytes`, a row is private; `add_up` reads columns: each of its CTAs reads a part
//   of
//            every row, so all rows are read by CTAs of all chips
//   bins     written by `add_up`, one element per CTA
#include "common.cuh"

using namespace workload;

constexpr int kBins = 256;

__global__ void count_bytes(unsigned* partial, const unsigned* data, int words) {
  __shared__ unsigned counts[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) counts[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    const unsigned word = data[i];
    for (int byte = 0; byte < 4; ++byte) atomicAdd(&counts[(word >> (8 * byte)) & 255], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) partial[blockIdx.x * kBins + bin] = counts[bin];
}

__global__ void add_up(unsigned* bins, const unsigned* partial, int rows) {
  __shared__ unsigned scratch[kBins];
  unsigned sum = 0;
  for (int row = threadIdx.x; row < rows; row += blockDim.x) sum += partial[row * kBins + blockIdx.x];
  sum = block_sum(scratch, sum);
  if (threadIdx.x == 0) bins[blockIdx.x] = sum;
}

int main(int argc, char** argv) {
  Args args(argc, argv, "histogram: 256 bins of bytes");
  const int words = args.number("words", 1 << 19, 1, 1 << 29, "four-byte words of data");
  const int ctas = args.number("ctas", 240, 1, 65535, "CTAs that count");
  const int threads = args.number("threads", 192, 1, 1024, "threads of a CTA that counts");
  args.done();

  Random random(1);
  std::vector<unsigned> data(words), want(kBins, 0);
  for (unsigned& word : data) {
    word = unsigned(random.next() & random.next());  // bytes with few bits set are more frequent
    for (int byte = 0; byte < 4; ++byte) ++want[(word >> (8 * byte)) & 255];
  }
  const DeviceArray<unsigned> device_data(data), partial(std::size_t(ctas) * kBins), bins(kBins);
  count_bytes<<<ctas, threads>>>(partial, device_data, words);
  finish_kernel();
  add_up<<<kBins, kBins>>>(bins, partial, ctas);
  finish_kernel();

  Check check;
  check.equal("bins", bins.download(), want);
  return check.report();
}
