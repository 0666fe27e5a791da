# SPDX-License-Identifier: MIT
"""The package's types: mypy, as strict as it can be, reads a user's program and what it imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import parafield

pytest.importorskip("mypy")

PROGRAM = """
import parafield

version: str = parafield.__version__
"""


def check(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    file = folder / "program.py"
    file.write_text(program)
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / "cache"), str(file)],
        env={**os.environ, "MYPYPATH": str(Path(parafield.__file__).parents[1])},
        capture_output=True,
        text=True,
    )


def test_program_of_a_user_is_typed(tmp_path: Path) -> None:
    result = check(PROGRAM, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


def test_wrong_type_is_seen(tmp_path: Path) -> None:
    result = check("import parafield\nversion: int = parafield.__version__\n", tmp_path)
    assert result.returncode == 1
    assert 'expression has type "str"' in result.stdout
