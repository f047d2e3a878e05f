"""REC's published figures (JSA 2025), read from its vector graphics to about 0.005; speed-ups are those of inputs/experiments."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
WORKLOADS = "ATAX C2D FIR GEMM GEMV J2D LU MM2 MM3 PR SC ST".split()
NETWORKS = "VGG16 ResNet18".split()  # trained; without bars in these figures


def _series(text):
    return dict(zip(WORKLOADS, map(float, text.split())))


def _speedups(*names):
    out: dict = {}
    for name in names:
        for variant, bars in json.loads((ROOT / f"inputs/experiments/{name}.json").read_text())["reference"]["speedup"].items():
            out.setdefault(variant, {}).update(bars)
    return out


SPEEDUP = _speedups("rec", "rec_products", "rec_sizes")  # Fig. 1, 6, 11

MISS_RATE = {  # Fig. 4, %
    "directory": _series("73.9 50.7 19.5 25.9 77.3 54.0 73.6 32.4 38.0 61.7 31.4 96.4"),
    "ideal": _series("25.0 9.0 2.6 6.5 23.4 34.0 44.8 1.5 1.6 35.8 14.8 64.6"),
}
MISSES = {  # Fig. 13, over the baseline's
    "directory_2x": _series(".67 .79 1.08 .94 .85 .80 .95 .69 .38 .91 .92 .99"),
    "hmg": _series(".56 .53 .54 .71 .53 .67 .73 .30 .25 .72 .49 .97"),
    "rec": _series(".49 .18 .13 .28 .40 .63 .61 .05 .04 .54 .47 .82"),
}
TRAFFIC = {
    "evict": _series("99.9 86.8 53.9 96.5 72.4 100 45.9 38.9 78.9 100 83.0 97.1"),  # Fig. 5, %
    "lines": _series("3.87 15.2 14.7 15.0 15.2 15.7 16.0 16.0 15.9 6.1 15.8 5.8"),  # Fig. 12, 1 KB
    "unnecessary": _series(".32 .039 .048 .056 .151 .013 .018 .010 .006 .509 .031 .677"),  # Fig. 14
    "transactions": _series(".463 .399 .279 .74 .669 .80 .766 .722 .743 .821 .588 .813"),  # Fig. 14
    "bandwidth": _series("5.5 3.2 2.8 1.7 3.5 2.3 2.2 .14 .22 3.5 2.7 7.7"),  # Fig. 15, GB/s
    "look-up": _series(".854 .951 .895 .791 .883 .915 .973 .651 .596 1.067 .636 1.007"),  # Fig. 16
}
