# SPDX-License-Identifier: MIT
"""The command parafield of the package: the compiled program, in the same process."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

import parafield
from parafield import command

COMMAND = [sys.executable, "-m", "parafield"]
pytestmark = pytest.mark.skipif(
    not (Path(parafield.__file__).parent / "bin/parafield").exists(), reason="the command is not built"
)


def run(*arguments: str, standard_input: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, input=standard_input)


def test_version_is_the_package_s() -> None:
    assert run("--version").stdout.decode().split() == ["parafield", parafield.__version__]


def test_exit_status_and_messages_are_the_command_s() -> None:
    result = run("flow", "absent.png", "absent.png", "-o", "flow.flo")
    assert result.returncode == 1
    assert result.stderr.startswith(b"parafield")
    assert run("--no-such-option").returncode == 2


def test_standard_input_reaches_the_command(tmp_path: Path) -> None:
    frame = b"P5\n32 24\n255\n" + bytes(range(256)) * 3
    result = run("flow", "-", "-o", str(tmp_path / "%04d.flo"), standard_input=frame + frame)
    assert result.returncode == 0, result.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["0001.flo"]


def test_signals_reach_the_command() -> None:
    with subprocess.Popen([*COMMAND, "flow", "-", "-o", "%04d.flo"], stdin=subprocess.PIPE) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130


def test_closed_pipe_ends_the_command() -> None:
    help_into_closed_pipe = f"'{sys.executable}' -m parafield flow --help | true; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", help_into_closed_pipe], stderr=subprocess.PIPE)
    assert result.stderr == b""
    assert result.returncode in (0, 128 + signal.SIGPIPE)


def test_absent_command_says_what_was_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "__file__", str(tmp_path / "command.py"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/absent.txt").write_text("fmt was not found (Debian: libfmt-dev)\n")
    with pytest.raises(SystemExit, match=r"^parafield: .*fmt was not found \(Debian: libfmt-dev\)\. Install"):
        command.main()
