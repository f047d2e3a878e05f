"""However a recorded program ends, and whatever goes wrong in it, the trace holds the kernels that were finished."""

import json
import os
import signal
import subprocess
import time

import program
import recorded_program
from recorded_program import OneProgram

# One good kernel, then what the first argument says.
ENDINGS = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cassert>
#include <csignal>
#include <atomic>
#include <thread>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda_runtime.h>
__global__ void good(int* p) { p[threadIdx.x] = threadIdx.x; }
__global__ void outside(int* p) { p[threadIdx.x + 100] = 1; }
__global__ void late(int* p) { p[threadIdx.x] = 1; if (blockIdx.x == gridDim.x - 1) p[threadIdx.x + 100] = 1; }
__global__ void scattered(int* p) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 16; ++k) p[(i * 7 + k * 4099) % (1 << 20)] += k;
}
__global__ void endless(volatile int* p) { while (p[threadIdx.x] >= 0) p[threadIdx.x] = (p[threadIdx.x] + 1) & 0xFFFF; }
__global__ void refused(int* p) {
  asm volatile("vmad.u32.u32.u32 %0, %1, %1, %1;" : "=r"(p[threadIdx.x]) : "r"(1));
}
__global__ void asserts(int* p) { assert(p[threadIdx.x] < 0); }
void crash_together(int microseconds) {
  int* many;  // of which a trace is not completed in a moment
  cudaMalloc(&many, 4 << 20);
  for (int k = 0; k < 300; ++k) scattered<<<4, 256>>>(many);
  cudaDeviceSynchronize();
  static std::atomic<int> ready{0};
  const auto crash = [](int delay) {
    for (++ready; ready < 2;) {}
    usleep(delay);
    *(volatile int*)8 = 1;
  };
  std::thread first(crash, 0), second(crash, microseconds);
  first.join(), second.join();
}
void gives_back(int number) { signal(number, SIG_DFL), raise(number); }  // as the library of gfortran does
void once(int, siginfo_t* info, void*) { printf("%d\n", info->si_code == SI_TKILL); }
char* page;
void opens(int) { mprotect(page, 4096, PROT_READ | PROT_WRITE); }
int main(int, char** argv) {
  int* p;
  if (!strcmp(argv[1], "gives back")) signal(SIGABRT, gives_back), signal(SIGSEGV, gives_back);
  if (!strcmp(argv[1], "handles")) {
    struct sigaction action = {};
    action.sa_sigaction = once, action.sa_flags = SA_SIGINFO | SA_RESETHAND;
    sigaction(SIGFPE, &action, nullptr), signal(SIGSEGV, opens), signal(SIGBUS, SIG_IGN);
  }
  if (argv[2] && !strcmp(argv[1], "prints")) close(argv[2][0] - '0');
  cudaMalloc(&p, 128);
  good<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  printf("ready\n"); fflush(stdout);
  if (!strcmp(argv[1], "crash")) *(volatile int*)8 = 1;
  if (!strcmp(argv[1], "crashes")) crash_together(atoi(argv[2]));
  if (!strcmp(argv[1], "abort")) {
    if (argv[2]) signal(SIGABRT, *argv[2] == 'i' ? SIG_IGN : SIG_DFL);
    abort();
  }
  if (!strcmp(argv[1], "gives back")) argv[2] ? abort() : void(*(volatile int*)8 = 1);
  if (!strcmp(argv[1], "handles")) {
    raise(SIGFPE), raise(SIGBUS);
    for (int turn = 0; turn < 2; ++turn) {
      page = (char*)mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      *(volatile char*)page = 7;
    }
    printf("went on\n"), fflush(stdout);
    if (argv[2]) raise(SIGFPE);
  }
  if (!strcmp(argv[1], "_exit")) _exit(7);
  if (!strcmp(argv[1], "raise")) {
    raise(atoi(argv[2]));
    printf("went on\n"), fflush(stdout);
    good<<<2, 32>>>(p), good<<<3, 32>>>(p);
  }
  if (!strcmp(argv[1], "outside")) outside<<<1, 32>>>(p);
  if (!strcmp(argv[1], "late")) late<<<20000, 32>>>(p);
  if (!strcmp(argv[1], "refused")) refused<<<1, 32>>>(p);
  if (!strcmp(argv[1], "endless")) endless<<<1, 32>>>(p);
  if (!strcmp(argv[1], "assert")) { asserts<<<1, 32>>>(p); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize())); }
  if (!strcmp(argv[1], "killed")) { good<<<2, 32>>>(p); kill(getpid(), SIGKILL); }
  if (!strcmp(argv[1], "environment")) printf("%d %d\n", getenv("PMI_RANK") != nullptr, getenv("OMPI_MCA_btl") != nullptr);
  if (!strcmp(argv[1], "heap")) {
    int sum = 0;
    for (int size = 64; size < 100000; size *= 2) {
      int* never_written = (int*)malloc(size);
      for (int i = 0; i < size / 4; ++i) sum |= never_written[i];
    }
    printf("%d\n", sum);
  }
  if (!strcmp(argv[1], "prints")) {
    for (int i = 0; i < 10000; ++i) printf("%d\n", i), fprintf(stderr, "%d\n", i);
    fflush(stdout);
    good<<<2, 32>>>(p);
  }
  if (!strcmp(argv[1], "fills")) {
    int* many;
    cudaMalloc(&many, 4 << 20);
    for (int k = 1; k < 30; ++k) scattered<<<k, 256>>>(many), cudaDeviceSynchronize();
  }
  if (!strcmp(argv[1], "fork")) {
    const pid_t child = fork();
    if (child == 0) {
      const cudaError_t status = cudaMalloc(&p, 128);
      good<<<1, 32>>>(p);
      _exit(status == cudaErrorInitializationError && cudaGetLastError() == status ? 5 : 6);
    }
    int ended = 0;
    waitpid(child, &ended, 0);
    printf("%d\n", WEXITSTATUS(ended));
  }
  if (!strcmp(argv[1], "unsupported")) { cudaIpcMemHandle_t h; printf("%d\n", (int)cudaIpcGetMemHandle(&h, p)); }
  return 0;
}
"""


class Endings(OneProgram):

    SOURCE = ENDINGS

    def ended(self, ending, code):
        outcome = self.record(self.binary, ending)
        self.assertEqual(outcome.code, code, outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 1)
        self.simulated()
        return outcome

    def lacks(self):
        """What the trace says of itself, which runs repeat and --strict refuses."""
        said = json.loads(program.run(["info", "--json", self.path("T.h5")]).out)["lacks"]
        command = ["run", "selrep-gpu", "-w", self.path("T.h5")]
        outcome, strict = program.run(command), program.run([*command, "--strict"])
        self.assertEqual((outcome.code, strict.code), (0, 2 if said else 0), outcome)
        for text in (outcome.out, outcome.err, strict.err):
            self.assertEqual(f"the trace lacks {said}" in text, bool(said), text)
        return said

    def test_a_crash(self):
        outcome = self.ended("crash", 128 + signal.SIGSEGV)
        self.assertRegex(outcome.err, r"atoll: \S*program was ended by signal 11 \(Segmentation fault\)")
        self.assertEqual(self.lacks(), "what was not finished when the program was ended by Segmentation fault")

    def test_a_second_thread_that_crashes_meanwhile_waits_for_the_trace_as_well(self):
        for microseconds in (0, 50, 100, 200, 400, 800):
            outcome = self.record(self.binary, "crashes", str(microseconds), options=("--force",))
            self.assertEqual(outcome.code, 128 + signal.SIGSEGV, outcome)
            self.assertEqual(self.kernels_in_trace(outcome), 301)
            self.assertIn("the program was ended by Segmentation fault", outcome.err)  # and the recorder ended the trace

    def test_abort(self):
        self.ended("abort", 128 + signal.SIGABRT)

    def test_abort_after_the_program_has_set_what_its_signal_does(self):
        outcome = self.record(self.binary, "abort", "default")  # as gfortran's library does
        self.assertEqual((outcome.code, self.kernels_in_trace(outcome)), (128 + signal.SIGABRT, 1), outcome)
        self.assertEqual(self.lacks(), "what was not finished when the program was ended by Aborted")
        outcome = self.record(self.binary, "abort", "ignored", options=("--force",))
        self.assertEqual((outcome.code, self.kernels_in_trace(outcome)), (128 + signal.SIGABRT, 1), outcome)

    def test_a_handler_of_the_program_that_gives_the_signal_back_and_raises_it_again(self):
        none: list[str] = []
        for arguments, number, text in ((["abort"], signal.SIGABRT, "Aborted"), (none, signal.SIGSEGV, "Segmentation fault")):
            outcome = self.record(self.binary, "gives back", *arguments, options=("--force",))
            self.assertEqual(outcome.code, 128 + number, outcome)
            self.assertEqual(self.kernels_in_trace(outcome), 1)
            self.assertEqual(self.lacks(), f"what was not finished when the program was ended by {text}")

    def test_a_program_goes_on_after_the_signals_that_it_handles(self):
        outcome = self.record(self.binary, "handles")
        self.assertEqual((outcome.code, outcome.out), (0, "ready\n1\nwent on\n"), outcome)
        outcome = self.record(self.binary, "handles", "again", options=("--force",))  # what it handles once
        self.assertEqual((outcome.code, outcome.out), (128 + signal.SIGFPE, "ready\n1\nwent on\n"), outcome)
        self.assertEqual(self.lacks(), "what was not finished when the program was ended by Floating point exception")

    def test_leaving_without_cleaning_up(self):
        self.ended("_exit", 7)
        self.assertEqual(self.lacks(), "")

    def test_an_access_outside_of_all_allocations_names_address_allocation_kernel_and_thread(self):
        outcome = self.ended("outside", 3)
        said = [line for line in outcome.err.splitlines() if line.startswith("atoll: ")]
        self.assertEqual(len(said), 1, outcome)
        for fragment in ("0x200000000190", "allocation 0", "outside", "thread", "so does --tolerate-oob"):
            self.assertIn(fragment, said[0])

    def test_an_unsupported_instruction_is_named_with_its_kernel_file_and_line_when_it_is_reached(self):
        outcome = self.ended("refused", 3)
        said = [line for line in outcome.err.splitlines() if line.startswith("atoll: ")]
        self.assertEqual(len(said), 1, outcome)
        self.assertRegex(said[0], r"kernel refused, .*program\.0\.ptx:\d+: instruction vmad\.u32\S* is not supported")

    def test_a_program_that_is_killed_leaves_the_kernels_before(self):
        outcome = self.record(self.binary, "killed")
        self.assertEqual(outcome.code, 128 + signal.SIGKILL, outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 2)
        self.assertIn("was killed", outcome.err)
        self.assertEqual(program.files_below(self.folder), [self.path("T.h5")])
        self.simulated()
        self.assertEqual(self.lacks(), "what was not finished when the program was killed")

    def test_a_program_that_is_killed_in_its_first_recorded_kernel_leaves_no_trace(self):
        command = [program.ATOLL, "record", "-o", self.path("T.h5"), "--kernels", "1-", "--", self.binary, "endless"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=program.environment(), start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        while not os.path.exists(self.path("T.h5.part")):
            time.sleep(0.05)
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGKILL, err)
        self.assertIn("left no trace", err)
        self.assertEqual(program.files_below(self.folder), [])

    def test_a_large_kernel_that_fails_in_its_last_block_leaves_nothing_in_the_trace(self):
        self.ended("_exit", 7)
        without = self.simulated()
        os.remove(self.path("T.h5"))
        self.ended("late", 3)
        self.assertEqual(self.simulated(), without)

    def interrupted(self, *options):
        command = [program.ATOLL, "record", "-o", self.path("T.h5"), *options, "--", self.binary, "endless"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=program.environment(), start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=30)
        outcome = program.Outcome(command, process.returncode, out, err, 0)
        self.assertEqual(outcome.code, 128 + signal.SIGINT, outcome)
        return outcome

    def test_an_interrupt_in_the_middle_of_a_kernel(self):
        self.assertEqual(self.kernels_in_trace(self.interrupted()), 1)
        self.simulated()

    def test_an_interrupt_in_the_middle_of_the_first_recorded_kernel_leaves_no_trace_and_says_so(self):
        outcome = self.interrupted("--kernels", "1-")
        self.assertIn("recorded none of 2 launches, as none had ended (", outcome.err)
        self.assertEqual(program.files_below(self.folder), [])

    def test_a_program_that_ends_itself_by_a_signal_does_not_go_on(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM):
            with self.subTest(signal=number):
                outcome = self.record(self.binary, "raise", int(number), options=["--force"])
                self.assertEqual((outcome.code, outcome.out), (128 + number, "ready\n"), outcome)
                self.assertIn("recorded 1 of 1 launches", outcome.err)

    def test_a_process_made_by_fork_gets_the_error_of_a_gpu_and_is_told(self):
        outcome = self.ended("fork", 0)
        self.assertEqual(outcome.out, "ready\n5\n")
        self.assertIn("a process made by fork calls CUDA", outcome.err)

    def test_a_name_that_the_recorder_lacks_is_said_at_its_call(self):
        outcome = self.record(self.binary, "unsupported")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.out, "ready\n801\n")
        self.assertIn("cudaIpcGetMemHandle", outcome.err)

    def test_host_memory_that_was_never_written_reads_as_zero_as_in_a_fresh_heap(self):
        outcome = self.record(self.binary, "heap")
        self.assertEqual(outcome.out, "ready\n0\n", outcome)

    def test_a_program_sees_what_the_user_sets_for_mpi_and_not_what_a_launcher_told_the_recorder(self):
        more = {"PMI_RANK": "0", "OMPI_MCA_btl": "self,vader,tcp"}
        outcome = self.record(self.binary, "environment", env={**program.environment(), **more})
        self.assertEqual(outcome.out, "ready\n0 1\n", outcome)

    def test_the_trace_is_never_standard_input_output_or_error_which_the_program_may_have_closed(self):
        self.assertEqual(self.kernels_in_trace(self.record(self.binary, "prints")), 2)
        digest = self.simulated()
        command = f"exec {program.ATOLL} record -f -o {self.path('T.h5')} -- {self.binary} prints"
        for closes in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", "0", "1", "2"):
            with self.subTest(closes=closes):
                done = subprocess.run(["bash", "-c", f"{command} {closes}"], capture_output=True, text=True, check=False,
                                      env=program.environment(), timeout=60)
                self.assertEqual(done.returncode, 0, done)
                self.assertEqual(self.simulated(), digest)

    def test_a_full_disk_is_named_as_such_and_leaves_nothing(self):
        mount = self.path("disk")
        os.mkdir(mount)
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", mount], check=False,
                                               capture_output=True).returncode != 0:
            self.skipTest("mounting a small file system is not allowed here")
        try:
            for kernels in ("1-", "0-"):
                command = ["record", "-o", os.path.join(mount, "T.h5"), "--compression", "0", "--kernels", kernels, "--",
                           self.binary, "fills"]
                outcome = program.run(command)
                self.assertEqual(outcome.code, 4, outcome)
                self.assertIn("(No space left on device)", outcome.err)
                self.assertNotIn("H5", outcome.err.replace("T.h5", ""))
                self.assertEqual(program.files_below(mount), [])
            self.assertEqual(len([line for line in outcome.err.splitlines() if line.startswith("atoll: ")]), 1, outcome)
        finally:
            subprocess.run(["umount", mount], check=True)

    def test_a_failed_assertion_fails_every_later_call_and_the_program_goes_on(self):
        outcome = self.record(self.binary, "assert")
        self.assertEqual(outcome.out, "ready\ndevice-side assert triggered\n", outcome)
        self.assertIn("p[threadIdx.x] < 0", outcome.err)
        self.assertEqual(self.kernels_in_trace(outcome), 1)


if __name__ == "__main__":
    recorded_program.main()
