# SPDX-License-Identifier: MIT
"""Parts of results that are not complete yet, in OUTPUT/.parts, and what belongs to them."""

import contextlib
import hashlib
import os
import shutil
from typing import Any

import parafield as pf

from .plan import Sequence
from .settings import Settings
from .write import Part, format_of, read_json, write_json

FOLDER = ".parts"


def folder_of(name: str, settings: Settings) -> str:
    """Folder of a sequence's parts."""
    short = name.replace("/", "+")[-60:] + "-" + hashlib.sha256(name.encode()).hexdigest()[:12]
    return os.path.join(settings.output, FOLDER, short)


def source_size(sequence: Sequence) -> int:
    """A number that changes when a source does: bytes of a video, number of images."""
    return os.stat(sequence.source).st_size if sequence.is_video else len(sequence.files)


def _marker(folder: str, first: int) -> str:
    return os.path.join(folder, f"{first:08d}.json")


def write_marker(folder: str, part: Part, settings: Settings) -> None:
    """Marks a segment as complete."""
    write_json(_marker(folder, part["first"]), {**part, "identity": settings.identity()})


def read_marker(folder: str, first: int, flows: int, size: int, settings: Settings) -> Part | None:
    """The segment that begins with flow `first`, if it is complete and has the current settings."""
    try:
        part: Part = read_json(_marker(folder, first))
    except (OSError, ValueError):
        return None
    same = part["flows"] == flows and part["source_size"] == size and part["identity"] == settings.identity()
    return part if same else None


def finish(sequence: Sequence, settings: Settings, found: list[Part], frames: int,
           problem: str | None) -> None:
    """Makes the result of a sequence from its parts, and removes them."""
    height, width = found[0]["shape"]
    middle = (settings.frames - 1) // 2
    info: dict[str, Any] = {
        "parafield": pf.__version__, **settings.identity(), "source": sequence.source,
        "source_size": found[0]["source_size"], "frames": frames,
        "frame_rate": found[0]["frame_rate"],
        "flows": sum(part["flows"] for part in found), "height": height, "width": width,
        "first_frame": settings.start + middle * settings.step,
        "complete": problem is None, "error": problem,
    }
    folder = folder_of(sequence.name, settings)
    format_of(settings).finish(sequence.name, folder, found, info)
    remove(sequence.name, settings)


def remove(name: str, settings: Settings) -> None:
    shutil.rmtree(folder_of(name, settings), ignore_errors=True)


def clean(settings: Settings) -> None:
    """Removes the remains of earlier runs, except complete segments."""
    top = os.path.join(settings.output, FOLDER)
    if not os.path.isdir(top):
        return
    for entry in os.scandir(top):
        if not entry.is_dir():
            continue
        names = set(os.listdir(entry.path))
        kept: set[str] = set()
        for name in names:
            try:
                if name.endswith(".json"):
                    kept |= {name, read_json(os.path.join(entry.path, name))["file"]}
            except (OSError, ValueError, KeyError):
                pass  # it is not a marker, and is removed
        if not kept:
            shutil.rmtree(entry.path, ignore_errors=True)
            continue
        for name in names - kept:
            path = os.path.join(entry.path, name)
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
            elif not name.startswith("flow_"):
                os.unlink(path)


def remove_folder(settings: Settings) -> None:
    """Removes the folder of parts if it is empty."""
    with contextlib.suppress(OSError):
        os.rmdir(os.path.join(settings.output, FOLDER))
