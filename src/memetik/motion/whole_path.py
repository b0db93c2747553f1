"""A path that steps one after another lose, searched as a whole.

A track that takes each step from the last one depends on its first posture: the branch, the turns of the joints and the place
in the null space decide where limits and singularities stop it. Here pieces of the path are followed from many postures
(kernels/tracking/pieces.py): from those of the first step, nearest to the start first, from those of the last one backwards,
and from those of the steps where the best chain of pieces so far has to jump. The first piece that passes the whole path is the
answer. Else a chain of pieces is, found by dynamic programming: the one with the fewest reconfigurations, and of these the one
that moves least. Where a chain goes from piece to piece, the steps around are drawn together.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.problem.budget import EVALUATIONS
from memetik.kernels.problem.limits import WHOLE_TURN
from memetik.kernels.runtime.record import allocate
from memetik.kernels.search.all_solutions import Found, find_all
from memetik.kernels.tracking.pieces import Chain, Following, Pieces, chain_pieces, follow_piece, scaled_change
from memetik.problem import Problem
from memetik.problem.cancel import CancelToken
from memetik.problem.columns import Columns
from memetik.solvers.memetic_plan import MemeticPlan
from memetik.types import Array

TURN = 2.0 * math.pi
CANDIDATES = 16, 32  # postures of a step from which pieces are followed: of the first and the last step, and of others
MOST, NUMBERS = 512, 30_000_000  # pieces, and numbers in them
MISSED = 1e9  # what a step that misses its targets costs a chain
ROUNDS = 12  # of chains, each of which says where the next pieces begin
FAR = 1e6  # rad or m beyond which limits are none
PATIENCE = 40  # attempts in a row that bring no new posture
LONG_PATIENCE = 300  # attempts before a step counts as out of reach
DISTINCT = 0.05  # rad or m by which postures differ
SAME = 1e-2  # rad or m; a posture nearer to a piece than this is on it
CENTER = 0.05  # rad or m by which each step of a centred piece begins nearer to the middle of the limits
PULL = 0.2  # of the jump: how fast a piece goes over to another one
AROUND = 40  # steps before and after a jump, between which a piece may go over to another one
EVERY = 3  # steps between places where chains may change pieces
WINDOWS = (32, 16, 8, 4, 2)  # steps before and after a change of pieces that are drawn together
ROUGH = 0.1  # of the jump: larger steps from piece to piece are
SLACK = 1e-9  # rad beyond a limit that rounding explains


class Way(NamedTuple):
    """Postures for all steps of a path."""

    x: Array  # (steps, variables)
    jumps: int  # how many of its changes are larger than allowed
    cost: float  # of guides, and squared changes [rad^2 or m^2]


def scaled_changes(x: Array, ratio: Array, variables: NDArray[np.void], balls: NDArray[np.void]) -> Array:
    """The change from each posture to the next, of the joint that changes most, times the ratio of each."""
    if balls.size == 0:
        return np.asarray((np.abs(np.diff(x, axis=0)) * ratio).max(axis=1, initial=0.0))
    pairs = zip(x[1:], x[:-1], strict=True)
    return np.array([scaled_change(one, other, ratio, variables, balls) for one, other in pairs])


class PathSearch:
    """The search for a way along the whole path of one problem.

    data: the targets and other numbers of the terms as they were when the track began.
    ratio: changes of variables are multiplied by it before they are compared with `jump`.
    rooted: the posture that the path has to begin with, None for any.
    """

    def __init__(
        self, problem: Problem, plan: MemeticPlan, columns: Columns, origin: Array, data: Array, *, jump: float, ratio: Array,
        rooted: Array | None, closed: bool, evaluations: int, seconds: float, token: CancelToken | None, seed: int,
    ) -> None:  # fmt: skip
        c = self._compiled = problem.compiled
        self._problem, self._plan, self._columns, self._origin = problem, plan, columns, origin
        self._jump, self._rooted, self._closed, self._seed = jump, rooted, closed, seed
        self.evaluations, self._most = 0, evaluations
        self._deadline = time.perf_counter() + seconds
        self._scratch = plan.row_scratch.lease(token)
        np.copyto(self._scratch.arrays.source, data)
        if c.calls_python and token is None:
            self._scratch.begin(None)
        variables = c.variables.copy()
        self._free = (variables["whole_turn"] == 1) & (variables["ball"] == 0)
        self._free &= variables["upper"] - variables["lower"] > WHOLE_TURN
        variables["lower"][self._free], variables["upper"][self._free] = -np.inf, np.inf
        self._steps, n = len(columns.rows), variables.size
        most = self._room = max(min(MOST, NUMBERS // (self._steps * n)), 8)
        self._pieces = Pieces(
            columns.places, columns.rows, variables, ratio, np.empty((most, self._steps, n)), np.empty((most, self._steps)),
            np.zeros(most, dtype=np.int64), np.zeros(most, dtype=np.int64),
        )  # fmt: skip
        self._chain = allocate(Chain, {"both": 2, "pieces": most, "steps": self._steps})
        self._no_guide = np.empty((0, n))
        middle = 0.5 * (np.maximum(variables["lower"], -FAR) + np.minimum(variables["upper"], FAR))
        middle[np.isinf(variables["lower"]) | np.isinf(variables["upper"])] = math.nan
        redundant = n > int(c.terms["rows"][c.terms["soft"] == 0].sum())
        self._center = np.tile(middle, (self._steps, 1)) if redundant else None
        self._count = 0
        self._guided = bool(c.terms["soft"].any())

    def close(self) -> None:
        """Give back what was leased."""
        self._plan.row_scratch.give_back(self._scratch)

    @property
    def spent(self) -> bool:
        """Whether the budget is used up."""
        return self.evaluations >= self._most or time.perf_counter() >= self._deadline

    def postures(self, step: int, count: int, q: Array, patience: int = PATIENCE) -> Array:
        """Distinct postures that meet the targets of a step, nearest to the joint vector q first."""
        c, scratch = self._compiled, self._scratch
        if self.spent:
            return np.empty((0, c.variables.size))
        found = allocate(Found, {**c.sizes, "most": count})
        scratch.arrays.source[self._columns.places] = self._columns.rows[step]
        number = find_all(
            scratch.table, found, self._plan.attempt_along, q.copy(), scratch.outcome, self._seed, self._left, self._seconds,
            patience, DISTINCT,
        )  # fmt: skip
        self._spend()
        rows: Array = found.solutions[:number]
        order = np.argsort(np.square(self._short(rows - q[c.active])).sum(axis=1), kind="stable")
        return np.asarray(rows[order])

    def add(self, path: Array, missed: NDArray[np.bool_]) -> None:
        """Add the joint vectors of a whole path that misses its targets at some steps, for chains to fall back on."""
        piece = min(self._count, self._room - 1)
        self._pieces.x[piece] = path[:, self._compiled.active]
        self._pieces.cost[piece] = MISSED * missed
        self._pieces.first[piece], self._pieces.end[piece] = 0, self._steps
        self._count = piece + 1

    def best(self) -> Way | None:
        """The first way without jumps that is found, with guides the best of several; else the one with the fewest.

        None if no way was found that meets all targets.
        """
        begins = [0]
        for round in range(ROUNDS):
            ways = [way for begin in begins for way in self._ways_from(begin)]
            if ways:
                return min(ways, key=lambda way: way.cost)
            if self.spent or self._count == self._room:
                break
            if round == 0 and self._rooted is None:
                begins = [self._steps - 1]
                continue
            breaks = self._breaks()
            for step in breaks[:2]:
                self._go_over(step)
            if breaks:
                breaks = self._breaks()
            if not breaks:
                way = self.chained()
                if way is not None and way.jumps == 0:
                    return way
                breaks = [self._steps // 2]
            begins = [(step + 7 * round) % self._steps for step in breaks[:2]]
        return self.chained()

    def reaches(self, step: int, q: Array, most: int) -> bool:
        """Whether a posture is found that meets the targets of a step, with so many evaluations in all."""
        given, self._most = self._most, min(self._most, most)
        found = len(self.postures(step, 1, q, LONG_PATIENCE)) > 0
        self._most = given
        return found

    def chained(self) -> Way | None:
        """The best chain of pieces, None if none covers all steps."""
        self._breaks()
        if self._chain.chosen.min() < 0:
            return None
        chosen = self._chain.chosen
        x = np.ascontiguousarray(self._pieces.x[chosen, np.arange(self._steps)])
        x[:, self._free] = np.unwrap(x[:, self._free], axis=0)
        for step in np.flatnonzero(np.diff(chosen)) + 1:
            self._draw_together(x, int(step))
        return self._finished(x)

    def _ways_from(self, begin: int) -> Iterator[Way]:
        """Ways without jumps that are single pieces, followed from postures of a step; without guides the first one only."""
        if begin == 0 and self._rooted is not None:
            rows = self._rooted[np.newaxis]
        else:
            at_end = begin in (0, self._steps - 1)
            rows = self.postures(begin, CANDIDATES[not at_end], self._origin)
        for x in rows:
            if self._is_on_piece(begin, x):
                continue
            for leads, guide in ((False, None), (True, None), (False, self._center))[
                : 2 if self._center is None else 3
            ]:
                piece = self._grow(x, begin, leads, guide)
                if piece is None or not self._is_whole(piece):
                    continue
                way = self._finished(self._pieces.x[piece])
                if way.jumps > 0 and self._follow_within_limits(piece, way.x, begin):
                    way = self._finished(self._pieces.x[piece])
                if way.jumps == 0:
                    yield way
                    if not self._guided:
                        return

    def _follow_within_limits(self, piece: int, x: Array, begin: int) -> bool:
        """Follow a whole piece again within the limits of all joints, from a posture of a way; whether it is whole then, too."""
        if self._center is None:
            return False
        c, row = self._compiled, x[np.newaxis].copy()
        within = self._pieces._replace(variables=c.variables, x=row, cost=np.empty((1, self._steps)))
        middle = np.where(np.isnan(self._center), 0.5 * (x.max(axis=0) + x.min(axis=0)), self._center)
        after = self._follow(0, begin, 1, False, middle, CENTER, within)
        if after < self._steps - begin or self._follow(0, begin, -1, False, middle, CENTER, within) < begin + 1:
            return False
        self._pieces.x[piece] = row[0]
        return True

    def _is_on_piece(self, step: int, x: Array) -> bool:
        """Whether a posture is one of a piece."""
        there = (self._pieces.first[: self._count] <= step) & (step < self._pieces.end[: self._count])
        far = np.abs(self._short(self._pieces.x[: self._count][there, step] - x))
        return bool((far.max(axis=1, initial=0.0) < SAME).any())

    def _is_whole(self, piece: int) -> bool:
        whole = self._pieces.first[piece] == 0 and self._pieces.end[piece] == self._steps
        if not whole or self._rooted is None:
            return bool(whole)
        return bool(np.abs(self._pieces.x[piece, 0] - self._rooted).max() < SAME)

    def _grow(self, x: Array, begin: int, leads: bool = False, guide: Array | None = None) -> int | None:
        """A piece from a posture at a step, both ways. None if there is no more room for it."""
        piece, pieces = self._count, self._pieces
        if piece == self._room or self.spent:
            return None
        pieces.x[piece, begin] = x
        after = self._follow(piece, begin, 1, leads, guide, CENTER)
        if after == 0:
            return None
        before = self._follow(piece, begin, -1, leads, guide, CENTER) if begin > 0 else 1
        first, end = begin - max(before, 1) + 1, begin + after
        pieces.first[piece], pieces.end[piece] = first, end
        if piece > 0 and pieces.first[piece - 1] == first and pieces.end[piece - 1] == end:
            far = np.abs(pieces.x[piece, [first, end - 1]] - pieces.x[piece - 1, [first, end - 1]])
            if far.max() < SAME:
                return None
        self._count += 1
        return piece

    def _follow(
        self, piece: int, begin: int, forwards: int, leads: bool = False, guide: Array | None = None, pull: float = math.inf,
        pieces: Pieces | None = None,
    ) -> int:  # fmt: skip
        """Follow the targets from a posture of a piece. Returns how many steps were met, with that one."""
        scratch, plan = self._scratch, self._plan
        later = int(plan.addresses["attempt_calmly"][0]) or plan.attempt_along
        how = Following(
            begin,
            forwards,
            leads,
            pull,
            self._jump,
            plan.attempt_along,
            later,
            self._no_guide if guide is None else guide,
        )
        count = follow_piece(
            scratch.table, self._pieces if pieces is None else pieces, piece, how, self._origin.copy(), scratch.outcome,
            self._left, self._seconds,
        )  # fmt: skip
        self._spend()
        return int(count)

    def _breaks(self) -> list[int]:
        """Link the pieces. Returns the steps to which the best chain jumps, the worst first, or one that no piece has."""
        rooted = 0 if self._rooted is not None else -1
        c, pieces = self._compiled, self._pieces
        if self._count == 0:
            self._chain.chosen.fill(-1)
            return [0]
        cost = chain_pieces(pieces, self._count, self._chain, c.balls, self._jump, rooted, EVERY)
        chosen = self._chain.chosen
        if not cost < math.inf:
            chosen.fill(-1)
            covered = np.zeros(self._steps, dtype=bool)
            for first, end in zip(pieces.first[: self._count], pieces.end[: self._count], strict=True):
                covered[first:end] = True
            return [int(step) for step in np.flatnonzero(~covered)[:1]] or [self._steps // 2]
        x = np.ascontiguousarray(pieces.x[chosen, np.arange(self._steps)])
        x[:, self._free] = np.unwrap(x[:, self._free], axis=0)
        far = self._changes(x)
        return [int(step) + 1 for step in np.argsort(-far, kind="stable") if far[step] > self._jump]

    def _go_over(self, step: int) -> None:
        """Try to lead from the piece before a break to the one behind it, and back."""
        chosen, pieces = self._chain.chosen, self._pieces
        before, behind = int(chosen[step - 1]), int(chosen[step])
        if step == 0 or min(before, behind) < 0 or before == behind:
            return
        for source, to, forwards in ((before, behind, 1), (behind, before, -1)):
            if forwards > 0:
                begin = max(int(pieces.first[source]), step - AROUND)
            else:
                begin = min(int(pieces.end[source]) - 1, step + AROUND)
            piece = self._count
            if piece == self._room or self.spent:
                return
            guide = np.full_like(pieces.x[0], np.nan)
            inside = slice(int(pieces.first[to]), int(pieces.end[to]))
            guide[inside] = pieces.x[to, inside]
            apart = np.full(len(guide[0]), 0.0)
            apart[self._free] = TURN * np.round((guide[inside] - pieces.x[source, begin])[0, self._free] / TURN)
            guide -= apart
            pieces.x[piece, begin] = pieces.x[source, begin]
            count = self._follow(piece, begin, forwards, False, guide, PULL * self._jump)
            if count > 1:
                pieces.first[piece] = begin if forwards > 0 else begin - count + 1
                pieces.end[piece] = begin + count if forwards > 0 else begin + 1
                self._count += 1

    def _draw_together(self, x: Array, step: int) -> None:
        """Make the change from one posture of a way to the next smaller, by those around it."""
        pieces, steps = self._pieces, len(x)
        change = self._changes(x[step - 1 : step + 1])[0]
        if not ROUGH * self._jump < change <= self._jump:
            return
        for window in WINDOWS:
            first, end = max(step - window, 0 if self._rooted is None else 1), min(step + window, steps)
            share = (np.arange(first, end) - first + 1.0) / (end - first + 1.0)
            share = (share * share * (3.0 - 2.0 * share))[:, np.newaxis]
            offset = x[step] - x[step - 1]
            rest = 0.5 * ((x[step - 1] - x[max(step - 2, 0)]) + (x[min(step + 1, steps - 1)] - x[step]))
            guide = np.full_like(x, np.nan)
            guide[first:end] = x[first:end] + np.where(
                np.arange(first, end)[:, np.newaxis] < step, share, share - 1.0
            ) * (offset - rest)
            row = np.array(guide[np.newaxis])
            window_of = pieces._replace(targets=pieces.targets[:end], x=row, cost=np.empty((1, steps)))
            if self._follow(0, first, 1, False, guide, math.inf, window_of) < end - first:
                continue
            trial = x.copy()
            trial[first:end] = row[0, first:end]
            if self._changes(trial[max(first - 1, 0) : end + 1]).max() < change:
                x[:] = trial
                return

    def _finished(self, x: Array) -> Way:
        """A way with joints turned within their limits, closed if it is to be."""
        x = self._turned(x)
        if self._closed:
            x = self._closed_up(x)
        return Way(x, int((self._changes(x) > self._jump).sum()), float(np.square(np.diff(x, axis=0)).sum()))

    def _turned(self, x: Array) -> Array:
        """The same postures, with whole turns that keep the limits of each joint as long as can be, near the start."""
        c, x = self._compiled, x.copy()
        near = self._origin[c.active] if self._rooted is None else self._rooted
        for k in np.flatnonzero(self._free):
            lower, upper = c.variables["lower"][k], c.variables["upper"][k]
            wanted = np.round((near[k] - x[0, k]) / TURN)
            low = np.ceil((lower - SLACK - x[:, k]) / TURN) if math.isfinite(lower) else np.full(len(x), -np.inf)
            high = np.floor((upper + SLACK - x[:, k]) / TURN) if math.isfinite(upper) else np.full(len(x), np.inf)
            if self._rooted is not None:
                low[0] = high[0] = wanted
            begin = 0
            while begin < len(x):
                least, most = np.maximum.accumulate(low[begin:]), np.minimum.accumulate(high[begin:])
                fits = least <= most
                length = len(fits) if fits.all() else int(np.argmin(fits))
                length = max(length, 1)
                turns = min(max(wanted, least[length - 1]), most[length - 1])
                x[begin : begin + length, k] += TURN * turns
                begin += length
        return np.clip(x, c.variables["lower"], c.variables["upper"])

    def _closed_up(self, x: Array) -> Array:
        """The way with its end where it begins, by small changes all along it if these lead there."""
        share = np.linspace(0.0, 1.0, len(x))[:, np.newaxis]
        guide = x + share * share * (3.0 - 2.0 * share) * (x[0] - x[-1])
        row = np.array(guide[np.newaxis])
        own = self._pieces._replace(x=row, cost=np.empty((1, len(x))), variables=self._compiled.variables)
        if (x[0] != x[-1]).any() and self._follow(0, 0, 1, False, guide, math.inf, own) == len(x):
            x = row[0]
        x[-1] = x[0]
        return x

    def _changes(self, x: Array) -> Array:
        """The scaled change from each posture to the next."""
        return scaled_changes(x, self._pieces.ratio, self._compiled.variables, self._compiled.balls)

    def _short(self, change: Array) -> Array:
        """Changes of variables without whole turns of joints that turn freely."""
        change = change.copy()
        change[..., self._free] -= TURN * np.round(change[..., self._free] / TURN)
        return change

    @property
    def _left(self) -> int:
        return max(self._most - self.evaluations, 0)

    @property
    def _seconds(self) -> float:
        """What is left of the time, 0 for no limit."""
        return 0.0 if math.isinf(self._deadline) else max(self._deadline - time.perf_counter(), 1e-6)

    def _spend(self) -> None:
        self.evaluations += int(self._scratch.outcome[EVALUATIONS])
        self._problem.raise_faults(self._scratch.clock)
