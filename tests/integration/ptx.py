"""`atoll ptx` says what the kernels of a PTX file do to their data structures, with the lines, and refuses what it cannot read."""

import os

import program

FIXTURES = os.path.join(program.SOURCE, "tests", "unit", "inputs_ptx", "fixtures")


class PtxTest(program.ProgramTest):
    def kernels(self, *files):
        """Lines of the output by kernel, words by single blanks."""
        kernels: dict[str, list[str]] = {}
        lines: list[str] = []
        for line in self.succeeds(["ptx", *files]).out.splitlines():
            if line.startswith("kernel "):
                lines = kernels.setdefault(line.split()[1], [])
            lines.append(" ".join(line.split()))
        return kernels

    def pointers(self, kernel):
        return self.kernels(os.path.join(FIXTURES, "pointers.ptx"))[kernel]

    def test_structures_that_are_read_written_and_updated_are_told_apart_with_their_lines(self):
        kernels = self.kernels(self.write("three.ptx", """.version 9.0
.target sm_75
.address_size 64
.visible .entry three(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .align 8 .b8 s[16])
{
.reg .b32 %r<4>; .reg .b64 %rd<8>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [b];
ld.param.u64 %rd3, [c];
ld.param.u64 %rd4, [s+8];
ld.global.u32 %r1, [%rd1];
ld.global.u32 %r2, [%rd1+4];
st.global.u32 [%rd2], %r1;
red.global.add.u32 [%rd3], %r2;
ld.global.u32 %r3, [%rd4];
ret;
}
"""))
        self.assertEqual(kernels["three"], ["kernel three (line 4, about 16 registers)",
                                            "parameter a read-only read 11 12",
                                            "parameter b written write 13",
                                            "parameter c atomic atomic 14",
                                            "parameter d no access",
                                            "parameter s+8 read-only read 15",
                                            "3 of 3 global loads are read-only"])

    def test_after_a_store_to_an_unknown_place_what_is_read_is_unknown(self):
        lines = self.pointers("from_memory")
        self.assertEqual([line.split()[2] for line in lines if line.startswith("parameter")], ["unknown", "unknown"])
        said = [line for line in lines if line.startswith("writes through pointers of unknown origin: lines ")]
        self.assertEqual(len(said), 1, lines)
        with open(os.path.join(FIXTURES, "pointers.ptx"), encoding="utf-8") as file:
            text = file.read().splitlines()
        self.assertIn("st.global", text[int(said[0].split()[-1]) - 1])
        self.assertEqual(lines[-1].split()[0], "0")

    def test_pieces_of_a_structure_that_are_no_pointers_are_left_out(self):
        names = [line.split()[1] for line in self.pointers("structure") if line.startswith("parameter")]
        self.assertEqual(names, ["param_0+0", "param_0+8"])

    def test_files_that_cannot_be_read_are_refused_with_their_line_or_the_reason(self):
        self.refused(["ptx", self.path("none.ptx")], 2, "none.ptx", "cannot be opened", layouts=[None])
        bad = self.write("bad.ptx", ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() {\nfrobnicate.u32 %r1;\n}\n")
        self.refused(["ptx", bad], 2, "bad.ptx:5", "frobnicate", layouts=[None])
        old = self.write("narrow.ptx", ".version 9.0\n.target sm_75\n.address_size 32\n")
        self.refused(["ptx", old], 2, "narrow.ptx:3", "64-bit addresses", layouts=[None])
        self.refused(["ptx", program.ATOLL], 2, "is a program", "nvcc -ptx", layouts=[None])

    def test_a_file_without_kernels_says_so(self):
        empty = self.write("empty.ptx", ".version 9.0\n.target sm_75\n.address_size 64\n")
        self.assertEqual(self.succeeds(["ptx", empty]).out, "no kernels\n")


if __name__ == "__main__":
    program.main()
