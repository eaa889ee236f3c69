"""Packs the program and its Python package as a wheel: make_wheel.py PROGRAM VERSION PLATFORM LICENCES LEVEL WHEEL.

The time of its files is SOURCE_DATE_EPOCH, so that equal programs give equal wheels.
"""

import base64
import hashlib
import os
import sys
import time
import zipfile

METADATA = """Metadata-Version: 2.1
Name: assay-bench
Version: {version}
Summary: Measures machines, networks, MPI and storage, and prints every value with its uncertainty
License: MIT OR Apache-2.0
Requires-Python: >=3.7
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: System :: Benchmark
Description-Content-Type: text/markdown

"""

WHEEL = """Wheel-Version: 1.0
Generator: assay
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def main():
    program, version, platform, licences, level, wheel = sys.argv[1:]
    information = f"assay_bench-{version}.dist-info"
    with open("README.md", encoding="utf-8") as readme:
        metadata = METADATA.format(version=version) + readme.read()
    files = {}
    with open(program, "rb") as content:
        files[f"assay_bench-{version}.data/scripts/assay"] = content.read()
    package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "assay")
    for name in ("__init__.py", "py.typed"):
        with open(os.path.join(package, name), "rb") as content:
            files[f"assay/{name}"] = content.read()
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        with open(name, "rb") as content:
            files[f"{information}/{name}"] = content.read()
    with open(licences, "rb") as content:
        files[f"{information}/THIRD-PARTY-LICENSES"] = content.read()
    files[f"{information}/METADATA"] = metadata.encode()
    files[f"{information}/WHEEL"] = WHEEL.format(platform=platform).encode()
    record = f"{information}/RECORD"
    lines = "".join(record_line(name, content) for name, content in files.items())
    files[record] = (lines + f"{record},,\n").encode()
    moment = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=int(level)) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if "/scripts/" in name else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, content)


main()
