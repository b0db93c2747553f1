"""The landscape of an evolution: where every individual of every generation was, who came of whom, and who the elites were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.errors import ProblemError, shown
from memetik.geometry.checks import several
from memetik.solvers.history import History
from memetik.types import Array
from memetik.write.plots import COLORS, file_of, pyplot, require_history, save, title_of

COLUMNS = 4  # joints that are shown, unless they are named
LEAST = 1e-6  # fitness below this is drawn as this


class Row(NamedTuple):
    """A row of a landscape: a history, and what of it is drawn into the plot of a joint."""

    label: str
    history: History
    draw: Callable[[Any, History, int, Any], Any]


def draw_landscape(history: History, path: str | Path, *, joints: Sequence[str] = (), title: str = "") -> Path:
    """Write a picture (.png, .svg, .pdf): generations from left to right, a column for each joint.

    The first row shows all individuals, coloured by fitness, the second the way from parents to offspring, the third the
    elites, whose colour is the niche they come to. Unless named, `joints` are those in which the elites differ most.
    """
    require_history(history)
    file_of(path)  # what is wrong with it is said before anything is drawn
    title = title_of(title)
    rows = [
        Row("all individuals", history, individuals),
        Row("procreation", history, procreation),
        Row("elites, by niche", history, elites),
    ]
    count = len(history.founders())
    found = f"{count} niche{'s' if count != 1 else ''} alive in the end"
    return save(landscape_figure(rows, columns(history, joints), f"{title}: {found}" if title else found), path)


def landscape_figure(rows: Sequence[Row], genes: Sequence[int], title: str) -> Any:
    """Rows of histories of the same joints, of which `genes` are shown, with one scale of fitness."""
    plt = pyplot("drawing an evolution")
    from matplotlib.cm import ScalarMappable

    figure, plots = plt.subplots(
        len(rows), len(genes), figsize=(2.6 * len(genes) + 1.2, 2.0 * len(rows) + 0.6), sharex="row", squeeze=False,
        layout="constrained",
    )  # fmt: skip
    norm = _scale(np.concatenate([row.history.fitness for row in rows]))
    for line, row in zip(plots, rows, strict=True):
        for plot, k in zip(line, genes, strict=True):
            row.draw(plot, row.history, k, norm)
            _frame(plot, row.history, k)
        line[0].set_ylabel(f"{row.label}\n[rad or m]", fontsize=9)
    for plot, k in zip(plots[0], genes, strict=True):
        plot.set_title(rows[0].history.joints[k], fontsize=9)
    for plot in plots[-1]:
        plot.set_xlabel("generation")
    shades = ScalarMappable(norm, COLORS)
    figure.colorbar(shades, ax=plots, label="fitness (eq. 4.3), 0 is best", aspect=50, pad=0.01)
    figure.suptitle(title, fontsize=11)
    return figure


def columns(history: History, joints: Sequence[str]) -> list[int]:
    """The genes to show: those named, else those in which elites are spread most, in the order of the body."""
    joints = several(joints, ProblemError, "joints", "['joint_1']")
    unknown = [name for name in joints if not isinstance(name, str) or name not in history.joints]
    if unknown:
        raise ProblemError(
            f"no joint {shown(unknown[0])} took part in this evolution. Those that did: {', '.join(history.joints)}."
        )
    if joints:
        return [history.joints.index(name) for name in joints]
    rows = history.elite if history.elite.any() else np.ones(len(history), dtype=bool)
    late = rows & (history.generation >= history.generations // 2)
    spread = history.shares[late if late.any() else rows].std(axis=0)
    return sorted(np.argsort(-spread, kind="stable")[:COLUMNS].tolist())


def _scale(fitness: Array) -> Any:
    from matplotlib.colors import LogNorm

    shown = np.maximum(fitness[np.isfinite(fitness)], LEAST)
    return LogNorm(shown.min(), max(shown.max(), 2.0 * shown.min())) if len(shown) else LogNorm(LEAST, 1.0)


def individuals(plot: Any, history: History, k: int, norm: Any) -> None:
    """Dots; the fitter are larger and lie above."""
    order = np.argsort(-history.fitness, kind="stable")
    shown = np.maximum(history.fitness[order], LEAST)
    plot.scatter(
        history.generation[order], history.genes[order, k], c=shown, norm=norm, cmap=COLORS, s=4.0 + 14.0 * _merit(shown, norm),
        linewidths=0, rasterized=True,
    )  # fmt: skip


def procreation(plot: Any, history: History, k: int, norm: Any) -> None:
    """A line from each parent to each child, in the colour of the child; those to the fitter are wider and lie above."""
    from matplotlib.collections import LineCollection

    children = np.flatnonzero(history.parents[:, 0] >= 0)
    children = np.repeat(children[np.argsort(-history.fitness[children], kind="stable")], 2)
    parents = history.parents[children, np.arange(len(children)) % 2]
    ends = [np.stack([history.generation[rows], history.genes[rows, k]], axis=-1) for rows in (parents, children)]
    shown = np.maximum(history.fitness[children], LEAST)
    merit = _merit(shown, norm)
    lines = LineCollection(
        list(np.stack(ends, axis=1)), cmap=COLORS, norm=norm, linewidths=0.3 + 1.2 * merit, alpha=0.25 + 0.75 * merit,
        rasterized=True,
    )  # fmt: skip
    lines.set_array(shown)
    plot.add_collection(lines)


def _merit(fitness: Array, norm: Any) -> Array:
    """1 for the fittest, 0 for the others."""
    return np.clip(1.0 - 1.6 * np.asarray(norm(fitness), dtype=np.float64), 0.0, 1.0)


def elites(plot: Any, history: History, k: int, norm: Any) -> None:
    """The way of each elite, from what it was before its exploitation, in the colour of its niche."""
    founders, family = history.founders(), history.families()
    rows = np.flatnonzero(history.elite)
    for number in range(len(founders)):
        own = rows[family[rows] == number]
        parents = history.parents[own, 0]
        x = np.stack([history.generation[parents], history.generation[own]])
        y = np.stack([history.genes[parents, k], history.genes[own, k]])
        plot.plot(x, y, color=f"C{number % 7}", linewidth=0.9, alpha=0.8)
        plot.plot(history.generation[own], history.genes[own, k], "o", color=f"C{number % 7}", markersize=3.0)


def _frame(plot: Any, history: History, k: int) -> None:
    """Generations by whole numbers, the joint from limit to limit; grey where a population was drawn again."""
    from matplotlib.ticker import MaxNLocator

    last = max(history.generations - 1, 1)
    margin = 0.03 * (history.upper[k] - history.lower[k])
    plot.set_xlim(-0.02 * last - 0.2, 1.02 * last + 0.2)
    plot.set_ylim(history.lower[k] - margin, history.upper[k] + margin)
    plot.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    plot.tick_params(labelsize=8)
    plot.grid(False)
    for generation in _drawn_anew(history):
        plot.axvspan(generation - 0.5, generation + 0.5, color="0.9", zorder=0, linewidth=0)


def _drawn_anew(history: History) -> NDArray[np.int64]:
    """Generations without parents: the first, and those after a wipe-out."""
    first = np.searchsorted(history.generation, np.arange(history.generations))
    return np.flatnonzero(history.parents[first, 0] < 0)
