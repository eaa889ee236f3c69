# Not yet tried with Spack. Put it into a repository as packages/assay/package.py, and set `git`.
from spack.package import *


class Assay(CargoPackage):
    """Benchmarks of machines, networks, MPI and storage."""

    git = "file:///path/to/assay"
    license("MIT OR Apache-2.0")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("rust@1.95:", type="build")

    build_directory = "crates/assay"
