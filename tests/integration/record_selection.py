"""Recording less: launches by number and name, blocks by number, and an end after some launches."""

import os
import re

import recorded_program
from recorded_program import OneProgram

SOURCE = r"""
#include <cstdio>
#include <cstdlib>
namespace lin { template <typename T> __global__ void scale(T* p, T by) { p[blockIdx.x * blockDim.x + threadIdx.x] *= by; } }
__global__ void add(float* p, float v) { p[blockIdx.x * blockDim.x + threadIdx.x] += v; }
int main(int argc, char** argv) {
  int times = atoi(argv[1]);
  float *p, h[256];
  cudaMalloc(&p, 1024);
  cudaMemset(p, 0, 1024);
  for (int i = 0; i < times; i++) { add<<<8, 32>>>(p, 1); lin::scale<<<4, 64>>>(p, 0.5f); }
  cudaMemcpy(h, p, 1024, cudaMemcpyDeviceToHost);
  printf("%g %g\n", h[0], h[255]);
}
"""


class Selections(OneProgram):

    SOURCE = SOURCE

    def kernels(self, *options, times=3):
        """Names and sizes of the recorded kernels, as `atoll info` lists them."""
        outcome = self.record(self.binary, times, options=["--force", *options])
        self.assertEqual((outcome.code, outcome.out), (0, {3: "0.875 0.875\n", 500: "1 1\n"}[times]), outcome)
        info = self.succeeds(["info", self.path("T.h5")])
        found = re.findall(r"^ +\d+  (\S+).*grid +(\d+)", info.out, re.MULTILINE)
        self.assertEqual(len(found), self.kernels_in_trace(outcome), info)
        return [("s" if "scale" in name else "a") + grid for name, grid in found]

    def test_launches_by_number_by_name_and_by_both(self):
        self.assertEqual(self.kernels(), ["a8", "s4"] * 3)
        self.assertEqual(self.kernels("--kernels", "0,3-4"), ["a8", "s4", "a8"])
        self.assertEqual(self.kernels("--kernels", "lin::scale"), ["s4"] * 3)
        self.assertEqual(self.kernels("--kernels", "add:1-,lin::scale<float>:0"), ["s4", "a8", "a8"])

    def test_the_recording_stops_and_the_program_goes_on(self):
        self.assertEqual(self.kernels("--kernels", "a*", "--stop-after", "2", times=500), ["a8"] * 2)

    def test_blocks_by_number_leave_kernels_with_fewer_out(self):
        self.assertEqual(self.kernels("--ctas", "2-3", "--stop-after", "2"), ["a2", "s2"])
        self.assertEqual(self.kernels("--ctas", "5-"), ["a3"] * 3)
        self.assertEqual(self.kernels("--ctas", "5-", "--max-ctas", "1"), ["a1"] * 3)

    def test_a_launch_that_repeats_costs_next_to_nothing(self):
        self.kernels("--kernels", "add:490-499", times=500)
        ten = os.path.getsize(self.path("T.h5"))
        self.kernels("--kernels", "add:100-499", times=500)
        self.assertLess(os.path.getsize(self.path("T.h5")), ten + 390 * 200)
        self.simulated()

    def test_where_no_launch_fits_it_is_said_what_was_launched(self):
        outcome = self.record(self.binary, 3, options=["--kernels", "multiply"])
        self.assertEqual(outcome.code, 2, outcome)
        self.assertIn("none of 6 launches was to be recorded: of add, lin::scale<float>\n", outcome.err)
        self.assertIn("launched no kernel that was to be recorded", outcome.err.splitlines()[-1])
        self.assertNotIn("none of", self.record(self.binary, 3, options=["--force", "--kernels", "add:2"]).err)

    def test_what_is_no_selection_is_refused_by_its_option(self):
        for options in (["--kernels", "3-x"], ["--kernels", "add:"], ["--ctas", "4-2"]):
            outcome = self.record(self.binary, 1, options=options)
            self.assertNotEqual(outcome.code, 0, outcome)
            self.assertIn("atoll", outcome.err)
            if options[1] != "add:":
                self.assertIn(options[0], outcome.err)


if __name__ == "__main__":
    recorded_program.main()
