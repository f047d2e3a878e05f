"""Warps see exactly the lanes that a member mask names, and blocks each other as the schedule says."""

import shutil

import recorded_program
from recorded_program import RecordTest

MASKS = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
__global__ void halves(unsigned* out) {
  const unsigned lane = threadIdx.x, mask = lane < 16 ? 0xffffu : 0xffff0000u;
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  out[4 * lane] = __ballot_sync(mask, 1);
  out[4 * lane + 1] = cg::reduce(tile, lane, cg::plus<unsigned>());
  out[4 * lane + 2] = tile.ballot(lane % 16 < 3);
  out[4 * lane + 3] = __half2float(hexp(__float2half(0.f)));
}
__global__ void lonely(unsigned* out) {
  if (threadIdx.x < 8) out[threadIdx.x] = __ballot_sync(0xffffffffu, 1);
  out[32 + threadIdx.x] = 1;  // by all lanes
}
__global__ void early(unsigned* out) {
  if (threadIdx.x >= 8) return;
  out[threadIdx.x] = __ballot_sync(0xffffffffu, 1);
}
int main(int argc, char** argv) {
  unsigned *out, host[128];
  cudaMalloc(&out, sizeof host);
  if (argc == 1) halves<<<1, 32>>>(out); else if (argv[1][0] == 'l') lonely<<<1, 32>>>(out); else early<<<1, 32>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  for (int at : {0, 1, 2, 3, 64, 65, 66, 67}) printf("%x ", host[at]);
  printf("\n");
}
"""

# Levels of a search on a path of 64 nodes, with a race that does no harm: in long turns one launch sees several levels.
LEVELS = r"""
#include <cstdio>
__global__ void level(volatile int* distance, int now, int* changed) {
  const int n = blockIdx.x;
  if (distance[n] < 0 && distance[n - 1] >= 0) distance[n] = distance[n - 1] + 1, *changed = 1;
}
__global__ void stuck(int* flag) {
  while (__ldcg(flag) == 0) {}
}
int main(int argc, char**) {
  int *distance, *changed, host[64], rounds = 0;
  cudaMallocManaged(&distance, sizeof host), cudaMallocManaged(&changed, 4);
  if (argc > 1) { stuck<<<2, 32>>>(changed); cudaDeviceSynchronize(); puts("went on"); return 0; }
  for (int n = 0; n < 64; ++n) distance[n] = n == 0 ? 0 : -1;
  do { *changed = 0; level<<<64, 1>>>(distance, rounds++, changed); cudaDeviceSynchronize(); } while (*changed);
  bool good = true;
  for (int n = 0; n < 64; ++n) good &= distance[n] == n;
  printf("%s after %d launches\n", good ? "PASS" : "FAIL", rounds);
}
"""


# What blocks do to each other: an update that is lost, a hand-over by a flag, and columns beyond the matrix.
TOGETHER = r"""
#include <cstdio>
#include <cstring>
__global__ void lost(int* count, const int* where) { count[where[blockIdx.x]] += 1; }
__global__ void fill(int* out) { out[threadIdx.x] = blockIdx.x; }
__global__ void wait(int* flag, int* out) {
  if (blockIdx.x == 0) { while (*(volatile int*)flag == 0) {} __threadfence(); *out = *(volatile int*)(flag + 1); return; }
  int x = 1;
  for (int n = 0; n < 5000; ++n) x = x * 5 + n;
  *(volatile int*)(flag + 1) = x; __threadfence(); *(volatile int*)flag = 1;
}
__global__ void column(int* out, const int* matrix) { out[threadIdx.x] = matrix[(int)threadIdx.x - 4]; out[threadIdx.x + 40] = 7; }
int main(int, char** argv) {
  int *x, *where, host[64];
  cudaMalloc(&x, 256), cudaMalloc(&where, 256);
  cudaMemset(x, 0, 256), cudaMemset(where, 0, 256);
  if (!strcmp(argv[1], "lost")) lost<<<64, 1>>>(x, where);
  if (!strcmp(argv[1], "fill")) fill<<<4, 32>>>(x);
  if (!strcmp(argv[1], "wait")) wait<<<2, 1>>>(x, where);
  if (!strcmp(argv[1], "column")) cudaMemset(where, 1, 256), column<<<1, 32>>>(x, where);
  cudaDeviceSynchronize();
  cudaMemcpy(host, x, 256, cudaMemcpyDeviceToHost);
  printf("%d %d %d\n", host[0], host[31], host[40]);
}
"""


class Warps(RecordTest):
    def test_two_halves_of_a_warp_with_masks_of_their_own_do_not_see_each_other(self):
        for arch in (75, 80, 90):
            with self.subTest(arch=arch):
                binary = self.compiled(MASKS, "-std=c++17", f"-arch=compute_{arch}", f"-code=compute_{arch}")
                outcome = self.record(binary, options=["--check", "--force"])
                self.assertEqual(outcome.code, 0, outcome)
                # 0 + ... + 15 = 0x78, 16 + ... + 31 = 0x178
                self.assertEqual(outcome.out, "ffff 78 7 1 ffff0000 178 7 1 \n")
                self.assertNotIn("warning", outcome.err)

    def test_a_mask_that_names_lanes_which_never_come_is_a_warning(self):
        binary = self.compiled(MASKS, "-std=c++17")
        outcome = self.record(binary, "lonely")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertTrue(outcome.out.startswith("ff ff ff ff "), outcome)
        self.assertIn("warning: 1 warp-wide instructions were executed by other lanes than their member mask names", outcome.err)
        checked = self.record(binary, "lonely", options=["--check", "--force"])
        self.assertIn("kernel lonely, block (0, 0, 0), warp 0, program.0.ptx:", checked.err)
        self.assertIn("lanes 0xffffff00", checked.err)

    def test_lanes_that_returned_before_are_no_lanes_which_never_come(self):
        outcome = self.record(self.compiled(MASKS, "-std=c++17"), "early", options=["--check"])
        self.assertEqual(outcome.code, 0, outcome)
        self.assertTrue(outcome.out.startswith("ff ff ff ff "), outcome)
        self.assertNotIn("member mask", outcome.err)


class Schedule(RecordTest):
    def recorded(self, binary, seed, *options):
        outcome = self.record(binary, options=["--force", "--schedule-seed", seed, *options])
        self.assertEqual(outcome.code, 0, outcome)
        shutil.copy(self.path("T.h5"), self.path(f"seed{seed}{len(options)}.h5"))
        return outcome.out

    def test_levels_of_a_search_take_a_launch_each_when_interleaved_and_the_trace_repeats(self):
        binary = self.compiled(LEVELS)
        self.assertEqual(self.record(binary, options=["--long-turns"]).out, "PASS after 2 launches\n")
        self.assertEqual(self.record(binary, options=["--force"]).out, "PASS after 64 launches\n")
        self.assertEqual(self.recorded(binary, "1"), "PASS after 64 launches\n")
        self.assertEqual(self.recorded(binary, "1", "--threads", "2"), "PASS after 64 launches\n")
        with open(self.path("seed10.h5"), "rb") as one, open(self.path("seed12.h5"), "rb") as two:
            self.assertEqual(one.read(), two.read())
        self.assertTrue(self.simulated())

    def test_a_kernel_that_polls_what_nobody_changes_is_ended_and_named(self):
        outcome = self.record(self.compiled(LEVELS), "stuck")
        self.assertEqual((outcome.code, outcome.out), (3, ""), outcome)
        self.assertIn("kernel stuck, block (0, 0, 0)", outcome.err)
        self.assertIn("polls memory that nobody changes any more", outcome.err)
        self.assertIn("blocks 0, 1 of 2 wait", outcome.err)


# Blocks that meet at grid-wide barriers, and the last one to finish sums up what the others left.
MEETING = r"""
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__device__ unsigned ticket;
__global__ void rounds(int* a, int* b, int n) {
  const auto grid = cg::this_grid();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < 6; ++round) {
    b[i] = a[(i + 1) % n] + a[(i + n - 1) % n];
    grid.sync();
    a[i] = b[i] & 1023;
    grid.sync();
  }
}
__global__ void total(const int* a, int* part, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int n = 0; n < 64; ++n) sum += a[blockIdx.x * 64 + n];
    part[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&ticket, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  *out = 0;
  for (int n = 0; n < gridDim.x; ++n) *out += part[n];
}
int main() {
  int n = 2048, *a, *b, *out, host[2048], next[2048], sum = 0, got = 0;
  for (int i = 0; i < n; ++i) host[i] = i * 37 % 1001;
  cudaMalloc(&a, n * 4), cudaMalloc(&b, n * 4), cudaMalloc(&out, 4);
  cudaMemcpy(a, host, n * 4, cudaMemcpyHostToDevice);
  void* arguments[] = {&a, &b, &n};
  cudaLaunchCooperativeKernel((void*)rounds, n / 64, 64, arguments, 0, 0);
  total<<<n / 64, 64>>>(a, b, out);
  cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost);
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < n; ++i) next[i] = host[(i + 1) % n] + host[(i + n - 1) % n];
    for (int i = 0; i < n; ++i) host[i] = next[i] & 1023;
  }
  for (int i = 0; i < n; ++i) sum += host[i];
  puts(sum == got ? "PASS" : "FAIL");
}
"""


class Meeting(recorded_program.OneProgram):
    SOURCE = MEETING

    def test_blocks_that_meet_at_barriers_and_fences_do_not_race_and_their_trace_repeats(self):
        traces = []
        for options in (["--threads", "1"], ["--threads", "2"], ["--check"], ["--long-turns"], ["--schedule-seed", "3"]):
            outcome = self.record(self.binary, options=["--force", *options])
            self.assertEqual((outcome.code, outcome.out), (0, "PASS\n"), outcome)
            self.assertRegex(outcome.err, "no races in global memory within a launch[;\n]")
            with open(self.path("T.h5"), "rb") as trace:
                traces.append(trace.read())
        self.assertEqual(traces[0], traces[1])
        self.assertEqual(traces[0], traces[2])
        self.assertEqual(len(set(traces)), 3)  # other schedules, other traces


class Together(recorded_program.OneProgram):
    SOURCE = TOGETHER

    def recorded(self, what, *options, code=0):
        outcome = self.record(self.binary, what, options=["--force", *options])
        self.assertEqual(outcome.code, code, outcome)
        return outcome

    def test_the_summary_counts_locations_that_raced_and_a_check_names_lines(self):
        self.assertIn("\nno races in global memory within a launch; in shared memory only --check looks for them\n",
                      self.recorded("wait").err)
        for what, locations in (("lost", 1), ("fill", 32)):
            for threads in ("1", "2"):
                said = self.recorded(what, "--threads", threads).err
                self.assertIn(f"warning: {locations} locations of global memory raced, in 1 launches of {what}:", said)
                self.assertIn("results may differ with another schedule (--schedule-seed); --check names lines, "
                              "and looks at shared memory\n", said)
            self.assertIn(f"kernel {what}: race at", self.recorded(what, "--check").err)
            self.assertIn("and nothing orders the two\n", self.recorded(what, "--check").err)

    def test_an_update_that_a_gpu_would_lose_is_lost_and_kept_in_long_turns(self):
        self.assertEqual(self.recorded("lost", "--long-turns").out, "64 0 0\n")
        self.assertLess(int(self.recorded("lost").out.split()[0]), 64)

    def test_rounds_of_a_loop_that_waits_are_left_out_of_the_trace_and_counted(self):
        outcome = self.recorded("wait")
        self.assertIn(" rounds of loops that waited for others were left out of the trace\n", outcome.err)
        self.assertTrue(self.simulated())

    def test_accesses_out_of_bounds_are_borne_with_where_that_is_asked_for(self):
        self.assertIn("out of bounds", self.recorded("column", code=3).err)
        outcome = self.recorded("column", "--tolerate-oob")
        self.assertEqual(outcome.out, f"0 {0x01010101} 7\n")
        self.assertIn("4 loads out of bounds gave 0; the first in block 0, thread 0: 4 bytes at 0x", outcome.err)
        self.assertIn("8 stores out of bounds were dropped; the first in block 0, thread 24", outcome.err)
        self.assertTrue(self.simulated())


if __name__ == "__main__":
    recorded_program.main()
