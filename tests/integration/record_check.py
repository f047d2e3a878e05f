"""`atoll record --check` compares what kernels do with what was claimed of them."""

import os
import re

import recorded_program
from recorded_program import RecordTest

# Where the second kernel stores only the launch shows, and with `shift` not even that.
ASTRAY = r"""
#include <cstdio>
#include <cstring>
__global__ void fill(int* p) { p[threadIdx.x] = threadIdx.x; }
__global__ void astray(const int* in, int* out, long shift) { out[threadIdx.x + shift] = in[threadIdx.x]; }
__global__ void biased(const int* in, const int* bias, int* out) { out[threadIdx.x] = in[threadIdx.x] + (bias ? *bias : 0); }
int main(int, char** argv) {
  int *in, *out;
  cudaMalloc(&in, 4096); cudaMalloc(&out, 4096);
  fill<<<1, 32>>>(in);
  if (!strcmp(argv[1], "apart")) astray<<<1, 32>>>(in, out, 0);
  if (!strcmp(argv[1], "astray")) astray<<<1, 32>>>(in, out, in - out + 64);
  if (!strcmp(argv[1], "within one")) astray<<<1, 32>>>(in, in + 64, 0);
  if (!strcmp(argv[1], "before all")) astray<<<1, 32>>>(in, in - 1024, 1024 + 64);
  if (!strcmp(argv[1], "null")) biased<<<1, 32>>>(in, nullptr, out);
  printf("done\n");
}
"""

# Input and output are one array, though the kernels' parameters, or a texture, say that nobody writes the input.
IN_PLACE = r"""
#include <cstdio>
#include <cstring>
__global__ void blur(const float* __restrict__ in, float* __restrict__ out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = in[i - 1] + in[i + 1];
}
__global__ void twice(cudaTextureObject_t t, float* p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  p[i] = 2 * tex1Dfetch<float>(t, i);
}
int main(int, char** argv) {
  float *p, *q, last;
  cudaMalloc(&p, 4096); cudaMalloc(&q, 4096);
  cudaMemset(p, 0, 4096);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = p, r.res.linear.sizeInBytes = 4096;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  cudaTextureDesc d = {};
  cudaTextureObject_t t;
  cudaCreateTextureObject(&t, &r, &d, nullptr);
  if (!strcmp(argv[1], "blur")) blur<<<4, 256>>>(p, p, 1024);
  if (!strcmp(argv[1], "blur apart")) blur<<<4, 256>>>(p, q, 1024);
  if (!strcmp(argv[1], "texture")) twice<<<4, 256>>>(t, p);
  if (!strcmp(argv[1], "texture apart")) twice<<<4, 256>>>(t, q);
  printf("%d\n", cudaMemcpy(&last, p + 1023, 4, cudaMemcpyDeviceToHost));
}
"""

RACE = r"""
#include <cstdio>
#include <cstdlib>
__global__ void reverse(int* out, int barrier) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (barrier) __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
int main(int, char** argv) {
  int* out;
  cudaMalloc(&out, 256);
  for (int i = 0; i < 2; ++i) reverse<<<4, 64>>>(out, atoi(argv[1]));
}
"""


class Checked(RecordTest):
    def test_loads_are_marked_where_the_launch_allows_it_and_the_marks_hold(self):
        binary = self.compiled(ASTRAY)
        for launch, marked in (("apart", 1), ("null", 1), ("within one", 0), ("before all", 0)):
            with self.subTest(launch=launch):
                outcome = self.record(binary, launch, options=["--check", "--force"])
                self.assertEqual((outcome.code, outcome.out), (0, "done\n"), outcome)
                self.assertIn(f"checked 2 launches: {marked} of 1 loads from global memory carry the read-only mark; every "
                              "read-only mark held; no shared-memory races\n", outcome.err)

    def test_a_store_that_the_analysis_did_not_foresee_ends_the_program_and_is_named(self):
        binary = self.compiled(ASTRAY)
        unchecked = self.record(binary, "astray")
        self.assertEqual(unchecked.code, 0, unchecked)
        outcome = self.record(binary, "astray", options=["--check", "--force"])
        self.assertEqual((outcome.code, outcome.out), (3, ""), outcome)
        said = [line for line in outcome.err.splitlines() if line.startswith("atoll: ")]
        self.assertEqual(len(said), 1, outcome)
        for fragment in ("kernel astray, block (0, 0, 0), thread (0, 0, 0)", "program.0.ptx:", "this store changes",
                         "in allocation 0 (parameter _Z6astrayPKiPil_param_0)", "which the kernel only reads (program.0.ptx:"):
            self.assertIn(fragment, said[0])
        self.assertIn("a READ-ONLY MARK DID NOT HOLD", outcome.err)
        self.assertEqual(self.kernels_in_trace(outcome), 1)

    def test_promised_loads_count_as_read_only_where_the_launch_does_not_write_what_they_read(self):
        binary = self.compiled(IN_PLACE)
        for launch, loads, marked, races in (("blur", 64, 0, "of blur"), ("blur apart", 64, 64, "no races"),
                                             ("texture", 32, 0, "no races"), ("texture apart", 32, 32, "no races")):
            with self.subTest(launch=launch):
                outcome = self.record(binary, launch, options=["--check", "--force"])
                self.assertEqual((outcome.code, outcome.out), (0, "0\n"), outcome)
                self.assertIn(f"{marked} of {loads} loads from global memory carry the read-only mark; every", outcome.err)
                self.assertIn(races, outcome.err)

    def test_a_race_in_shared_memory_is_a_warning_once_for_each_pair_of_lines(self):
        binary = self.compiled(RACE)
        outcome = self.record(binary, 0, options=["--check"])
        self.assertEqual(outcome.code, 0, outcome)
        said = [line for line in outcome.err.splitlines() if line.startswith("atoll: warning: ")]
        self.assertEqual(len(said), 2, outcome)
        for line in said:
            self.assertIn("kernel reverse, block (0, 0, 0): shared-memory race at byte 12", line)
        self.assertIn("2 shared-memory races\n", outcome.err)
        quiet = self.record(binary, 1, options=["--check", "--force"])
        self.assertIn("no shared-memory races\n", quiet.err)
        self.assertNotIn("warning", quiet.err)

    def test_messages_name_lines_of_the_source_of_a_program_with_line_numbers(self):
        write, read = (1 + RACE[:RACE.index(code)].count("\n") for code in ("s[threadIdx.x] =", "= s["))
        outcome = self.record(self.compiled(RACE, "-lineinfo"), 0, options=["--check"])
        self.assertRegex(outcome.err, rf"warp 0 writes \(program\.cu:{write}, program\.0\.ptx:\d+\), then "
                                      rf"warp 1 reads \(program\.cu:{read}, program\.0\.ptx:\d+\)")
        folder = os.path.join(self.path("of the"), "program")
        plain = self.record(self.compiled(RACE), 0, options=["--check", "--force", "--keep-ptx", folder])
        first, second = re.search(r"writes \(program\.0\.ptx:(\d+)\), then .* reads \(program\.0\.ptx:(\d+)\)", plain.err).groups()
        with open(os.path.join(folder, "program.0.ptx"), encoding="utf-8") as f:
            lines = f.read().splitlines()
        self.assertIn("st.shared", lines[int(first) - 1])
        self.assertIn("ld.shared", lines[int(second) - 1])
        astray = self.record(self.compiled(ASTRAY, "-lineinfo"), "astray", options=["--check", "--force"])
        line = 1 + ASTRAY[:ASTRAY.index("void astray")].count("\n")
        self.assertRegex(astray.err, rf"kernel astray, .*, program\.cu:{line}, program\.0\.ptx:\d+: this store changes .*, which "
                                     rf"the kernel only reads \(program\.cu:{line}, program\.0\.ptx:\d+\)")


if __name__ == "__main__":
    recorded_program.main()
