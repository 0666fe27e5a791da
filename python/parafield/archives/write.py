# SPDX-License-Identifier: MIT
"""Formats of results, one class each.

The flow of a sequence is first written as parts, into a folder under OUTPUT/.parts. When the sequence is
complete, the result is made from its parts there and then renamed. Therefore no result is ever half written.
"""

import contextlib
import json
import os
import shutil
import uuid
import zipfile
from typing import IO, Any

import numpy as np

import parafield as pf

from .errors import argument_error, needed
from .settings import Settings

Part = dict[str, Any]  # describes a part: see estimate_part. Values are of JSON's types

MANIFEST = "flow.json"  # in a folder of JPEG pairs
_FLOWS_AT_ONCE = 32


def format_of(settings: Settings) -> "Npz | Jpeg | Zarr":
    """The format that the settings name."""
    formats: dict[str, type[Npz] | type[Jpeg] | type[Zarr]] = {"npz": Npz, "jpeg": Jpeg, "zarr": Zarr}
    return formats[settings.format](settings)


class RawPart:
    """Flow in a file of records, for the formats that are written at the end."""

    any_order = False

    def __init__(self, folder: str, settings: Settings) -> None:
        self.file = f"{_token()}.flows"
        self._path = os.path.join(folder, self.file)
        self._stream = open(self._path, "wb")
        self._dtype, self._valid = settings.dtype, settings.valid

    def add(self, number: int, flow: Any) -> None:
        del number
        for plane in (flow.u, flow.v):
            self._stream.write(np.ascontiguousarray(plane, self._dtype).data)
        if self._valid:
            self._stream.write(np.ascontiguousarray(flow.valid, bool).data)

    def close(self) -> None:
        self._stream.close()

    def discard(self) -> None:
        """Removes what has been written."""
        try:
            self._stream.close()
        except OSError:
            pass  # the disk is full, and the buffer's rest is lost
        os.unlink(self._path)


class JpegPart:
    """Pairs of JPEG files."""

    any_order = True
    file = None

    def __init__(self, folder: str, settings: Settings) -> None:
        self._folder, self._bound = folder, settings.bound
        self._written: list[str] = []

    def add(self, number: int, flow: Any) -> None:
        for axis, plane in (("x", flow.u), ("y", flow.v)):
            path = os.path.join(self._folder, f"flow_{axis}_{number + 1:05d}.jpg")
            pf.write_frame(path, bounded(plane, self._bound))
            self._written.append(path)

    def close(self) -> None:
        pass

    def discard(self) -> None:
        for path in self._written:
            os.unlink(path)


def bounded(plane: Any, bound: float) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    """Maps motion of -bound to bound px to 0 to 255. Larger motion gets 0 or 255."""
    clipped = np.clip(np.asarray(plane, np.float64), -bound, bound)
    return np.rint((clipped + bound) * (255 / (2 * bound))).astype(np.uint8)


class _Format:
    part: type[RawPart] | type[JpegPart] = RawPart
    suffix = ""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def path(self, name: str) -> str:
        """Where the result of a sequence is."""
        return os.path.join(self._settings.output, *name.split("/")) + self.suffix

    def read_info(self, name: str) -> dict[str, Any] | None:
        """How the result of a sequence was made: None if there is no result, {} if it does not say so."""
        path = self.path(name)
        if not os.path.lexists(path):
            return None
        try:
            return dict(self._info(path))
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
            return {}

    def _info(self, path: str) -> Any:
        raise NotImplementedError

    def prepare(self, names: list[str]) -> None:
        """Makes the folders of the results."""
        for folder in sorted({os.path.dirname(self.path(name)) for name in names}):
            os.makedirs(folder, exist_ok=True)

    def _records(self, folder: str, parts: list[Part]) -> list[Any]:
        """The records of each part: u, v and, if asked for, valid."""
        height, width = parts[0]["shape"]
        plane = (self._settings.dtype, (height, width))
        fields: list[Any] = [("u", *plane), ("v", *plane)]
        if self._settings.valid:
            fields.append(("valid", bool, (height, width)))
        return [np.memmap(os.path.join(folder, part["file"]), np.dtype(fields), "r") for part in parts]


class Npz(_Format):
    """A .npz file a sequence: u and v, flows x height x width, valid if asked for, and info, a JSON text."""

    suffix = ".npz"

    def _info(self, path: str) -> Any:
        with np.load(path) as data:
            return json.loads(str(data["info"]))

    def finish(self, name: str, folder: str, parts: list[Part], info: dict[str, Any]) -> None:
        records = self._records(folder, parts)
        path = os.path.join(folder, _token() + ".npz")
        with open(path, "wb") as stream:
            with zipfile.ZipFile(stream, "w") as archive:
                for plane in records[0].dtype.names:
                    self._write_planes(archive, plane, records)
                with _member(archive, "info") as member:
                    np.lib.format.write_array(member, np.array(json.dumps(info)), allow_pickle=False)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(path, self.path(name))

    @staticmethod
    def _write_planes(archive: zipfile.ZipFile, plane: str, records: list[Any]) -> None:
        kind = records[0].dtype[plane]
        header = {"descr": np.lib.format.dtype_to_descr(kind.base), "fortran_order": False,
                  "shape": (sum(map(len, records)), *kind.shape)}
        with _member(archive, plane) as member:
            np.lib.format.write_array_header_1_0(member, header)
            for record in records:
                for first in range(0, len(record), _FLOWS_AT_ONCE):
                    member.write(np.ascontiguousarray(record[plane][first:first + _FLOWS_AT_ONCE]).data)


class Jpeg(_Format):
    """A folder a sequence, as action recognition uses them: flow_x_00001.jpg, flow_y_00001.jpg, ..."""

    part = JpegPart

    def _info(self, path: str) -> Any:
        return read_json(os.path.join(path, MANIFEST))

    def finish(self, name: str, folder: str, parts: list[Part], info: dict[str, Any]) -> None:
        result = os.path.join(folder, "result-" + _token())
        os.mkdir(result)
        for number in range(1, info["flows"] + 1):
            for axis in "xy":
                file = f"flow_{axis}_{number:05d}.jpg"
                os.rename(os.path.join(folder, file), os.path.join(result, file))
        write_json(os.path.join(result, MANIFEST), info)
        _replace_folder(result, self.path(name))


class Zarr(_Format):
    """A group a sequence in one Zarr store: arrays u, v and, if asked for, valid; the attribute info."""

    def prepare(self, names: list[str]) -> None:
        zarr = needed("zarr", "the format zarr")
        root = zarr.open_group(self._settings.output, mode="a")
        for group in sorted({name.rpartition("/")[0] for name in names} - {""}):
            root.require_group(group)

    def _info(self, path: str) -> Any:
        return needed("zarr", "the format zarr").open_group(path, mode="r").attrs["info"]

    def finish(self, name: str, folder: str, parts: list[Part], info: dict[str, Any]) -> None:
        zarr = needed("zarr", "the format zarr")
        records = self._records(folder, parts)
        result = os.path.join(folder, "result-" + _token())
        group = zarr.open_group(result, mode="w")
        count = sum(map(len, records))
        for plane in records[0].dtype.names:
            kind = records[0].dtype[plane]
            chunk = min(count, max(1, (4 << 20) // kind.itemsize))
            array = zarr.open_array(store=os.path.join(result, plane), mode="w", shape=(count, *kind.shape),
                                    chunks=(chunk, *kind.shape), dtype=kind.base)
            _copy(records, plane, array, chunk)
        group.attrs["info"] = info
        _replace_folder(result, self.path(name))


def _copy(records: list[Any], plane: str, array: Any, chunk: int) -> None:
    """Writes records to an array chunk by chunk; a chunk may hold records of several parts."""
    waiting: list[Any] = []
    first = 0
    for record in records:
        begin = 0
        while begin < len(record):
            end = min(len(record), begin + chunk - sum(map(len, waiting)))
            waiting.append(record[plane][begin:end])
            begin = end
            if sum(map(len, waiting)) == chunk:
                array[first:first + chunk] = np.concatenate(waiting)
                waiting, first = [], first + chunk
    if waiting:
        array[first:] = np.concatenate(waiting)


def check_replaceable(settings: Settings, name: str, path: str) -> None:
    """Raises an error if a result would replace a folder that no extraction wrote."""
    if settings.format != "npz" and os.path.isdir(path):
        raise argument_error(f"output: {path} would be the result of {name}, but it is a folder that no "
                             "extraction of this format wrote; remove it, or use another output", "file")


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    return archive.open(zipfile.ZipInfo(name + ".npy"), "w", force_zip64=True)


def read_json(path: str) -> Any:
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def write_json(path: str, values: dict[str, Any]) -> None:
    """Writes a file next to its place and renames it, so that it is never half written."""
    new = f"{path}.{os.getpid()}.new"
    try:
        with open(new, "w", encoding="utf-8") as stream:
            json.dump(values, stream, indent=1)
        os.replace(new, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(new)
        raise


def _replace_folder(new: str, place: str) -> None:
    """Renames a folder to its place, and removes the folder that was there."""
    if os.path.isdir(place):
        old = new + "-old"
        os.rename(place, old)
        os.rename(new, place)
        shutil.rmtree(old)
    else:
        os.rename(new, place)


def _token() -> str:
    """A name that no other process uses."""
    return uuid.uuid4().hex[:12]
