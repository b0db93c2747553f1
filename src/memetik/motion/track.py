"""Following targets over time: a joint path for targets that move, without jumps."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.errors import ProblemError
from memetik.export import Table, TableColumns, by_name, joint_trajectory
from memetik.geometry.checks import flag, real_number
from memetik.kernels.body.balls import angle_between
from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.problem.budget import EVALUATIONS
from memetik.kernels.problem.path import judge_path
from memetik.kernels.problem.verify import REACHED
from memetik.kernels.tracking.pieces import scaled_change
from memetik.kernels.tracking.tracking import JUMPED, Path, track_targets
from memetik.motion.between import MotionCheck, check_motion
from memetik.motion.retime import WITHIN, Limits, limits_of, retime
from memetik.motion.smooth import rough_steps, smoothed, step_lengths
from memetik.motion.trajectory import Trajectory
from memetik.motion.whole_path import PathSearch, scaled_changes
from memetik.objectives import Objective, Pose
from memetik.objectives.framed import Framed
from memetik.problem import Problem, require_problem
from memetik.problem.columns import Columns, copy_problem, target_columns
from memetik.problem.compile import Compiled
from memetik.problem.scratch import Scratch
from memetik.problem.seed import checked_seed
from memetik.rich import Rich
from memetik.solution import Solution, Status
from memetik.solution.solution import reported
from memetik.solvers import Memetic, Solver
from memetik.solvers.budget import Budget, checked_budget, refuse_generations
from memetik.solvers.memetic_plan import memetic_plan
from memetik.solvers.registry import answer_of, chosen
from memetik.types import Array

__all__ = ["Track", "track"]

PER_STEP = Budget(evaluations=2_000)
RATE, JUMP = 100.0, 0.5  # steps per second, and rad or m from step to step, unless told otherwise
LEAST = 20  # evaluations for each step, with which the whole path can be searched
# Guides whose targets move are followed as if they had tolerances where they jump or are farther off than OFF [m or rad]: to MET,
# and the path is taken if its guides cost at most so much more.
OFF, MET, MORE = 1e-3, 1e-6, 1.01
TOLERANCES = "position_tolerance", "orientation_tolerance"
STILL = 1e-6  # rad or m that a joint may change by whose limit of velocity is zero
CLOSED = 1e-9  # by how much numbers of the first and the last targets of a closed path may differ
EDGE = 0.1  # paths that leave the workspace miss as many steps if the numbers differ by less than this share of the smaller one


@dataclass(frozen=True, repr=False)
class Track(Table, Rich):
    """A joint vector for every step of the path, and what became of each step."""

    problem: Problem
    q: Array  # (steps, dof)
    status: NDArray[np.int64]  # of each step, as in Status; not a truth value, so ask `reached` instead
    jumped: NDArray[np.bool_]  # steps whose solution lies far from the one before because none nearer was found
    errors: dict[Objective, Array]  # (steps,) for each objective, (steps, 2) for a pose
    rate: float  # steps per second
    evaluations: int
    seconds: float  # what it took to compute [s], without what kernels took to compile
    compile_seconds: float = 0.0  # what it took besides to compile kernels or load them from disk [s]
    trajectory: Trajectory | None = (
        None  # the steps in the least time, if limits of velocity or acceleration were asked for
    )
    between: MotionCheck | None = None  # what the motions from each step to the next meet, if that was asked for

    @property
    def reached(self) -> NDArray[np.bool_]:
        """(steps,) Whether the status is REACHED: there are objectives with a tolerance, and every one is within it."""
        return np.asarray(self.status == REACHED)

    @property
    def reconfigurations(self) -> NDArray[np.int64]:
        """The steps that the joints cannot get to from the step before without leaving the path, in order: those that jumped."""
        return np.flatnonzero(self.jumped)

    @property
    def success(self) -> bool:
        """Whether no step misses a tolerance and none jumps, and, if that was asked for, all motions between them are proved to
        be free of contact; the track itself is true then, too. With guides only nothing can be missed: see `errors`."""
        missed = (self.status == Status.CLOSEST) | (self.status == Status.INVALID)
        return bool(not missed.any() and not self.jumped.any() and (self.between is None or self.between))

    def __bool__(self) -> bool:
        return self.success

    @property
    def times(self) -> Array:
        """When each step is due [s]: by the rate, or within limits of velocity and acceleration if there is a trajectory."""
        return np.arange(len(self.q)) / self.rate if self.trajectory is None else self.trajectory.times

    def to_columns(self) -> TableColumns:
        """A row for each step: its time [s], whether it is reached and whether it jumped, and the value of every joint."""
        first = {"time": self.times, "reached": self.reached, "jumped": self.jumped}
        return {**first, **by_name(self.problem.body.joint_names, self.q)}

    def to_joint_trajectory(self) -> dict[str, Any]:
        """In the shape of ROS's trajectory_msgs/JointTrajectory, as plain dicts: with velocities and accelerations if the
        track has a trajectory, which keeps limits. `body.to_qpos(track.q)` are MuJoCo's."""
        names = self.problem.body.joint_names
        if self.trajectory is not None:
            return self.trajectory.to_joint_trajectory(names)
        return joint_trajectory(names, self.times, self.q)

    @property
    def largest_step(self) -> float:
        """The largest change of a joint from one step to the next [rad or m]; of a ball the angle by which it turns.

        A ball is a spherical or floating joint whose angles nothing holds apart (docs/solving.md): its angles may change by
        half a turn where its rotation hardly changes at all.
        """
        return _largest_step(self.problem.compiled, self.q)

    def check_motion(
        self, targets: Mapping[Objective, ArrayLike] | None = None, *, clearance: float = 0.0, resolution: float = 1e-4
    ) -> MotionCheck:
        """Whether the motions from each step to the next are free of contact (see mk.motion.check_motion).

        targets: those of the track, if obstacles are among them.
        """
        return check_motion(self.problem, self.q, targets=targets, clearance=clearance, resolution=resolution)

    def retime(
        self, *, velocity: Limits = None, acceleration: Limits = None, jerk: Limits = None, within: float = WITHIN
    ) -> Trajectory:
        """The same postures in the least time within limits of velocity and acceleration, from rest to rest (TOPP-RA).

        velocity [rad/s or m/s], acceleration [rad/s^2 or m/s^2]: one number for all joints, one for each, or some by name.
        None is what the body says, and 1 where it says nothing: URDF has no accelerations.
        jerk [rad/s^3 or m/s^3]: the same, None for no limit. The trajectory with the other limits is averaged over a window of
        time, as mk.motion.Follower does it, and takes longer by it. Each joint then passes the postures within a distance,
        `within` [rad or m]; where the averages would be farther off, joints accelerate less.
        Between steps the joints follow cubic splines, which pass through every step and stay within the limits of the joints.
        The limits hold at every moment, so also for differences of samples at any rate. A step that jumped
        becomes a movement, in which nothing but the limits is kept.
        """
        return retime(self.problem.body, self.q, velocity, acceleration, jerk, within)

    def __repr__(self) -> str:
        reached, jumps = f"{self.reached.sum()} of {len(self.q)} steps reached", int(self.jumped.sum())
        if self.problem.compiled.only_guides:
            reached = f"{len(self.q)} steps, guides only: nothing could be missed"
        if self.between is not None:
            reached += f", {self.between.free.sum()} of {len(self.q) - 1} motions between them free"
        return f"<Track: {reached}, {jumps} jumps, {self.seconds / max(len(self.q), 1) * 1e6:.1f} us a step>"


def track(
    problem: Problem,
    targets: Mapping[Objective, ArrayLike],
    start: ArrayLike | None = None,
    *,
    method: str | Solver = "memetic",
    budget: Budget = PER_STEP,
    seed: int = 0,
    rate: float | None = None,
    jump: float | None = None,
    velocity: Limits = None,
    acceleration: Limits = None,
    closed: bool = False,
    smooth: bool = False,
    between: bool = False,
) -> Track:
    """Follow targets over time, each step from the solution of the last one, and the whole path at once where that loses it.

    Where a step cannot be reached from the last one, or only by a jump, "memetic" searches the whole path (docs/trajectories.md):
    for a way that meets all targets without jumps, else for the one with the fewest (`reconfigurations` of the result).
    targets: for each moving objective an array with one target a step, as its `target` takes them.
    start: the home of the body unless given. If it is given and no joint is farther than `jump` from the first posture, the arm
    stands at the beginning of the path, and the first posture stays. Otherwise the search may begin with any posture that
    meets the first targets, and takes those near the start first.
    method: as for `solve`. Only "memetic" looks for another solution before it jumps; any other one is taken at its word, one
    solve a step.
    budget: for each step; what steps leave, the search of the whole path may use.
    rate: steps per second, for the times of the result; 100 unless given.
    jump: a joint may change by this from step to step [rad or m], a ball by this angle, whatever its three values do. A
    solution farther away is taken only if none nearer is found, and `jumped` says so. Unless given it is 0.5; with a rate and
    a velocity it is what each joint may change by in a step: velocity / rate.
    velocity, acceleration: limits of the joints, as for `Track.retime`. If either is given, `trajectory` holds the steps in the
    least time within both, and `times` are those.
    closed: end in the posture in which the path begins, turns of joints included; the last targets must be the first ones. Where
    no such way is found, the last step jumps there.
    smooth: where targets cannot be met and the path would jump, as around an obstacle on the way, bend the steps before and
    after it, too, so that the path passes evenly: no frame with moving targets takes a step of more than twice its mean. Steps
    that leave their targets for it are CLOSEST. Objectives whose targets do not move, such as distances, hold at every step.
    Where no such path is found, the jump stays and `jumped` says so.
    between: check the motion from each step to the next, too (see mk.motion.check_motion): `between` of the result says which are
    proved to be free of contact, and the track is a success only if all are. With `smooth`, stretches around motions that
    are not free are tried again like those that jump, and a smooth stretch is taken only if its motions are free. What no step
    comes near, such as a thin wall between two of them, no stretch can evade: take smaller steps.

    Where a Displacement is all that guides, the targets are followed without it, too, and the calmer of both paths is the answer:
    the one that misses fewer steps, and of two that miss as many the one with the smaller largest step. Where targets leave the
    workspace, a few steps more or less at its edge (a tenth of those that both miss) count as many.
    """
    require_problem(problem, "track")
    allowed = _allowed(problem, rate, jump, velocity)
    rate = RATE if rate is None else float(rate)
    closed = flag(closed, ProblemError, "track: closed")
    seed, budget, smooth = (
        checked_seed(seed),
        checked_budget(budget, "track", generations=True),
        flag(smooth, ProblemError, "track: smooth"),
    )
    between = flag(between, ProblemError, "track: between")
    begin = time.perf_counter()
    q = problem.start(start)
    solver = chosen(method, seed, "track")
    columns = target_columns(problem, targets, "track")
    if len(columns.rows) == 0:
        raise ProblemError("track: every objective needs at least one target.")
    if closed and not np.allclose(columns.rows[0], columns.rows[-1], rtol=0.0, atol=CLOSED):
        raise ProblemError(
            "track: closed=True needs targets that end where they begin; the last ones differ from the first."
        )
    how = _How(start is not None, closed)
    steps = _steps(problem, columns, q, solver, budget, allowed, how)
    if problem.compiled.only_guides and isinstance(solver, Memetic):
        steps = _exact(problem, targets, columns, q, steps, solver, budget, allowed, how)
    if problem.compiled.displacement_only:
        steps = _calmer(problem, columns, q, steps, solver, budget, allowed, how)
    between = between and len(columns.rows) > 1  # a single step leads nowhere
    checked = check_motion(problem, steps.path, targets=targets) if between else None
    if smooth:
        steps = _smoothed(problem, targets, columns, steps, float(allowed.max()), checked)
        checked = check_motion(problem, steps.path, targets=targets) if between else None
    errors = [steps.errors[:, owner] for owner in problem.compiled.owners]
    single = [each[:, 0] if each.shape[1] == 1 else each for each in errors]
    named = dict(zip(problem.objectives, single, strict=True))
    timed = (
        None if velocity is None and acceleration is None else retime(problem.body, steps.path, velocity, acceleration)
    )
    statuses = np.array([reported(problem, status) for status in steps.statuses.tolist()], dtype=np.int64)
    return Track(
        problem, steps.path, statuses, steps.jumped, named, rate, steps.evaluations, *split_time(begin), timed, checked
    )  # fmt: skip


class _How(NamedTuple):
    """What else is asked of a path."""

    fixed: bool  # whether a start was given, at which the path stays if it begins there
    closed: bool  # whether it ends where it begins
    meets_all: bool = False  # whether the path is of no use if a step is out of reach


class _Steps(NamedTuple):
    """What following a path gives, a row for each step."""

    path: Array  # (steps, dof)
    errors: Array  # (steps, terms)
    statuses: NDArray[np.int64]
    jumped: NDArray[np.bool_]
    evaluations: int


def _allowed(problem: Problem, rate: object, jump: object, velocity: Limits) -> Array:
    """By how much each joint may change from step to step [rad or m]."""
    given = {"rate": rate, "jump": jump}
    known = {
        name: real_number(value, ProblemError, f"track: {name}") for name, value in given.items() if value is not None
    }
    if any(not value > 0.0 for value in known.values()):
        said = " and ".join(f"{name} ({value})" for name, value in known.items())
        raise ProblemError(f"track: {said} must be above zero.")
    if "jump" in known or "rate" not in known or velocity is None:
        return np.full(problem.body.dof, known.get("jump", JUMP))
    return np.maximum(limits_of(problem.body, velocity, "velocity") / known["rate"], STILL) * (1.0 + 1e-9)


def _largest_step(c: Compiled, q: Array) -> float:
    """The largest change of a joint from one row to the next [rad or m], of a ball the angle by which it turns."""
    single = np.ones(q.shape[1], dtype=bool)
    single[c.active[c.variables["ball"] != 0]] = False
    largest = float(np.abs(np.diff(q[:, single], axis=0)).max(initial=0.0))
    rows = np.ascontiguousarray(q[:, c.active])
    for ball in c.balls:
        for before, after in pairwise(rows):
            largest = max(largest, float(angle_between(ball, before, after)))
    return largest


def _steps(
    problem: Problem, columns: Columns, q: Array, solver: Solver, budget: Budget, allowed: Array, how: _How
) -> _Steps:
    """Each step from the solution of the last one; "memetic" searches the whole path where that loses it."""
    if isinstance(solver, Memetic):
        refuse_generations(budget, "memetic")
        return _followed(problem, columns, q.copy(), solver, budget, allowed, how)
    return _stepped(problem, columns, q, solver, budget, allowed)


def _calmer(
    problem: Problem,
    columns: Columns,
    q: Array,
    guided: _Steps,
    solver: Solver,
    budget: Budget,
    allowed: Array,
    how: _How,
) -> _Steps:
    """The steps, or those that the targets alone lead to, if these are calmer.

    With guides that want small changes, each step is no longer than without them from the same posture. But it also decides from
    which posture the next one begins, and what it saves may cost more there: a step that ends at the edge of a tolerance leaves
    the rest of its way to the next.
    """
    c = problem.compiled
    wanted = [o for o, owned in zip(problem.objectives, c.owners, strict=True) if not c.terms[owned]["soft"].all()]
    alone = Problem(problem.body, wanted, lock=problem.lock, limits=problem.limits, root=problem.root)
    unguided = _steps(alone, columns.of(alone), q, solver, budget, allowed, how)
    evaluations = guided.evaluations + unguided.evaluations

    if not _is_calmer(c, unguided, guided):
        return guided._replace(evaluations=evaluations)
    judged = _judged(problem, columns, q, unguided.path, evaluations)
    return judged._replace(statuses=unguided.statuses, jumped=unguided.jumped)


def _exact(
    problem: Problem, targets: Mapping[Objective, ArrayLike], columns: Columns, q: Array, guided: _Steps, solver: Memetic,
    budget: Budget, allowed: Array, how: _How,
) -> _Steps:  # fmt: skip
    """The steps, or where these jump or leave a target, those that meet the targets as if they had tolerances, if that is better.

    Guides lead from minimum to minimum, and the first one decides in which branch the path begins. With tolerances the path is
    searched as a whole.
    """
    c, count = problem.compiled, len(columns.rows)
    moving = [objective in targets for objective in problem.objectives]
    off = [guided.errors[:, owned] > OFF for owned, moves in zip(c.owners, moving, strict=True) if moves]
    left = (count * budget.evaluations - guided.evaluations) // count
    if c.has_levels or left < LEAST or not (guided.jumped.any() or any(map(np.any, off))):
        return guided
    own, _ = copy_problem(problem, [])
    wanted: dict[Objective, ArrayLike] = {}
    for objective, other, moves in zip(problem.objectives, own.objectives, moving, strict=True):
        if moves:
            wanted[other] = targets[objective]
            for name in TOLERANCES if isinstance(other, Pose) else ("tolerance",):
                setattr(other, name, MET)
    found = _followed(
        own, target_columns(own, wanted, "track"), q.copy(), solver, dataclasses.replace(budget, evaluations=left), allowed,
        how._replace(meets_all=True),
    )  # fmt: skip
    evaluations = guided.evaluations + found.evaluations
    if (found.statuses != REACHED).any() or found.jumped.sum() > guided.jumped.sum():
        return guided._replace(evaluations=evaluations)
    judged = _judged(problem, columns, q, found.path, evaluations)._replace(jumped=found.jumped)
    costs = [float(np.square(steps.errors * c.terms["scale"]).sum()) for steps in (judged, guided)]
    return judged if costs[0] <= MORE * costs[1] + count * MET else guided._replace(evaluations=evaluations)


def _is_calmer(c: Compiled, one: _Steps, other: _Steps) -> bool:
    """Whether one path is better to take than another: it misses fewer steps, or as many with smaller steps or fewer jumps."""
    missed, less = (int((steps.statuses != REACHED).sum()) for steps in (one, other))
    if abs(missed - less) > EDGE * min(missed, less):
        return missed < less
    unrest = [(_largest_step(c, steps.path), int(steps.jumped.sum())) for steps in (one, other)]
    return unrest[0] < unrest[1]


def _followed(
    problem: Problem, columns: Columns, origin: Array, solver: Memetic, budget: Budget, allowed: Array, how: _How
) -> _Steps:
    """Each step from the last one in one kernel (kernels/tracking/tracking.py), and where that loses the path, the whole path."""
    c, count = problem.compiled, len(columns.rows)
    jump = float(allowed.max())
    path = Path(
        columns.places,
        columns.rows,
        np.empty((count, origin.size)),
        np.zeros((count, c.terms.size)),
        np.zeros(count, dtype=np.int64),
        jump / allowed[c.active],
    )
    seconds = budget.seconds if budget.seconds < math.inf else 0.0
    plan = memetic_plan(c)
    plan.complete_track()
    scratch = plan.lease(budget.token)
    scratch.forget_surfaces()
    spent = 0
    search: PathSearch | None = None

    def follow(first: int, until_lost: bool) -> int:
        """Follow the targets from a step on. Returns the step that is lost, or how many there are."""
        nonlocal spent
        q = path.q[first - 1].copy() if first > 0 else origin.copy()
        left = count * budget.evaluations - spent - (0 if search is None else search.evaluations)
        most = min(budget.evaluations, max(left // max(count - first, 1), 1))
        lost = track_targets(
            scratch.table, path._replace(first=first, until_lost=until_lost), plan.attempt_along, plan.slide, q, scratch.outcome,
            solver.seed, most, seconds, jump,
        )  # fmt: skip
        problem.raise_faults(scratch.clock)
        spent += int(scratch.outcome[EVALUATIONS])
        return int(lost)

    searches = count > 1 and not c.only_guides and budget.evaluations >= LEAST
    lost = follow(0, searches)
    data = scratch.arrays.problem.data.copy()  # what is assigned meanwhile counts for the next track
    way = None
    if lost < count or (searches and how.closed and bool((path.q[-1] != path.q[0]).any())):
        near = scaled_change(path.q[0][c.active], origin[c.active], path.ratio, c.variables, c.balls) <= jump
        search = PathSearch(
            problem, plan, columns, origin, data, jump=jump, ratio=path.ratio,
            rooted=path.q[0][c.active].copy() if how.fixed and near and lost > 0 else None, closed=how.closed,
            evaluations=(count * budget.evaluations - spent) // 2, seconds=count * budget.seconds, token=budget.token,
            seed=solver.seed,
        )  # fmt: skip
        out_of_reach = False
        while lost < count and not search.reaches(lost, path.q[lost], (lost + 1) * budget.evaluations - spent):
            out_of_reach = True
            if how.meets_all:
                search.close()
                return _Steps(path.q, path.errors, path.statuses, path.statuses == JUMPED, spent + search.evaluations)
            lost = follow(lost + 1, True) if lost + 1 < count else count
        if not out_of_reach:
            way = search.best()
        if way is None or way.jumps > 0:
            if lost + 1 < count:
                follow(lost + 1, False)
            missed = (path.statuses != REACHED) & (path.statuses != JUMPED)
            ends = np.flatnonzero(missed & ~np.append(missed[1:], False))
            if lost < count or any(
                search.reaches(step, path.q[step], count * budget.evaluations - spent) for step in ends.tolist()
            ):
                search.add(path.q, missed)
                way = search.best() if out_of_reach else search.chained()
        spent += search.evaluations
        search.close()
    plan.give_back(scratch)
    jumped = path.statuses == JUMPED
    path.statuses[jumped] = REACHED
    greedy = _Steps(path.q, path.errors, path.statuses, jumped, spent)
    if way is None:
        return greedy
    q = np.tile(origin, (count, 1))
    q[:, c.active] = way.x
    found = _judged(problem, columns, origin, q, spent, data)
    changes = scaled_changes(way.x, path.ratio, c.variables, c.balls)
    found = found._replace(jumped=np.append(False, changes > jump) & (found.statuses == REACHED))
    return found if (way.jumps == 0 or _failures(found) <= _failures(greedy)) else greedy


def _failures(steps: _Steps) -> tuple[int, int]:
    """How many steps miss their targets, and how many jump."""
    return int((steps.statuses != REACHED).sum()), int(steps.jumped.sum())


def _judged(
    problem: Problem, columns: Columns, origin: Array, path: Array, evaluations: int, data: Array | None = None
) -> _Steps:
    """A path as it stands, with the errors and the status of each step and none that jumps."""
    c = problem.compiled
    scratch = Scratch(c, data)
    rows, path = np.concatenate([columns.rows[:1], columns.rows]), np.concatenate([origin[np.newaxis], path])
    errors, statuses = np.zeros((len(path), c.terms.size)), np.zeros(len(path), dtype=np.int64)
    judge_path(scratch.table, columns.places, rows, path, errors, statuses, scratch.outcome)
    problem.raise_faults(scratch.clock)
    return _Steps(path[1:], errors[1:], statuses[1:], np.zeros(len(path) - 1, dtype=bool), evaluations)


def _stepped(problem: Problem, columns: Columns, q: Array, solver: Solver, budget: Budget, allowed: Array) -> _Steps:
    """One solve a step by any other method, from where the last step ended."""
    c, jump = problem.compiled, float(allowed.max())
    ratio = jump / allowed[c.active]
    solutions: list[Solution] = []
    jumped: list[bool] = []
    for step in columns.problems(problem):
        solution = answer_of(solver, step, q, budget)
        far = scaled_change(solution.q[c.active], q[c.active], ratio, c.variables, c.balls) > jump
        jumped.append(bool(solutions) and solution.success and far)
        solutions.append(solution)
        q = solution.q if solution.status != Status.INVALID else q
    return _Steps(
        np.array([solution.q for solution in solutions]),
        np.array([solution.term_errors for solution in solutions]),
        np.array([REACHED if solution.success else int(solution.status) for solution in solutions]),
        np.array(jumped),
        sum(solution.evaluations for solution in solutions),
    )


def _smoothed(
    problem: Problem, targets: Mapping[Objective, ArrayLike], columns: Columns, steps: _Steps, jump: float,
    checked: MotionCheck | None,
) -> _Steps:  # fmt: skip
    """The steps with smooth stretches where they jumped around what could not be met, or were `checked` and not free."""
    body = problem.body
    frames = [objective.frame for objective in targets if isinstance(objective, Framed)]
    bad = (steps.statuses != REACHED) | steps.jumped

    def tips(path: Array) -> list[Array]:
        return [body.forward(path, frame)[:, :3, 3] for frame in frames]

    met = ~(bad[1:] | bad[:-1])  # where a frame moves as its targets do
    usual = [float(step_lengths(tip)[met].max(initial=0.0)) for tip in tips(steps.path)]

    def uneven(path: Array) -> NDArray[np.bool_]:
        rough = rough_steps(tips(path), usual, path, jump)
        return rough if checked is None else rough | ~check_motion(problem, path, targets=targets).free

    if checked is not None:
        bad[1:] |= ~checked.free
        bad[:-1] |= ~checked.free
    found = smoothed(problem, targets, columns, steps.path, bad, uneven)
    if not found.changed:
        return steps
    far = np.append(False, np.abs(np.diff(found.q, axis=0)).max(axis=1) > jump)
    return _Steps(found.q, found.errors, found.statuses, far & (found.statuses == REACHED), steps.evaluations)
