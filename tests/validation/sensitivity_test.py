"""The experiments of the sensitivity studies are what their scripts say. Skipped where no Python has h5py."""

import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
STUDIES = [FOLDER / study / "sensitivity.py" for study in ("sac", "rec", "selrep")]


def has_h5py(python):
    return subprocess.run([python, "-c", "import h5py"], capture_output=True, check=False).returncode == 0


pythons = [p for p in (sys.executable, "/usr/bin/python3") if has_h5py(p)]
if not pythons:
    print("skipped: no h5py")
    sys.exit(77)
sys.exit(max(subprocess.run([pythons[0], "-B", str(study), "--check"], check=False).returncode for study in STUDIES))
