#!/usr/bin/env python3
"""How many loads a warp has in flight, and how many instructions it issues per load, in the innermost loops of the workload
library's kernels as ptxas schedules them. make_profiles.py takes its constants from the table.

    sass_loads.py [--nvcc PATH]

Each .cu file is compiled for sm_80, and the machine code of its kernels is read from the cubin: instructions of 16 bytes,
the operation in the low 12 bits, the scheduler's control bits from bit 105 on (4 stall, 1 yield, 3 the barrier that a
result sets, 3 the one that reading the operands sets, 6 the barriers that the instruction waits for). A run of loads ends
with the first instruction that waits for a barrier which one of them sets, as every warp does in order. Needs nvcc."""

import argparse
import pathlib
import struct
import subprocess
import tempfile
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[3]
CUDA = ROOT / "inputs/workloads/cuda"
GLOBAL_LOAD, BRANCH = 0x981, 0x947  # LDG, BRA
NO_BARRIER = 7
PROGRAMS = ("cnn", "nn", "matmul")
# Networks for GPUs of that time have a kernel per layer, with the size of its mask as a number in the source; products of
# matrices have their tiles so.
PLAIN = """
template <int Mask> __device__ void direct(float* out, const float* in, const float* weights, int channels, int size) {
  const int pixel = (blockIdx.y * blockDim.y + threadIdx.y) * size + blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int c = 0; c < channels; ++c)
    for (int y = 0; y < Mask; ++y)
      for (int x = 0; x < Mask; ++x)
        sum += weights[((blockIdx.z * channels + c) * Mask + y) * Mask + x] * in[(c * size + y) * size + pixel + x];
  out[blockIdx.z * size * size + pixel] = sum;
}
template <int Tile> __device__ void product(float* c, const float* a, const float* b, int n) {
  __shared__ float from_a[Tile][Tile], from_b[Tile][Tile];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * Tile + y, column = blockIdx.x * Tile + x;
  float sum = 0;
  for (int first = 0; first < n; first += Tile) {
    from_a[y][x] = a[row * n + first + x], from_b[y][x] = b[(first + y) * n + column];
    __syncthreads();
    for (int k = 0; k < Tile; ++k) sum += from_a[y][k] * from_b[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
""" + "".join(f"""extern "C" __global__ void tiles_of_{m}(float* c, const float* a, const float* b, int n) {{
  product<{m}>(c, a, b, n);
}}
""" for m in (16, 32)) + "".join(f"""extern "C" __global__ void mask_{m}(float* out, const float* in, const float* w,
    int channels, int size) {{
  direct<{m}>(out, in, w, channels, size);
}}
""" for m in (1, 3, 5, 7, 11))


@dataclass(frozen=True)
class Instruction:
    operation: int
    sets: int  # barrier of its result
    waits: int  # mask of barriers
    target: int | None  # of a branch: number of an instruction


def decode(code):
    out = []
    for at in range(0, len(code), 16):
        low, high = struct.unpack_from("<QQ", code, at)
        control = high >> 41
        target = None
        if low & 0xFFF == BRANCH:
            offset = low >> 32 | (high & 0x3FFFF) << 32  # signed, 50 bits, from the next instruction on
            target = (at + 16 + (offset - (1 << 50) if offset >> 49 else offset)) // 16
        out.append(Instruction(low & 0xFFF, control >> 5 & 7, control >> 11 & 63, target))
    return out


def sections(elf):
    """Name and bytes of each section of a 64-bit ELF file."""
    offset, = struct.unpack_from("<Q", elf, 0x28)
    size, count, names = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, offset + i * size) for i in range(count)]
    text = headers[names][4]
    for name, _, _, _, begin, length in headers:
        yield elf[text + name : elf.index(b"\0", text + name)].decode(), elf[begin : begin + length]


def loops(code):
    """Innermost ones: from the target of a branch backwards to the branch, without such a branch inside."""
    back = [(i.target, at) for at, i in enumerate(code) if i.target is not None and i.target < at]
    return [(a, b) for a, b in back if not any(a <= c and d < b for c, d in back)]


def runs(body):
    """Sizes of the runs of loads that a warp issues before it waits for one of them."""
    out, pending, size = [], 0, 0
    for i in body + body:  # twice round: what is pending at the end may be waited for after the branch
        if i.waits & pending:
            out.append(size)
            pending, size = 0, 0
        if i.operation == GLOBAL_LOAD and i.sets != NO_BARRIER:
            pending, size = pending | 1 << i.sets, size + 1
    return out


def rows(program, nvcc):
    with tempfile.TemporaryDirectory() as folder:
        cubin, source = pathlib.Path(folder) / "out.cubin", CUDA / f"{program}.cu"
        if program == "plain":
            source = pathlib.Path(folder) / "plain.cu"
            source.write_text(PLAIN)
        subprocess.run([nvcc, "-std=c++17", "-O3", "-cubin", "-arch=sm_80", "-o", cubin, source], check=True)
        for name, content in sections(cubin.read_bytes()):
            if not name.startswith(".text."):
                continue
            code = decode(content)
            kernel = subprocess.run(["c++filt", name[len(".text."):]], capture_output=True, text=True, check=True).stdout
            for begin, end in loops(code):
                body = code[begin : end + 1]
                loads = sum(i.operation == GLOBAL_LOAD for i in body)
                if loads:
                    yield program, kernel.strip().split("(")[0].removeprefix("void "), loads, len(body) / loads, max(runs(body))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nvcc", default="/usr/local/cuda/bin/nvcc")
    nvcc = parser.parse_args().nvcc
    print("| program | kernel | loads of the loop | instructions per load | loads before the first wait |\n|---|---|---|---|---|")
    for program in (*PROGRAMS, "plain"):
        for name, kernel, loads, instructions, in_flight in rows(program, nvcc):
            print(f"| {name} | {kernel} | {loads} | {instructions:.1f} | {in_flight} |")


if __name__ == "__main__":
    main()
