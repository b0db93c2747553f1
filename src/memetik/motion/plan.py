"""Planning: a joint path from a start to a goal that is free of contact everywhere, proved, where the straight way may not be.

RRT-Connect over joint vectors (kernels/planning/trees.py), every motion of which is proved (kernels/planning/proof.py), then
shorter ways (kernels/planning/shortcuts.py).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.errors import ProblemError, shown
from memetik.export import Table, TableColumns, by_name, joint_trajectory
from memetik.geometry.checks import real_array, real_number, several, whole_number
from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.planning.planning_record import (
    CONNECTED,
    FULL,
    GOAL,
    GOALS_BLOCKED,
    GROWING,
    POSTURES,
    START,
    START_BLOCKED,
    TIMED_OUT,
    SearchLimits,
)
from memetik.kernels.planning.shortcuts import shorten_path
from memetik.kernels.planning.trees import begin_planning, clock_of, grow_trees, prove_motion
from memetik.kernels.runtime.cancel import CAUGHT
from memetik.kernels.terms.records import CONTACT
from memetik.motion.between import RESOLUTION, MotionCheck, check_motion
from memetik.motion.plan_along import Manifold, Search, connect
from memetik.motion.plan_arrays import PlanArrays
from memetik.motion.retime import WITHIN, Limits, retime
from memetik.motion.swept_pairs import Plan as Pairs
from memetik.motion.swept_pairs import plan_of
from memetik.motion.trajectory import Trajectory
from memetik.objectives import Distance, Objective, SelfDistance
from memetik.problem import Problem, require_problem
from memetik.problem.seed import checked_seed
from memetik.rich import Rich
from memetik.solution import Solution, Status
from memetik.solution.words import amount, count, duration, listed
from memetik.solvers import solve, solve_all
from memetik.solvers.budget import Budget, checked_budget, refuse_generations
from memetik.types import Array

__all__ = ["Plan", "plan"]

PER_PLAN = Budget(evaluations=10_000_000)
AT_ONCE = 0.05  # s that a kernel runs before Python handles signals
LOOKS = 100  # at a motion, of eight postures each
TRIES = 60  # to cut the path between two random places
MOST_GOALS = 1000
NEAR = 0.75  # of the distance of two random postures: how far a node is grown from which a motion was blocked
MOST_NODES = 4_000_000  # of a tree
MOST_SAMPLES = 10_000_000  # postures of a path
FEW_JOINTS = 8  # that move by steps of one radian
WITHIN_LIMITS = 1e-9  # rad or m, for rounding
BEYOND = math.pi  # rad or m beyond start and goals, as far as joints are moved that have no limits or may turn round


class Found(NamedTuple):
    """What became of a search, for `explain`."""

    why: int  # as in kernels/planning/planning_record.py; UNREACHED or OUTSIDE
    nodes: tuple[int, int]  # of the trees
    cause: str = ""  # a sentence


UNREACHED, OUTSIDE = 100, 101


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Table, Rich):
    """Postures from a start to a goal, joined by straight lines in joint space that are proved to be free of contact.

    A plan is true if it succeeded. One that failed has the start alone, and `explain()` says why.
    """

    problem: Problem
    q: Array  # (n, dof) the start, postures between, the goal
    status: Status  # REACHED, or CLOSEST if no way was found, or INVALID if there is none from this start
    goal: int  # which goal it leads to, as they were given or found; -1 for none
    goals: Array  # (m, dof) the goals
    evaluations: int  # postures that were placed
    timed_out: bool
    seconds: float  # what it took to compute [s], without what kernels took to compile
    compile_seconds: float
    found: Found

    @property
    def success(self) -> bool:
        """Whether a way was found; all of it is proved to be free of contact then."""
        return self.status == Status.REACHED

    def __bool__(self) -> bool:
        return self.success

    @property
    def length(self) -> float:
        """The length of the path in joint space, the sum of |q[k + 1] - q[k]| [rad, and m of joints that slide]."""
        return float(np.linalg.norm(np.diff(self.q, axis=0), axis=1).sum())

    def sample(self, spacing: float = 0.05) -> Array:
        """The path as joint vectors no farther apart than `spacing` [rad or m], the postures of the path among them."""
        longest = real_number(spacing, ProblemError, "sample: spacing")
        if not 0.0 < longest < math.inf:
            raise ProblemError(f"sample: spacing is {longest:g}; it must be above zero [rad or m].")
        if self.length > MOST_SAMPLES * longest:
            raise ProblemError(
                f"sample: spacing is {longest:g}, so a path of {self.length:g} would take more than {MOST_SAMPLES:,} postures. "
                f"Give at least {self.length / MOST_SAMPLES:.2g}."
            )
        rows = [self.q[:1]]
        for one, two in zip(self.q[:-1], self.q[1:], strict=True):
            parts = max(math.ceil(float(np.linalg.norm(two - one)) / longest), 1)
            rows.append(one + np.linspace(0.0, 1.0, parts + 1)[1:, None] * (two - one))
        return np.concatenate(rows)

    def check_motion(self, *, clearance: float = 0.0, resolution: float = RESOLUTION) -> MotionCheck:
        """The path proved once more, by other kernels, and how near it comes to what (see mk.motion.check_motion)."""
        if len(self.q) < 2:
            raise ProblemError(f"check_motion: there is no path. {self.explain()}")
        return check_motion(self.problem, self.q, clearance=clearance, resolution=resolution)

    def retime(
        self, *, velocity: Limits = None, acceleration: Limits = None, jerk: Limits = None,
        within: float = WITHIN, spacing: float = 0.05,
    ) -> Trajectory:  # fmt: skip
        """The path in the least time within limits of velocity and acceleration, from rest to rest (see Track.retime).

        spacing: the path is given to the spline at postures no farther apart than this [rad or m], so that it stays near
        the straight lines. Where it rounds a corner it leaves them all the same: `check_motion(problem, trajectory)` proves
        the curve itself.
        """
        if len(self.q) < 2:
            raise ProblemError(f"retime: there is no path. {self.explain()}")
        return retime(self.problem.body, self.sample(spacing), velocity, acceleration, jerk, within)

    def to_columns(self) -> TableColumns:
        """A row for each posture: how much of the path [rad or m] lies before it, and the value of every joint."""
        way = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(self.q, axis=0), axis=1)))
        return {"way": way, **by_name(self.problem.body.joint_names, self.q)}

    def to_joint_trajectory(self) -> dict[str, Any]:
        """In the shape of ROS's trajectory_msgs/JointTrajectory, as plain dicts, without times; `retime` gives them."""
        return joint_trajectory(self.problem.body.joint_names, np.zeros(len(self.q)), self.q)

    def explain(self) -> str:
        """What was found or why nothing was, in sentences."""
        effort = f"{count(self.evaluations, 'posture')} placed in {duration(self.seconds)}"
        if self.success:
            way = f"{count(len(self.q), 'posture')} over {self.length:.3g} rad"
            return f"A way of {way}, each motion of which is proved to be free of contact: {effort}."
        if self.found.cause:
            return self.found.cause
        one, two = self.found.nodes
        trees = f"The tree of the start has {count(one, 'node')}, that of the goal {count(two, 'node')}."
        text = f"No way was found; {effort}. {trees}"
        if min(one, two) * 20 < max(one, two):
            end = "start" if one < two else "goal"
            text += f" Around the {end} there is little room: every way out of it is narrow, or there is none."
        what = "seconds" if self.timed_out else "evaluations"
        return f"{text} Give more {what}, mk.Budget({what}=...), if there is a way."

    def __repr__(self) -> str:
        if not self.success:
            return f"<Plan: {self.status}, {self.explain()}>"
        return f"<Plan: {len(self.q)} postures, {self.length:.3f} rad, {duration(self.seconds)}>"


def plan(
    problem: Problem,
    start: ArrayLike | None = None,
    goal: ArrayLike | Objective | Iterable[Objective] | None = None,
    *,
    along: Objective | Iterable[Objective] = (),
    joints: Sequence[str] | None = None,
    clearance: float = 0.0,
    resolution: float = RESOLUTION,
    extension: float | None = None,
    shorten: int = TRIES,
    count: int = 8,
    budget: Budget = PER_PLAN,
    seed: int = 0,
) -> Plan:
    """Plan a way from a posture to a goal through the world, proved to be free of contact.

        world = mk.World({"post": mk.Shape("cylinder", (0.03, 0.9), mk.translation(0.45, 0.0, 0.45))})
        pose = mk.Pose("panda_hand", T)
        problem = mk.Problem(body, [pose, mk.Distance(body, world), mk.SelfDistance(body)])
        plan = mk.plan(problem, start=q, goal=pose)
        if plan:
            trajectory = plan.retime(acceleration=5.0)

    problem: its Distance and SelfDistance objectives with a tolerance say what keeps apart all the way. Locked joints stay,
    limits are kept.
    start: a joint vector, the body's home unless given.
    goal: a joint vector; several, of which any will do; or an objective or several, which solutions (`solve_all`) reach. Without
    one, whatever solves the problem.
    along: objectives that hold all along, such as mk.Cone(link, ...) to keep a cup level; start and goals satisfy them, too. They
    are looked at every few hundredths of a radian, between the postures of the path, too, and not proved.
    joints: the names of those that move. Unless given, those that the objectives read (other than to keep apart), and those
    that differ between start and goals; where that says nothing, all that are not locked.
    clearance: the distance to keep beyond what the objectives say [m].
    resolution: motions that pass something by less than this beyond the clearance [m] are not taken.
    extension: the longest motion by which a tree grows [rad or m]. Unless given 1, and for more than 8 joints 8 by their number:
    of 14 joints of two arms in shelves, half as long a motion takes a third of the time.
    shorten: how often to try to cut the path short between two random places; 0 leaves it as it was found.
    count: how many solutions of the objectives to plan to.
    budget: evaluations are postures that are placed. The same call with the same seed gives the same path, unless time ends it.
    """
    require_problem(problem, "plan")
    begin = time.perf_counter()
    seed, budget = checked_seed(seed), checked_budget(budget, "plan")
    refuse_generations(budget, "plan")
    keep = real_number(clearance, ProblemError, "plan: clearance")
    fine = real_number(resolution, ProblemError, "plan: resolution")
    long = 0.5 if extension is None else real_number(extension, ProblemError, "plan: extension")
    if not (0.0 <= keep < math.inf and 0.0 < fine < math.inf and 0.0 < long < math.inf):
        raise ProblemError(
            f"plan: clearance ({keep:g} m) must be zero or more, resolution ({fine:g} m) and extension ({long:g} rad) above zero."
        )
    tries = whole_number(shorten, ProblemError, "plan: shorten", least=0)
    wanted = whole_number(count, ProblemError, "plan: count", least=1, most=MOST_GOALS)
    origin = problem.start(start)
    held = (along,) if isinstance(along, Objective) else tuple(along)
    task = _Task(problem, origin, held, keep, fine, None if extension is None else long, tries, budget, seed, begin)
    outside = _outside(problem, origin[None])
    if outside[0]:
        return task.failed(
            OUTSIDE, np.empty((0, origin.size)), f"The start is beyond the limits of {listed(outside[0])}."
        )
    if goal is None or _are_objectives(goal):
        return task.to_objectives(_goal_problem(problem, goal, held), wanted, joints)
    return task.to_postures(_postures(problem, goal), joints, _facts(problem).read)


class _Task(NamedTuple):
    """A plan that is to be made."""

    problem: Problem
    start: Array
    along: tuple[Objective, ...]
    clearance: float
    resolution: float
    step: float | None
    tries: int
    budget: Budget
    seed: int
    begin: float

    def failed(self, why: int, goals: Array, cause: str, spent: int = 0, nodes: tuple[int, int] = (0, 0)) -> Plan:
        """A plan that was not found, with the cause if it is known."""
        status = Status.INVALID if why in (OUTSIDE, START_BLOCKED) else Status.CLOSEST
        took, compiling = split_time(self.begin)
        return Plan(
            self.problem, self.start[None].copy(), status, -1, goals, spent, why == TIMED_OUT, took, compiling,
            Found(why, nodes, cause),
        )  # fmt: skip

    def to_objectives(self, wanted: Problem, most: int, joints: Sequence[str] | None) -> Plan:
        """Plan to solutions of a problem."""
        found = solve_all(wanted, self.start, seed=self.seed, count=most)
        if not found:
            nearest = solve(wanted, self.start, seed=self.seed)
            if not nearest.success:
                return self.failed(
                    UNREACHED, np.empty((0, self.start.size)), f"The goal cannot be reached. {nearest.explain()}"
                )
            found = [nearest]
        return self.to_postures(np.array([each.q for each in found]), joints, _facts(wanted).read)

    def to_postures(self, goals: Array, joints: Sequence[str] | None, read: NDArray[np.bool_]) -> Plan:
        """Plan to any of some postures."""
        outside = _outside(self.problem, goals)
        kept = np.array([k for k, names in enumerate(outside) if not names], dtype=np.int64)
        if not kept.size:
            return self.failed(OUTSIDE, goals, f"The goal is beyond the limits of {listed(outside[0])}.")
        if self.along:
            holding = [not self._missed(row) for row in goals]
            missed = self._missed(self.start)
            if missed:
                return self.failed(START_BLOCKED, goals, f"The start does not satisfy what holds all along. {missed}")
            if not any(holding):
                text = f"The goal does not satisfy what holds all along. {self._missed(goals[kept[0]])}"
                return self.failed(UNREACHED, goals, text)
            kept = kept[[holding[k] for k in kept]]
        pairs = _facts(self.problem).pairs
        moving = _moving(self.problem, self.start, goals[kept], joints, read)
        pool = self.problem.compiled.plans.setdefault((PlanArrays, moving.tobytes()), [])
        try:
            arrays: PlanArrays = pool.pop()
        except IndexError:
            arrays = PlanArrays(pairs, moving)
        found = self._search(arrays, moving, goals[kept])
        spent = int(arrays.record.spent[POSTURES])
        pool.append(arrays)
        if found.why == CONNECTED:
            goal = int(kept[np.abs(goals[kept] - found.path[-1]).max(axis=1).argmin()])
            took, compiling = split_time(self.begin)
            return Plan(
                self.problem, found.path, Status.REACHED, goal, goals, spent, False, took, compiling,
                Found(CONNECTED, found.nodes),
            )  # fmt: skip
        if found.why in (START_BLOCKED, GOALS_BLOCKED):
            which = self.start if found.why == START_BLOCKED else goals[kept[0]]
            cause = _contact(pairs, which, found.why, kept.size, self.clearance, self.resolution)
            return self.failed(found.why, goals, cause, spent)
        return self.failed(found.why, goals, "", spent, found.nodes)

    def _missed(self, q: Array) -> str:
        """Why a posture does not satisfy what holds all along; empty if it does."""
        judged = Solution.of(_part(self.problem, self.along), q, start=q)
        return "" if judged.success else judged.explain()

    def _search_along(
        self, arrays: PlanArrays, limits: SearchLimits, moving: NDArray[np.int64], goals: Array
    ) -> Search:  # fmt: skip
        """Search among the postures that satisfy what holds all along."""
        record = arrays.record

        def prove(one: Array, two: Array) -> bool:
            return bool(prove_motion(arrays.table, limits, one[moving], two[moving]))

        def is_spent() -> bool:
            return bool(record.spent[POSTURES] >= limits.evaluations or record.clock[CAUGHT] != 0)

        free = [row for row in goals if prove(row, row)]
        manifold = Manifold(_part(self.problem, self.along), prove, moving, record.lower, record.upper)
        end = self.begin + self.budget.seconds
        return connect(manifold, self.start, np.array(free), self.seed, self.tries, is_spent, end)

    def _search(self, arrays: PlanArrays, moving: NDArray[np.int64], goals: Array) -> Search:
        """Search, a while at a time, so that Python handles signals."""
        record = arrays.record
        arrays.pairs.place_world(record.solids, self.clearance)
        record.solids.x[:] = self.start[arrays.pairs.keep]
        record.solids.middle[:], record.solids.half[:] = record.solids.x, 0.0
        start, ends = np.ascontiguousarray(self.start[moving]), np.ascontiguousarray(goals[:, moving])
        record.lower[:], record.upper[:] = _range(self.problem, moving, start, ends)
        apart = float(np.sqrt(((record.upper - record.lower) ** 2).sum() / 6.0))  # two random postures
        step = min(1.0, FEW_JOINTS / moving.size) if self.step is None else self.step
        limits = SearchLimits(self.seed, self.budget.evaluations, step, NEAR * apart, self.resolution, LOOKS)
        token = self.budget.token
        if token is not None:
            token.watch(record.clock)
        try:
            why = int(begin_planning(arrays.table, limits, start, ends))
            if self.along and why not in (START_BLOCKED, GOALS_BLOCKED):
                return self._search_along(arrays, limits, moving, goals)
            end = clock_of(arrays.table) + self.budget.seconds - split_time(self.begin)[0]
            if why == GROWING:
                why = self._grow(arrays, limits, end)
            if why == CONNECTED:
                shorten_path(arrays.table, limits, self.tries, end)
        finally:
            if token is not None:
                token.release(record.clock)
        path = np.tile(self.start, (len(arrays.path), 1))
        path[:, moving] = arrays.path
        return Search(why, path, (int(arrays.record.size[START]), int(arrays.record.size[GOAL])))

    def _grow(self, arrays: PlanArrays, limits: SearchLimits, end: float) -> int:
        """Grow the trees. Returns why that ended."""
        while True:
            why = int(grow_trees(arrays.table, limits, min(clock_of(arrays.table) + AT_ONCE, end)))
            if why == FULL and arrays.capacity < MOST_NODES:
                arrays.double()
            elif why != TIMED_OUT or arrays.record.clock[CAUGHT] != 0 or clock_of(arrays.table) >= end:
                return why


def _are_objectives(goal: object) -> bool:
    if isinstance(goal, Objective):
        return True
    several_given = isinstance(goal, Iterable) and not isinstance(goal, np.ndarray)
    return several_given and all(isinstance(each, Objective) for each in goal)  # type: ignore[attr-defined]


def _keeps_apart(objective: Objective) -> bool:
    return isinstance(objective, (Distance, SelfDistance)) and objective.tolerance is not None


def _goal_problem(problem: Problem, goal: Any, along: tuple[Objective, ...]) -> Problem:
    """The problem whose solutions are goals: the goal, what holds all along, what keeps apart, and what guides."""
    own = tuple(o for o in problem.objectives if o.tolerance is not None and not _keeps_apart(o))
    wanted = own if goal is None else (goal,) if isinstance(goal, Objective) else tuple(goal)
    if not wanted:
        given = "the problem only says what keeps apart" if goal is None else "there are no objectives to reach"
        raise ProblemError(
            f"plan: {given}. Give a goal: a joint vector, several, or objectives such as mk.Pose(link, T)."
        )
    wanted += tuple(o for o in along if o not in wanted)
    if set(wanted) == set(own):
        return problem
    others = tuple(o for o in problem.objectives if o not in wanted and (_keeps_apart(o) or o.tolerance is None))
    return _part(problem, wanted + others)


def _part(problem: Problem, objectives: tuple[Objective, ...]) -> Problem:
    """The same body with other objectives, kept with what is compiled of the problem."""
    plans = problem.compiled.plans
    known: Problem | None = plans.get((_part, objectives))
    if known is None:
        known = Problem(
            problem.body, objectives, lock=problem.lock, limits=problem.limits, root=problem.root,
            weighting=problem.weighting,
        )  # fmt: skip
        plans[_part, objectives] = known
    return known


def _postures(problem: Problem, goal: Any) -> Array:
    """(n, dof) The goals that were given as joint vectors, locked joints at their values."""
    try:
        rows = np.atleast_2d(real_array(goal, ProblemError, "plan: the goal holds no numbers"))
    except ProblemError as error:
        raise ProblemError(f"{error} Give a joint vector, several, or objectives; the goal is {shown(goal)}.") from None
    if rows.ndim != 2 or not len(rows) or rows.shape[1] != problem.body.dof or not np.isfinite(rows).all():
        raise ProblemError(
            f"plan: the goal has shape {rows.shape}; it needs finite joint vectors of {problem.body.dof} numbers for body "
            f"{problem.body.name!r}."
        )
    return np.array([problem.start(row) for row in rows])


class _Facts(NamedTuple):
    """What planning looks up of a problem."""

    pairs: Pairs
    lower: Array
    upper: Array
    free: NDArray[np.bool_]  # joints that are not locked
    read: NDArray[np.bool_]  # and those that objectives read, but for those that only keep apart


def _facts(problem: Problem) -> _Facts:
    """The facts of a problem, kept with what is compiled of it."""
    c = problem.compiled
    found: _Facts | None = c.plans.get(_Facts)
    if found is None:
        pairs = plan_of(problem)
        free, read = np.zeros(problem.body.dof, dtype=bool), np.zeros(problem.body.dof, dtype=bool)
        free[pairs.keep] = True
        read[c.active[c.affects[c.terms["loss"] != CONTACT].any(axis=0)]] = True
        lower, upper = c.limits["lower"] - WITHIN_LIMITS, c.limits["upper"] + WITHIN_LIMITS
        found = c.plans.setdefault(_Facts, _Facts(pairs, lower, upper, free, read & free))
    return found


def _outside(problem: Problem, rows: Array) -> list[list[str]]:
    """Of each row the names of the joints that are beyond their limits."""
    facts, names = _facts(problem), problem.body.joint_names
    far = (rows < facts.lower) | (rows > facts.upper)
    if not far.any():
        return [[]] * len(rows)
    return [[names[k] for k in np.flatnonzero(row)] for row in far]


def _moving(
    problem: Problem, start: Array, goals: Array, joints: Sequence[str] | None, read: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Which joints move."""
    facts = _facts(problem)
    differ = (goals != start).any(axis=0)
    if joints is None:
        return np.flatnonzero((read | differ) & facts.free if read.any() else facts.free)
    names = problem.body.joint_names
    given = several(joints, ProblemError, "plan: joints", "['panda_joint1']")
    moving = np.zeros(problem.body.dof, dtype=bool)
    moving[[problem.body.index(name) for name in given]] = True
    locked, stays = moving & ~facts.free, differ & ~moving
    if locked.any():
        raise ProblemError(f"plan: {listed([names[k] for k in np.flatnonzero(locked)])} cannot move, being locked.")
    if stays.any():
        raise ProblemError(
            f"plan: {listed([names[k] for k in np.flatnonzero(stays)])} must move from the start to the goal. Name it among "
            "`joints`."
        )
    return np.flatnonzero(moving)


def _range(problem: Problem, moving: NDArray[np.int64], start: Array, goals: Array) -> tuple[Array, Array]:
    """Where postures are drawn from: the limits, of joints that may turn round no farther than half a turn beyond the ends."""
    facts = _facts(problem)
    low, high = np.minimum(start, goals.min(axis=0)), np.maximum(start, goals.max(axis=0))
    lower, upper = facts.lower[moving] + WITHIN_LIMITS, facts.upper[moving] - WITHIN_LIMITS
    lower, upper = np.maximum(lower, low - BEYOND), np.minimum(upper, high + BEYOND)
    return np.minimum(lower, low), np.maximum(upper, high)


def _contact(pairs: Pairs, q: Array, why: int, many: int, clearance: float, resolution: float) -> str:
    """What blocks a posture, in a sentence."""
    verdicts, names = pairs.check(np.array([q, q]), np.zeros((1, q.size)), {}, clearance + resolution, RESOLUTION)
    who = (
        "The start"
        if why == START_BLOCKED
        else "The goal"
        if many == 1
        else f"None of the {many} goals is free. The first"
    )
    if verdicts["pair"][0] < 0:
        return f"{who} is in contact."
    pair = int(verdicts["pair"][0])
    one, two = names.pairs()[pair]
    least, over = names.required[pair] - resolution, float(verdicts["seen"][0]) + resolution
    if over >= 0.0:
        kept = f"keep {amount(least, 'm')} by no more than" if least > 0.0 else "are apart by"
        return (
            f"{who} leaves no room: {one} and {two} {kept} {amount(over, 'm')}, less than the resolution of "
            f"{amount(resolution, 'm')}."
        )
    if least > 0.0:
        lacking, wanted = amount(-over, "m"), amount(least, "m")
        return f"{who} is not free: {one} and {two} are closer by {lacking} than the {wanted} that they keep."
    return f"{who} is in contact: {one} is {amount(-over, 'm')} deep in {two}."
