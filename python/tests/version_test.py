# SPDX-License-Identifier: MIT
"""The package's version is the library's."""

import re
from pathlib import Path

import parafield


def test_version_is_that_of_the_header() -> None:
    header = Path(__file__).parents[2] / "include/parafield/version.hpp"
    numbers = re.findall(r"define PARAFIELD_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text())
    assert parafield.__version__ == ".".join(numbers)
