"""`atoll record --devices`: a program of several GPUs runs as it would with them; the trace keeps who did what, and each device
is a chip of the simulated system."""

import json
import os

import program
import recorded_program
from program import SMALL, sets
from recorded_program import OneProgram, RecordTest

DEVICES = r"""
#include <cstdio>
#include <cstring>
#include <thread>
__device__ int own = 7;
__constant__ int scale;
__managed__ int shared_by_all = 5;
__global__ void fill(int* p, int value) { p[blockIdx.x * blockDim.x + threadIdx.x] = value * scale + own + threadIdx.x; }
__global__ void add(int* to, const int* from) { to[blockIdx.x * blockDim.x + threadIdx.x] += from[threadIdx.x]; }
__global__ void bump() { own += 1; shared_by_all += 1; }
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); return 1; } } while (0)
int main(int argc, char** argv) {
  const bool peers = argc < 2 || strcmp(argv[1], "no-peers") != 0;
  int count = 0, can = 0, value = 0, first[4];
  int *d[3], host[256];
  cudaStream_t stream[3];
  cudaEvent_t done[3];
  EXPECT(cudaGetDeviceCount(&count) == 0 && count == 3);
  EXPECT(cudaSetDevice(3) == cudaErrorInvalidDevice && cudaGetDevice(&value) == 0 && value == 0);
  EXPECT(cudaDeviceCanAccessPeer(&can, 0, 2) == 0 && can == 1 && cudaDeviceCanAccessPeer(&can, 1, 1) == 0 && can == 0);
  cudaDeviceProp a, b;
  EXPECT(cudaGetDeviceProperties(&a, 0) == 0 && cudaGetDeviceProperties(&b, 2) == 0 && b.pciBusID == 2);
  EXPECT(memcmp(&a.uuid, &b.uuid, sizeof a.uuid) != 0);
  char bus[20];
  EXPECT(cudaDeviceGetPCIBusId(bus, 20, 2) == 0 && cudaDeviceGetByPCIBusId(&value, bus) == 0 && value == 2);
  EXPECT(cudaDeviceGetByPCIBusId(&value, bus + 5) == 0 && value == 2);  // without the domain
  for (int i = 0; i < 3; ++i) {
    const int s = i + 1;
    EXPECT(cudaSetDevice(i) == 0 && cudaGetDevice(&value) == 0 && value == i);
    EXPECT(cudaMalloc(&d[i], 1 << 20) == 0 && cudaStreamCreate(&stream[i]) == 0 && cudaEventCreate(&done[i]) == 0);
    EXPECT(cudaMemcpyToSymbol(scale, &s, sizeof s) == 0);
    cudaPointerAttributes p;
    EXPECT(cudaPointerGetAttributes(&p, d[i]) == 0 && p.device == i && p.type == cudaMemoryTypeDevice);
    for (int j = 0; j < 3 && peers; ++j)
      if (j != i) EXPECT(cudaDeviceEnablePeerAccess(j, 0) == 0);
  }
  if (peers) EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled && cudaGetLastError() != 0);
  fill<<<1, 32, 0, stream[0]>>>(d[0], 1);  // of another device than the current one
  EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);

  for (int i = 0; i < 3; ++i) {  // unordered: one step
    EXPECT(cudaSetDevice(i) == 0);
    if (i == 1) bump<<<1, 1, 0, stream[1]>>>();  // and for device 1 one more
    fill<<<4, 64, 0, stream[i]>>>(d[i], 10);
    EXPECT(cudaEventRecord(done[i], stream[i]) == 0);
  }
  EXPECT(cudaSetDevice(0) == 0 && cudaStreamWaitEvent(stream[0], done[1], 0) == 0);
  add<<<4, 64, 0, stream[0]>>>(d[0], d[1]);
  EXPECT(cudaMemcpyPeerAsync(d[2], 2, d[0], 0, 1024, stream[0]) == 0 && cudaStreamSynchronize(stream[0]) == 0);
  EXPECT(cudaSetDevice(2) == 0 && cudaMemcpy(host, d[2], 1024, cudaMemcpyDeviceToHost) == 0);
  // Device 0: 10 * 1 + 7; device 1: 10 * 2 + 8, as its variable was changed.
  for (int i = 0; i < 256; ++i) EXPECT(host[i] == (17 + i % 64) + (28 + i % 64));
  for (int i = 0; i < 3; ++i) {
    EXPECT(cudaSetDevice(i) == 0 && cudaMemcpyFromSymbol(&first[i], own, 4) == 0);
    EXPECT(first[i] == (i == 1 ? 8 : 7));
  }
  EXPECT(shared_by_all == 6);
  EXPECT(cudaMemcpyPeer(d[1], 1, d[2], 2, 512) == 0 && cudaMemcpy2D(d[0], 512, d[1], 256, 200, 3, cudaMemcpyDefault) == 0);
  size_t free, total;
  EXPECT(cudaSetDevice(1) == 0 && cudaMemGetInfo(&free, &total) == 0 && total - free >= 1 << 20 && total - free < 2 << 20);
  printf("PASS\n");
}
"""

THREADS = r"""
#include <cstdio>
#include <thread>
#include <vector>
__global__ void work(int* p) { p[threadIdx.x] += 1; }
int main() {  // a thread for each device, as OpenMP programs have it
  int count = 0, wrong = 0;
  cudaGetDeviceCount(&count);
  std::vector<std::thread> threads;
  for (int device = 0; device < count; ++device)
    threads.emplace_back([device, &wrong] {
      int *d, host = 0;
      cudaSetDevice(device);
      cudaMalloc(&d, 4096);
      for (int i = 0; i < 3; ++i) {
        work<<<1, 32>>>(d);
        cudaDeviceSynchronize();
      }
      cudaMemcpy(&host, d, 4, cudaMemcpyDeviceToHost);
      if (host != 3) wrong = 1;
    });
  for (auto& t : threads) t.join();
  printf(wrong ? "wrong\n" : "PASS\n");
}
"""

POOL = r"""
#include <cstdio>
__global__ void take(int* to, const int* from) { to[threadIdx.x] = 2 * from[threadIdx.x]; }
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); return 1; } } while (0)
int main(int argc, char**) {
  int *from, *to, host[32];
  cudaMemPool_t pool;
  EXPECT(cudaSetDevice(0) == 0 && cudaDeviceGetDefaultMemPool(&pool, 0) == 0 && cudaMallocAsync(&from, 128, 0) == 0);
  EXPECT(cudaMemset(from, 1, 128) == 0);
  cudaMemAccessDesc access = {};
  access.location.type = cudaMemLocationTypeDevice, access.location.id = 2;
  EXPECT(cudaMemPoolSetAccess(pool, &access, 1) == cudaErrorInvalidDevice && cudaGetLastError());
  access.location.id = 1, access.flags = cudaMemAccessFlagsProtReadWrite;
  EXPECT(cudaMemPoolSetAccess(pool, &access, 1) == 0);
  access.flags = cudaMemAccessFlagsProtNone;
  if (argc > 1) EXPECT(cudaMemPoolSetAccess(pool, &access, 1) == 0);
  EXPECT(cudaSetDevice(1) == 0 && cudaMalloc(&to, 128) == 0);
  take<<<1, 32>>>(to, from);
  EXPECT(cudaMemcpy(host, to, 128, cudaMemcpyDeviceToHost) == 0);
  printf("%x\n", host[31]);
}
"""

DRIVER = r"""
#include <cuda.h>
#include <cstdio>
#define EXPECT(x) do { int e = (x); if (e) { printf("line %d: %d\n", __LINE__, e); return 1; } } while (0)
const char* ptx = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 number = 3;
.visible .entry store(.param .u64 p) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  ld.global.u32 %r2, [number];
  add.u32 %r1, %r1, %r2;
  st.global.u32 [%rd1], %r1;
  ret;
})";
int main() {
  int count = 0, device = -1, result = 0;
  CUcontext context[2];
  CUdeviceptr memory[2];
  CUmodule module[2];
  EXPECT(cuInit(0));
  EXPECT(cuDeviceGetCount(&count));
  if (count != 2) return 1;
  for (int i = 0; i < 2; ++i) {
    EXPECT(cuDevicePrimaryCtxRetain(&context[i], i));
    EXPECT(cuCtxSetCurrent(context[i]));
    EXPECT(cuCtxGetDevice(&device));
    if (device != i) return 1;
    EXPECT(cuMemAlloc(&memory[i], 4096));
    EXPECT(cuMemsetD32(memory[i], 10 * (i + 1), 1024));
    EXPECT(cuModuleLoadData(&module[i], ptx));
    int owner = -1;
    EXPECT(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory[i]));
    if (owner != i) return 1;
  }
  EXPECT(cuCtxEnablePeerAccess(context[0], 0));
  CUfunction store;
  EXPECT(cuModuleGetFunction(&store, module[1], "store"));
  void* arguments[] = {&memory[0]};
  EXPECT(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));  // device 1 in device 0's memory
  EXPECT(cuMemcpyPeer(memory[1], context[1], memory[0], context[0], 4096));
  EXPECT(cuCtxSynchronize());
  EXPECT(cuMemcpyDtoH(&result, memory[1], 4));
  printf("%d\n", result);
}
"""


class Traces(RecordTest):
    def facts(self):
        return json.loads(self.succeeds(["info", "--json", self.path("T.h5")]).out)

    def launches(self):
        return [(k["function"], k["device"], k["step"]) for k in self.facts()["kernels"]]

    def chips(self, *overrides):
        """[chip] CTAs, and requests to other chips, of a run on four small chips."""
        self.succeeds(["run", "sac-4chip", "-w", self.path("T.h5"), "-f", "-o", self.path("R.h5"), *sets(*SMALL, *overrides)],
                      timeout=120)
        self.succeeds(["export", self.path("R.h5"), "--csv", self.path("csv"), "--force"])
        with open(self.path("csv", "totals.csv"), encoding="utf-8") as file:
            names, *rows = [line.strip().split(",") for line in file]
        return [tuple(int(dict(zip(names, row))[name]) for name in ("sm.ctas", "requests.remote")) for row in rows]


class Runtime(Traces, OneProgram):
    SOURCE = DEVICES

    def recorded(self, *arguments, devices=3, options=()):
        return self.record(self.binary, *arguments, options=["--devices", devices, "--force", *options])

    def test_a_program_of_three_devices_has_memory_variables_streams_and_peers_of_each(self):
        outcome = self.recorded()
        self.assertEqual((outcome.code, outcome.out), (0, "PASS\n"), outcome)
        self.assertEqual(self.facts()["devices"], 3)
        at = self.launches()
        # Device 1 had bump before; what device 0 adds comes after that device's fill, and is copied after that.
        self.assertEqual(at[:6], [("fill", 0, 1), ("bump", 1, 1), ("fill", 1, 2), ("fill", 2, 1), ("add", 0, 3),
                                  ("memcpy_peer", 0, 4)])
        # A copy by the default stream of device 2, and one of three rows, by the current device, which is 2 as well.
        self.assertEqual([launch[:2] for launch in at[6:]], [("memcpy_peer", 2)] * 2)
        self.assertLess(at[6][2], at[7][2])
        self.assertIn("device 1, step 2", self.succeeds(["info", self.path("T.h5")]).out)

    def test_each_device_is_a_chip_and_peer_accesses_go_over_links(self):
        self.assertEqual(self.recorded().code, 0)
        chips = self.chips()
        # fill, add, copy; bump, fill; fill, two copies
        self.assertEqual([ctas for ctas, _ in chips], [4 + 4 + 1, 1 + 4, 4 + 1 + 1, 0])
        self.assertGreater(chips[0][1], 0)  # device 0 reads device 1's memory, and writes to device 2's
        moved = self.chips("workload.device_chips=[3,0,1]")
        self.assertEqual([ctas for ctas, _ in moved], [5, 6, 0, 9])
        self.assertGreater(moved[3][1], 0)

    def test_the_digest_does_not_depend_on_threads(self):
        self.assertEqual(self.recorded().code, 0)
        ways: list[list[str]] = [[], ["--threads", "2"], ["--check"]]
        digests = {self.succeeds(["run", "sac-4chip", "-w", self.path("T.h5"), *sets(*SMALL), *more], timeout=120).digest()
                   for more in ways}
        self.assertEqual(len(digests), 1)

    def test_an_access_to_a_peer_that_was_not_enabled_ends_the_program(self):
        outcome = self.recorded("no-peers")
        self.assertEqual(outcome.code, 3, outcome)
        self.assertIn("device 0 accesses", outcome.err)
        self.assertIn("cudaDeviceEnablePeerAccess(1)", outcome.err)

    def test_devices_and_chips_that_do_not_go_together_are_refused(self):
        self.assertEqual(self.recorded().code, 0)
        run = ["run", "sac-4chip", "-w", self.path("T.h5"), "--set"]
        self.refused([*run, "chips=2"], 2, "is of 3 devices, but the system has 2 chips", layouts=(None,))
        self.refused([*run, "workload.device_chips=[0,1]"], 2, "names 2 chips", layouts=(None,))
        self.refused([*run, "workload.device_chips=[0,1,1]"], 2, "names chip 1 twice", layouts=(None,))
        self.refused([*run, 'workload.device_chips="0,1"'], 2, "a list of whole numbers", layouts=(None,))
        self.refused(["record", "--device", "sac-4chip", "--devices", 5, "-o", self.path("U.h5"), "--", self.binary], 2,
                     "5 devices, but sac-4chip has 4 chips", layouts=(None,))


class Threads(Traces, OneProgram):
    SOURCE = THREADS

    def test_a_thread_for_each_device_orders_only_its_own_launches(self):
        outcome = self.record(self.binary, options=["--devices", 2])
        self.assertEqual((outcome.code, outcome.out), (0, "PASS\n"), outcome)
        self.assertEqual(sorted(self.launches()), [("work", d, step) for d in (0, 1) for step in (1, 2, 3)])

    def test_one_device_leaves_the_trace_that_no_option_leaves(self):
        self.assertEqual(self.record(self.binary).code, 0)
        os.rename(self.path("T.h5"), self.path("U.h5"))
        self.assertEqual(self.record(self.binary, options=["--devices", 1]).code, 0)
        with open(self.path("T.h5"), "rb") as one, open(self.path("U.h5"), "rb") as without:
            self.assertEqual(one.read(), without.read())


class Pools(Traces, OneProgram):
    SOURCE = POOL

    def test_a_pool_is_open_to_the_devices_that_the_program_names_and_closed_again(self):
        outcome = self.record(self.binary, options=["--devices", 2])
        self.assertEqual((outcome.code, outcome.out), (0, "2020202\n"), outcome)
        outcome = self.record(self.binary, "close", options=["--devices", 2, "--force"])
        self.assertEqual(outcome.code, 3, outcome)
        self.assertIn("device 1 accesses", outcome.err)


class Driver(Traces, OneProgram):
    SOURCE = DRIVER
    FLAGS = ("-lcuda", "-L/usr/local/cuda/lib64/stubs")

    def test_contexts_of_the_driver_api_are_devices(self):
        outcome = self.record(self.binary, options=["--devices", 2])
        self.assertEqual((outcome.code, outcome.out), (0, "13\n"), outcome)
        self.assertEqual(self.launches(), [("store", 1, 1), ("memcpy_peer", 1, 2)])


class Halo(Traces):
    def test_the_halo_exchange_of_the_library_runs_on_four_devices(self):
        binary = os.path.join(os.path.dirname(program.ATOLL), "workloads", "halo2d")
        if not os.path.exists(binary):
            self.skipTest("the workload library is not built")
        for exchange, copies in (("copy", 6 * 4), ("peer", 0)):
            with self.subTest(exchange):
                outcome = self.record(binary, "--n", "128", "--rows", "32", "--steps", "3", "--exchange", exchange,
                                      options=["--devices", 4, "--force"])
                self.assertEqual(outcome.code, 0, outcome)
                self.assertRegex(outcome.out, "^PASS")
                launches = self.launches()
                self.assertEqual(sum(name == "memcpy_peer" for name, _, _ in launches), copies)
                steps = [{step for name, device, step in launches if name == "average" and device == d} for d in range(4)]
                if exchange == "peer":  # nothing but events between the devices: they advance together
                    self.assertEqual(steps, [{1, 2, 3}] * 4)
                chips = self.chips()
                self.assertEqual(len({ctas for ctas, _ in chips}), 1 if exchange == "peer" else 2)
                self.assertTrue(all(remote > 0 for _, remote in chips), chips)


if __name__ == "__main__":
    recorded_program.main()
