"""History: every individual of an evolution, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memetik.errors import ProblemError, shown
from memetik.geometry.checks import real_array, real_number, whole_number
from memetik.rich import Rich
from memetik.types import Array

Rows = NDArray[np.int64]

MOST = 10**9  # generations that can be asked for


@dataclass(frozen=True, eq=False)
class History(Rich):
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

    def __repr__(self) -> str:
        last = int(self.generation.max(initial=0))
        return f"<History: {len(self):,} individuals of {len(self.joints)} genes in {last + 1} generations>"

    def __len__(self) -> int:
        return len(self.generation)

    @property
    def generations(self) -> int:
        """How many there were."""
        return int(self.generation[-1]) + 1 if len(self) else 0

    def rows(self, generation: int) -> Rows:
        """The individuals of a generation; of the last one for -1, and so on."""
        number = whole_number(generation, ProblemError, "generation", least=-MOST, most=MOST)
        return np.flatnonzero(self.generation == number % max(self.generations, 1))

    @property
    def shares(self) -> Array:
        """The genes as shares of their range, 0 at the lower limit and 1 at the upper."""
        return self._shares(slice(None))

    def postures(self, rows: Rows) -> Array:
        """Individuals as joint vectors (rows, joints of the body)."""
        chosen = real_array(rows, ProblemError, "rows are numbers of individuals")
        if chosen.ndim != 1 or not ((chosen >= 0) & (chosen < len(self)) & (chosen % 1 == 0)).all():
            raise ProblemError(f"rows are {shown(rows)}; give whole numbers from 0 to below {len(self)}.")
        rows = chosen.astype(np.int64)
        vectors = np.tile(self.start, (len(rows), 1))
        vectors[:, self.active] = self.genes[rows]
        return vectors

    def niches(self, apart: float = 0.1) -> Rows:
        """For each row the niche it belongs to, by the elites of its generation; -1 where there are none.

        Elites share a niche if no gene differs by more than `apart` of its range; the others belong to the nearest elite.
        Niches are numbered from the fittest on, in every generation again.
        """
        apart = real_number(apart, ProblemError, "apart")
        niche = np.full(len(self), -1)
        for generation in range(self.generations):
            rows = self.rows(generation)
            niche[rows] = self._nearest(rows, self._founders(rows, apart))
        return niche

    @property
    def last_whole(self) -> int:
        """The last generation that has as many individuals as the first; a solution breaks the very last off."""
        counts = np.bincount(self.generation)
        return int(np.flatnonzero(counts == counts[0])[-1]) if len(self) else 0

    def founders(self, apart: float = 0.1) -> Rows:
        """The fittest elite of each niche that is alive in the end: in the last generation with a full set of elites."""
        apart = real_number(apart, ProblemError, "apart")
        elites = np.bincount(self.generation, weights=self.elite, minlength=1)
        if not elites.any():
            return np.empty(0, dtype=np.int64)
        return self._founders(self.rows(int(np.flatnonzero(elites == elites.max())[-1])), apart)

    def families(self, apart: float = 0.1) -> Rows:
        """For each row the number of the nearest of the founders, -1 if there are none."""
        return self._nearest(np.arange(len(self)), self.founders(apart))

    def _shares(self, rows: Rows | slice) -> Array:
        span = self.upper - self.lower
        return (self.genes[rows] - self.lower) / np.where(span > 0.0, span, 1.0)

    def _nearest(self, rows: Rows, founders: Rows) -> Rows:
        """For each row the number of the nearest of the founders, -1 if there are none."""
        if not len(founders):
            return np.full(len(rows), -1)
        apart = np.linalg.norm(self._shares(rows)[:, None] - self._shares(founders), axis=2)
        return np.asarray(apart.argmin(axis=1))

    def _founders(self, rows: Rows, apart: float) -> Rows:
        """Among the elites of some rows, the fittest of each niche, the fittest first."""
        elites = rows[self.elite[rows]]
        elites = elites[np.argsort(self.fitness[elites], kind="stable")]
        shares, founders = self._shares(elites), list[int]()
        for k, share in enumerate(shares):
            if all(np.abs(share - shares[founder]).max() > apart for founder in founders):
                founders.append(k)
        return elites[founders]
