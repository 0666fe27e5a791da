# SPDX-License-Identifier: MIT
"""Work on a Dask cluster."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import parafield as pf
from parafield.archives import extract

pytest.importorskip("av")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                                  silence_logs="CRITICAL") as started:
        yield started


def arrays(folder, names):
    found = {}
    for name in names:
        with np.load(folder / f"{name}.npz") as data:
            found[name] = data["u"], data["v"]
    return found


def test_a_worker_killed_in_the_middle_loses_nothing(cluster, make, tmp_path):
    names = [f"v{number:02d}" for number in range(10)]
    for number, name in enumerate(names):
        make.encode(tmp_path / f"in/{name}.mkv", make.rendered(8, seed=number + 1, shape=(90, 120)))
    extract(tmp_path / "in", tmp_path / "alone", device="cpu", workers=0, quiet=True, preset="accurate")

    def kill():
        end = time.monotonic() + 60
        while len(list((tmp_path / "out").glob("*.npz"))) < 2 and time.monotonic() < end:
            time.sleep(0.005)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    report = extract(tmp_path / "in", tmp_path / "out", device="cpu", quiet=True, preset="accurate",
                     scheduler=cluster.scheduler_address, segment=3)
    killer.join()
    assert report.ok and len(report.done) == len(names)
    alone, there = arrays(tmp_path / "alone", names), arrays(tmp_path / "out", names)
    for name in names:
        assert all(map(np.array_equal, alone[name], there[name]))
    assert sorted(os.listdir(tmp_path / "out")) == ["report.json", *(f"{name}.npz" for name in names)]


def test_a_client_of_the_user_stays_open(cluster, make, tmp_path):
    path = make.encode(tmp_path / "v.mkv", make.rendered(3))
    with distributed.Client(cluster) as client:
        assert extract(path, tmp_path / "out", device="cpu", quiet=True, scheduler=client).ok
        assert client.submit(lambda: 5).result() == 5


def test_failures_are_reported(cluster, make, tmp_path):
    path = make.encode(tmp_path / "v.mkv", make.rendered(3))
    (tmp_path / "broken.mkv").write_bytes(b"none")
    report = extract([path, tmp_path / "broken.mkv"], tmp_path / "out", device="cpu", quiet=True,
                     scheduler=cluster.scheduler_address)
    assert len(report.done) == 1 and "cannot be read" in report.failed[0].error


def test_interruption(cluster, make, tmp_path):
    for number in range(12):
        make.encode(tmp_path / f"in/v{number}.mkv", make.rendered(10, shape=(120, 160)))
    process = subprocess.Popen(
        [sys.executable, "-m", "parafield.archives.command", str(tmp_path / "in"),
         "-o", str(tmp_path / "out"), "-d", "cpu", "--preset", "accurate",
         "--scheduler", cluster.scheduler_address])
    while not list((tmp_path / "out").glob("*.npz")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    there = len(list((tmp_path / "out").glob("*.npz")))
    time.sleep(1)
    assert there < 12 and len(list((tmp_path / "out").glob("*.npz"))) <= there + 2


@pytest.mark.parametrize(("scheduler", "words"), [
    ("tcp://127.0.0.1:9", "scheduler: tcp://127.0.0.1:9 cannot be reached within 1 s"),
    ("nonsense://x", "scheduler: nonsense"), (5, "scheduler: 5 is not an address")])
def test_a_scheduler_that_cannot_be_reached(make, tmp_path, monkeypatch, scheduler, words):
    monkeypatch.setattr("parafield.archives.cluster._SECONDS_TO_CONNECT", 1)
    path = make.encode(tmp_path / "v.mkv", make.rendered(3))
    with pytest.raises(pf.Error, match=words):
        extract(path, tmp_path / "out", device="cpu", quiet=True, scheduler=scheduler)
