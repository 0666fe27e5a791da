# SPDX-License-Identifier: MIT
"""Outcome of an extraction."""

from dataclasses import asdict, dataclass, field

import parafield as pf

from .settings import Settings
from .write import write_json


@dataclass
class Result:
    """Outcome of one sequence."""

    name: str
    source: str
    output: str
    status: str = "not begun"  # "done", "skipped" (done before), "failed" or "not begun"
    frames: int = 0  # frames that were read
    flows: int = 0  # flows in the output
    seconds: float = 0  # of work, all segments together
    error: str | None = None


@dataclass
class Report:
    """Outcome of all sequences."""

    results: list[Result] = field(default_factory=list)
    seconds: float = 0
    interrupted: bool = False
    problem: str | None = None  # why the work ended early, or why the report was not saved

    def of(self, status: str) -> list[Result]:
        """Results of a status: "done", "skipped", "failed" or "not begun"."""
        return [result for result in self.results if result.status == status]

    @property
    def done(self) -> list[Result]:
        return self.of("done")

    @property
    def skipped(self) -> list[Result]:
        return self.of("skipped")

    @property
    def failed(self) -> list[Result]:
        return self.of("failed")

    @property
    def not_begun(self) -> list[Result]:
        return self.of("not begun")

    @property
    def flows(self) -> int:
        """Number of flows that this run has written."""
        return sum(result.flows for result in self.results if result.status != "skipped")

    @property
    def ok(self) -> bool:
        """Whether every sequence has its result."""
        return not (self.failed or self.not_begun)

    def summary(self) -> str:
        """One line, and one for each of the first failures."""
        counts = [(len(self.done), "done"), (len(self.skipped), "there before"), (len(self.failed), "failed"),
                  (len(self.not_begun), "not begun")]
        words = ", ".join(f"{count} {what}" for count, what in counts if count)
        lines = [f"{words or 'nothing to do'}; {self.flows} flows in {duration(self.seconds)}"]
        failed = self.failed
        lines += [f"failed: {result.source}: {result.error}" for result in failed[:20]]
        if len(failed) > 20:
            lines.append(f"and {len(failed) - 20} more")
        if self.problem:
            lines.append(f"note: {self.problem}")
        return "\n".join(lines)

    def save(self, path: str, settings: Settings) -> None:
        """Writes the report as JSON."""
        write_json(path, {
            "parafield": pf.__version__, "settings": settings.identity(), "seconds": round(self.seconds, 3),
            "flows": self.flows, "interrupted": self.interrupted, "problem": self.problem,
            "counts": {status: len(self.of(status)) for status in ("done", "skipped", "failed", "not begun")},
            "results": [asdict(result) for result in sorted(self.results, key=lambda result: result.name)],
        })


def duration(seconds: float) -> str:
    """A time as text: 4.2 s, 1:05 min, 3:04:05 h."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d} h" if hours else f"{minutes}:{rest:02d} min"
