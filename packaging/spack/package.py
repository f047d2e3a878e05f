# ruff: noqa: F403, F405
"""Spack recipe: `spack repo add` a folder that has this as packages/atoll/package.py, then `spack install atoll`."""

from spack.package import *


class Atoll(CMakePackage):
    """Parallel simulator of the memory system of multi-chip GPUs."""

    # From a clone: `spack dev-build atoll@main`, or `spack develop --path CLONE atoll@main` in an environment. To have Spack
    # fetch the sources itself, add `git = ` with the address that you cloned.

    license("Apache-2.0")

    version("main", branch="main")

    variant("tests", default=False, description="Build the tests, which need doctest")
    variant("python", default=True, description="Policies in Python")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("mpi")
    depends_on("boost@1.74:+serialization")
    depends_on("hdf5@1.10:+cxx~mpi")
    depends_on("nlohmann-json@3.11:")
    depends_on("cli11@2.1:")
    depends_on("fmt@9:")
    depends_on("xz")
    depends_on("zstd")
    depends_on("lz4")
    depends_on("libdeflate")
    depends_on("jemalloc")
    depends_on("doctest", when="+tests")
    depends_on("python@3.10:", when="+python", type=("build", "link", "run"))
    depends_on("py-pybind11", when="+python", type="build")

    generator("ninja")
    conflicts("%gcc@:11", msg="Atoll is C++20 as gcc 12 has it")

    def cmake_args(self):
        return [
            self.define("ATOLL_NATIVE", False),  # Spack's compiler wrapper gives the target's flags
            self.define("ATOLL_WORKLOAD_PROGRAMS", False),
            self.define_from_variant("ATOLL_TESTS", "tests"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_pybind11", self.spec.satisfies("~python")),
        ]
