"""What all experiments share: the machine in words, fair timing, and one report on the terminal and on disk."""

from __future__ import annotations

import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

import memetik as mk
from memetik.files import writable_folder
from memetik.progress import progress as progress
from memetik.tables import text_table
from memetik.types import Array
from memetik.write import pyplot as pyplot

Row = dict[str, Any]  # of a table, by the heading of the column

# Solves in a row before anything else runs: short against changes of the machine's speed, long against its caches.
BLOCK = 100
CONFIDENT = 1.959964  # standard deviations to either side that hold 95 % of a normal distribution
UNLIMITED = 10**12  # evaluations: time alone ends a search


class UnavailableError(mk.MemetikError):
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
        "memetik": mk.__version__,
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


def percent(flags: ArrayLike) -> float:
    """The share [%] of those that hold."""
    return 100.0 * float(np.asarray(flags).mean())


def solved(hits: int, count: int) -> Row:
    """The share solved [%] and its 95 % interval, as columns of a table."""
    low, high = wilson(hits, count)
    return {"solved [%]": 100.0 * hits / count, "95 % interval": f"{100.0 * low:.4g} to {100.0 * high:.4g}"}


def fewer_than_published(row: Row) -> bool:
    """Whether fewer of the queries of a row are solved than published, by more than chance explains."""
    hits = round(row["solved [%]"] * row["queries"] / 100.0)
    return 100.0 * wilson(hits, row["queries"])[1] < float(row["published solved [%]"])


def select(rows: Iterable[Row], **wanted: object) -> list[Row]:
    """The rows that have these values."""
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def column(rows: Iterable[Row], key: str) -> list[Any]:
    """The values of one column."""
    return [row[key] for row in rows]


def distinct(rows: Iterable[Row], key: str) -> list[Any]:
    """The different values of one column, in their order."""
    return list(dict.fromkeys(column(rows, key)))


@dataclass
class Report:
    """One experiment's outcome: what was done, on what machine, and a table of rows that all have the same keys."""

    name: str
    protocol: str
    rows: list[Row] = field(default_factory=list)
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


def subplots(*shape: int, layout: str = "tight", **settings: Any) -> tuple[Any, Any]:
    """A figure and its plots, as matplotlib makes them."""
    figure, plots = pyplot().subplots(*shape, layout=layout, **settings)
    return figure, plots


def save_figure(figure: Any, folder: Path, name: str) -> list[Path]:
    """Save as PNG for pages and SVG for print."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{suffix}" for suffix in ("png", "svg")]
    for path in paths:
        figure.savefig(path, dpi=120, bbox_inches="tight")
    pyplot().close(figure)
    return paths


def bars(axes: Any, labels: list[str], groups: dict[str, list[float]], width: float, **looks: list[Any]) -> list[Array]:
    """Horizontal bars under each other, a group for each label from the top down; where each series stands."""
    middle = np.arange(len(labels), dtype=np.float64)
    places = [middle + width * (k - 0.5 * (len(groups) - 1)) for k in range(len(groups))]
    for k, (name, values) in enumerate(groups.items()):
        axes.barh(places[k], values, 0.9 * width, label=name, **{key: look[k] for key, look in looks.items()})
    axes.set_yticks(middle, labels)
    if not axes.yaxis_inverted():  # one that shares the axis may have turned it
        axes.invert_yaxis()
    return places


def label_edges(axes: Any, below: str, left: str) -> None:
    """The same labels for all plots of a grid, below the last row and left of the first column."""
    for axis in axes[-1]:
        axis.set_xlabel(below)
    for axis in axes[:, 0]:
        axis.set_ylabel(left)


def beside(axes: Any, values: Iterable[float], places: Iterable[float], texts: Iterable[str], size: int = 8) -> None:
    """A text at the end of each bar."""
    for value, place, text in zip(values, places, texts, strict=True):
        axes.text(value, place, f" {text}", va="center", fontsize=size)


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
