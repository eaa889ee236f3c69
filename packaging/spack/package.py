# Not yet tried with Spack: only compiled as Python. Put it into a repository as packages/assay/package.py, and set `git`.
from spack.package import *


class Assay(CargoPackage):
    """Benchmarks of machines, networks, MPI and storage: every value with its uncertainty and its percentage of the
    physical limit. Runs parameter files and command lines of fio, Vdbench, IOR, mdtest, iperf3 and qperf."""

    homepage = "https://example.org/assay"
    git = "file:///path/to/assay"

    license("MIT OR Apache-2.0", checked_by="assay")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    depends_on("c", type="build")
    depends_on("rust@1.95:", type="build")

    build_directory = "crates/assay"

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def plan_a_run(self):
        Executable(self.prefix.bin.assay)("run", "quick", "--dry-run")
