#!/usr/bin/env python3
"""Makes a Python wheel of the archive that `cmake --build ... --target package` writes.

    scripts/make_wheel.py build/release/trainyard-0.2.0-linux-x86_64.tar.gz FOLDER

A wheel is a zip file with a list of its files: this needs Python and patchelf alone. Installing it puts the archive's
tree into site-packages/trainyard. Its tag is the oldest C library that the program starts with, which is read from the
files; `auditwheel show` must confirm it. Prints the wheel's path.
"""

import base64
import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
NAME = "trainyard_train"
# Debian 12's C++ library (GCC 12) is newer than that of systems with an older C library than this.
LEAST_GLIBC = (2, 35)


def requirements():
    """Of the extra cuda13: what the GPU part opens, in at least the versions that it is built with."""
    lines = (HERE / "cuda13.txt").read_text().splitlines()
    pins = dict(re.findall(r"^([a-z0-9-]+)==([0-9.]+)", "\n".join(lines), re.MULTILINE))
    for name in ("nvidia-cublas", "nvidia-cuda-nvrtc", "nvidia-cudnn-cu13", "nvidia-nccl-cu13"):
        major = pins[name].split(".")[0]
        yield f"{name}>={pins[name]},<{int(major) + 1}"


def metadata(version):
    lines = [
        "Metadata-Version: 2.1",
        "Name: trainyard-train",
        f"Version: {version}",
        "Summary: Trains neural networks from two YAML files, with a native program",
        "License: MIT",
        "Requires-Python: >=3.8",
        "Provides-Extra: cuda13",
        *(f'Requires-Dist: {each}; extra == "cuda13"' for each in requirements()),
        "Description-Content-Type: text/markdown",
        "",
        (HERE.parent / "README.md").read_text(),
    ]
    return "\n".join(lines).encode()


def beside(name, data):
    """A library that finds the libraries beside it by itself, as auditwheel demands."""
    if not re.fullmatch(r"lib/trainyard/lib[^/]*\.so(\.[0-9.]+)?", name):
        return data
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(data)
        subprocess.run(["patchelf", "--set-rpath", "$ORIGIN", file.name], check=True)
        return Path(file.name).read_bytes()


def tree(archive):
    """The files of the archive as (path, bytes, executable). A library is there once, under the name that is opened:
    wheels have no links."""
    with tarfile.open(archive) as tar:
        members = {m.name.partition("/")[2]: m for m in tar.getmembers()}
        links = {str(Path(n).parent / m.linkname) for n, m in members.items() if m.issym()}
        for name, member in sorted(members.items()):
            if name not in links and not member.isdir():
                yield name, beside(name, tar.extractfile(member).read()), bool(member.mode & 0o100)


def glibc(files):
    """The newest version of the C library's symbols that a file needs, as (2, 35)."""
    needed = {LEAST_GLIBC}
    for name, data, _ in files:
        if data[:4] == b"\x7fELF":
            needed |= {(int(a), int(b)) for a, b in re.findall(rb"GLIBC_(\d+)\.(\d+)(?:\.\d+)?\0", data)}
    return max(needed)


class Wheel:
    """A zip file, and the list of its files with their hashes."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.record = []

    def add(self, name, data, executable=False):
        entry = zipfile.ZipInfo(name)  # dated 1980: the same files make the same wheel
        entry.external_attr = (0o100755 if executable else 0o100644) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}")

    def close(self, folder):
        self.record.append(f"{folder}/RECORD,,")
        self.zip.writestr(zipfile.ZipInfo(f"{folder}/RECORD"), "\n".join(self.record) + "\n")
        self.zip.close()


def main():
    if len(sys.argv) != 3 or not re.search(r"trainyard-[0-9.]+-linux-", sys.argv[1]):
        sys.exit(__doc__)
    archive, folder = Path(sys.argv[1]), Path(sys.argv[2])
    version, machine = re.search(r"trainyard-([0-9.]+)-linux-(\w+)\.tar", archive.name).groups()
    files = list(tree(archive))
    tag = "py3-none-manylinux_{}_{}_{}".format(*glibc(files), machine)
    path = folder / f"{NAME}-{version}-{tag}.whl"
    info = f"{NAME}-{version}.dist-info"
    wheel = Wheel(path)
    for name, data, executable in files:
        wheel.add(f"trainyard/{name}", data, executable)
    for source in sorted((HERE / "wheel").glob("*.py")):
        wheel.add(f"trainyard/{source.name}", source.read_bytes())
    wheel.add(f"{info}/METADATA", metadata(version))
    wheel.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: make_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n".encode())
    wheel.add(f"{info}/entry_points.txt", b"[console_scripts]\ntrain = trainyard.__main__:main\n")
    wheel.close(info)
    print(path)


main()
