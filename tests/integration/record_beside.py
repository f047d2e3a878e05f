"""`atoll record`: kernels of different streams and devices, and the program itself, can wait for each other while they run."""

import recorded_program
from recorded_program import OneProgram

# Every kernel has one loop that polls, and the programs say what came out of it.
SOURCE = r"""
#include <cooperative_groups.h>
#include <cstdio>
#include <cstring>
#include <thread>
namespace cg = cooperative_groups;
__global__ void await(volatile int* flag, int* out) {
  while (*flag == 0) {}
  out[threadIdx.x] = *flag + threadIdx.x;
}
__global__ void raise(volatile int* flag, int value) { if (threadIdx.x == 0) *flag = value; }
__global__ void add(int* out, int n) { out[threadIdx.x] += n; }
// Takes turns with another kernel: this one when the ball is `mine`.
__global__ void play(volatile int* ball, int mine, int rounds, int* sum) {
  for (int i = 0; i < rounds; ++i) {
    while (*ball % 2 != mine) {}
    *sum += *ball;
    __threadfence();
    *ball = *ball + 1;
  }
}
// A barrier of all blocks on all devices, in memory of all.
__device__ void meet(unsigned* arrived, unsigned all) {
  cg::this_grid().sync();
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    __threadfence_system();
    atomicAdd_system(arrived, 1);
    while (*(volatile unsigned*)arrived < all) {}
    __threadfence_system();
  }
  cg::this_grid().sync();
}
__global__ void solve(int* own, const int* other, unsigned* arrived, unsigned devices, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    const int seen = ((const volatile int*)other)[i];
    meet(arrived, devices * (2 * round + 1));
    own[i] += seen + 1;
    meet(arrived, devices * (2 * round + 2));
  }
}
__global__ void serve(volatile int* asked, volatile int* answer) {
  for (int n = 1;; ++n) {
    while (*asked != n && *asked != -1) {}
    if (*asked == -1) return;
    *answer = 10 * n;
  }
}
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); return 1; } } while (0)

int flags() {  // what the second kernel stores, the first one waits for; behind that its stream goes on in order
  int *flag, *out, host[32] = {};
  cudaStream_t a, b;
  cudaEvent_t begun, done;
  cudaMalloc(&flag, 4), cudaMalloc(&out, 128), cudaMemset(flag, 0, 4);
  EXPECT(cudaStreamCreate(&a) == 0 && cudaStreamCreate(&b) == 0);
  EXPECT(cudaEventCreate(&begun) == 0 && cudaEventCreate(&done) == 0);
  EXPECT(cudaEventRecord(begun, a) == 0);
  await<<<1, 32, 0, a>>>(flag, out);
  add<<<1, 32, 0, a>>>(out, 100);
  int* pinned;
  cudaMallocHost(&pinned, 128);
  EXPECT(cudaMemcpyAsync(pinned, out, 128, cudaMemcpyDeviceToHost, a) == 0);
  EXPECT(cudaEventRecord(done, a) == 0);
  EXPECT(cudaStreamQuery(a) == cudaErrorNotReady && cudaEventQuery(done) == cudaErrorNotReady);
  EXPECT(cudaGetLastError() == cudaErrorNotReady && cudaStreamQuery(b) == 0 && cudaEventQuery(begun) == 0);
  float ms = 0;
  EXPECT(cudaEventElapsedTime(&ms, begun, done) == cudaErrorNotReady);
  cudaStream_t c;
  EXPECT(cudaStreamCreate(&c) == 0 && cudaStreamWaitEvent(c, done, 0) == 0);
  add<<<1, 32, 0, c>>>(out, 1000);  // behind the event
  // Recorded again, an event means the later place.
  EXPECT(cudaEventRecord(begun, a) == 0 && cudaEventQuery(begun) == cudaErrorNotReady);
  EXPECT(cudaEventRecord(begun, b) == 0 && cudaEventQuery(begun) == 0);
  raise<<<1, 32, 0, b>>>(flag, 7);
  EXPECT(cudaStreamSynchronize(a) == 0 && cudaStreamQuery(a) == 0 && cudaEventQuery(done) == 0);
  EXPECT(cudaEventElapsedTime(&ms, begun, done) == 0 && ms > 0);
  EXPECT(cudaDeviceSynchronize() == 0 && cudaMemcpy(host, out, 128, cudaMemcpyDeviceToHost) == 0);
  printf("%d %d %d\n", pinned[0], pinned[31], host[31]);
  return 0;
}

int game() {
  int *ball, *sums;
  cudaStream_t a, b;
  cudaMalloc(&ball, 4), cudaMallocManaged(&sums, 8);
  EXPECT(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking) == 0 && cudaStreamCreate(&b) == 0);
  sums[0] = sums[1] = 0;
  EXPECT(cudaMemset(ball, 0, 4) == 0);
  play<<<1, 1, 0, a>>>(ball, 1, 50, sums + 1);
  play<<<1, 1, 0, b>>>(ball, 0, 50, sums);
  EXPECT(cudaStreamSynchronize(a) == 0 && cudaStreamSynchronize(b) == 0);
  printf("%d %d\n", sums[0], sums[1]);
  return 0;
}

int devices() {
  int *x[2];
  unsigned* arrived;
  cudaStream_t stream[2];
  cudaMallocManaged(&arrived, 4);
  *arrived = 0;
  for (int d = 0; d < 2; ++d) {
    EXPECT(cudaSetDevice(d) == 0 && cudaMalloc(&x[d], 256) == 0 && cudaMemset(x[d], d, 256) == 0);
    EXPECT(cudaStreamCreate(&stream[d]) == 0 && cudaDeviceEnablePeerAccess(1 - d, 0) == 0);
  }
  for (int d = 0; d < 2; ++d) {
    EXPECT(cudaSetDevice(d) == 0);
    unsigned count = 2;
    int rounds = 5;
    void* arguments[] = {&x[d], &x[1 - d], &arrived, &count, &rounds};
    EXPECT(cudaLaunchCooperativeKernel((void*)solve, 2, 32, arguments, 0, stream[d]) == 0);
  }
  int host[2];
  for (int d = 0; d < 2; ++d) {
    EXPECT(cudaSetDevice(d) == 0 && cudaStreamSynchronize(stream[d]) == 0);
    EXPECT(cudaMemcpy(&host[d], x[d] + 63, 4, cudaMemcpyDeviceToHost) == 0);
  }
  printf("%d %d\n", host[0], host[1]);
  return 0;
}

int mapped(bool asks) {  // the program itself raises the flag
  int *flag, *seen, *out, host[32];
  EXPECT(cudaHostAlloc(&flag, 4, cudaHostAllocMapped) == 0 && cudaHostGetDevicePointer(&seen, flag, 0) == 0);
  cudaMalloc(&out, 128);
  *flag = 0;
  await<<<1, 32>>>(seen, out);
  add<<<1, 32>>>(out, 5);
  int questions = 0;
  if (asks)
    while (cudaStreamQuery(0) == cudaErrorNotReady)
      if (++questions == 10) *(volatile int*)flag = 3;
  *(volatile int*)flag = 3;
  EXPECT(cudaMemcpy(host, out, 128, cudaMemcpyDeviceToHost) == 0);
  printf("%d %d\n", host[0], host[31]);
  return 0;
}

int thread() {  // one thread waits for a kernel that another thread lets go on
  int *flag, *out, host;
  cudaStream_t a, b;
  cudaMallocManaged(&flag, 4), cudaMalloc(&out, 128);
  *flag = 0;
  EXPECT(cudaStreamCreate(&a) == 0 && cudaStreamCreate(&b) == 0);
  await<<<1, 32, 0, a>>>(flag, out);
  std::thread other([&] { raise<<<1, 32, 0, b>>>(flag, 9); });
  EXPECT(cudaStreamSynchronize(a) == 0);
  other.join();
  // The default stream of a thread is another one in each thread.
  *flag = 0;
  await<<<1, 32, 0, cudaStreamPerThread>>>(flag, out);
  std::thread third([&] { raise<<<1, 32, 0, cudaStreamPerThread>>>(flag, 11); });
  EXPECT(cudaStreamSynchronize(cudaStreamPerThread) == 0);
  third.join();
  EXPECT(cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost) == 0);
  printf("%d\n", host);
  return 0;
}

int host_function() {  // lines up behind a kernel that waits
  static int order[3], n = 0;
  int *flag, *out;
  cudaStream_t a;
  cudaMallocManaged(&flag, 4), cudaMalloc(&out, 128);
  *flag = 0;
  EXPECT(cudaStreamCreate(&a) == 0);
  await<<<1, 32, 0, a>>>(flag, out);
  EXPECT(cudaLaunchHostFunc(a, [](void*) { order[n++] = 2; }, nullptr) == 0);
  order[n++] = 1;
  *(volatile int*)flag = 1;
  EXPECT(cudaStreamSynchronize(a) == 0);
  printf("%d %d\n", order[0], order[1]);
  return 0;
}

int server() {  // a kernel that answers what the program asks for until it is told to end
  int* box;
  cudaStream_t a;
  cudaMallocManaged(&box, 8), memset(box, 0, 8);
  EXPECT(cudaStreamCreate(&a) == 0);
  serve<<<1, 1, 0, a>>>(box, box + 1);
  volatile int *asked = box, *answer = box + 1;
  for (int n = 1; n <= 5; ++n)
    for (*asked = n; *answer != 10 * n;) EXPECT(cudaStreamQuery(a) == cudaErrorNotReady);
  *asked = -1;
  EXPECT(cudaStreamSynchronize(a) == 0);
  printf("%d\n", box[1]);
  return 0;
}

int graph() {  // lines up as a whole, and a function of the program in it
  int* box;
  cudaStream_t a, b;
  cudaGraph_t list;
  cudaGraphExec_t ready;
  cudaMallocManaged(&box, 512), memset(box, 0, 512);
  EXPECT(cudaStreamCreate(&a) == 0 && cudaStreamCreate(&b) == 0);
  EXPECT(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal) == 0);
  add<<<1, 1, 0, a>>>(box + 32, 1);
  cudaMemsetAsync(box + 64, 1, 4, a);
  cudaLaunchHostFunc(a, [](void* p) { *(int*)p += 7; }, box + 65);
  EXPECT(cudaStreamEndCapture(a, &list) == 0 && cudaGraphInstantiate(&ready, list, 0) == 0);
  await<<<1, 1, 0, a>>>(box, box + 1);
  EXPECT(cudaGraphLaunch(ready, a) == 0 && cudaGraphLaunch(ready, a) == 0);
  EXPECT(cudaGraphExecDestroy(ready) == 0 && cudaGraphDestroy(list) == 0);
  printf("%d %d %d, ", box[32], box[64], box[65]);
  raise<<<1, 1, 0, b>>>(box, 1);
  EXPECT(cudaStreamSynchronize(a) == 0);
  printf("%d %x %d\n", box[32], box[64], box[65]);
  return 0;
}

int rules() {  // of the default stream: it waits for the others, and they for it, but for those that are free of it
  int* box;
  cudaStream_t a, b, free;
  cudaMallocManaged(&box, 512), memset(box, 0, 512);
  EXPECT(cudaStreamCreate(&a) == 0 && cudaStreamCreate(&b) == 0);
  EXPECT(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking) == 0);
  await<<<1, 1, 0, a>>>(box, box + 1);
  add<<<1, 1>>>(box + 32, 1);
  add<<<1, 1, 0, b>>>(box + 32, 1);
  EXPECT(cudaMemsetAsync(box + 64, 1, 4, free) == 0);
  EXPECT(cudaStreamQuery(b) == cudaErrorNotReady && cudaStreamQuery(0) == cudaErrorNotReady && cudaStreamQuery(free) == 0);
  printf("%d %x, ", box[32], box[64]);
  // Pageable memory is read at once, and has been written when the call returns.
  int* d;
  int host[16], back[16];
  for (int& x : host) x = 5;
  EXPECT(cudaMalloc(&d, 64) == 0 && cudaMemcpyAsync(d, host, 64, cudaMemcpyHostToDevice, b) == 0);
  for (int& x : host) x = 6;
  EXPECT(cudaStreamDestroy(a) == 0);
  raise<<<1, 1, 0, free>>>(box, 1);
  EXPECT(cudaMemcpyAsync(back, d, 64, cudaMemcpyDeviceToHost, b) == 0);
  printf("%d %d\n", box[32], back[15]);
  return 0;
}

int asks_in_vain() {
  int *flag, *out;
  cudaMalloc(&flag, 4), cudaMalloc(&out, 128), cudaMemset(flag, 0, 4);
  await<<<1, 32>>>(flag, out);
  while (cudaStreamQuery(0) == cudaErrorNotReady) {}
  puts("went on");
  return 0;
}

int two_wait() {  // in two threads, and neither can help the other
  int *flag, *out;
  cudaStream_t a, b;
  cudaMalloc(&flag, 4), cudaMalloc(&out, 128), cudaMemset(flag, 0, 4);
  EXPECT(cudaStreamCreate(&a) == 0 && cudaStreamCreate(&b) == 0);
  await<<<1, 32, 0, a>>>(flag, out);
  play<<<1, 1, 0, b>>>(flag, 1, 1, out);
  std::thread other([&] { cudaStreamSynchronize(b); });
  cudaStreamSynchronize(a);
  other.join();
  puts("went on");
  return 0;
}

int deadlock() {  // the flag is raised behind what waits for it
  int *flag, *out;
  cudaStream_t a;
  cudaMalloc(&flag, 4), cudaMalloc(&out, 128), cudaMemset(flag, 0, 4);
  EXPECT(cudaStreamCreate(&a) == 0);
  await<<<2, 32, 0, a>>>(flag, out);
  raise<<<1, 32, 0, a>>>(flag, 1);
  puts("launched"), fflush(stdout);
  EXPECT(cudaStreamSynchronize(a) == 0);
  puts("went on");
  return 0;
}

int left() {  // nobody waits for a kernel that waits
  int *flag, *out;
  cudaStream_t a, b;
  cudaMalloc(&flag, 4), cudaMalloc(&out, 128), cudaMemset(flag, 0, 4);
  EXPECT(cudaStreamCreate(&a) == 0 && cudaStreamCreate(&b) == 0);
  await<<<1, 32, 0, a>>>(flag, out);
  add<<<1, 32, 0, b>>>(out, 1);
  EXPECT(cudaStreamSynchronize(b) == 0);
  puts("end");
  return 0;
}

int main(int, char** argv) {
  const char* what = argv[1];
  if (!strcmp(what, "flags")) return flags();
  if (!strcmp(what, "game")) return game();
  if (!strcmp(what, "devices")) return devices();
  if (!strcmp(what, "mapped")) return mapped(false);
  if (!strcmp(what, "asks")) return mapped(true);
  if (!strcmp(what, "thread")) return thread();
  if (!strcmp(what, "host")) return host_function();
  if (!strcmp(what, "server")) return server();
  if (!strcmp(what, "graph")) return graph();
  if (!strcmp(what, "rules")) return rules();
  if (!strcmp(what, "vain")) return asks_in_vain();
  if (!strcmp(what, "two")) return two_wait();
  if (!strcmp(what, "deadlock")) return deadlock();
  return left();
}
"""


class Beside(OneProgram):
    SOURCE = SOURCE
    FLAGS = ("-arch=sm_75",)

    def says(self, what, said, *, kernels, options=()):
        """Runs it in every way; the trace repeats, byte for byte, with a seed."""
        for more in ("--long-turns", "--check"):
            self.recorded(what, said, kernels, [*options, more])
        traces = []
        for threads in ("1", "1", "2"):
            self.recorded(what, said, kernels, [*options, "--schedule-seed", "4", "--threads", threads])
            with open(self.path("T.h5"), "rb") as trace:
                traces.append(trace.read())
        self.assertTrue(traces[0] == traces[1] == traces[2], what)
        self.recorded(what, said, kernels, options)
        self.assertTrue(self.simulated())

    def recorded(self, what, said, kernels, options=()):
        outcome = self.record(self.binary, what, options=["--force", *options], timeout=200)
        self.assertEqual((outcome.code, outcome.out), (0, said), outcome)
        self.assertEqual(self.kernels_in_trace(outcome), kernels, outcome)
        return outcome

    def names(self):
        """Of the kernels in the trace, in their order."""
        lines = self.succeeds(["info", self.path("T.h5")]).out.splitlines()
        return [line.split()[1] for line in lines if "; " in line and line.split()[0].isdigit()]

    def test_a_kernel_waits_for_one_in_another_stream_and_its_stream_waits_for_it(self):
        self.says("flags", "107 138 1138\n", kernels=4)
        self.assertEqual(self.names(), ["await", "raise", "add", "add"])

    def test_two_kernels_wait_for_each_other_in_turns(self):
        self.says("game", f"{sum(range(0, 100, 2))} {sum(range(1, 100, 2))}\n", kernels=2)
        outcome = self.recorded("game", f"{sum(range(0, 100, 2))} {sum(range(1, 100, 2))}\n", 2)
        self.assertIn("rounds of loops that waited for others were left out of the trace", outcome.err)

    def test_kernels_of_two_devices_meet_at_a_barrier(self):
        self.says("devices", f"{self.solved()[0]} {self.solved()[1]}\n", kernels=2, options=["--devices", "2"])

    @staticmethod
    def solved():
        x = [0, 0x01010101]
        for _ in range(5):
            x = [x[0] + x[1] + 1, x[1] + x[0] + 1]
        return [(v + 2**31) % 2**32 - 2**31 for v in x]

    def test_a_kernel_waits_for_the_program_which_waits_for_it_afterwards(self):
        self.says("mapped", "8 39\n", kernels=2)

    def test_a_program_that_asks_for_the_stream_goes_on_and_so_does_the_kernel(self):
        self.says("asks", "8 39\n", kernels=2)

    def test_one_thread_waits_for_what_another_thread_launches(self):
        self.recorded("thread", "11\n", 4)

    def test_a_function_of_the_program_lines_up_behind_the_kernel(self):
        self.recorded("host", "1 2\n", 1)

    def test_a_kernel_serves_the_program_until_it_is_told_to_end(self):
        self.says("server", "50\n", kernels=1)

    def test_a_graph_lines_up_behind_the_kernel(self):
        self.says("graph", "0 0 0, 2 1010101 14\n", kernels=4)

    def test_the_default_stream_waits_and_is_waited_for_and_pageable_memory_is_the_programs(self):
        self.says("rules", "0 1010101, 2 5\n", kernels=4)
        self.assertEqual(self.names(), ["await", "raise", "add", "add"])

    def test_a_program_that_asks_for_ever_is_ended(self):
        outcome = self.record(self.binary, "vain", options=["--force"], timeout=200)
        self.assertEqual((outcome.code, outcome.out), (3, ""), outcome)
        self.assertIn("polls memory that nobody changes any more", outcome.err)

    def test_two_threads_that_wait_are_ended_as_well(self):
        outcome = self.record(self.binary, "two", options=["--force"], timeout=200)
        self.assertEqual((outcome.code, outcome.out), (3, ""), outcome)
        self.assertRegex(outcome.err, "kernel await, .*; so does kernel play. The program waits for this")

    def test_what_nothing_can_help_is_named_when_the_program_waits_for_it(self):
        for schedule in ("--schedule-seed=1", "--long-turns"):
            outcome = self.record(self.binary, "deadlock", options=["--force", schedule])
            self.assertEqual((outcome.code, outcome.out), (3, "launched\n"), outcome)
            self.assertIn("kernel await, block (0, 0, 0)", outcome.err)
            self.assertIn("polls memory that nobody changes any more", outcome.err)
            self.assertIn("blocks 0, 1 of 2 wait", outcome.err)

    def test_a_kernel_that_still_waits_at_the_end_is_not_in_the_trace_and_those_behind_it_are(self):
        outcome = self.recorded("left", "end\n", 1)
        self.assertIn("the program ended while kernel await waited: it is not in the trace", outcome.err)
        self.assertEqual(self.names(), ["add"])
        self.assertTrue(self.simulated())


if __name__ == "__main__":
    recorded_program.main()
