# SPDX-License-Identifier: MIT
"""Units of work, and what became of them."""

from dataclasses import dataclass

from .plan import Sequence
from .video import Index


@dataclass(frozen=True)
class Task:
    """A unit of work."""

    sequence: Sequence
    kind: str = "sequence"  # "sequence", "segment" or "join"
    first: int = 0  # first flow of a segment
    flows: int = 0  # flows of a segment; of a join those of the whole sequence
    is_last: bool = True  # whether the sequence ends with this segment
    pieces: tuple[tuple[int, int], ...] = ()  # of a join: first and flows of each segment
    frames: int = 0  # of a join: those of the whole sequence
    index: Index | None = None  # of a segment of a video: how to find its first frame
    range_from: str = ""  # image whose values tell the range of the whole sequence, of a segment
    source_size: int = 0  # see parts.source_size; filled in by the worker for a sequence
    is_whole: bool = False  # the sequence is not cut


@dataclass
class Outcome:
    """What became of a unit of work."""

    kind: str  # "done", "failed", "cut" into tasks, "part" of a sequence, or "whole": do it without cuts
    frames: int = 0
    flows: int = 0
    error: str | None = None
    is_disk_full: bool = False
    tasks: tuple[Task, ...] = ()
    join: Task | None = None  # the task after all those of a cut
    seconds: float = 0
