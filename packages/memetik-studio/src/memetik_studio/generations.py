"""The generations of an evolution: landscapes of the whole run, and one generation as skeletons.

Evolutionary landscapes (section 5.11 of the thesis) are one small picture for each joint. From left to right are the
generations, from bottom to top the range of the joint; each individual is a dot, from red for a bad fitness to green for
the best of the run. Pictures are drawn into arrays of pixels: a run has ten thousands of dots.
"""

from __future__ import annotations

import base64
import io
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import memetik as mk
from memetik.types import Array
from memetik_studio.lines import Lines

Pixels = NDArray[np.uint8]

WIDE, HIGH, EDGE = 100, 66, 3  # pixels
PAPER = 248
VIEWS = ("individuals", "parents", "elites")
FAINT = np.array([190.0, 195.0, 205.0])  # what the worst skeletons fade into: the colour behind them
SCALE = np.array([(206, 48, 40), (233, 150, 60), (226, 205, 90), (120, 180, 80), (30, 135, 70)], dtype=np.float64)


def quality(fitness: Array) -> Array:
    """Fitness, 0 is best, as a share: 0 for the worst of a run, 1 for the best, by orders of magnitude."""
    finite = fitness[np.isfinite(fitness)]
    worst, best = (finite.max(), finite.min()) if len(finite) else (1.0, 1.0)
    low, high = np.log(max(best, 1e-12)), np.log(max(worst, 1e-12))
    exponent = np.log(np.clip(np.nan_to_num(fitness, nan=worst, posinf=worst), max(best, 1e-12), None))
    return np.asarray((high - exponent) / max(high - low, 1e-12)).clip(0.0, 1.0)


def colours(share: Array) -> Pixels:
    """From red at 0 to green at 1, (n, 3)."""
    place = share * (len(SCALE) - 1)
    return np.stack([np.interp(place, np.arange(len(SCALE)), SCALE[:, k]) for k in range(3)], axis=1).astype(np.uint8)


class Landscape:
    """The pictures of a run."""

    def __init__(self, history: mk.solvers.History) -> None:
        self._history = history
        self._shares = history.shares.clip(0.0, 1.0)
        self._quality = quality(history.fitness)
        self._colours = colours(self._quality)
        self._order = np.argsort(self._quality, kind="stable")  # the best are drawn last, above the others

    def across(self, generation: float | NDArray[np.int64]) -> Array:
        """How far to the right a generation stands, as a share of the picture."""
        last = max(self._history.generations - 1, 1)
        return np.asarray((EDGE + np.asarray(generation) / last * (WIDE - 2 * EDGE - 1)) / WIDE)

    def picture(self, joint: int, view: str = "individuals") -> Pixels:
        """The landscape of one joint (its place in history.joints) in one of VIEWS."""
        page = np.full((HIGH, WIDE, 3), PAPER, dtype=np.uint8)
        x = self.across(self._history.generation) * WIDE
        y = EDGE + (1.0 - self._shares[:, joint]) * (HIGH - 2 * EDGE - 1)
        rows = self._order if view != "elites" else self._order[self._history.elite[self._order]]
        if view != "individuals":
            self._lines(page, x, y, rows)
        if view != "parents":
            for row, size in ((rows[~self._history.elite[rows]], 2), (rows[self._history.elite[rows]], 3)):
                self._dots(page, x[row], y[row], row, size)
        return page

    def _dots(self, page: Pixels, x: Array, y: Array, rows: NDArray[np.int64], size: int) -> None:
        left, top = np.round(x - 0.5 * size).astype(int), np.round(y - 0.5 * size).astype(int)
        for right in range(size):
            for down in range(size):
                page[np.clip(top + down, 0, HIGH - 1), np.clip(left + right, 0, WIDE - 1)] = self._colours[rows]

    def _lines(self, page: Pixels, x: Array, y: Array, rows: NDArray[np.int64]) -> None:
        """From each parent to its child, in the colour of the child."""
        way = np.linspace(0.0, 1.0, HIGH)
        for k in range(self._history.parents.shape[1]):
            born = rows[self._history.parents[rows, k] >= 0]
            parent = self._history.parents[born, k]
            across = x[parent, None] + (x[born] - x[parent])[:, None] * way
            down = y[parent, None] + (y[born] - y[parent])[:, None] * way
            page[down.astype(int), across.astype(int)] = self._colours[born, None]


def data_url(picture: Pixels) -> str:
    """A picture as the source of an <img>."""
    stream = io.BytesIO()
    Image.fromarray(picture).quantize(64).save(stream, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode()


class Generation(NamedTuple):
    """Skeletons as segments (n, 2, 3) with colours (n, 2, 3); the elites apart, and the best posture of all."""

    others: Array
    other_colours: Pixels
    elites: Array
    elite_colours: Pixels
    best: Array


class Crowd:
    """The generations of a run on a body."""

    def __init__(self, body: mk.Body, history: mk.solvers.History, root: Array | None = None) -> None:
        self._body, self._history, self._root = body, history, root
        self._lines = Lines(body, 1.0)
        share = quality(history.fitness)
        strength = 0.6 + 0.4 * share[:, None]
        mixed = (strength * colours(share) + (1.0 - strength) * FAINT) / 255.0
        self._colours = (255.0 * mixed**2.2).astype(np.uint8)  # the page takes the colours of lines as linear

    def generation(self, number: int) -> Generation:
        """One generation, numbered from 0."""
        history = self._history
        rows = history.rows(number)
        rows = rows[np.argsort(history.fitness[rows], kind="stable")]
        others, other_colours = self._skeletons(rows[~history.elite[rows]])
        elites, elite_colours = self._skeletons(rows[history.elite[rows]])
        return Generation(others, other_colours, elites, elite_colours, history.postures(rows[:1])[0])

    def _skeletons(self, rows: NDArray[np.int64]) -> tuple[Array, Pixels]:
        drawn = [self._lines.bones(self._body.forward(q, root=self._root).array) for q in self._history.postures(rows)]
        if not drawn:
            return np.zeros((0, 2, 3)), np.zeros((0, 2, 3), dtype=np.uint8)
        painted = np.repeat(self._colours[rows], len(drawn[0]), axis=0)
        return np.concatenate(drawn), np.repeat(painted[:, None], 2, axis=1)
