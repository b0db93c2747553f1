"""History: every individual of an evolution, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class History:
    """What a run of Bio IK was, one row for each individual of each generation.

    Generation 0 and those after a wipe-out are drawn at random around one seed, without parents or elites; in all others
    the elites come first. A search that succeeds breaks its last generation off there.
    """

    joints: tuple[str, ...]  # the names of the genes
    lower: Array  # (genes,) limits of each [rad or m], finite stand-ins where there are none
    upper: Array
    start: Array  # (joints of the body,) the seed as a joint vector
    active: Rows  # (genes,) their places in a joint vector
    generation: Rows  # (rows,)
    genes: Array  # (rows, genes)
    fitness: Array  # (rows,) eq. 4.3 of the thesis under the given weights, 0 is best
    elite: NDArray[np.bool_]  # (rows,) exploited in this generation
    parents: Rows  # (rows, 2) rows of the generation before, -1 for none; an elite is its own parent

    def __len__(self) -> int:
        return len(self.generation)

    @property
    def generations(self) -> int:
        """How many there were."""
        return int(self.generation[-1]) + 1 if len(self) else 0

    def rows(self, generation: int) -> Rows:
        """The individuals of a generation; of the last one for -1, and so on."""
        return np.flatnonzero(self.generation == generation % max(self.generations, 1))

    @property
    def shares(self) -> Array:
        """The genes as shares of their range, 0 at the lower limit and 1 at the upper."""
        span = self.upper - self.lower
        return (self.genes - self.lower) / np.where(span > 0.0, span, 1.0)

    def postures(self, rows: Rows) -> Array:
        """Individuals as joint vectors (rows, joints of the body)."""
        vectors = np.tile(self.start, (len(rows), 1))
        vectors[:, self.active] = self.genes[rows]
        return vectors

    def niches(self, apart: float = 0.1) -> Rows:
        """For each row the niche it belongs to, by the elites of its generation; -1 where there are none.

        Elites share a niche if no gene differs by more than `apart` of its range; the others belong to the nearest elite.
        Niches are numbered from the fittest on, in every generation anew.
        """
        shares, niche = self.shares, np.full(len(self), -1)
        for generation in range(self.generations):
            rows = self.rows(generation)
            elites = rows[self.elite[rows]]
            founders: list[int] = []
            for elite in elites[np.argsort(self.fitness[elites], kind="stable")]:
                gaps = [np.abs(shares[elite] - shares[founder]).max() for founder in founders]
                if not gaps or min(gaps) > apart:
                    founders.append(int(elite))
            if founders:
                distance = np.linalg.norm(shares[rows, None] - shares[founders], axis=2)
                niche[rows] = distance.argmin(axis=1)
        return niche
