"""Control loops: a problem bound to the objectives whose targets move, to be solved once a cycle with next to no Python."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from time import perf_counter
from types import FrameType
from typing import Any

import numpy as np

from memetik.errors import ProblemError, shown
from memetik.geometry.checks import several
from memetik.kernels.compiler.function_pointers import lasting_address, way_in
from memetik.kernels.problem.verify import INVALID, REACHED
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.search.entry import LOCKED, STEP_POSE, UNUSUAL, BoundPose, step_pose
from memetik.kernels.terms.function_pointers import WRITE_POSE
from memetik.kernels.terms.targets import write_pose_target
from memetik.objectives import Objective, Pose
from memetik.objectives.objective import Target
from memetik.problem import Problem, require_problem
from memetik.problem.columns import copy_problem
from memetik.problem.seed import checked_seed
from memetik.solution import Solution, Status
from memetik.solution.solution import SUCCESSES, Errors
from memetik.solvers.budget import DEFAULT, Budget, checked_budget, refuse_generations
from memetik.solvers.memetic import Memetic, later_stages
from memetik.solvers.memetic_plan import memetic_plan
from memetik.solvers.registry import Solver, answer_of, chosen
from memetik.types import Array

_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)


def bind(
    problem: Problem,
    *objectives: Objective,
    method: str | Solver = "memetic",
    budget: Budget = DEFAULT,
    seed: int = 0,
) -> Step:
    """Make ready to solve a problem once a cycle, for new targets of these objectives: q = step(target, q).

    method, budget, seed: as for `solve`, the same for every step.
    """
    return Step(problem, objectives, chosen(method, checked_seed(seed, "bind"), "bind"), budget)


class Step:
    """One cycle of a control loop, made by `mk.bind`.

        step = mk.bind(problem, pose)
        q = step(target, q)  # the answer of mk.solve(problem, q) where pose.target is target, bit for bit

    A step takes a target for each bound objective, in their order and as `objective.target` takes it, and perhaps where to
    start: from its last answer unless given, and from the body's home before there is one. What it returns is verified as
    every solution is, and `success`, `status` and `errors` say what it is worth. What `solve` refuses it refuses in the same
    words, and is then as it was before.

    The targets are its own: `objective.target` neither counts nor changes. All else is the problem's as it is at each
    step: weights and tolerances, which take a moment to compile when they change, and targets that are not bound.

    A step is for one thread. Any number of threads may bind the same problem, each for itself; one that calls a step that
    another is taking gets an error.

    A step can be pickled, with its problem: in another process it goes on from the same last answer.
    """

    def __init__(self, problem: Problem, objectives: Sequence[Objective], method: Solver, budget: Budget) -> None:
        require_problem(problem, "bind")
        self.problem, self.objectives = problem, _bound(problem, objectives)
        self.method, self.budget = chosen(method, 0, "bind"), checked_budget(budget, "bind", generations=True)
        self._way = self._ready()
        self._taker: dict[
            str, FrameType
        ] = {}  # the call that takes a step; `setdefault` is a single step to all threads

    def __call__(self, *given: Any) -> Array:
        """The joint vector for a target of each bound objective, and perhaps a start: step(target, q)."""
        way = self._lease()
        try:
            if way.compiled is not self.problem.compiled:
                way = self._again(way)
            return way.take(given)
        finally:
            self._taker.clear()

    def _lease(self) -> _Way:
        """How to solve, while nobody else does."""
        frame = sys._getframe(1)
        taker = self._taker.setdefault("frame", frame)
        if taker is not frame:
            if _is_running(taker):
                raise ProblemError(
                    f"{self!r} is being taken already, by another thread or around this call. Let each thread call mk.bind "
                    "for a step of its own."
                )
            self._taker["frame"] = frame  # Ctrl-C ended that call before it could say so
        return self._way

    def __reduce__(self) -> tuple[Any, ...]:
        """To another process goes what it was made of, and where it has got to."""
        if self.budget.token is not None:
            raise ProblemError(
                f"{self!r} cannot be pickled: the token of its budget cancels it from a thread of this process. Bind with a "
                "budget that has no token."
            )
        way = self._lease()
        try:
            last, answer = way.last, way.answer()
            given = (
                None
                if answer is None
                else (answer.q, int(answer.status), answer.numbers, answer.seconds, answer.method)
            )
            last = None if last is None else last.copy()
        finally:
            self._taker.clear()
        return _restored, (self.problem, self.objectives, self.method, self.budget, last, given)

    @property
    def q(self) -> Array:
        """What the last step returned."""
        return self._answer.q.copy()

    @property
    def status(self) -> Status:
        """What it is worth."""
        return self._answer.status

    @property
    def success(self) -> bool:
        """Whether every objective with a tolerance is within it."""
        status = self._way.status
        return self._answer.success if status is None else status in SUCCESSES  # loops ask for it at every step

    @property
    def errors(self) -> Errors:
        """The error of every objective in its own unit (m, rad), as in a Solution."""
        return Errors(zip(self.problem.objectives, self._answer.errors.values(), strict=True))

    @property
    def evaluations(self) -> int:
        """How often the last step placed the body."""
        return self._answer.evaluations

    @property
    def timed_out(self) -> bool:
        """Whether the time of the budget ended its search."""
        return self._answer.timed_out

    def __repr__(self) -> str:
        return f"<Step of {', '.join(map(repr, self.objectives))}>"

    @property
    def _answer(self) -> Solution:
        answer = self._way.answer()
        if answer is None:
            raise ProblemError(f"{self!r} has no answer yet. Take a step first: q = step(target, q).")
        return answer

    def _ready(self) -> _Way:
        """The quickest way to solve the problem as it is now."""
        own = _Own(self.problem, self.objectives)
        is_quick = own.problem.compiled.one_pose and type(self.method) is Memetic and self.budget.token is None
        if is_quick and len(own.objectives) == 1 and type(own.objectives[0]) is Pose:
            refuse_generations(self.budget, "memetic")
            return _PoseWay(own, self.method, self.budget)  # type: ignore[arg-type]
        return _Way(own, self.method, self.budget)

    def _again(self, before: _Way) -> _Way:
        """The same after a weight or a tolerance has changed; it starts where the last step ended."""
        way = self._ready()
        way.go_on(before.last, before.answer())
        self._way = way
        return way


def _is_running(frame: FrameType) -> bool:
    """Whether a thread runs a call, or what it has called."""
    for each in sys._current_frames().values():
        inner: FrameType | None = each
        while inner is not None:
            if inner is frame:
                return True
            inner = inner.f_back
    return False


class _Own:
    """A copy of a problem with targets of its own, so that neither the problem nor other threads meet them."""

    def __init__(self, problem: Problem, bound: Sequence[Objective]) -> None:
        self.compiled = problem.compiled  # what the copy was made of
        self._others = [target for o in problem.objectives if o not in bound for target in _targets(o)]
        self.problem, self._copies = copy_problem(problem, self._others)
        self.objectives = [self.problem.objectives[problem.objectives.index(objective)] for objective in bound]

    def follow(self) -> None:
        """Take the targets that are not bound as they are now."""
        for target, twin in zip(self._others, self._copies, strict=True):
            twin.assign(0, target.numbers)


class _Way:
    """How steps are solved: by any method, as `solve` does."""

    last: Array | None = None  # the last answer that can be started from
    status: int | None = None  # of the last answer, None before there is one

    def __init__(self, own: _Own, solver: Solver, budget: Budget) -> None:
        self.own, self.compiled, self.solver, self.budget = own, own.compiled, solver, budget
        self._solution: Solution | None = None

    def take(self, given: tuple[Any, ...]) -> Array:
        """Solve for a target of each objective, and perhaps from a start."""
        start = self.retarget(given)
        solution = answer_of(self.solver, self.own.problem, self.last if start is None else start, self.budget)
        self._solution, self.status = solution, int(solution.status)
        if self.status != INVALID:
            self.last = solution.q
        return solution.q.copy()

    def retarget(self, given: tuple[Any, ...]) -> Any:
        """Set the targets; the start, None if there is none."""
        objectives = self.own.objectives
        count = len(objectives)
        if not count <= len(given) <= count + 1:
            named = ", ".join(map(repr, objectives))
            raise ProblemError(
                f"a step takes a target for each of {named}, and perhaps a start: {count} or {count + 1} arguments, not "
                f"{len(given)}."
            )
        for objective, target in zip(objectives, given, strict=False):
            objective.target = target  # type: ignore[attr-defined]  # as _bound has seen
        self.own.follow()
        return given[count] if len(given) > count else None

    def answer(self) -> Solution | None:
        """The last answer."""
        return self._solution

    def go_on(self, last: Array | None, answer: Solution | None) -> None:
        """Start where another way ended, and answer what it answered until then."""
        self.last, self._solution = last, answer


class _PoseWay(_Way):
    """The flagship for a problem that is one full pose: target, start and search in one crossing into a kernel."""

    def __init__(self, own: _Own, solver: Memetic, budget: Budget) -> None:
        super().__init__(own, solver, budget)
        problem, c = own.problem, own.problem.compiled
        plan = memetic_plan(c)
        scratch = self._scratch = plan.lease()  # for good
        scratch.take_budget(budget)
        scratch.table  # noqa: B018 - makes the arrays
        plan.stages  # noqa: B018 - a loop should not wait for a compiler when it first misses a target
        locked = np.array([(problem.body.index(name), value) for name, value in problem.lock.items()], dtype=LOCKED)
        self._bound = allocate(
            BoundPose, c.sizes, arrays=scratch.memetic, search=plan.search, place=int(c.terms[0]["target"]),
            write=lasting_address(write_pose_target, WRITE_POSE), seed=solver.seed, most=scratch.shares.search,
            seconds=scratch.seconds, locked=locked, last=problem.start(None),
        )  # fmt: skip
        self._bound.usual[0] = problem.usual_size
        self.last, self._table = self._bound.last, table_of(self._bound)
        self._q: Array = self._bound.q
        self._step = way_in(step_pose, STEP_POSE)

    def take(self, given: tuple[Any, ...]) -> Array:
        begin = perf_counter() if self._bound.seconds else 0.0
        if len(given) == 2:
            target, start = given
        else:
            target, start = given[0] if len(given) == 1 else None, None
        if start is None:
            start = self.last
        status = UNUSUAL
        if (
            type(target) is _ARRAY and target.dtype is _FLOAT and target.ndim == 2
            and type(start) is _ARRAY and start.dtype is _FLOAT and start.ndim == 1
        ):  # fmt: skip
            status = self._step(self._table, target, start)
            if status == REACHED:
                self.status = REACHED
                return self._q.copy()
        return self._settled(status if status != UNUSUAL else self._spelled_out(given), begin)

    def _spelled_out(self, given: tuple[Any, ...]) -> int:
        """The same for targets and starts of other kinds, or that are wrong, which is said here. Returns the status."""
        start, problem = self.retarget(given), self.own.problem
        self._q[:] = problem.start(self.last if start is None else start)
        self._bound.usual[0] = problem.usual_size
        b, own = self._bound, self._scratch
        return int(own.search_from(own.call, b.q, b.outcome, b.seed, math.inf))

    def _settled(self, status: int, begin: float) -> Array:
        """The answer after the stages that follow the search."""
        self.status = self._solution = None  # until all has gone well
        status = later_stages(self._scratch, self._q, self._bound.outcome, status, self._bound.seed, begin)
        self.own.problem.raise_faults(self._scratch.clock)
        self.status = status
        if status != INVALID:
            self._bound.last[:] = self._q
        return self._q.copy()

    def answer(self) -> Solution | None:
        if self.status is None:
            return self._solution
        return Solution(self.own.problem, self._q.copy(), self.status, self._bound.outcome.copy(), 0.0, "memetic")

    def go_on(self, last: Array | None, answer: Solution | None) -> None:
        self._solution = answer
        if last is not None:
            self._bound.last[:] = last


def _restored(
    problem: Problem, objectives: tuple[Objective, ...], method: Solver, budget: Budget, last: Array | None,
    given: tuple[Any, ...] | None,
) -> Step:  # fmt: skip
    """A step that was pickled; `given` are posture, status, numbers, seconds and method of its last answer."""
    step = Step(problem, objectives, method, budget)
    step._way.go_on(last, None if given is None else Solution(step._way.own.problem, *given))
    return step


def _bound(problem: Problem, given: Sequence[Objective]) -> tuple[Objective, ...]:
    """The objectives, if each belongs to the problem and has a target, and none stands there twice."""
    objectives = several(given, ProblemError, "bind: what is bound", "[pose]")
    if not objectives:
        raise ProblemError("bind: name the objectives whose targets move, for example mk.bind(problem, pose).")
    for objective in objectives:
        if not isinstance(objective, Objective) or objective not in problem.objectives:
            known = ", ".join(map(repr, problem.objectives))
            raise ProblemError(f"bind: {shown(objective)} is not an objective of this problem, which has {known}.")
        if getattr(getattr(type(objective), "target", None), "fset", None) is None:
            raise ProblemError(
                f"bind: {objective!r} has no target that could move. Leave it out: it counts all the same."
            )
    if len(set(map(id, objectives))) < len(objectives):
        raise ProblemError("bind: the same objective is named twice; a step takes one target for each.")
    return objectives


def _targets(objective: Objective) -> list[Target]:
    return [value for value in vars(objective).values() if isinstance(value, Target)]
