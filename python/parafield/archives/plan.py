# SPDX-License-Identifier: MIT
"""Finds the videos and image sequences that the inputs name."""

import glob
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from .errors import argument_error

VIDEO_EXTENSIONS = frozenset(
    ".3gp .asf .avi .divx .flv .gif .m2ts .m4v .mkv .mov .mp4 .mpeg .mpg .mts .mxf .ogv .ts .vob .webm .wmv "
    ".y4m".split())
IMAGE_EXTENSIONS = frozenset(".png .jpg .jpeg .tif .tiff .pgm .ppm .pnm .pfm .npy".split())
PRINTF = re.compile(r"%0?(\d*)d")


@dataclass(frozen=True)
class Sequence:
    """A video file, or images in order."""

    name: str  # name of its output without extension; folders are separated by /
    source: str  # path of the video, or folder or pattern of the images
    files: tuple[str, ...] = ()  # the images; empty for a video
    first: int = 0  # number of the first of `files` in the whole sequence
    weight: int = 0  # approximate amount of work, in bytes

    @property
    def is_video(self) -> bool:
        return not self.files


def find_sequences(inputs: list[str]) -> list[Sequence]:
    """The sequences of the inputs, those with most work first. Raises an error if an input names none."""
    if not inputs:
        raise argument_error("inputs: there are none; give videos, folders, patterns or globs")
    found: list[Sequence] = []
    images: dict[str, list[str]] = {}
    for item in inputs:
        _add(item, found, images)
    for folder, files in images.items():
        found.append(_images(_folder_name(folder), folder, files))
    _check_names(found)
    return sorted(found, key=lambda sequence: (-sequence.weight, sequence.name))


def folders_of(inputs: list[str]) -> list[str]:
    """The inputs that are folders, as absolute paths."""
    return [os.path.realpath(item) for item in inputs if os.path.isdir(item)]


def _add(item: str, found: list[Sequence], images: dict[str, list[str]]) -> None:
    base, is_glob = "", False
    if os.path.exists(item):
        paths = [item]
    elif glob.has_magic(item):
        paths = sorted(glob.glob(PRINTF.sub("*", item), recursive=True))
        base, is_glob = _fixed_part(item), True
    elif PRINTF.search(os.path.basename(item)):
        paths = [item]
    else:
        raise argument_error(f"inputs: {item}: there is no such file or folder", "file")
    if PRINTF.search(os.path.basename(item)) and not os.path.exists(item):
        _add_patterns(item, paths if is_glob else None, base, found)
        return
    before = len(found), sum(map(len, images.values()))
    for path in paths:
        if os.path.isdir(path):
            prefix = _name(path, base) if is_glob else ""
            _add_folder(path, prefix, found)
        elif _extension(path) in IMAGE_EXTENSIONS:
            images.setdefault(os.path.dirname(os.path.abspath(path)), []).append(os.path.basename(path))
        elif not is_glob or _extension(path) in VIDEO_EXTENSIONS:
            name = os.path.splitext(_name(path, base) if is_glob else os.path.basename(path))[0]
            found.append(_video(name, path))
    if before == (len(found), sum(map(len, images.values()))):
        what = "it matches no video or image" if is_glob else "the folder has no videos and no images"
        raise argument_error(f"inputs: {item}: {what}", "file")


def _add_folder(top: str, prefix: str, found: list[Sequence]) -> None:
    """Adds the videos or images of a folder and of all folders below it."""
    seen: set[str] = set()
    for folder, folders, files in os.walk(top, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files = [name for name in files if not name.startswith(".")]
        below = os.path.relpath(folder, top)
        parts = [part for part in (prefix, "" if below == "." else below) if part]
        videos = sorted(name for name in files if _extension(name) in VIDEO_EXTENSIONS)
        for name in videos:
            found.append(_video("/".join([*parts, os.path.splitext(name)[0]]), os.path.join(folder, name)))
        pictures = [name for name in files if _extension(name) in IMAGE_EXTENSIONS]
        if pictures and not videos:
            found.append(_images("/".join(parts) or _folder_name(folder), folder, pictures))


def _add_patterns(pattern: str, matches: list[str] | None, base: str, found: list[Sequence]) -> None:
    """Adds the sequences of a pattern such as frame%04d.png; folders before it may be a glob."""
    folder, name = os.path.split(pattern)
    before, digits, after = _pattern_parts(name)
    rule = re.compile(f"{re.escape(before)}({digits}){re.escape(after)}")
    folders = [folder] if matches is None else sorted({os.path.dirname(path) for path in matches})
    count = len(found)
    for place in folders:
        if not os.path.isdir(place or "."):
            continue
        numbered: dict[int, str] = {}
        for file in os.listdir(place or "."):
            if match := rule.fullmatch(file):
                numbered[int(match[1])] = file
        if not numbered:
            continue
        numbers = sorted(numbered)
        for number, following in zip(numbers, numbers[1:]):
            if following != number + 1:
                raise argument_error(f"inputs: {os.path.join(place, name)}: number {number + 1} is missing "
                                     f"between {numbers[0]} and {numbers[-1]}", "file")
        name_of = (_name(place, base) if matches is not None else "") or _folder_name(place)
        found.append(_images(name_of, place, [numbered[number] for number in numbers]))
    if len(found) == count:
        raise argument_error(f"inputs: {pattern}: there is no file of this pattern", "file")


def _pattern_parts(name: str) -> tuple[str, str, str]:
    match = PRINTF.search(name)
    if match is None or name.count("%") != 1:
        raise argument_error(f"inputs: {name}: a pattern has one number, such as %05d")
    width = int(match[1] or 0)
    digits = rf"\d{{{width}}}|[1-9]\d{{{width},}}" if width and match[0][1] == "0" else r"0|[1-9]\d*"
    return name[:match.start()], digits, name[match.end():]


def _check_names(found: list[Sequence]) -> None:
    by_name: dict[str, Sequence] = {}
    for sequence in found:
        other = by_name.setdefault(sequence.name, sequence)
        if other is sequence:
            continue
        if other.source == sequence.source:
            raise argument_error(f"inputs: {sequence.source} is named twice")
        raise argument_error(f"inputs: {other.source} and {sequence.source} would both be written as "
                             f"{sequence.name}; give the folder that holds both, so that outputs keep the "
                             "folders' names, or use two outputs")


def check_nesting(sequences: list[Sequence]) -> None:
    """Raises an error if the output of one sequence would lie inside the output of another."""
    by_name = {sequence.name: sequence for sequence in sequences}
    for name in by_name:
        for parent in _parents(name):
            if parent in by_name:
                raise argument_error(f"inputs: the output {name} of {by_name[name].source} would lie inside "
                                     f"{parent}, that of {by_name[parent].source}; use two outputs")


def _parents(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _video(name: str, path: str) -> Sequence:
    try:
        weight = os.stat(path).st_size
    except OSError:
        weight = 0
    return Sequence(name.replace(os.sep, "/"), os.path.abspath(path), weight=weight)


def _images(name: str, folder: str, files: Iterable[str]) -> Sequence:
    paths = tuple(os.path.join(os.path.abspath(folder), file) for file in sorted(set(files), key=_natural))
    try:
        weight = os.stat(paths[0]).st_size * len(paths)
    except OSError:
        weight = 0
    return Sequence(name.replace(os.sep, "/"), os.path.abspath(folder), paths, weight=weight)


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorting key that puts frame2 before frame10."""
    return [(int(part), part) if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name) if part]


def _extension(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _folder_name(folder: str) -> str:
    return os.path.basename(os.path.abspath(folder or ".")) or "frames"


def _fixed_part(pattern: str) -> str:
    """Folders of a glob before the first one with a wildcard."""
    parts = pattern.split("/")
    fixed = []
    for part in parts[:-1]:
        if glob.has_magic(part):
            break
        fixed.append(part)
    return "/".join(fixed) or ("/" if pattern.startswith("/") else ".")


def _name(path: str, base: str) -> str:
    name = os.path.relpath(path, base or ".")
    return "" if name == "." else name
