"""What all experiments share: the machine in words, fair timing, and one report on the terminal and on disk."""

from __future__ import annotations

import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

from memetik._version import __version__
from memetik.errors import MemetikError
from memetik.files import writable_folder
from memetik.progress import progress as progress
from memetik.write.plots import pyplot as pyplot

# Solves in a row before anything else runs: short against changes of the machine's speed, long against its caches.
BLOCK = 100
CONFIDENT = 1.959964  # standard deviations to either side that hold 95 % of a normal distribution


class UnavailableError(MemetikError):
    """This machine lacks what an experiment needs, such as a graphics card."""


def prepare(folder: Path, *, figures: bool) -> None:
    """Raise now what would stop an experiment in the end: a folder that cannot be written, or no package for figures."""
    writable_folder(folder)
    if figures:
        pyplot()


def environment() -> dict[str, str]:
    """Hardware and versions, printed above every result because no figure means anything without them."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "memetik": __version__,
    }


def best_seconds(call: Callable[[], object], *, repeats: int = 15) -> float:
    """The shortest of several runs [s]: interruptions only ever add time, so the least is nearest to the truth."""
    call()
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return best


def spread(seconds: ArrayLike) -> dict[str, float]:
    """Mean, median and 99th percentile [us] of the times of many solves, as columns of a table."""
    times = np.asarray(seconds) * 1e6
    return {
        "mean [us]": float(times.mean()),
        "median [us]": float(np.median(times)),
        "p99 [us]": float(np.percentile(times, 99.0)),
    }


def wilson(hits: int, count: int, deviations: float = CONFIDENT) -> tuple[float, float]:
    """The interval that the true share behind `hits` of `count` lies in, by Wilson (1927).

    (p + z²/2n ± z sqrt(p (1 - p) / n + z²/4n²)) / (1 + z²/n). Unlike p ± z σ it keeps its promise near 0 and 1, where
    good solvers are, and says of 100 hits in 100 that the share is at least 96 %.
    """
    if not 0 <= hits <= count or count == 0:
        raise ValueError(f"{hits} of {count} is not a share.")
    share, square = hits / count, deviations**2
    middle = share + 0.5 * square / count
    half = deviations * math.sqrt(share * (1.0 - share) / count + 0.25 * square / count**2)
    low, high = (middle - half) / (1.0 + square / count), (middle + half) / (1.0 + square / count)
    return (0.0 if hits == 0 else low), (1.0 if hits == count else high)


def solved(hits: int, count: int) -> dict[str, Any]:
    """The share solved [%] and its 95 % interval, as columns of a table."""
    low, high = wilson(hits, count)
    return {"solved [%]": 100.0 * hits / count, "95 % interval": f"{100.0 * low:.4g} to {100.0 * high:.4g}"}


@dataclass
class Report:
    """One experiment's outcome: what was done, on what machine, and a table of rows that all have the same keys."""

    name: str
    protocol: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        machine = ", ".join(f"{key} {value}" for key, value in environment().items())
        return "\n".join([f"# {self.name}", self.protocol, machine, "", text_table(self.rows), "", *self.remarks])

    def save(self, folder: Path) -> Path:
        """Write the rows with protocol and environment as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        content = {"name": self.name, "protocol": self.protocol, "environment": environment()}
        path.write_text(json.dumps({**content, "rows": self.rows, "remarks": self.remarks}, indent=1) + "\n")
        return path

    def publish(self, folder: Path, plot: Callable[[], Any] | None = None) -> Report:
        """Print and save it, then draw its figure, so that a figure that cannot be drawn costs no results."""
        print(self)
        print("saved", self.save(folder))
        if plot is not None:
            print("saved", *save_figure(plot(), folder, self.name))
        return self


def text_table(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as aligned columns; numbers to the right with four significant digits."""
    if not rows:
        return "(no rows)"
    cells = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
    numeric = [isinstance(value, (int, float)) for value in rows[0].values()]
    widths = [max(len(line[k]) for line in cells) for k in range(len(cells[0]))]
    return "\n".join(
        "  ".join(c.rjust(w) if n else c.ljust(w) for c, w, n in zip(line, widths, numeric, strict=True)).rstrip()
        for line in cells
    )


def save_figure(figure: Any, folder: Path, name: str) -> list[Path]:
    """Save as PNG for pages and SVG for print."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{suffix}" for suffix in ("png", "svg")]
    for path in paths:
        figure.savefig(path, dpi=120, bbox_inches="tight")
    pyplot().close(figure)
    return paths


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
