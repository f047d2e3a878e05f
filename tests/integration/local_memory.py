"""Spills of a SASS trace: sectors at L1 and L2, worked out by hand."""

import json
import os
import subprocess
import tempfile
import unittest

from program import ATOLL
from sass_trace import EXIT

# Two CTAs of two warps. Each warp spills 8 and 4 bytes per thread, loads them again, and half of it stores once more.
WARP = [
    "0010 ffffffff 0 STL.64 2 R1 R4 8 1 0xfffd60 0 0",  # 2 rows: 8 sectors, to L1 and L2
    "0020 ffffffff 0 STL 2 R1 R6 4 1 0xfffd68 0 0",  # 4 sectors, to L1 and L2
    "0030 ffffffff 1 R4 LDL.64 1 R1 8 1 0xfffd60 0 0",  # 8 sectors, in the L1 if stores allocate
    "0040 ffffffff 1 R6 LDL 1 R1 4 1 0xfffd68 0 0",  # 4 sectors, likewise
    "0050 0000ffff 0 STL 2 R1 R6 4 1 0xfffd68 0 0",  # 2 sectors, to L1 and L2
    EXIT,
]
WARPS, STORED, LOADED = 4, 8 + 4 + 2, 8 + 4


def trace():
    text = ("-kernel name = spills\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = (64,1,1)\n-shmem = 0\n"
            "-nregs = 16\n-shmem base_addr = 0x00007f0001000000\n-local mem base_addr = 0x00007f0003000000\n"
            "-accelsim tracer version = 5\n-enable lineinfo = 0\n#traces format = ...\n")
    for cta in range(2):
        text += f"#BEGIN_TB\nthread block = {cta},0,0\n"
        for warp in range(2):
            text += f"warp = {warp}\ninsts = {len(WARP)}\n" + "\n".join(WARP) + "\n"
        text += "#END_TB\n"
    return text


class LocalMemory(unittest.TestCase):
    def totals(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "kernel-1.traceg"), "w", encoding="utf-8") as file:
                file.write(trace())
            source, result = os.path.join(folder, "kernelslist.g"), os.path.join(folder, "result.h5")
            with open(source, "w", encoding="utf-8") as file:
                file.write("kernel-1.traceg\n")
            if "import" in arguments:
                subprocess.run([ATOLL, "import", "accel-sim", source, "-o", os.path.join(folder, "t.h5")], check=True)
                source = os.path.join(folder, "t.h5")
            sets = [word for word in arguments if word != "import"]
            subprocess.run([ATOLL, "run", "rtx3070", "-w", source, "-q", "-o", result, *sets], check=True)
            out = subprocess.run([ATOLL, "info", "--json", result], check=True, stdout=subprocess.PIPE).stdout
        return json.loads(out)["totals"]

    def test_spills_take_a_sector_per_eight_threads_and_word_and_are_found_in_the_l1(self):
        for how in ((), ("import",)):
            n = self.totals(*how)
            self.assertEqual(n["l1.sector_accesses"], WARPS * (STORED + LOADED))
            self.assertEqual(n["l1.store_sectors"], WARPS * STORED)
            self.assertEqual(n["l1.sector_misses"], 0)
            self.assertEqual(n["llc.sector_accesses"], WARPS * STORED)
            self.assertEqual(n["dram.read_bytes"], 0)

    def test_without_allocation_every_spill_is_read_from_the_l2(self):
        n = self.totals("--set", "l1.local_stores=pass")
        self.assertEqual(n["l1.sector_misses"], WARPS * LOADED)
        self.assertEqual(n["llc.sector_accesses"], WARPS * (STORED + LOADED))
        self.assertEqual(n["llc.sector_misses"], 0)


if __name__ == "__main__":
    unittest.main()
