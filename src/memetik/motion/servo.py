"""A control loop that keeps every limit: targets in, a joint vector out, once a tick."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import ProblemError, shown
from memetik.geometry.checks import flag, real_number
from memetik.kernels.compiler.function_pointers import lasting_address
from memetik.kernels.compiler.second_compiler import compile_ahead
from memetik.kernels.problem.budget import EVALUATIONS, TIMED_OUT
from memetik.kernels.problem.function_pointers import ATTEMPT
from memetik.kernels.problem.verify import ENDED
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.search.descent import attempt as attempt_unguided
from memetik.kernels.servo.contacts import forget_distances
from memetik.kernels.servo.record import MOVER, PACE, ServoArrays
from memetik.kernels.servo.tick import TICK, TICK_PARTS, TICK_POSE, least_distance, tick_pose_servo, tick_servo
from memetik.kernels.terms.function_pointers import WRITE_POSE
from memetik.kernels.terms.targets import write_pose_target
from memetik.motion.contacts import contact_arrays, group_name
from memetik.motion.follower import checked_rate
from memetik.motion.rate_limits import AT_ONCE, Limits, rate_limits, windows_of
from memetik.objectives import Objective, Pose, pose_target
from memetik.objectives.objective import Target
from memetik.problem import Problem, require_problem
from memetik.problem.columns import copy_problem
from memetik.problem.compile import WIDE
from memetik.problem.contact_free import blocking_contacts
from memetik.solution import Solution, Status
from memetik.solution.solution import Errors
from memetik.solvers.budget import Budget, checked_budget
from memetik.solvers.memetic_plan import memetic_plan
from memetik.types import Array

_ARRAY, _FLOAT, _SHAPE = np.ndarray, np.dtype(np.float64), (4, 4)

TIGHT = 1e-3  # of a tolerance: what the goal is brought within, so that it does not wait until the target has left it
HELD = 1e-6  # rad or m; a joint this near to a value can be locked there
EVALUATIONS_A_TICK = 50
# What a servo keeps when its problem is compiled again.
KEPT = (
    "q", "velocity", "mean", "history", "counts", "posture", "posture_velocity", "goal", "aim_before", "aim_step",
    "goal_last", "goal_step", "tremble", "trend", "halfway", "aim",
)  # fmt: skip


class Servo:
    """Follows moving targets within velocity, acceleration and position limits and free of contacts, one call a tick.

        servo = mk.Servo(problem, start=q, rate=1000)
        q = servo.step({pose: target})  # a thousand times a second

    For the vectors that are returned, whatever the targets do,

        v_k = (q_k - q_k-1) rate        |v_k| <= velocity
        a_k = (v_k - v_k-1) rate        |a_k| <= acceleration
        j_k = (a_k - a_k-1) rate        |j_k| <= jerk

    and a joint is never so fast that it could not stop before its limits. Each tick refines a goal posture for the
    targets, from the goal before, and the joints go after it. A goal that moves smoothly and no faster than the joints
    can is followed without lag. Where targets are out of reach, the goal is the closest posture around. Where it misses
    what another posture satisfies, a search in the background finds that, and the joints move there within their
    limits. Objectives without a tolerance move the goal smoothly, as far as those with one leave it free.

    `Distance` and `SelfDistance` with a tolerance are constraints of every tick: pairs that are apart stay so, with their
    clearance, the joints slide along what is in the way, and what is too close is brought apart. The world is read
    at every tick: obstacles that move, come and go, the root, limits, locks and weights. docs/servo.md says what is
    guaranteed and what is not. `distance`, `limited_by` and `braking` tell.

    Targets may jump. One that is NaN, infinite or not a rotation does not count: the last good one does, and `held`
    names the objective. An objective that a call leaves out keeps its last target, and None releases it until it has a
    target again; with all released, the joints brake and rest. The targets are the servo's own, `objective.target` is
    only the first of each.

    start: where the joints are, at rest (the body's home unless given).
    rate: ticks a second [1/s].
    velocity, acceleration, jerk: one number for all joints, some by name, or an array; what is not given is the body's
    own, or a default (see mk.motion.Follower). An acceleration or a jerk of infinity is no limit. A limit on jerk averages the
    motion over 2 acceleration / jerk seconds, by half of which the joints are late.
    response: the rest of the way shrinks by 1/e in this time at the quickest [s]. 0 brakes as late as can be; more is
    smoother where targets are noisy or come less often than ticks. A goal that moves smoothly is followed without lag
    all the same.
    synchronise: joints move in proportion and arrive together, so that a tip goes a sensible way to a far target.
    reconfigure: whether the search in the background runs, for postures on other branches and for ways around obstacles;
    without it the joints stay on their branch, even where that ends.
    budget: of each tick; 50 evaluations and the time of a tick unless given. The search has the evaluations, and half of
    the time. When nine tenths of the time are over, no other motion is tried to keep things apart, and the joints brake.
    As ever, evaluations are deterministic and time is not.

    A servo is for one thread.
    """

    def __init__(
        self,
        problem: Problem,
        start: ArrayLike | None = None,
        *,
        rate: float = 1000.0,
        velocity: Limits = None,
        acceleration: Limits = None,
        jerk: Limits = None,
        response: float = 0.01,
        synchronise: bool = True,
        reconfigure: bool = True,
        budget: Budget | None = None,
    ) -> None:
        require_problem(problem, "Servo")
        self.problem, self.rate = problem, checked_rate(rate, "Servo")
        limits = rate_limits(problem.body, velocity, acceleration, jerk, "Servo")
        self.velocity_limit, self.acceleration_limit, self.jerk_limit = limits
        self._windows = windows_of(limits, self.rate, "Servo")
        self.response = real_number(response, ProblemError, "Servo: response")
        if not 0.0 <= self.response < math.inf:
            raise ProblemError(f"Servo: response is {self.response}. Give seconds, zero or more.")
        self.synchronise = flag(synchronise, ProblemError, "Servo: synchronise")
        if self.synchronise:
            self._windows[:] = self._windows.max(initial=1)
        self.reconfigure = flag(reconfigure, ProblemError, "Servo: reconfigure")
        usual = Budget(evaluations=EVALUATIONS_A_TICK, seconds=1.0 / self.rate)
        self.budget = usual if budget is None else checked_budget(budget, "Servo")
        self._held: dict[Objective, None] = {}
        self._make(problem.start(start))
        self._idle = [self]  # empty while a step is taken; to take from a list is a single step to all threads

    def step(self, targets: Mapping[Objective, Any] | None = None) -> Array:
        """One tick: where the joints are to be at its end, for a target of each objective as its `target` takes it."""
        try:
            self._idle.pop()
        except IndexError:
            raise ProblemError(
                f"{self!r} takes a step already, in another thread. Let each thread have its own."
            ) from None
        try:
            if self._compiled is not self.problem.compiled:
                self._make_again()
            # Most loops have one pose and say its target as an array: all in one crossing.
            if self._pose is not None and type(targets) is dict and len(targets) == 1:
                ((objective, target),) = targets.items()
                if (
                    objective is self._pose and not self._released and type(target) is _ARRAY
                    and target.dtype is _FLOAT and target.shape == _SHAPE and target.flags.carray
                ):  # fmt: skip
                    status = tick_pose_servo(self._table, target)
                    if status >= 0:
                        self._status = status
                        if self._held:
                            self._held.clear()
                    else:
                        self._status = -status % 8
                        self._held[objective] = None
                    return self._answer()
            if targets:
                self._retarget(targets)
            return self._tick()
        finally:
            self._idle.append(self)

    def reset(self, q: ArrayLike | None = None) -> None:
        """Be there at once, at rest (at the body's home unless given); targets stay."""
        start = self.problem.start(q)
        if self._compiled is not self.problem.compiled:
            self._own.q[:] = start
            self._make_again()
        self._place(start)

    @property
    def q(self) -> Array:
        """Where the joints are."""
        return np.array(self._own.posture)

    @property
    def velocity(self) -> Array:
        """How fast they were in the last tick [rad/s or m/s]."""
        return np.array(self._own.posture_velocity)

    @property
    def goal(self) -> Array:
        """The posture that the joints go after."""
        return np.array(self._own.goal)

    @property
    def status(self) -> Status:
        """What the posture that was returned is worth, for the targets of its tick."""
        return self._solution.status

    @property
    def success(self) -> bool:
        """Whether every objective with a tolerance is within it."""
        return self.status == Status.REACHED

    @property
    def goal_status(self) -> Status:
        """What the goal is worth; CLOSEST where the targets seem out of reach."""
        return Status(int(self._own.state[0]["goal_status"]))

    @property
    def errors(self) -> Errors:
        """The error of every objective at the posture that was returned, in its own unit (m, rad), as in a Solution."""
        return Errors(zip(self.problem.objectives, self._solution.errors.values(), strict=True))

    @property
    def distance(self) -> float:
        """The least signed distance of all pairs that are kept apart, at the posture that was returned and in the world as it is
        now [m]; infinite if nothing is near."""
        return float(least_distance(self._table))

    @property
    def limited_by(self) -> tuple[tuple[str, str], ...]:
        """The pairs of link and obstacle, or of two links, that changed the velocities of the last tick."""
        own = self._own.contacts
        state = own.state[0]
        if not state["limited"]:
            return ()
        count = int(state["rows"])
        pulls = own.program.multiplier[: 2 * count].reshape(-1, 2).max(axis=1)
        pairs = own.pairs[own.close[:count]][pulls > 0.0]
        places = dict.fromkeys((int(pair["first"]), int(pair["second"])) for pair in pairs)
        return tuple((group_name(self.problem, one), group_name(self.problem, other)) for one, other in places)

    @property
    def braking(self) -> bool:
        """Whether the last tick braked, since no other motion was found that keeps everything apart."""
        return bool(self._own.contacts.state[0]["braking"])

    @property
    def held(self) -> tuple[Objective, ...]:
        """Objectives whose latest target was NaN, infinite or no rotation, so that an earlier one counts."""
        return tuple(self._held)

    @property
    def released(self) -> tuple[Objective, ...]:
        """Objectives that want nothing at present."""
        return tuple(self._released)

    @property
    def evaluations(self) -> int:
        """How often the last tick placed the body in its search."""
        return int(self._own.search_outcome[EVALUATIONS])

    @property
    def timed_out(self) -> bool:
        """Whether time ended the search of the last tick, or its looks at contacts."""
        return bool(self._own.search_outcome[TIMED_OUT])

    @property
    def switches(self) -> int:
        """How often the search in the background has found a better goal elsewhere."""
        return int(self._own.state[0]["switches"])

    def __reduce__(self) -> Any:
        raise ProblemError(
            f"{self!r} cannot be pickled or copied: it is a control loop in motion. Send servo.problem and servo.q, and make a "
            "new one there, mk.Servo(problem, start=q)."
        )

    def __repr__(self) -> str:
        held = f", {len(self._held)} targets held" if self._held else ""
        return f"<Servo of {self.problem.body.name}: {self.status.name}, {self.rate:g} ticks a second{held}>"

    # ---- The targets -----------------------------------------------------------------------------------------

    def _retarget(self, targets: Mapping[Objective, Any]) -> None:
        """Take targets of any kind; those that are no target at all are refused before any is taken."""
        if not isinstance(targets, Mapping):
            raise ProblemError(f"Servo: targets are {shown(targets)}. Give {{objective: target}}.")
        for objective, target in targets.items():
            twin = self._twins.get(objective) if isinstance(objective, Objective) else None
            if twin is None:
                known = ", ".join(map(repr, self._twins))
                raise ProblemError(
                    f"Servo: {shown(objective)} is not an objective with a target here; these are: {known}."
                )
            if target is None:
                self._held.pop(objective, None)
                self._release(objective, True)
            elif self._takes(objective, twin, target):
                self._held.pop(objective, None)
                self._release(objective, False)
            else:
                self._held[objective] = None

    def _takes(self, objective: Objective, twin: Objective, target: Any) -> bool:
        """Set a target if it is a good one; false if its numbers are bad, an error if it is nothing of the kind."""
        if type(twin) is Pose and type(target) is _ARRAY and target.dtype is _FLOAT and target.shape == _SHAPE:
            return bool(pose_target.write_pose(target, self._data, self._places[objective]) == 0)
        try:
            twin.target = target  # type: ignore[attr-defined]
        except ProblemError:
            try:
                alike = np.asarray(target, dtype=np.float64).shape == np.shape(twin.target)  # type: ignore[attr-defined]
            except Exception:  # whatever the conversion of a stranger's object raises
                alike = False
            if not alike:
                raise
            return False
        return True

    def _release(self, objective: Objective, released: bool) -> None:
        """Let an objective want nothing, or something again."""
        if (objective in self._released) == released:
            return
        owner = self._owners[objective]
        for terms, before in ((self._own.terms, self._users_terms), (self._search_terms, self._tight_terms)):
            terms[owner] = before[owner]
            if released:
                terms["soft"][owner], terms["scale"][owner] = 1, 0.0
        for field in ("soft", "scale"):
            self._own.reach.problem.terms[field] = self._search_terms[field][self._reached_for]
            self._own.reach_terms[field] = self._own.terms[field][self._reached_for]
        if released:
            self._released[objective] = None
        else:
            del self._released[objective]
        state = self._own.state[0]
        state["released"] = int(all(each in self._released for each in self.problem.objectives if each in self._twins))
        state["has_alternative"], state["waited"] = 0, 0.0

    # ---- The arrays ------------------------------------------------------------------------------------------

    def _make(self, q: Array) -> None:
        """All that a tick reads and writes, for the problem as it is now."""
        self._compiled = self.problem.compiled
        own, _ = copy_problem(self.problem, [])
        c = self._copy = own.compiled
        c.record  # noqa: B018 - writes the addresses of the terms, which copies of them need as well
        self._users_terms = c.terms.copy()
        narrow = (c.terms["soft"] == 0) & ~(c.terms["tolerance"] * c.terms["scale"] > WIDE)
        c.terms["tolerance"][narrow] *= TIGHT
        plan = memetic_plan(c, searches=False)
        reach_plan = plan if plan.contact_free is None else plan.contact_free
        kernels = dict.fromkeys((plan.local_search, reach_plan.local_search, attempt_unguided))
        compile_ahead([(tick_pose_servo, TICK_POSE), *((kernel, ATTEMPT) for kernel in kernels)])
        compile_ahead([(tick_servo, TICK)], TICK_PARTS)
        attempt, reach_attempt = plan.attempt, reach_plan.attempt  # with the addresses of the terms
        self._search_terms, self._tight_terms = c.terms, c.terms.copy()
        scratch = self._scratch = plan.lease()  # for good
        scratch.table  # noqa: B018 - makes the arrays
        reach, every = scratch.arrays, np.ones(c.terms.size, dtype=bool)
        self._reached_for = every if scratch.contact_free is None else ~blocking_contacts(c.terms)
        if scratch.contact_free is not None:  # targets and obstacles are the same
            reach = scratch.contact_free.memetic.solve
            reach = reach._replace(problem=reach.problem._replace(data=scratch.arrays.problem.data))
        guides = reach.problem.terms["soft"] != 0
        hard = lasting_address(attempt_unguided, ATTEMPT) if guides.any() and not guides.all() else reach_attempt
        reach_terms = reach.problem.terms.copy()
        reach_terms["tolerance"] = self._users_terms["tolerance"][self._reached_for]
        self._data = scratch.arrays.source
        pairs = list(zip(self.problem.objectives, own.objectives, strict=True))
        self._own_problem = own
        self._owners = dict(zip(self.problem.objectives, c.owners, strict=True))
        self._twins = {given: twin for given, twin in pairs if _has_target(twin)}
        self._places = {
            o: int(c.terms[self._owners[o]][0]["target"]) for o, twin in self._twins.items() if type(twin) is Pose
        }
        # Only one pose has a target.
        alone = len(self._twins) == 1 and len(self._places) == 1 and not scratch.calls_python
        self._pose: Objective | None = next(iter(self._places)) if alone else None
        live = self._compiled.data
        mirrored = np.array(_mirrored(self.problem, self._twins), dtype=np.int64).reshape(-1, 2)
        movers, pace = np.zeros(own.body.dof, dtype=MOVER), np.zeros(1, dtype=PACE)
        longest = int(self._windows.max(initial=1))
        movers["lower"], movers["upper"], movers["realistic"], movers["window"] = own.lower, own.upper, 1, self._windows
        movers["velocity"] = self.velocity_limit
        movers["acceleration"] = np.minimum(self.acceleration_limit, AT_ONCE)
        pace["tick"], pace["response"], pace["together"] = 1.0 / self.rate, self.response, self.synchronise
        contacts = contact_arrays(c, self._users_terms)
        # Guides fade within an attempt, which takes many evaluations at a time.
        slices = len(contacts.pairs) > 0 and not guides.any()
        self._own = allocate(
            ServoArrays, {**plan.sizes, "window": longest}, memetic=scratch.memetic, reach=reach, attempt=attempt,
            reach_attempt=reach_attempt, reach_hard=hard, reach_terms=reach_terms, tick=lasting_address(tick_servo, TICK),
            write=lasting_address(write_pose_target, WRITE_POSE), place=next(iter(self._places.values()), 0),
            most=self.budget.evaluations, reconfigures=self.reconfigure, slices=slices,
            seconds=self.budget.seconds if self.budget.seconds < math.inf else 0.0, averages=longest > 1,
            contacts=contacts, movers=movers, pace=pace, terms=self._users_terms.copy(),
            live=live, mirrored=mirrored, easy=reach.problem.variables.copy(),
        )  # fmt: skip
        self._table = table_of(self._own)
        self._released: dict[Objective, None] = {}
        self._place(q)
        self._tick()  # compiled now, and taken back
        if alone:
            tick_pose_servo(self._table, np.full(_SHAPE, np.nan))
        self._place(q)

    def _make_again(self) -> None:
        """The same after a weight, a tolerance, a limit or a lock has changed; the joints go on as they were."""
        before, twins, released = self._own, self._twins, self._released
        locked = {self.problem.body.index(name): value for name, value in self.problem.lock.items()}
        for k, value in locked.items():
            at = before.posture[k] if abs(before.posture[k] - value) > abs(before.q[k] - value) else before.q[k]
            if abs(at - value) > HELD:
                raise ProblemError(
                    f"Servo: joint {self.problem.body.joint_names[k]!r} is locked at {value:g} and is at {at:g}, "
                    "from where a servo does not jump. Lock it where it is, servo.q, or call servo.reset(q) with a posture "
                    "that has the value."
                )
        targets = {o: twin.target for o, twin in twins.items()}  # type: ignore[attr-defined]
        self._make(before.q.copy())
        for name in KEPT:
            getattr(self._own, name)[:] = getattr(before, name)
        for k, value in locked.items():
            self._own.goal[k] = self._own.aim_before[k] = value
        self._retarget(targets)
        self._retarget(dict.fromkeys(released))

    def _place(self, q: Array) -> None:
        own = self._own
        places = (
            own.q,
            own.mean,
            own.history,
            own.posture,
            own.goal,
            own.aim_before,
            own.goal_last,
            own.halfway,
            own.aim,
        )
        for each in places:
            each[:] = q
        own.velocity[:] = own.posture_velocity[:] = own.aim_step[:] = own.lead[:] = own.drift[:] = 0.0
        own.goal_step[:] = own.tremble[:] = own.trend[:] = 0.0
        own.counts[:] = 0
        released = int(own.state[0]["released"])
        own.state[:] = np.zeros(1, dtype=own.state.dtype)
        own.state[0]["released"] = released
        own.memetic.scratch.used[:] = 0
        forget_distances(own.contacts)
        own.memetic.solve.state[:] = 0  # of the random numbers: the same steps from the same start
        self._status = int(Status.CLOSEST)
        self._measured = False

    def _tick(self) -> Array:
        """One tick for the targets as they are."""
        if self._scratch.calls_python:
            self._scratch.begin(None)
        self._status = tick_servo(self._table)
        return self._answer()

    def _answer(self) -> Array:
        """What a step returns, after raising what a signal handler or a function of the user's raised."""
        self._measured = True
        if self._status == ENDED or self.problem.has_functions:
            self._own_problem.raise_faults(self._scratch.clock)
            self._status = int(Status.CLOSEST) if self._status == ENDED else self._status
        return np.array(self._own.posture)

    @property
    def _solution(self) -> Solution:
        own = self._own
        if not self._measured:  # before the first step: measured for the first targets
            return Solution.of(self._own_problem, own.posture)
        return Solution(self._own_problem, own.posture.copy(), self._status, own.outcome.copy(), 0.0, "servo")


def _mirrored(problem: Problem, retargeted: Iterable[Objective]) -> list[tuple[int, int]]:
    """Return the ranges of a problem's data that may change between ticks, such as those of obstacles and the root, but for the
    targets that are given to each step."""
    given = {
        id(target) for objective in retargeted for target in vars(objective).values() if isinstance(target, Target)
    }
    return [
        (at, at + target.numbers.size)
        for target, at in problem.compiled.targets
        if id(target) not in given and target.numbers.size
    ]


def _has_target(objective: Objective) -> bool:
    return getattr(getattr(type(objective), "target", None), "fset", None) is not None
