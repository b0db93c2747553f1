"""What happens between postures: whether the motion from one to the next is free of contact, proved, not sampled.

Conservative advancement (kernels/collision/between.py) over the pairs of solids that the distances of a problem keep apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.body import Body
from memetik.collision.world import World
from memetik.errors import ProblemError, shown
from memetik.geometry.checks import real_array, real_number
from memetik.kernels.collision.solids_record import CONTACT, FREE, UNDECIDED
from memetik.motion.spline import finer
from memetik.motion.swept_pairs import Names, Plan, plan_of, plan_of_body
from memetik.motion.trajectory import Trajectory
from memetik.objectives import Distance, Objective, SelfDistance
from memetik.problem import Problem
from memetik.sharing import cached_property
from memetik.types import Array

__all__ = ["Meeting", "MotionCheck", "check_motion"]

RESOLUTION = 1e-4  # m
BEND = 1e-4  # rad or m by which a trajectory may leave the straight lines that it is checked along
MOST = 1_000_000  # lines of a trajectory


class Meeting(NamedTuple):
    """Where a motion comes too close to something, or may do so.

    step: the motion from posture `step` to the next one, at `share` of the way, from 0 to 1; its joint vector is q.
    time: when that is, along a trajectory [s]; steps elsewhere.
    pair: what comes too close: links, or obstacles by their name in the world or as "obstacle 3".
    """

    step: int
    share: float
    time: float
    pair: tuple[str, str]
    q: Array


@dataclass(frozen=True, eq=False)
class MotionCheck:
    """What `check_motion` found, motion by motion. It is true if all of them are proved to be free."""

    path: Array  # (n, dof) the postures that were checked from one to the next
    times: Array  # (n,) when each is due: in steps, or in seconds along a trajectory
    verdicts: NDArray[np.void]  # (n - 1,) as in kernels/collision/solids_record.py
    names: Names

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """What was kept apart: links, and obstacles by what they were called then."""
        return self.names.pairs()

    @property
    def free(self) -> NDArray[np.bool_]:
        """(n - 1,) Motions that are proved to be free."""
        return np.asarray(self.verdicts["status"] == FREE)

    @property
    def contact(self) -> NDArray[np.bool_]:
        """(n - 1,) Motions in which a posture was found where a pair is closer than it has to keep: in contact, or
        within its clearance."""
        return np.asarray(self.verdicts["status"] == CONTACT)

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """(n - 1,) Motions that pass something by less than the resolution beyond what is to be kept: neither was proved."""
        return np.asarray(self.verdicts["status"] == UNDECIDED)

    @property
    def distance(self) -> float:
        """No pair comes closer than this, beyond what is asked for [m]: proved. Negative unless all motions are free."""
        return float(self.verdicts["bound"].min(initial=math.inf)) if self else -math.inf

    @property
    def postures(self) -> int:
        """How many postures were looked at."""
        return int(self.verdicts["looks"].sum())

    @property
    def meetings(self) -> tuple[Meeting, ...]:
        """Where each motion first comes closer to something than it may; only motions that do."""
        return tuple(self._meeting(int(k)) for k in np.flatnonzero(self.contact))

    @property
    def first(self) -> Meeting | None:
        """The first of all meetings; None if there is none."""
        found = np.flatnonzero(self.contact)
        return self._meeting(int(found[0])) if found.size else None

    def __bool__(self) -> bool:
        return bool(self.free.all())

    def __str__(self) -> str:
        motions = f"{len(self.verdicts)} motion{'s' if len(self.verdicts) != 1 else ''}"
        if self:
            least = f"; nothing comes closer than {self.distance:.4g} m" if self.distance < math.inf else ""
            return f"free: {motions}, {len(self.pairs)} pairs{least}"
        parts = []
        met = self.first
        if met is not None:
            where = f"step {met.step}, {100.0 * met.share:.1f} % of the way"
            least = self.names.required[int(self.verdicts[met.step]["pair"])]
            what = f"closer than the {least:g} m to keep" if least > 0.0 else "contact"
            parts.append(f"{what} in {self.contact.sum()} of {motions}; the first at {where}: {' and '.join(met.pair)}")
        if self.undecided.any():
            near = self._meeting(int(np.flatnonzero(self.undecided)[0]))
            pair = f": {' and '.join(near.pair)}" if near.pair[0] else ""
            parts.append(
                f"undecided within the resolution in {self.undecided.sum()}, the first in step {near.step}{pair}"
            )
        return "; ".join(parts)

    def __repr__(self) -> str:
        return f"<MotionCheck {self}>"

    def _meeting(self, step: int) -> Meeting:
        found = self.verdicts[step]
        share = float(found["time"])
        q = (1.0 - share) * self.path[step] + share * self.path[step + 1]
        time = float((1.0 - share) * self.times[step] + share * self.times[step + 1])
        pair = self.pairs[int(found["pair"])] if found["pair"] >= 0 else ("", "")
        return Meeting(step, share, time, pair, q)


def check_motion(
    problem: Problem | Body, trajectory: ArrayLike | Trajectory, *, world: World | None = None,
    targets: Mapping[Objective, ArrayLike] | None = None, clearance: float = 0.0, resolution: float = RESOLUTION,
) -> MotionCheck:  # fmt: skip
    """Whether a motion is free of contact from each posture to the next, everywhere, not only at samples; with a
    `clearance`, whether nothing comes closer than that.

        if mk.motion.check_motion(problem, [q, goal]): ...

    problem: its Distance and SelfDistance objectives say what keeps apart, with their tolerances; guides do not count. For a
    body, it is all of its links, as in mk.SelfDistance(body), and the obstacles of `world`, if given.
    trajectory: joint vectors (n, dof), at least two, joined by straight lines in joint space: every joint moves evenly, through
    the values in between, also a continuous one. Or a Trajectory, whose splines are followed within 1e-4 rad or m, which
    the proof allows for.
    targets: obstacles that move, as for `track`: for a Distance an array with their places at each posture, or {name: poses}
    of its world; from one posture to the next they move evenly and turn about one axis.
    clearance: the distance to keep [m].
    resolution: pairs that come closer than this [m] without contact are "undecided": contact is looked for in steps in which
    no point moves farther than it, but not excluded.

    A proof rests on a bound: no point of a link moves farther than the sum over the joints of the change of each times the
    farthest that the link reaches from its axis. As long as that is less than the distance to everything else, nothing is met.
    """
    plan = _plan(problem, world)
    keep = real_number(clearance, ProblemError, "check_motion: clearance")
    fine = real_number(resolution, ProblemError, "check_motion: resolution")
    if not (0.0 <= keep < math.inf and 0.0 < fine < math.inf):
        raise ProblemError(
            f"check_motion: clearance ({keep:g} m) must be zero or more, resolution ({fine:g} m) above zero."
        )
    body = problem.body if isinstance(problem, Problem) else problem
    if isinstance(trajectory, Trajectory):
        rows, bends, times = _lines(trajectory)
    else:
        rows = np.array(
            real_array(trajectory, ProblemError, "check_motion: the trajectory holds no numbers"), order="C"
        )
        times = np.arange(rows.shape[0], dtype=np.float64) if rows.ndim else np.empty(0)
        bends = np.zeros(0)
    if rows.ndim != 2 or rows.shape[1] != body.dof or len(rows) < 2 or not np.isfinite(rows).all():
        raise ProblemError(
            f"check_motion: the path has shape {rows.shape}; it needs two or more finite joint vectors of {body.dof} numbers "
            f"for body {body.name!r}."
        )
    drifting = _drifting(plan, targets, len(rows), isinstance(trajectory, Trajectory))
    straight = bends if bends.size else np.zeros((len(rows) - 1, body.dof))
    return MotionCheck(rows, times, *plan.check(rows, straight, drifting, keep, fine))


def _plan(problem: Problem | Body, world: World | None) -> Plan:
    if world is not None and not isinstance(world, World):
        raise ProblemError(f"check_motion: world is {shown(world)}. Give a mk.World, or leave it out.")
    if isinstance(problem, Body):
        return plan_of_body(problem, world)
    if not isinstance(problem, Problem):
        raise ProblemError(f"check_motion: {shown(problem)} is no problem and no body. Give a mk.Problem, or a body.")
    if world is not None:
        raise ProblemError("check_motion: a problem knows its world. Give it a mk.Distance(body, world).")
    if not any(isinstance(o, (Distance, SelfDistance)) and o.tolerance is not None for o in problem.objectives):
        raise ProblemError(
            "check_motion: the problem has no Distance or SelfDistance with a tolerance, so nothing can be in the way. Add "
            "one, such as mk.SelfDistance(body), or give the body itself."
        )
    return plan_of(problem)


def _drifting(
    plan: Plan, targets: Mapping[Objective, ArrayLike] | None, rows: int, timed: bool
) -> dict[Objective, Array]:
    """The obstacles at each posture, of the objectives whose obstacles move."""
    if targets is None:
        return {}
    if not isinstance(targets, Mapping):
        raise ProblemError(
            f"check_motion: targets are {shown(targets)}. Give {{distance: array with a row for each posture}}."
        )
    own = {each.objective for each in plan.obstacles}
    moving: dict[Objective, Array] = {
        objective: objective.target_rows(path)[0] for objective, path in targets.items() if objective in own
    }
    if timed and moving:
        raise ProblemError("check_motion: obstacles cannot move along a trajectory. Sample it, and give its rows.")
    for objective, numbers in moving.items():
        if len(numbers) != rows:
            raise ProblemError(f"check_motion: {objective!r} has {len(numbers)} rows of obstacles for {rows} postures.")
    return moving


def _lines(trajectory: Trajectory) -> tuple[Array, Array, Array]:
    """A trajectory as straight lines: postures, how far each joint leaves the line to the next one, and their times.

    A curve leaves its chord over a length h of its parameter by at most h²/8 of its largest second derivative, and that of
    a cubic is largest at an end. Where jerk is limited, the trajectory may leave the curve by its deviation, too.
    """
    spline, s, times = trajectory.timing.spline, trajectory.timing.s, trajectory.timing.times
    first, last = np.arange(len(spline.knots) - 1), spline.knots
    ends = np.maximum(np.abs(spline.at(last[:-1], first)[2]), np.abs(spline.at(last[1:], first)[2]))
    bend = ends.max(axis=1, initial=0.0) * np.diff(last) ** 2 / 8.0
    parts = np.maximum(np.ceil(np.sqrt(bend / BEND)), 1.0).astype(np.int64)
    if parts.sum() > MOST:
        raise ProblemError(
            f"check_motion: the trajectory bends so much that it takes {parts.sum()} lines. Check a part of it."
        )
    grid = finer(last, parts)
    piece = np.repeat(first, parts)
    bends = ends[piece] * np.diff(grid)[:, None] ** 2 / 8.0 + trajectory.timing.deviation
    return spline.at(grid)[0], bends, np.interp(grid, s, times)
