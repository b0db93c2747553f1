"""History: every individual of an evolution, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class History:
    """What a run of Bio IK was, one row for each individual of each generation.

    Generation 0 and those after a wipe-out are drawn at random around one seed and have no parents and no elites; in all
    others the elites come first.
    """

    joints: tuple[str, ...]  # the names of the genes
    lower: Array  # (genes,) finite limits of each [rad or m], for drawing
    upper: Array
    generation: NDArray[np.int64]  # (rows,)
    genes: Array  # (rows, genes)
    fitness: Array  # (rows,) eq. 4.3 under the given weights, 0 is best
    elite: NDArray[np.bool_]  # (rows,) exploited in this generation
    parents: NDArray[np.int64]  # (rows, 2) rows of the generation before, -1 for none; an elite is its own parent

    def __len__(self) -> int:
        return len(self.generation)

    @property
    def generations(self) -> int:
        """How many there were."""
        return int(self.generation[-1]) + 1 if len(self) else 0

    @property
    def shares(self) -> Array:
        """The genes as shares of their range, 0 at the lower limit and 1 at the upper."""
        span = self.upper - self.lower
        return (self.genes - self.lower) / np.where(span > 0.0, span, 1.0)

    def niches(self, apart: float = 0.1) -> NDArray[np.int64]:
        """For each row the niche it belongs to, by the elites of its generation; -1 where there are none.

        Elites share a niche if no gene differs by more than `apart` of its range; the others belong to the nearest elite.
        Niches are numbered from the fittest on, in every generation anew.
        """
        shares, niche = self.shares, np.full(len(self), -1)
        for generation in range(self.generations):
            rows = np.flatnonzero(self.generation == generation)
            elites = rows[self.elite[rows]]
            elites = elites[np.argsort(self.fitness[elites], kind="stable")]
            founders: list[int] = []
            for elite in elites:
                gaps = [np.abs(shares[elite] - shares[founder]).max() for founder in founders]
                if not gaps or min(gaps) > apart:
                    founders.append(int(elite))
            if founders:
                distance = np.linalg.norm(shares[rows, None] - shares[founders], axis=2)
                niche[rows] = distance.argmin(axis=1)
        return niche
