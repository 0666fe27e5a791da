# SPDX-License-Identifier: MIT
"""The command parafield-extract."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from parafield.archives.command import main

pytest.importorskip("av")


@pytest.fixture
def video(make, tmp_path):
    return make.encode(tmp_path / "v.mkv", make.rendered(4))


def start(*words):
    return subprocess.Popen([sys.executable, "-m", "parafield.archives.command", *map(str, words)],
                            stderr=subprocess.PIPE, text=True)


def test_options(video, tmp_path, capsys):
    code = main([video, "-o", str(tmp_path / "out"), "-d", "cpu", "--iterations", "1", "--fill",
                 "--fb-check=0.5", "--valid", "--size", "32x24", "--workers", "0", "--dtype", "float32"])
    assert code == 0 and "1 done; 3 flows" in capsys.readouterr().err
    with np.load(tmp_path / "out/v.npz") as data:
        info = json.loads(str(data["info"]))
        assert data["u"].shape == (3, 24, 32)
    assert info["options"] == {"fill": True, "fb_check": 0.5} and "iterations=1" in info["method"]


def test_options_that_are_on_or_off_stand_before_inputs(video, tmp_path):
    assert main(["--sub-pixel", "-m", "winner-takes-all", "--fill", video, "-o", str(tmp_path / "out"), "-q",
                 "-d", "cpu", "--workers", "0"]) == 0


@pytest.mark.parametrize(("words", "message"), [
    (["VIDEO", "--windw", "3"], "windw"),
    (["VIDEO", "--step", "0"], "step: 0"), (["VIDEO", "--size", "3"], "3 is not WIDTHxHEIGHT"),
    (["VIDEO", "--range", "3"], "LOW,HIGH"), (["VIDEO", "-m", "none"], "none"), ([], "INPUT"),
])
def test_wrong_words(video, tmp_path, capsys, words, message):
    words = [video if word == "VIDEO" else word for word in words]
    try:
        code = main([*words, "-o", str(tmp_path / "out")])
    except SystemExit as error:
        code = error.code
    assert code == 2 and message in capsys.readouterr().err


def test_failure_is_exit_code_1(video, tmp_path, capsys):
    assert main(["none.mkv", "-o", str(tmp_path / "out")]) == 1
    assert "inputs: none.mkv: there is no such file" in capsys.readouterr().err
    broken = tmp_path / "broken.mkv"
    broken.write_bytes(b"none")
    code = main([video, str(broken), "-o", str(tmp_path / "out"), "-d", "cpu", "--workers", "0"])
    assert code == 1 and f"failed: {broken}: it cannot be read" in capsys.readouterr().err


def test_arguments_in_a_file(video, tmp_path):
    (tmp_path / "list.txt").write_text(video + "\n")
    words = [f"@{tmp_path}/list.txt", "-o", str(tmp_path / "out"), "-q", "-d", "cpu", "--workers", "0"]
    assert main(words) == 0


def children_of(process):
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as stream:
        return [int(pid) for pid in stream.read().split()]


@pytest.fixture
def many(make, tmp_path):
    frames = make.rendered(10, shape=(120, 160))
    for number in range(12):
        make.encode(tmp_path / f"in/v{number}.mkv", frames)
    return tmp_path / "in"


def wait_for(condition, process=None, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end and (process is None or process.poll() is None)
        time.sleep(0.01)


def finished(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".npz")) if folder.exists() else []


def test_a_killed_process_loses_nothing(many, tmp_path):
    out = tmp_path / "out"
    process = start(many, "-o", out, "-d", "cpu", "--workers", "2", "--preset", "accurate")
    wait_for(lambda: finished(out), process)
    os.kill(children_of(process)[0], signal.SIGKILL)
    _, text = process.communicate(timeout=60)
    assert process.returncode == 0 and "12 done" in text, text
    assert len({(out / name).read_bytes()[200:5000] for name in finished(out)}) == 1


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interruption_keeps_what_is_done(many, tmp_path, number, code):
    out = tmp_path / "out"
    process = start(many, "-o", out, "-d", "cpu", "--workers", "2", "--preset", "accurate")
    wait_for(lambda: finished(out), process)
    workers = children_of(process)
    process.send_signal(number)
    _, text = process.communicate(timeout=10)
    assert process.returncode == code, text
    wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in workers), seconds=5)
    there = finished(out)
    assert 0 < len(there) < 12
    for name in there:
        with np.load(out / name) as data:
            assert len(data["u"]) == 9
    process = start(many, "-o", out, "-d", "cpu", "--workers", "2", "--preset", "accurate")
    _, text = process.communicate(timeout=60)
    assert process.returncode == 0 and f"{len(there)} there before" in text
