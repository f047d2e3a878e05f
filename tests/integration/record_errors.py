"""What CUDA refuses is refused, with the same error: one program that checks every answer."""

import os
import shutil
import subprocess
import sys

import program

NVCC = shutil.which("nvcc")
RUNTIME = os.path.join(os.path.dirname(program.ATOLL), "cuda", "libcudart.so.13")

SOURCE = r"""
#include <cstdio>
#include <cstring>
#include <cuda.h>

static int failures = 0;
#define EXPECT(x) ((x) ? 0 : (++failures, printf("line %d: %s\n", __LINE__, #x)))

void names() {
  int known = 0;
  for (int e = 0; e < 20000; e++) known += strcmp(cudaGetErrorName((cudaError_t)e), "unrecognized error code") != 0;
  EXPECT(known == 134);
  EXPECT(!strcmp(cudaGetErrorName(cudaErrorMisalignedAddress), "cudaErrorMisalignedAddress"));
  EXPECT(!strcmp(cudaGetErrorString(cudaErrorMisalignedAddress), "misaligned address"));
  EXPECT(!strcmp(cudaGetErrorName(cudaErrorApiFailureBase), "cudaErrorApiFailureBase"));
  EXPECT(!strcmp(cudaGetErrorString((cudaError_t)77777), "unrecognized error code"));
  const char* said;
  EXPECT(cuGetErrorName(CUDA_ERROR_MISALIGNED_ADDRESS, &said) == CUDA_SUCCESS);
  EXPECT(!strcmp(said, "CUDA_ERROR_MISALIGNED_ADDRESS"));
  EXPECT(cuGetErrorName((CUresult)cudaErrorInvalidPitchValue, &said) == CUDA_ERROR_INVALID_VALUE && !said);
}

int main() {
  names();
  printf("failures %d\n", failures);
}
"""


class RefusedCalls(program.ProgramTest):
    def test_calls_that_cuda_refuses_give_its_errors(self):
        source = self.write("errors.cu", SOURCE)
        done = subprocess.run([NVCC, "-std=c++17", "-arch=sm_90", "-o", self.path("errors"), source, "-lcuda"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        outcome = self.succeeds(["record", "-o", self.path("T.h5"), "--", self.path("errors")], timeout=60)
        self.assertEqual(outcome.out, "failures 0\n", outcome)


if __name__ == "__main__":
    if not NVCC or not os.path.exists(RUNTIME):
        sys.exit(program.SKIPPED)
    program.main()
