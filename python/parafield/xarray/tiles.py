# SPDX-License-Identifier: MIT
"""Flow of Dask arrays: blocks overlap by frames in time, and tiles of images by pixels.

A tile includes `max_motion` + SUPPORT px of its neighbors, which hold its pixels' matches and the pixels
around them. The solved part begins at a multiple of a power of two, so that its pyramid averages the same
pixels as the whole image's. A tile has fewer levels than the image. Therefore it must be several times as
large as the largest motion, and smaller chunks are merged. Flow beyond `max_motion` is invalid."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import dask.array
import numpy as np

from .frames import TYPES, Solver

da: Any = dask.array  # its functions have no types

SUPPORT = 32  # px around a pixel and its match that a tile sees
ALIGNMENTS = (16, 32, 64)  # px, the largest that a tile has 12 of: its pyramid ends there
SIDES = 8  # shortest side of a tile, in largest motions

Chunks = tuple[int, ...]


class Cut(NamedTuple):
    """One axis of a tile: the part of its block that is solved, and the part of the solution that is kept."""

    solved: slice
    kept: slice


def merged(chunks: Chunks, least: int, first: int = 0, last: int = 0) -> Chunks:
    """Merges neighbors until all chunks reach `least`, the first one `first` and the last one `last`."""
    result: list[int] = []
    pending = 0
    for chunk in chunks:
        pending += chunk
        if pending >= (least if result else max(first, least)):
            result.append(pending)
            pending = 0
    if pending:
        result.append(pending + (result.pop() if result else 0))
    while len(result) > 1 and result[-1] < max(last, least):
        result.append(result.pop() + result.pop())
    return tuple(result)


def cuts_of(chunks: Chunks, overlap: int, depth: int, alignment: int) -> list[Cut]:
    """The parts of each chunk of an axis that are solved and kept. Blocks overlap by `depth` px."""
    size, cuts = sum(chunks), []
    for i, end in enumerate(accumulate(chunks)):
        start = end - chunks[i]
        block = start - depth if i else 0
        begin = -(-block // alignment) * alignment
        stop = min(end + overlap, size)
        cuts.append(Cut(slice(begin - block, stop - block), slice(start - begin, end - begin)))
    return cuts


def solve_tile(
    block: np.ndarray,
    solver: Solver,
    rows: list[Cut],
    columns: list[Cut],
    max_motion: int,
    block_info: Any = None,
) -> np.ndarray:
    """The planes of the flow of one block, without its overlap."""
    _, i, j = block_info[0]["chunk-location"]
    row, column = rows[i], columns[j]
    planes = solver(block[:, row.solved, column.solved])[:, :, row.kept, column.kept]
    if len(rows) > 1 or len(columns) > 1:
        u, v, valid = planes[:3]
        valid[~(np.hypot(u, v) <= max_motion)] = 0
    return planes


def solve(stack: Any, solver: Solver, max_motion: int) -> dict[str, Any]:
    """The planes of the flow of a stack, T x H x W, as Dask arrays."""
    overlap = max_motion + SUPPORT
    side = max(SIDES * max_motion, overlap + ALIGNMENTS[-1])
    before, after = solver.before, solver.after
    times = merged(stack.chunks[0], max(before, after, 1), before + 1, after + 1)
    images = tuple(merged(chunks, side) for chunks in stack.chunks[1:])
    stack = stack.rechunk((times, *images))
    narrowest = min(chunks[0] for chunks in images) + overlap  # the first tiles overlap on one side alone
    alignment = max(a for a in ALIGNMENTS if -(-narrowest // a) >= 12 or a == ALIGNMENTS[0])
    depths = [overlap + alignment - 1 if len(chunks) > 1 else 0 for chunks in images]
    blocks = da.overlap.overlap(
        stack, depth={0: (before, after), 1: depths[0], 2: depths[1]}, boundary="none", allow_rechunk=False
    )
    outputs = list(times)
    outputs[0] -= before
    outputs[-1] -= after
    names = solver.planes
    planes = da.map_blocks(
        solve_tile,
        blocks,
        solver=solver,
        rows=cuts_of(images[0], overlap, depths[0], alignment),
        columns=cuts_of(images[1], overlap, depths[1], alignment),
        max_motion=max_motion,
        chunks=((len(names),), tuple(outputs), *images),
        new_axis=0,
        dtype=np.float32,
        meta=np.empty((0, 0, 0, 0), np.float32),
    )
    return {name: planes[i].astype(TYPES.get(name, np.float32), copy=False) for i, name in enumerate(names)}
