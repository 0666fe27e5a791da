# SPDX-License-Identifier: MIT
"""What fails, ends early or is there already."""

import errno
import fcntl
import json
import os
import time

import numpy as np
import pytest

import parafield as pf
from parafield.archives import estimate, extract, run, write
from parafield.archives.local import Died, InProcess
from parafield.archives.progress import Progress

av = pytest.importorskip("av")


@pytest.fixture
def videos(make, tmp_path):
    """A folder of three videos of one name each."""
    for number in range(3):
        make.encode(tmp_path / f"in/v{number}.mkv", make.rendered(6, seed=number + 1))
    return tmp_path / "in"


def here(inputs, output, **options):
    return extract(inputs, output, device="cpu", workers=0, quiet=True, **options)


def names(results):
    return sorted(result.name for result in results)


def test_what_is_complete_is_left_alone(videos, tmp_path):
    out = tmp_path / "out"
    here(videos, out)
    times = {path.name: path.stat().st_mtime_ns for path in out.glob("*.npz")}
    (out / "v1.npz").unlink()
    report = here(videos, out)
    assert names(report.done) == ["v1"] and names(report.skipped) == ["v0", "v2"]
    assert times["v0.npz"] == (out / "v0.npz").stat().st_mtime_ns


@pytest.mark.parametrize("form", ["npz", "jpeg", "zarr"])
def test_results_of_other_settings_are_an_error(videos, make, tmp_path, form):
    if form == "zarr":
        pytest.importorskip("zarr")
    out = tmp_path / "out"
    here(videos, out, format=form)
    with pytest.raises(pf.Error, match="overwrite: .*--overwrite.*step 1, now 2"):
        here(videos, out, format=form, step=2)
    assert names(here(videos, out, format=form).skipped) == ["v0", "v1", "v2"]
    assert names(here(videos, out, format=form, step=2, overwrite=True).done) == ["v0", "v1", "v2"]
    assert here(videos, out, format=form, step=2, overwrite=True).skipped
    make.encode(videos / "v0.mkv", make.rendered(9))
    with pytest.raises(pf.Error, match="size of the source"):
        here(videos, out, format=form, step=2)


def test_foreign_files_and_folders(videos, tmp_path):
    (tmp_path / "out/v1").mkdir(parents=True)
    (tmp_path / "out/v1/precious.txt").write_text("")
    for overwrite in (False, True):
        with pytest.raises(pf.Error, match="v1, but it is a folder|folder that no extraction"):
            here(videos, tmp_path / "out", format="jpeg", overwrite=overwrite)
    (tmp_path / "out/v0.npz").write_text("other")
    with pytest.raises(pf.Error, match="does not say how it was made"):
        here(videos, tmp_path / "out")
    assert here(videos, tmp_path / "out", overwrite=True).ok


@pytest.mark.parametrize("form", ["npz", "jpeg"])
def test_a_broken_video_keeps_its_first_flows_and_stops_no_other(videos, make, tmp_path, form):
    path = make.encode(videos / "w.mp4", make.rendered(20), "libx264", "yuv420p", g="4")
    whole = open(path, "rb").read()
    open(path, "wb").write(whole[:len(whole) * 3 // 4])
    (videos / "x.mp4").write_bytes(b"nothing")
    make.encode(videos / "y.mkv", make.rendered(1))
    out = tmp_path / "out"
    report = here(videos, out, format=form, segment=2)
    assert names(report.done) == ["v0", "v1", "v2"] and not report.ok
    w, x, y = sorted(report.failed, key=lambda result: result.name)
    assert 2 < w.frames < 20 and w.flows == w.frames - 1 and ("frame" in w.error)
    assert "cannot be read" in x.error and "there are 1 frames; a flow takes 2" in y.error
    saved = json.loads((out / "report.json").read_text())
    errors = [entry["error"] for entry in saved["results"] if entry["status"] == "failed"]
    assert errors == [w.error, x.error, y.error]
    if form == "npz":
        with np.load(out / "w.npz") as data:
            assert len(data["u"]) == w.flows and not json.loads(str(data["info"]))["complete"]
    assert not (out / "x.npz").exists()
    open(path, "wb").write(whole)
    with pytest.raises(pf.Error, match="size of the source"):
        here(videos, out, format=form)
    assert names(here(videos, out, format=form, overwrite=True).done) == ["w"]


def test_frames_of_several_sizes(make, tmp_path):
    (tmp_path / "in").mkdir()
    for number, shape in enumerate([(48, 64)] * 3 + [(40, 64)]):
        pf.write_frame(str(tmp_path / f"in/{number}.png"), make.rendered(1, shape=shape)[0])
    report = here(tmp_path / "in", tmp_path / "out")
    assert report.failed[0].frames == 3 and "frame 3 has 64x40 px, uint8, those before have 64x48" in \
        report.failed[0].error


def test_a_full_disk_stops_the_work_and_keeps_what_is_done(videos, tmp_path, monkeypatch):
    add, calls = write.RawPart.add, []

    def full(self, number, flow):
        calls.append(number)
        if len(calls) > 7:  # in the second video
            raise OSError(errno.ENOSPC, "No space left on device")
        add(self, number, flow)

    monkeypatch.setattr(write.RawPart, "add", full)
    report = here(videos, tmp_path / "out")
    assert (len(report.done), len(report.failed), len(report.not_begun)) == (1, 1, 1)
    assert "No space left" in report.failed[0].error and report.problem == "the disk is full"
    assert not (tmp_path / "out/.parts").exists()
    monkeypatch.undo()
    again = here(videos, tmp_path / "out")
    assert len(again.skipped) == 1 and len(again.done) == 2


def test_a_report_that_cannot_be_written_is_a_note(videos, tmp_path):
    with pytest.raises(pf.Error, match="report: the folder of .* does not exist"):
        here(videos, tmp_path / "out", report=tmp_path / "none/report.json")
    (tmp_path / "out/report.json").mkdir(parents=True)
    report = here(videos, tmp_path / "out")
    assert report.ok and "no report: " in report.problem and "directory" in report.summary()


def test_finished_segments_are_not_done_again(make, tmp_path, monkeypatch):
    path = make.encode(tmp_path / "v.mkv", make.rendered(9))
    here(path, tmp_path / "whole")
    add, calls = write.RawPart.add, []

    def stop(self, number, flow):
        calls.append(number)
        if number == 5 and len(calls) == 6:
            raise KeyboardInterrupt
        add(self, number, flow)

    monkeypatch.setattr(write.RawPart, "add", stop)
    with pytest.raises(KeyboardInterrupt):
        here(path, tmp_path / "out", segment=2)
    saved = json.loads((tmp_path / "out/report.json").read_text())
    assert saved["interrupted"] and saved["counts"]["not begun"] == 1
    calls.clear()
    assert here(path, tmp_path / "out", segment=2).ok
    assert calls == [4, 5, 6, 7]
    assert (tmp_path / "out/v.npz").read_bytes() == (tmp_path / "whole/v.npz").read_bytes()
    assert sorted(os.listdir(tmp_path / "out")) == ["report.json", "v.npz"]


def test_a_lost_process_is_given_a_second_chance(videos, tmp_path, monkeypatch):
    class Unlucky(InProcess):
        """Loses v0 once and v1 always."""

        lost = []

        def wait(self, seconds):
            name = self._tasks[0].sequence.name
            if name == "v1" or name == "v0" and name not in self.lost:
                self.lost.append(name)
                return [(self._tasks.pop(), Died("its process was ended by signal 9"))]
            return super().wait(seconds)

    monkeypatch.setattr("parafield.archives.extraction.InProcess", Unlucky)
    report = here(videos, tmp_path / "out")
    assert names(report.done) == ["v0", "v2"] and Unlucky.lost.count("v1") == 2
    assert report.failed[0].error == "its process was ended by signal 9, 2 times"


def test_segments_that_do_not_fit_are_done_again_in_one_piece(make, tmp_path, monkeypatch):
    path = make.encode(tmp_path / "v.mkv", make.rendered(9))
    here(path, tmp_path / "whole")
    checksum, calls = estimate._checksum, []

    def other(array):
        calls.append(1)
        return checksum(array) + len(calls) if len(calls) < 5 else checksum(array)

    monkeypatch.setattr(estimate, "_checksum", other)
    assert here(path, tmp_path / "out", segment=2).ok
    assert (tmp_path / "out/v.npz").read_bytes() == (tmp_path / "whole/v.npz").read_bytes()
    assert sorted(os.listdir(tmp_path / "out")) == ["report.json", "v.npz"]


def test_two_extractions_do_not_share_an_output(videos, tmp_path):
    (tmp_path / "out").mkdir()
    folder = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    with pytest.raises(pf.Error, match="another extraction writes to"):
        here(videos, tmp_path / "out")
    os.close(folder)
    assert here(videos, tmp_path / "out").ok


class Terminal:
    def __init__(self, is_terminal):
        self.isatty, self.text = lambda: is_terminal, ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.mark.parametrize("is_terminal", [False, True])
def test_progress(is_terminal):
    stream = Terminal(is_terminal)
    progress = Progress(4, 100, stream=stream)
    progress.update()
    assert stream.text == ""  # too early
    progress.done, progress.flows, progress.weight = 1, 50, 25
    time.sleep(0.01)
    progress.update(force=True)
    assert "1 of 4, 25 %, 50 flows" in stream.text and " left" in stream.text
    assert stream.text.startswith("\r") == is_terminal == (not stream.text.endswith("\n"))
    assert run.Report().summary() == "nothing to do; 0 flows in 0.0 s"
