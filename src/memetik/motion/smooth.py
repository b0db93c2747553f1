"""Paths that an obstacle forces off their targets, made smooth as a whole.

A track solves one step after another. Where the targets lead through an obstacle, the closest posture slides along it until
the other side is closer, and jumps. Here the steps around such a place become one problem (kernels/problem/path.py): all of
them together, with a price on how much the path bends, between postures that stay. Objectives whose targets move may be
missed there; all others, such as distances, may not: their weight grows until they are satisfied.

A path can pass an obstacle on several sides, of which the method finds one for each start. It starts from the track itself,
from a blend of its ends, and by way of postures that are closest to the targets in the middle, each in a valley of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.kernels.problem.path import PathModel, bend_path, judge_path, model_path
from memetik.kernels.problem.verify import CLOSEST
from memetik.motion.spline import Spline, spline_through
from memetik.objectives import Objective
from memetik.problem import Problem
from memetik.problem.columns import Columns
from memetik.problem.scratch import Scratch
from memetik.types import Array

NODES = 40  # postures of a first, coarse path
MOST = 100  # steps of the coarse path; the fine one begins near its end and takes FEW
FEW = 15
CALM = 1e-3  # a gain of less than this share of the cost, twice in a row, ends a descent
VALLEYS = 12  # starts for postures in the middle
BEST = 3  # coarse paths that are made fine
APART = 0.15  # rad or m by which postures in two valleys differ
SPREAD = 0.6  # rad or m by which the starts differ
STRICTER = (1.0, 10.0, 100.0, 1000.0)  # factors of the residuals that must not be missed
# What is tried until the path is smooth: the share by which a stretch is widened on each side, and the length over which the path
# bends, as a share of the stretch.
TRIES = ((0.1, 0.1), (0.25, 0.15), (0.5, 0.2), (0.5, 0.35), (1.0, 0.5))
ENOUGH = 2  # of these that give a smooth path; the best of all is taken,
PRICED = 0.2  # by what it costs where the path bends over this share of the stretch
EVEN = 2.0  # the largest step of a frame that follows targets, in mean steps
# A path that is smooth goes back to the targets that the track met, but for those near the ones that it missed: how near, as
# shares of the stretch, the first that leaves the path smooth; and how much more these targets count.
NEAR = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5)
BACK = 1000.0


class Smoothed(NamedTuple):
    """A path after all."""

    q: Array  # (steps, dof)
    errors: Array  # (steps, terms)
    statuses: NDArray[np.int64]
    changed: bool


def smoothed(
    problem: Problem, moving: Collection[Objective], columns: Columns, q: Array, bad: NDArray[np.bool_],
    uneven: Callable[[Array], NDArray[np.bool_]],
) -> Smoothed:  # fmt: skip
    """The path with smooth stretches in place of those in which steps are bad and uneven.

    moving: objectives whose targets move.
    bad: (steps,) steps that miss their targets, or jump.
    uneven: which steps of a path (steps - 1,) are too long.
    """
    c = problem.compiled
    scratch = Scratch(c, by_values=True)  # the price on bends is one on values
    path = q.copy()
    changed = False
    for first, last in _stretches(bad):
        rough = uneven(path)
        if not rough[max(first - 1, 0) : last + 1].any():
            continue
        found = _replaced(_Smoother(problem, moving, columns, scratch), path, bad, (first, last), uneven)
        if found is not None:
            path, changed = found, True
    errors, statuses = np.zeros((len(path), c.terms.size)), np.zeros(len(path), dtype=np.int64)
    judge_path(scratch.table, columns.places, columns.rows, path, errors, statuses, scratch.outcome)
    problem.raise_faults(scratch.clock)
    return Smoothed(path, errors, statuses, changed)


def _replaced(
    smoother: _Smoother, path: Array, bad: NDArray[np.bool_], stretch: tuple[int, int],
    uneven: Callable[[Array], NDArray[np.bool_]],
) -> Array | None:  # fmt: skip
    """The path with a smooth stretch around these steps, or None if none is found that keeps what must be kept."""
    first, last = stretch
    length, steps = last - first + 1, len(path)
    found: list[tuple[float, Array, _Window, float]] = []
    tries = 0
    for wider, bend in TRIES:
        reach = max(round(wider * length), 4)
        window = _Window.around(max(first - reach, 0), min(last + reach, steps - 1), steps, last == steps - 1)
        before = len(found)
        for candidate in smoother.candidates(path, window, bend):
            trial = path.copy()
            trial[window.inside] = candidate
            if not uneven(trial)[max(window.low - 1, 0) : window.high + 1].any():
                found.append((smoother.price(trial, PRICED * length), trial, window, bend))
        tries += len(found) > before
        if tries == ENOUGH:
            break
    if not found:
        return None
    _, best, window, bend = min(found, key=lambda each: each[0])
    for share in NEAR:
        met = ~_widened(bad, round(share * length))
        back = smoother.returned(best, window, bend, met)
        if back is not None and not uneven(back)[max(window.low - 1, 0) : window.high + 1].any():
            return back
    return best


def _widened(bad: NDArray[np.bool_], by: int) -> NDArray[np.bool_]:
    """Bad steps, and those that are no farther from one than so many steps."""
    counts = np.convolve(bad, np.ones(2 * by + 1), mode="full")[by : by + len(bad)]
    return np.asarray(counts > 0.5)


def _stretches(bad: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last step of each run of bad ones; runs with less between them than the longer one are one."""
    steps = np.flatnonzero(bad)
    runs: list[tuple[int, int]] = []
    for k in steps.tolist():
        if runs and k - runs[-1][1] <= 1 + (runs[-1][1] - runs[-1][0] + 1):
            runs[-1] = runs[-1][0], k
        else:
            runs.append((k, k))
    return runs


class _Window(NamedTuple):
    """A stretch of a path: the step before it and the step after it stay; every `stride`-th is a node of the coarse path."""

    low: int
    high: int  # the last one of the path if the stretch is open
    stride: int
    open: bool  # the path ends within it, and its last step may move

    @classmethod
    def around(cls, low: int, high: int, steps: int, open_end: bool) -> _Window:
        stride = max((high - low) // NODES, 1)
        length = -(-(high - low) // stride) * stride
        low = max(min(low, steps - 1 - length), 0)
        high = low + (length if low + length < steps else (steps - 1 - low) // stride * stride)
        return cls(low, high, stride, open_end and high == steps - 1)

    @property
    def nodes(self) -> NDArray[np.int64]:
        """Steps of the coarse path that may move."""
        return np.arange(self.low + self.stride, self.high + (1 if self.open else 0), self.stride)

    @property
    def inside(self) -> slice:
        """All steps that may move."""
        return slice(self.low + 1, self.high + (1 if self.open else 0))

    def fixed(self, stride: int, steps: int) -> tuple[list[int], list[int]]:
        """Up to two steps before and two after that stay, in these strides: they give the path its direction."""
        before = [k for k in (self.low - stride, self.low) if k >= 0]
        after = [] if self.open else [k for k in (self.high, self.high + stride) if k < steps]
        return before, after


class _Smoother:
    """Least squares over stretches of the path of one problem."""

    def __init__(self, problem: Problem, moving: Collection[Objective], columns: Columns, scratch: Scratch) -> None:
        self.c, self.columns, self.scratch = problem.compiled, columns, scratch
        self.variables = self.c.variables
        # Terms that must hold at every step: those with a tolerance whose target does not move along the path.
        self.kept = self.c.terms["soft"] == 0
        for objective, owned in zip(problem.objectives, self.c.owners, strict=True):
            if objective in moving:
                self.kept[owned] = False
        self.led = (self.c.terms["soft"] == 0) & ~self.kept  # those with a tolerance whose target moves
        self.rng = np.random.default_rng(0)

    def candidates(self, path: Array, window: _Window, bend: float) -> Iterator[Array]:
        """Stretches (steps, dof) that keep what must be kept, the best first."""
        nodes, active = window.nodes, self.c.active
        if len(nodes) < 3:
            return
        before, after = window.fixed(window.stride, len(path))
        ends = path[[*before, *after]][:, active]
        stiff = (bend * len(nodes)) ** 4
        found: list[tuple[float, Array]] = []
        for start in self._starts(path, window):
            x, cost = self._settled(nodes, start, ends, len(before), stiff, MOST)
            if np.isfinite(cost) and all(np.abs(x - other).max() > APART for _, other in found):
                found.append((cost, x))
        every = np.arange(window.inside.start, window.inside.stop)
        head, tail = window.fixed(1, len(path))
        stay = path[[*head, *tail]][:, active]
        for _, x in sorted(found, key=lambda pair: pair[0])[:BEST]:
            fine, cost = self._settled(
                every, self._between(path, window, x), stay, len(head), stiff * window.stride**4, FEW
            )
            if np.isfinite(cost):
                stretch = path[window.inside].copy()
                stretch[:, active] = fine
                yield stretch

    def returned(self, path: Array, window: _Window, bend: float, met: NDArray[np.bool_]) -> Array | None:
        """The path with the stretch bent back to the targets of these steps; None if it loses what must be kept for it."""
        every = np.arange(window.inside.start, window.inside.stop)
        head, tail = window.fixed(1, len(path))
        ends = path[[*head, *tail]][:, self.c.active]
        x = np.ascontiguousarray(path[window.inside][:, self.c.active])
        wanted = np.where(met[every], BACK, 1.0)
        x, cost = self._settled(every, x, ends, len(head), (bend * len(every)) ** 4, MOST, wanted)
        if not np.isfinite(cost):
            return None
        back = path.copy()
        back[window.inside.start : window.inside.stop, self.c.active] = x
        return back

    def price(self, path: Array, bend: float) -> float:
        """What a whole path costs: what it misses, and how much it bends, over so many steps."""
        x = np.ascontiguousarray(path[:, self.c.active])
        plain = np.ones((len(x), self.kept.size))
        return self._model(np.arange(len(path)), x, np.empty((0, x.shape[1])), 0, bend**4, plain)[2]

    def _between(self, path: Array, window: _Window, x: Array) -> Array:
        """A fine path through a coarse one."""
        active = self.c.active
        before, after = window.fixed(window.stride, len(path))
        knots = np.array([*before, *window.nodes, *after], dtype=np.float64)
        values = np.concatenate([path[before][:, active], x, path[after][:, active]])
        spline: Spline = spline_through(knots, values, self.variables["lower"], self.variables["upper"])
        every = np.arange(window.inside.start, window.inside.stop)
        return np.clip(spline.at(every.astype(np.float64))[0], self.variables["lower"], self.variables["upper"])

    def _starts(self, path: Array, window: _Window) -> Iterator[Array]:
        """Coarse paths to start from: the track, a blend of its ends, and blends by way of valleys in the middle."""
        active, nodes = self.c.active, window.nodes
        yield path[nodes][:, active]
        low, high = path[window.low, active], path[window.high, active]
        share = ((nodes - window.low) / (window.high - window.low))[:, None]
        yield low + share * (high - low)
        middle = int(nodes[len(nodes) // 2])
        for via in self._valleys(middle, 0.5 * (low + high)):
            hump = 1.0 - (2.0 * share - 1.0) ** 2
            yield np.clip(
                low + share * (high - low) + hump * (via - 0.5 * (low + high)),
                self.variables["lower"], self.variables["upper"],
            )  # fmt: skip

    def _valleys(self, step: int, near: Array) -> list[Array]:
        """Postures that come closest to the targets of one step, each a minimum of its own."""
        found: list[Array] = []
        for _ in range(VALLEYS):
            start = np.clip(
                near + self.rng.uniform(-SPREAD, SPREAD, near.size), self.variables["lower"], self.variables["upper"]
            )
            x, cost = self._settled(np.array([step]), start[None], np.empty((0, near.size)), 0, 0.0, 30)
            if np.isfinite(cost) and all(np.abs(x[0] - other).max() > APART for other in found):
                found.append(x[0])
        return found

    def _settled(
        self, steps: NDArray[np.int64], x: Array, ends: Array, before: int, stiffness: float, most: int,
        wanted: Array | None = None,
    ) -> tuple[Array, float]:  # fmt: skip
        """The path that the descent ends at, and its cost; infinite if something is missed that must not be.

        wanted: (steps,) factors of the residuals whose targets move, 1 unless given.
        """
        for factor in STRICTER:
            factors = np.ones((len(x), self.kept.size))
            if wanted is not None:
                factors[:, self.led] = wanted[:, np.newaxis]
            factors[:, self.kept] = factor
            x, cost = self._descended(steps, x, ends, before, stiffness, factors, most)
            if self._kept(steps, x):
                return x, cost
        return x, np.inf

    def _kept(self, steps: NDArray[np.int64], x: Array) -> bool:
        """Whether everything that must hold does at every step."""
        terms = self.c.terms
        q = np.zeros((len(x), self.c.limits.size))
        q[:, self.c.active] = x
        errors, statuses = np.zeros((len(x), terms.size)), np.zeros(len(x), dtype=np.int64)
        rows = np.ascontiguousarray(self.columns.rows[steps])
        judge_path(self.scratch.table, self.columns.places, rows, q, errors, statuses, self.scratch.outcome)
        within = errors[:, self.kept] <= terms["tolerance"][self.kept]
        return bool(within.all() and (statuses <= CLOSEST).all())

    def _model(
        self, steps: NDArray[np.int64], x: Array, ends: Array, before: int, stiffness: float, factors: Array
    ) -> tuple[PathModel, Array, float]:
        """The terms around a path, the path with the postures that stay, and what it costs."""
        count, n = x.shape
        rows = np.ascontiguousarray(self.columns.rows[steps])
        made = PathModel(
            self.columns.places, rows, np.ascontiguousarray(x), factors[0], np.zeros(count), np.zeros((count, n)),
            np.zeros((count, n, n)),
        )  # fmt: skip
        kinds, kind = np.unique(factors, axis=0, return_inverse=True)
        for k, factor in enumerate(kinds):
            own = np.flatnonzero(kind.ravel() == k)
            part = PathModel(self.columns.places, rows[own], made.x[own], factor, *(each[own] for each in made[4:]))
            model_path(self.scratch.table, part)
            for whole, written in zip(made[4:], part[4:], strict=True):
                whole[own] = written
        around = np.ascontiguousarray(np.concatenate([ends[:before], x, ends[before:]]))
        return made, around, float(made.cost.sum() + stiffness * np.square(np.diff(around, n=2, axis=0)).sum())

    def _descended(
        self, steps: NDArray[np.int64], x: Array, ends: Array, before: int, stiffness: float, factors: Array, most: int
    ) -> tuple[Array, float]:
        """Levenberg-Marquardt over the whole stretch; factors (steps, terms) are those of the residuals."""
        count, n = x.shape
        path, around, cost = self._model(steps, x, ends, before, stiffness, factors)
        damping, band, step = 1e-3, np.empty((count * n, 2 * n + 1)), np.empty((count, n))
        calm = 0
        for _ in range(most):
            bend_path(self.scratch.table, path, around, before, stiffness, damping, band, step)
            trial, there, less = self._model(steps, step.copy(), ends, before, stiffness, factors)
            if less < cost:
                calm = calm + 1 if cost - less < CALM * cost else 0
                path, around, cost, damping = trial, there, less, max(damping / 5.0, 1e-6)
            else:
                damping *= 10.0
            if calm >= 2 or damping > 1e6:
                break
        return path.x, cost


def rough_steps(tips: Sequence[Array], usual: Sequence[float], q: Array, jump: float) -> NDArray[np.bool_]:
    """(steps - 1,) Which steps are too long: those in which a joint moves by more than `jump`, or a frame by more than EVEN mean
    steps, unless its targets take steps as long, `usual`."""
    rough: NDArray[np.bool_] = np.abs(np.diff(q, axis=0)).max(axis=1, initial=0.0) > jump
    for tip, least in zip(tips, usual, strict=True):
        steps = step_lengths(tip)
        rough |= steps > max(EVEN * steps.mean(), (1.0 + 1e-6) * least)
    return rough


def step_lengths(points: Array) -> Array:
    """How far points (steps, 3) move from step to step [m]."""
    return np.asarray(np.linalg.norm(np.diff(points, axis=0), axis=1))
