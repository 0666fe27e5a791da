# SPDX-License-Identifier: MIT
"""The examples of README.md and docs/ in Python: they run, and print what the page says.

The blocks of a page run in order, in one namespace and one folder: those of Python, and in the pages about
Python also the commands (tests/docs runs those of other pages). `print(...)  # text` must print this text.
A block behind the comment <!-- needs: NAMES --> is skipped where a module is missing, or for `cuda` a GPU;
one behind <!-- not run: REASON --> does not run.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import parafield

ROOT = Path(__file__).resolve().parents[2]
PYTHON_PAGES = {"docs/python.md", "docs/xarray.md", "docs/guides/clusters.md"}  # tests/docs leaves them out
NAMES = [path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("docs/**/*.md"))]
PAGES = {  # and the languages that run
    page: {"python", "sh"} if page in PYTHON_PAGES else {"python"} for page in ["README.md", *NAMES]
}
COMMANDS = {"parafield": "parafield", "parafield-extract": "parafield.archives.command"}


@dataclass
class Block:
    page: str
    language: str
    first: int  # line of the page, from 1
    needs: list[str]
    lines: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.page}:{self.first}"

    @property
    def text(self) -> str:
        return "\n" * (self.first - 1) + "".join(self.lines)  # messages name lines of the page


def blocks_of(page: str) -> Iterator[Block]:
    block: Block | None = None
    needs: list[str] = []
    is_run = True
    with open(ROOT / page, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if block is not None and line.startswith("```"):
                if block.language in PAGES[page] and is_run:
                    yield block
                block, needs, is_run = None, [], True
            elif block is not None:
                block.lines.append(line)
            elif line.startswith("```"):
                block = Block(page, line[3:].strip(), number + 1, needs)
            elif line.startswith("<!-- needs: "):
                needs = line.removeprefix("<!-- needs: ").removesuffix("-->\n").split()
            elif line.startswith("<!-- not run: "):
                is_run = False


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def skip_without(needs: list[str]) -> None:
    for name in needs:
        if name == "cuda":
            if reason := parafield.why_no_cuda():
                pytest.skip(f"no GPU: {reason}")
        else:
            try:
                importlib.import_module(name)
            except ImportError as error:
                pytest.skip(str(error))


class Page:
    """A page that is run: its namespace and its folder. README.md has two frames, as arrays and files."""

    def __init__(self, name: str, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__", "print": self.print}
        self.expected: dict[int, str] = {}  # texts of lines that have not printed yet
        self.wrong: list[str] = []
        if name == "README.md":
            self.names["frame0"], self.names["frame1"] = parafield.render_scene("flythrough", shape=(240, 320)).frames
            for i in range(2):
                parafield.write_frame(folder / f"frame000{i}.png", self.names[f"frame{i}"])
        (folder / "bin").mkdir()
        for program, module in COMMANDS.items():
            command = folder / "bin" / program
            command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
            command.chmod(0o755)

    def print(self, *values: object, sep: str = " ", **_: object) -> None:
        """Compares what is printed with the comment on its line."""
        frame = inspect.currentframe()
        caller = frame.f_back if frame else None  # none if the library calls, as it does to show progress
        text = sep.join(map(str, values))
        if caller and self.expected.pop(caller.f_lineno, text) != text:
            self.wrong.append(f"line {caller.f_lineno} prints {text}")

    def run_python(self, block: Block) -> None:
        self.wrong, self.expected = [], {}
        tree = ast.parse(block.text, block.page)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                _, comment, text = block.lines[(node.end_lineno or 0) - block.first].partition("  # ")
                if comment:
                    self.expected[node.lineno] = text.strip()
        exec(compile(tree, str(ROOT / block.page), "exec"), self.names)
        self.wrong += [f"line {line} prints nothing" for line in self.expected]
        assert not self.wrong, f"{block.page}: {'; '.join(self.wrong)}"

    def run_commands(self, block: Block) -> None:
        package = str(Path(parafield.__file__).parents[1])
        paths = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": package}
        command = ["bash", "-euo", "pipefail", "-c", block.text]
        result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **paths})
        assert result.returncode == 0, f"{block}: {result.stdout}{result.stderr}"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Page]:
    return {page: Page(page, tmp_path_factory.mktemp("page")) for page in PAGES}


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_block(block: Block, pages: dict[str, Page], monkeypatch: pytest.MonkeyPatch) -> None:
    skip_without(block.needs)
    page = pages[block.page]
    monkeypatch.chdir(page.folder)
    if block.language == "sh":
        page.run_commands(block)
    else:
        page.run_python(block)
