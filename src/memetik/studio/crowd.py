"""The crowd: one generation of an evolution as skeletons, the bad ones faint, the elites strong."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import memetik as mk
from memetik.solvers.history import History
from memetik.studio.landscape import colours, quality
from memetik.studio.lines import Lines
from memetik.types import Array

FAINT = np.array([190.0, 195.0, 205.0])  # what the worst fade into: the colour behind them


class Generation(NamedTuple):
    """Skeletons as segments (n, 2, 3) with colours (n, 2, 3); the elites apart, and the best posture of all."""

    others: Array
    other_colours: NDArray[np.uint8]
    elites: Array
    elite_colours: NDArray[np.uint8]
    best: Array


class Crowd:
    """The generations of a run on a body."""

    def __init__(self, body: mk.Body, history: History) -> None:
        self._body, self._history = body, history
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

    def _skeletons(self, rows: NDArray[np.int64]) -> tuple[Array, NDArray[np.uint8]]:
        drawn = [self._lines.bones(self._body.forward(q).array) for q in self._history.postures(rows)]
        if not drawn:
            return np.zeros((0, 2, 3)), np.zeros((0, 2, 3), dtype=np.uint8)
        painted = np.repeat(self._colours[rows], len(drawn[0]), axis=0)
        return np.concatenate(drawn), np.repeat(painted[:, None], 2, axis=1)
