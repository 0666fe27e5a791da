# SPDX-License-Identifier: MIT
"""The call that does it all."""

import dataclasses
import errno
import fcntl
import math
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import parafield as pf

from . import parts
from .errors import Broken, argument_error, describe
from .local import InProcess, LocalProcesses
from .plan import Sequence, check_nesting, find_sequences, folders_of
from .read import open_source
from .report import Report
from .run import Run, Runner
from .settings import Settings, make_settings
from .work import differences, is_current
from .write import check_replaceable, format_of

Path = str | os.PathLike[str]

_CONFLICTS_NAMED = 3


def extract(
    inputs: Path | Iterable[Path],
    output: Path,
    *,
    format: str | None = None,
    method: Any = "adaptive-ridge",
    preset: str | None = None,
    device: str | None = None,
    dtype: str = "float16",
    bound: float = 20,
    valid: bool = False,
    step: int = 1,
    stride: int = 1,
    start: int = 0,
    stop: int | None = None,
    short_side: int | None = None,
    shape: tuple[int, int] | None = None,
    color: str | None = None,
    range: tuple[float, float] | None = None,
    workers: int | None = None,
    threads: int | None = None,
    scheduler: Any = None,
    segment: int = 1000,
    overwrite: bool = False,
    report: Path | None = None,
    quiet: bool = False,
    **parameters: bool | int | float | str,
) -> Report:
    """Estimates the flow of many videos and image folders, and writes it to files.

    Sequences that have a complete result are skipped. Therefore the same call continues a run that ended
    early. A sequence that fails does not stop the others.

    Parameters
    ----------
    inputs : path or list of paths
        Videos, folders of images, patterns (frames/%05d.png) and globs ("videos/**/*.mp4"). A folder without
        images means all videos and image folders in it and below. Results have the names of the videos and
        image folders, and keep the folders below the given one.
    output : path
        Folder of the results, or the Zarr store.
    format : "npz", "jpeg" or "zarr"
        npz: one file per sequence with the arrays u and v (flows x height x width) and the text `info`.
        jpeg: one folder per sequence with flow_x_00001.jpg, flow_y_00001.jpg, ... in 8 bits, and flow.json.
        zarr: one store with a group per sequence, with the arrays u and v and the attribute info.
        By default zarr if the output's name ends in .zarr, otherwise npz.
    method, preset, device, **parameters
        As in estimate_flow. A method that starts from its last flow gets the sequence in one piece.
    dtype : "float16" or "float32"
        Type of u and v in npz and zarr. float16 keeps three digits: 0.004 px at 8 px.
    bound : float
        For jpeg: -bound to bound px are mapped to 0 to 255.
    valid : bool
        Also write where the flow is valid (npz and zarr).
    step : int
        Distance between the two frames of a pair.
    stride : int
        Distance between the first frames of consecutive pairs.
    start, stop : int
        First frame to use, and first frame not to use, counted from 0.
    short_side : int
        Largest shorter side of the frames, px. Larger frames are shrunk (bicubic) before the estimation.
    shape : (height, width)
        Size that all frames are resized to before the estimation.
    color : "gray" or "rgb"
        Videos are decoded to their luma or to RGB. By default gray for the methods that use only luma
        (adaptive-ridge, lucas-kanade, gradient-tensor, ridge-regression), otherwise rgb.
    range : (black, white)
        Values of black and white in frames of uint16 and float32. By default the first frame decides them,
        or, for videos in color, their format.
    workers : int
        Processes on this machine; 0 means this process. By default one per GPU or, without GPUs, per core.
    threads : int
        CPU threads of each process. By default the cores are divided among the processes.
    scheduler : address or distributed.Client
        A Dask cluster that does the work instead. Its workers must see inputs and output at the same paths.
    segment : int
        Longer sequences are cut into segments of this many flows, so that several processes can work on one.
        The results have the same bits.
    overwrite : bool
        Replace results that were made with other settings. Without it they are an error.
    report : path
        JSON file of the report. By default report.json in the output; for zarr next to the output.
    quiet : bool
        Do not print progress.

    Returns a Report. Raises Error for wrong arguments before any work begins.
    """
    folder = os.path.abspath(os.fspath(output))
    if format is None:
        format = "zarr" if folder.endswith(".zarr") else "npz"
    given = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    names = [os.fspath(item) for item in given]
    for name, value in (("workers", workers), ("threads", threads)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise argument_error(f"{name}: {value!r} is not a whole number of at least 0")
    if workers is not None and scheduler is not None:
        raise argument_error("workers: it is given together with scheduler, which has its own workers")
    settings = make_settings(method, preset, parameters, output=folder, format=format, device=device,
                             dtype=dtype, bound=bound, valid=bool(valid), step=step, stride=stride,
                             start=start, stop=stop, short_side=short_side, shape=shape, color=color,
                             range=range, segment=segment)
    report_path = _report_path(report, settings)
    if report is not None and not os.path.isdir(os.path.dirname(report_path)):
        raise argument_error(f"report: the folder of {report_path} does not exist", "file")
    sequences = find_sequences(names)
    _check_output(folder, names, sequences, settings)
    run = Run(sequences, settings, quiet)
    with _only_one(folder):
        done = _find_done(sequences, settings, overwrite)
        run.skip(done)
        left = [sequence for sequence in sequences if sequence.name not in done]
        try:
            if left:
                format_of(settings).prepare([sequence.name for sequence in left])
                parts.clean(settings)
                runner = _runner(settings, left, workers, threads, scheduler)
                try:
                    run.work(runner)
                finally:
                    runner.close()
        finally:
            parts.remove_folder(settings)
            try:
                run.report.save(report_path, settings)
            except OSError as error:  # a full disk has no room for the report either
                run.report.problem = f"{run.report.problem or 'all is done'}; no report: {describe(error)}"
    if not quiet:
        print(run.report.summary(), file=sys.stderr)
    return run.report


def _check_output(output: str, inputs: list[str], sequences: list[Sequence], settings: Settings) -> None:
    if os.path.lexists(output) and not os.path.isdir(output):
        raise argument_error(f"output: {output} is a file; give a folder", "file")
    real = os.path.realpath(output)
    for folder in folders_of(inputs):
        if (real + os.sep).startswith(folder.rstrip(os.sep) + os.sep):
            raise argument_error(f"output: {output} is inside the input {folder}; the next run would take "
                                 "results for inputs")
    for sequence in sequences:
        if not sequence.is_video and (os.path.realpath(sequence.source) + os.sep).startswith(real + os.sep):
            raise argument_error(f"output: the input {sequence.source} lies in the output {output}")
    if settings.format != "npz":
        check_nesting(sequences)
    try:
        os.makedirs(output, exist_ok=True)
    except OSError as error:
        raise argument_error(f"output: cannot make {output}: {error.strerror}", "file") from error
    if not os.access(output, os.W_OK | os.X_OK):
        raise argument_error(f"output: {output} cannot be written to", "file")


def _find_done(sequences: list[Sequence], settings: Settings, overwrite: bool) -> dict[str, dict[str, Any]]:
    """Infos of complete results by name. Raises an error if there are results of other settings."""
    form = format_of(settings)
    done: dict[str, dict[str, Any]] = {}
    conflicts: list[str] = []
    for sequence in sequences:
        info = form.read_info(sequence.name)
        if info is None:
            continue
        path = form.path(sequence.name)
        if not info:
            check_replaceable(settings, sequence.name, path)
            conflicts.append(f"{path} does not say how it was made")
            continue
        try:
            size = parts.source_size(sequence)
        except OSError:
            continue  # the worker names it
        if is_current(info, size, settings):
            done[sequence.name] = info
        elif found := differences(info, size, settings):
            conflicts.append(f"{path} has {', '.join(found)}")
    if conflicts and not overwrite:
        more = len(conflicts) - _CONFLICTS_NAMED
        named = "; ".join(conflicts[:_CONFLICTS_NAMED]) + (f"; and {more} more" if more > 0 else "")
        raise argument_error("overwrite: results of other settings are there; overwrite=True (--overwrite) "
                             f"replaces them, another output keeps them: {named}", "file")
    return done


def _runner(settings: Settings, sequences: list[Sequence], workers: int | None, threads: int | None,
            scheduler: Any) -> Runner:
    """Chooses who does the work."""
    if scheduler is not None:
        from .cluster import DaskCluster
        return DaskCluster(dataclasses.replace(settings, threads=threads or 1), scheduler)
    cores = len(os.sched_getaffinity(0))
    gpus = _gpus(settings.device)
    if workers is None:
        workers = len(gpus) or min(cores, _units(sequences, settings, cores))
    settings = dataclasses.replace(settings, threads=threads or max(1, cores // max(1, workers)),
                                   device="cuda" if gpus else settings.device,
                                   throughput=workers > len(gpus) > 0)
    if workers == 0:
        return InProcess(settings)
    return LocalProcesses(settings, workers, gpus)


def _gpus(device: str | None) -> list[str]:
    """Values of CUDA_VISIBLE_DEVICES, one per usable GPU, if `device` leaves the choice of the GPU open."""
    if device not in (None, "auto", "cuda"):
        return []
    count = sum(info.device.startswith("cuda") for info in pf.devices())
    visible = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return visible[:count] if visible else [str(index) for index in range(count)]


def _units(sequences: list[Sequence], settings: Settings, most: int) -> int:
    """Number of units of work, at most `most`."""
    if len(sequences) >= most:
        return most
    units = 0
    for sequence in sequences:
        flows = 0
        try:
            source = open_source(sequence, settings)
            flows = settings.flows_of(source.expected_frames())
            source.close()
        except (Broken, OSError):
            pass  # the worker names it
        units += max(1, math.ceil(flows / settings.segment) if settings.is_cuttable else 1)
    return min(units, most)


@contextmanager
def _only_one(output: str) -> Iterator[None]:
    """Locks the output, so that no second extraction writes to it."""
    folder = os.open(output, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise argument_error(f"output: another extraction writes to {output} now", "file") from None
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.EBADF, errno.EINVAL):
                raise
        yield
    finally:
        os.close(folder)


def _report_path(report: Path | None, settings: Settings) -> str:
    if report is not None:
        return os.path.abspath(os.fspath(report))
    if settings.format == "zarr":
        return os.path.splitext(settings.output)[0] + ".report.json"
    return os.path.join(settings.output, "report.json")
