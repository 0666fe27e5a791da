# SPDX-License-Identifier: MIT
"""Writes the licenses of all that a repaired wheel holds beside parafield into it.

    python licenses.py FOLDER [ROOT]    the unpacked wheel, made on Debian or Ubuntu

ROOT is the folder with the packages of a cross build, and their record in ROOT/dpkg.
"""

import re
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import nanobind

CUDA = """libparafield.so contains the CUDA runtime (cudart_static), (c) NVIDIA Corporation, which the
license of the CUDA Toolkit allows to distribute: https://docs.nvidia.com/cuda/eula
"""
HEADERS = {"CLI11": "libcli11-dev", "nlohmann-json": "nlohmann-json3-dev"}  # in the command
OURS = "libjbig"  # no_jbig.c


def of_package(package: str, root: Path | None = None) -> str:
    """License of a package of the distribution."""
    return ((root or Path("/")) / f"usr/share/doc/{package}/copyright").read_text()


def package_of(library: str, root: Path | None = None) -> str:
    """Package of the distribution with a library, which auditwheel has named NAME-HASH.so.VERSION."""
    name = re.sub(r"-[0-9a-f]{8}\.so", ".so", library)
    record = [f"--admindir={root}/dpkg"] if root else []
    query = ["dpkg-query", *record, "-S", f"*/{name}"]
    return subprocess.run(query, check=True, capture_output=True, text=True).stdout.partition(":")[0]


def all_licenses(wheel: Path, root: Path | None = None) -> dict[str, str]:
    """Name and license of each part of the wheel."""
    bundled = [file.name for file in wheel.glob("*.libs/*") if not file.name.startswith(OURS)]
    packages = sorted({package_of(library, root) for library in bundled})
    licenses = {package: of_package(package, root) for package in packages}
    if (wheel / "parafield/bin/parafield").exists():
        licenses |= {name: of_package(package, root) for name, package in HEADERS.items()}
    (nanobind_license,) = (file for file in files("nanobind") or [] if file.name == "LICENSE")
    licenses["nanobind"] = nanobind_license.read_text()
    robin_map = Path(nanobind.__file__).parent / "ext/robin_map/include/tsl/robin_map.h"
    licenses["robin_map"] = robin_map.read_text().partition("*/")[0] + "*/\n"
    if b"libcuda.so.1" in (wheel / "parafield/libparafield.so").read_bytes():
        licenses["CUDA"] = CUDA
    return licenses


def main() -> None:
    wheel = Path(sys.argv[1])
    licenses = all_licenses(wheel, Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    (folder,) = wheel.glob("*.dist-info/licenses")
    text = "".join(f"{'=' * 80}\n{name}\n{'=' * 80}\n{license}\n" for name, license in licenses.items())
    (folder / "THIRD_PARTY").write_text("This wheel also contains the following.\n\n" + text)
    print("Licenses of", ", ".join(licenses), file=sys.stderr)


main()
