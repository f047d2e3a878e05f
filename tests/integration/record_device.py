"""`atoll record --device`: the GPU that a program is told it has is the one that was asked for."""

import json

import recorded_program
from recorded_program import OneProgram

SOURCE = r"""
#include <cstdio>
__global__ void fill(int* p) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  __syncthreads();
  p[blockIdx.x * blockDim.x + threadIdx.x] = s[0];
}
__global__ void arch(int* p) {
#if __CUDA_ARCH__ >= 900
  *p = 90;
#elif __CUDA_ARCH__ >= 800
  *p = 80;
#else
  *p = 75;
#endif
}
int attribute(cudaDeviceAttr a) { int v = -1; cudaDeviceGetAttribute(&v, a, 0); return v; }
int main() {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  int blocks = 0, same = p.multiProcessorCount == attribute(cudaDevAttrMultiProcessorCount) &&
    p.major == attribute(cudaDevAttrComputeCapabilityMajor) && p.minor == attribute(cudaDevAttrComputeCapabilityMinor) &&
    p.maxThreadsPerMultiProcessor == attribute(cudaDevAttrMaxThreadsPerMultiProcessor) &&
    p.l2CacheSize == attribute(cudaDevAttrL2CacheSize) &&
    (int)p.sharedMemPerBlockOptin == attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) &&
    p.clusterLaunch == attribute(cudaDevAttrClusterLaunch) && p.memoryPoolsSupported == attribute(cudaDevAttrMemoryPoolsSupported) &&
    p.maxTexture2DLayered[0] == attribute(cudaDevAttrMaxTexture2DLayeredWidth) && p.maxTexture2DLayered[0] > 0 &&
    p.maxTextureCubemapLayered[1] == attribute(cudaDevAttrMaxTextureCubemapLayeredLayers) &&
    p.maxSurface3D[2] == attribute(cudaDevAttrMaxSurface3DDepth) &&
    p.maxSurface2DLayered[2] == attribute(cudaDevAttrMaxSurface2DLayeredLayers);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 10000);
  int* d, chosen = 0;
  size_t free, total;
  cudaMemGetInfo(&free, &total);
  cudaMalloc(&d, sizeof(int) * 256 * blocks * p.multiProcessorCount);
  fill<<<blocks * p.multiProcessorCount, 256, 10000>>>(d);
  arch<<<1, 1>>>(d);
  cudaMemcpy(&chosen, d, 4, cudaMemcpyDeviceToHost);
  printf("{\"name\": \"%s\", \"arch\": %d, \"code\": %d, \"sms\": %d, "
         "\"threads\": %d, \"blocks\": %d, \"mem\": %zu, \"l2\": %d, \"same\": %d}\n",
         p.name, p.major * 10 + p.minor, chosen, p.multiProcessorCount, p.maxThreadsPerMultiProcessor, blocks, total,
         p.l2CacheSize, same);
}
"""


class Devices(OneProgram):

    SOURCE = SOURCE
    FLAGS = ("-gencode", "arch=compute_75,code=compute_75", "-gencode", "arch=compute_80,code=compute_80")

    def told(self, *device):
        outcome = self.record(self.binary, options=["--force", *(["--device", *device] if device else [])])
        self.assertEqual(outcome.code, 0, outcome)
        told = json.loads(outcome.out)
        self.assertEqual(told.pop("same"), 1, told)
        return told

    def test_without_the_option_it_is_as_ever(self):
        self.assertEqual(self.told(), {"name": "Atoll recorder", "arch": 90, "code": 80, "sms": 128, "threads": 2048,
                                       "blocks": 8, "mem": (16 << 30) - (256 << 20), "l2": 32 << 20})

    def test_a_description_sets_limits_occupancy_and_which_code_runs(self):
        told = self.told("sm_80,sms=108,mem=40g,l2=40m")
        self.assertEqual(told, {"name": "Atoll recorder", "arch": 80, "code": 80, "sms": 108, "threads": 2048, "blocks": 8,
                                "mem": 40 << 30, "l2": 40 << 20})
        told = self.told("sm_75,sms=40")
        self.assertEqual((told["arch"], told["code"], told["threads"], told["blocks"]), (75, 75, 1024, 4))
        self.assertIn("--device sm_75,sms=40", self.succeeds(["info", self.path("T.h5")]).out)

    def test_a_grid_sized_by_occupancy_fills_the_system_that_will_be_simulated(self):
        told = self.told("sac-4chip")
        effective = json.loads(self.succeeds(["config", "sac-4chip"]).out)
        sm = effective["sm"]
        self.assertEqual(told["sms"], effective["chips"] * sm["count"])
        self.assertEqual(told["threads"], sm["warps"] * 32)
        self.assertEqual(told["blocks"], min(sm["warps"] * 32 // 256, sm["ctas"], sm["shared_kib"] * 1024 // 10000))
        self.assertIn("sac-4chip", told["name"])
        self.assertEqual(self.told("sac-4chip,sm_80,sms=7")["sms"], 7)

    def test_what_is_no_device_is_refused_before_the_program_runs(self):
        for device in ("sm_100", "no-such-preset", "sm_80,chips=3"):
            outcome = self.record(self.binary, options=["--device", device])
            self.assertEqual((outcome.code, outcome.out), (2, ""), outcome)
            self.assertIn(device.split(",", maxsplit=1)[-1], outcome.err)


if __name__ == "__main__":
    recorded_program.main()
