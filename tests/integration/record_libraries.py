"""`atoll record`: kernels of shared libraries that have the CUDA runtime inside (nvcc -shared), however they are loaded."""

import os
import subprocess
import sys

import program
import recorded_program
from recorded_program import RecordTest

# Its constructor is a launch of its own, while the library is being loaded.
LIBRARY = r"""
namespace {
__global__ void scale(float* a, int n) { if (threadIdx.x < n) a[threadIdx.x] *= FACTOR; }
__managed__ float two[2] = {1, 2};
#ifndef QUIET
struct AtLoad { AtLoad() { scale<<<1, 32>>>(two, 2); cudaDeviceSynchronize(); } } at_load;
#endif
}
extern "C" int NAME(float* h, int n) {
  float* d;
  cudaMalloc(&d, n * 4), cudaMemcpy(d, h, n * 4, cudaMemcpyHostToDevice);
  scale<<<1, 32>>>(d, n);
  cudaMemcpy(h, d, n * 4, cudaMemcpyDeviceToHost), cudaFree(d);
  return two[1] == 2 * FACTOR ? cudaGetLastError() : 99;
}
"""
LINKED = r"""
#include <cstdio>
extern "C" int go(float*, int);
int main() { float a[3] = {1, 2, 3}; const int status = go(a, 3); printf("%d %g\n", status, a[2]); }
"""
OPENED = r"""
#include <cstdio>
#include <dlfcn.h>
int main(int, char** v) {
  float a[3] = {1, 2, 3};
  for (int i = 0; i < 2; ++i) {  // closed and opened again: it comes as it is in its file
    void* library = dlopen(v[1], RTLD_NOW);
    const int status = ((int (*)(float*, int))dlsym(library, "go"))(a, 3);
    printf("%d %g\n", status, a[2]);
    dlclose(library);
  }
}
"""
BOTH = r"""
#include <cstdio>
extern "C" int go(float*, int);
__global__ void add(float* a) { a[threadIdx.x] += 1; }
int main() {
  float a[3] = {1, 2, 3}, *d;
  cudaMalloc(&d, 12), cudaMemcpy(d, a, 12, cudaMemcpyHostToDevice);
  add<<<1, 3>>>(d);
  cudaMemcpy(a, d, 12, cudaMemcpyDeviceToHost);
  const int status = go(a, 3);
  printf("%d %g\n", status, a[2]);
}
"""


class Libraries(RecordTest):
    def shared(self, *flags, name="go", factor=2):
        source = self.write(name + ".cu", LIBRARY)
        path = self.path(f"lib{name}.so")
        return self.nvcc(["-shared", "-Xcompiler", "-fPIC", f"-DNAME={name}", f"-DFACTOR={factor}", *flags, "-o", path,
                          source], path)

    def built(self, source, *flags, compiler="g++"):
        """Without the CUDA runtime."""
        path = self.path("built")
        subprocess.run([compiler, "-o", path, self.write("built.cpp", source), *flags, "-Wl,-rpath," + self.folder],
                       check=True)
        return path

    def test_a_program_that_is_linked_with_one(self):
        binary = self.built(LINKED, self.shared())
        outcome = self.record(binary)
        self.assertEqual((outcome.code, outcome.out), (0, "0 6\n"), outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 2)

    def test_one_that_is_opened_closed_and_opened_again(self):
        binary = self.built(OPENED, "-ldl")
        for flags in ((), ("-rdc=true",), ("-cudart", "shared")):
            with self.subTest(flags=flags):
                outcome = self.record(binary, self.shared(*flags), options=["--force"])
                self.assertEqual((outcome.code, outcome.out), (0, "0 6\n0 12\n"), outcome)
                self.assertEqual(self.kernels_in_trace(outcome), 4)

    def test_two_that_python_opens(self):
        paths = [self.shared(), self.shared(name="other", factor=5)]
        script = self.write("script.py", "import ctypes, sys\na = (ctypes.c_float * 3)(1, 2, 3)\n"
                            "go, other = (ctypes.CDLL(p) for p in sys.argv[1:])\n"
                            "print(go.go(a, 3), other.other(a, 3), a[2])\n")
        outcome = self.record(sys.executable, script, *paths)
        self.assertEqual((outcome.code, outcome.out), (0, "0 0 30.0\n"), outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 4)

    def both(self):
        return self.compiled(BOTH, self.shared(), "-Xlinker", "-rpath=" + self.folder, name="both")

    def test_a_program_and_a_library_that_have_one_each(self):
        outcome = self.record(self.both())
        self.assertEqual((outcome.code, outcome.out), (0, "0 8\n"), outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 3)

    def test_one_that_is_initialised_before_it_is_redirected_is_said_to_be_lost(self):
        first = self.path("libfirst.so")
        source = self.write("first.c", "int first(void) { return 0; }\n")
        subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-z,initfirst", "-o", first, source], check=True)
        library = self.shared("-DQUIET")
        outcome = self.record(self.built(LINKED, "-Wl,--no-as-needed", library, first))
        self.assertNotEqual(outcome.code, 0, outcome)
        self.assertIn(f"atoll: warning: {library} launches a kernel that it has not registered", outcome.err)

    def test_a_stripped_one_is_said_to_be_lost(self):
        binary = self.both()
        library = self.path("libgo.so")
        subprocess.run(["strip", library], check=True)
        outcome = self.record(binary)
        self.assertEqual(self.kernels_in_trace(outcome), 1)
        self.assertIn(f"atoll: warning: {library} has a CUDA runtime linked into it whose calls are not redirected",
                      outcome.err)
        self.assertIn("rebuild it with nvcc -cudart shared, or do not strip it", outcome.err)
        self.assertIn(f"atoll: warning: what {library} launched is not among them", outcome.err)
        self.assertRegex(program.run(["run", "selrep-gpu", "-w", self.path("T.h5")]).err,
                         f"atoll: warning: the trace lacks .*; what {library} launched")  # and the program crashes
        os.remove(self.path("T.h5"))
        opened = self.record(self.built(OPENED, "-ldl"), library)
        self.assertNotEqual(opened.code, 0, opened)  # its managed variable is nowhere
        self.assertIn(f"{library} has a CUDA runtime linked into it", opened.err)

    def test_one_of_nvidias_is_not_to_be_rebuilt(self):
        library = self.path("libcublas.so.13")
        os.rename(self.shared("-DQUIET"), library)
        subprocess.run(["strip", library], check=True)
        outcome = self.record(self.built(OPENED, "-ldl"), library)
        self.assertNotEqual(outcome.code, 0, outcome)
        self.assertIn(f"atoll: warning: {library} has kernels as machine code only: its functions fail", outcome.err)
        self.assertNotIn("rebuild", outcome.err)


if __name__ == "__main__":
    recorded_program.main()
