"""What the tests of `atoll record` share: they compile CUDA programs and record them."""

import os
import shutil
import subprocess
import sys
import tempfile

import program
from program import SMALL, sets

NVCC = shutil.which("nvcc")
RUNTIME = os.path.join(os.path.dirname(program.ATOLL), "cuda", "libcudart.so.13")  # not in sanitizer builds


_compiled: dict[tuple[str, ...], bytes] = {}  # of a source and its flags: a compilation takes seconds


class RecordTest(program.ProgramTest):
    def compiled(self, source, *flags, name="program"):
        path, binary, what = self.write(name + ".cu", source), self.path(name), (source, *flags)
        if what in _compiled:
            with open(binary, "wb") as file:
                file.write(_compiled[what])
            os.chmod(binary, 0o755)
            return binary
        self.nvcc(["-o", binary, *flags, path], binary)
        with open(binary, "rb") as file:
            _compiled[what] = file.read()
        return binary

    def nvcc(self, arguments, output):
        done = subprocess.run([NVCC, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return output

    def record(self, binary, *arguments, options=(), **more):
        more.setdefault("timeout", 60)
        return program.run(["record", "-o", self.path("T.h5"), *options, "--", binary, *arguments], **more)

    def simulated(self):
        """The digest of a simulation of the trace."""
        return self.succeeds(["run", "sac-4chip", "-w", self.path("T.h5"), *sets(*SMALL)]).digest()

    def kernels_in_trace(self, outcome):
        """What the recorder said at the end."""
        said = [line for line in outcome.err.splitlines() if line.startswith("recorded ")]
        self.assertEqual(len(said), 1, outcome)
        return int(said[0].split()[1])


class OneProgram(RecordTest):
    """Compiled once for all tests of a class."""

    SOURCE = ""
    FLAGS: tuple[str, ...] = ()
    binary: str

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="atoll-test-")
        cls.addClassCleanup(folder.cleanup)
        source = os.path.join(folder.name, "program.cu")
        with open(source, "w", encoding="utf-8") as file:
            file.write(cls.SOURCE)
        cls.binary = os.path.join(folder.name, "program")
        subprocess.run([NVCC, "-o", cls.binary, *cls.FLAGS, source], check=True, capture_output=True)


def main():
    if not NVCC or not os.path.exists(RUNTIME):
        sys.exit(program.SKIPPED)
    program.main()
