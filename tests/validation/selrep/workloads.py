"""The workloads of SelRep (MICRO 2020): Table II, 25 configurations that are sensitive to replication, and Table III,
twelve that are not. How they were sized: docs/validation/selrep.md."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
TRACES = ROOT / "results/selrep-traces"

# Trace: program and its options, options of `atoll record`.
RECORDINGS = {
    "an": ("cnn --network alexnet --image 227 --divide 2 --split 4", "--kernels 0-7"),
    "rn": ("cnn --network resnet --image 224 --divide 1 --split 4 --blocks 1", "--kernels 0-15 --max-ctas 1024"),
    "sn": ("cnn --network squeezenet --image 224 --divide 1 --split 4", "--max-ctas 2048"),
    **{f"nn_{i}": (f"nn --images {n} --unroll 1", "--max-ctas 25600") for i, n in enumerate((58, 390, 830, 1690, 3420))},
    **{
        f"mm_{i}": (f"matmul --n {n} --rows 8 --repeat {repeat}", "")
        for i, (n, repeat) in enumerate(((64, 512), (128, 128), (288, 12), (480, 3), (704, 1)))
    },
    "an_channels": ("cnn --network alexnet --image 227 --divide 1 --ctas channels", "--kernels 4-6"),
    "rn_channels": ("cnn --network resnet50 --image 224 --divide 1 --ctas channels", "--kernels 25-28"),
    "lud": ("lud --tiles 181", "--kernels 0-2"),
    "sp": ("surveyprop --literals 1000000 --clauses 1000000 --steps 1", ""),
    "3dc": ("conv3d --planes 12 --rows 1024 --columns 1024", ""),
    "bt": ("btree --records 1000000 --queries 24000 --order 256", ""),
    "gemm": ("gemm --ni 480 --nj 480 --nk 480", ""),
    "bp": ("backprop --ctas 8192", ""),
    "bs": ("blackscholes --options 1000000", ""),
    "dwt2d": ("dwt2d --width 1024 --height 1024", ""),
    "ms": ("mergesort --count 262144", ""),
    "bino": ("binomial --options 512", ""),
    "hg": ("histogram --words 4194304", ""),
    "va": ("vectoradd --count 2097152", ""),
}

# LLC sizes in KiB of the configurations _0 to _4; NN and MM grow their data instead.
LLC_KIB = {"an": (4096, 1024, 512, 256, 128), "rn": (4096, 1024, 512, 256, 128), "sn": (8192, 6144, 4096, 2048, 1024)}
SENSITIVE = ("an", "rn", "sn", "nn", "mm")
NEUTRAL = ("lud", "sp", "3dc", "bt", "gemm", "bp", "bs", "dwt2d", "ms", "bino", "hg", "va")
CONFIGURATIONS = tuple(f"{b}_{i}" for b in SENSITIVE for i in range(5))
