# SPDX-License-Identifier: MIT
"""Units of work and their outcomes."""

from dataclasses import dataclass

from .plan import Sequence
from .video import Index


@dataclass(frozen=True)
class Task:
    """A unit of work."""

    sequence: Sequence
    kind: str = "sequence"  # "sequence", "segment" or "join"
    first: int = 0  # first flow of a segment
    flows: int = 0  # number of flows of a segment or, for a join, of the whole sequence
    is_last: bool = True  # whether the sequence ends with this segment
    pieces: tuple[tuple[int, int], ...] = ()  # for a join: first flow and number of flows of each segment
    frames: int = 0  # for a join: number of frames of the whole sequence
    index: Index | None = None  # for a segment of a video: how to find its first frame
    range_from: str = ""  # for a segment: image whose values determine the range of the whole sequence
    source_size: int = 0  # see parts.source_size; filled in by the worker for a sequence
    is_whole: bool = False  # the sequence is not cut


@dataclass
class Outcome:
    """Outcome of a unit of work."""

    kind: str  # "done", "failed", "cut" into tasks, "part" of a sequence, or "whole": to be done without cuts
    frames: int = 0
    flows: int = 0
    error: str | None = None
    is_disk_full: bool = False
    tasks: tuple[Task, ...] = ()
    join: Task | None = None  # after a cut: the task that follows all others
    seconds: float = 0
