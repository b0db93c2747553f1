"""Solution: a joint vector, verified as the answer of every solver is, and what can be said of it."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Callable, Iterator
from os import PathLike
from typing import Any, ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.collision import World
from memetik.errors import ProblemError, TruthError, UnknownNameError
from memetik.export import data_frame
from memetik.geometry import as_transform
from memetik.geometry.checks import flag, real_array, real_number, text, whole_number
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT
from memetik.kernels.problem.limits import move_inside
from memetik.kernels.problem.solve import cost_of
from memetik.kernels.problem.verify import INVALID, REACHED, verify
from memetik.kernels.terms.springs import rest_at_start
from memetik.objectives import Objective, Pose, PoseErrors, Position
from memetik.objectives.framed import Posed
from memetik.objectives.objective import Single
from memetik.problem import Problem, require_problem
from memetik.problem.scratch import scratch_pool
from memetik.rich import Rich
from memetik.solution.explain import explain
from memetik.solution.measures import measures, title
from memetik.solution.report import report
from memetik.types import Array

SPENT = ("seconds", "compile_seconds", "evaluations", "attempts", "timed_out", "start_moved")


class Status(enum.IntEnum):
    """What a solution is worth, judged on the vector that is returned."""

    REACHED = 0  # every objective with a tolerance is within it
    CLOSEST = 1  # within the limits, but not all objectives are satisfied
    INVALID = 2  # no usable vector came out
    MINIMUM = 3  # no objective has a tolerance, so nothing could be missed: the lowest cost that was found

    def __str__(self) -> str:
        return self.name

    def __bool__(self) -> bool:
        # REACHED is 0, so `if status:` would mean the opposite of what it says.
        raise TruthError(
            f"a status is neither true nor false. Instead of `if status:` write `if solution.success:` or "
            f"`if status == mk.Status.REACHED:`; this one is {self.name}."
        )

    __format__ = enum.Enum.__format__  # the name in f-strings too


SUCCESSES = frozenset((Status.REACHED, Status.MINIMUM))  # those in which nothing was missed


def reported(problem: Problem, status: int) -> int:
    """The status to report for one of a kernel, for which whatever misses nothing is REACHED."""
    return Status.MINIMUM if status == REACHED and problem.compiled.only_guides else status


class Errors(dict[Objective, float | PoseErrors]):
    """A dict whose values type checkers know: `errors[pose].position` [m], `errors[reach] < 1e-3`."""

    @overload
    def __getitem__(self, objective: Posed, /) -> PoseErrors: ...
    @overload
    def __getitem__(self, objective: Single, /) -> float: ...
    @overload
    def __getitem__(self, objective: Objective, /) -> float | PoseErrors: ...

    def __getitem__(self, objective: Objective, /) -> float | PoseErrors:
        try:
            return super().__getitem__(objective)
        except (KeyError, TypeError):
            raise UnknownNameError("objective", objective, map(repr, self), "this problem") from None


class Solution(Rich):
    """The answer to a problem: `solution.q`, by name `solution["panda_joint4"]`, or all by name `dict(solution)`.

    A solution is true if it succeeded: `if solution:` is `if solution.success:`. `print(solution)` shows it as tables,
    `solution.explain()` says in sentences what was missed and why. A solver of one's own ends with `Solution.of`.

    success: whether every objective with a tolerance is within it. Where no objective has one, nothing could be missed: every
    usable posture is a success, its status is MINIMUM, and `cost` says how good it is.
    seconds: what the solve took [s], without what kernels took to compile.
    compile_seconds: what it took besides to compile kernels or load them from disk [s]; 0.0 when they are in memory.
    """

    __slots__ = ("_numbers", "_status", "compile_seconds", "method", "problem", "q", "seconds", "success")

    # The flagship method: solve a problem from a start with so many evaluations. An explanation takes a second look at
    # parts of the problem with it. The solvers, which stand above this room, put it here.
    diagnose: ClassVar[Callable[[Problem, Array, int], Solution] | None] = None

    def __init__(
        self,
        problem: Problem,
        q: Array,
        status: int,
        numbers: Array,
        seconds: float,
        method: str,
        compile_seconds: float = 0.0,
    ) -> None:
        """`numbers` is what the search reports (kernels/problem/budget.py), then the error of every term and whether it is
        satisfied. Nothing is worked out here: a solve may take no longer than this would. `success` stands beside the status,
        because loops ask for it at every step."""
        self.problem, self.q, self._status = problem, q, status
        self._numbers, self.seconds, self.method = numbers, seconds, method
        self.compile_seconds, self.success = compile_seconds, status in SUCCESSES

    @staticmethod
    def of(
        problem: Problem,
        q: ArrayLike,
        *,
        start: ArrayLike | None = None,
        method: str = "own",
        evaluations: int = 1,
        attempts: int = 1,
        timed_out: bool = False,
        seconds: float = 0.0,
    ) -> Solution:
        """Verify a joint vector: what every solver ends with.

        Angles are turned by whole turns towards `start`, values clamped to the limits, locked joints set; then every
        objective is measured on what is left, which is `solution.q`. A vector with NaN or infinity is INVALID.

        start: where the search began (the body's home unless given); displacements are measured from it.
        method, evaluations, attempts, timed_out, seconds: what the solution tells of the search.
        """
        vector, status, numbers = _judge(problem, q, start)
        numbers[EVALUATIONS] = whole_number(evaluations, ProblemError, "Solution.of: evaluations", least=0)
        numbers[ATTEMPTS] = whole_number(attempts, ProblemError, "Solution.of: attempts", least=0)
        numbers[TIMED_OUT] = flag(timed_out, ProblemError, "Solution.of: timed_out")
        took = real_number(seconds, ProblemError, "Solution.of: seconds")
        return Solution(problem, vector, status, numbers, took, text(method, ProblemError, "Solution.of: method"))

    @property
    def status(self) -> Status:
        """What it is worth."""
        return Status(reported(self.problem, self._status))

    @property
    def cost(self) -> float:
        """What was minimised where nothing could be missed: the sum of squares of all residuals, with lengths in units of a
        fifth of the chain's, times the weights; NaN where an objective has a tolerance, which judges the answer instead."""
        return float(self._numbers[ERROR]) if self.problem.compiled.only_guides else math.nan

    @property
    def numbers(self) -> Array:
        """What the search reports (kernels/problem/budget.py), then the error of every term and whether it is satisfied."""
        return self._numbers

    @property
    def evaluations(self) -> int:
        """How often the search placed the body."""
        return int(self._numbers[EVALUATIONS])

    @property
    def attempts(self) -> int:
        """From how many postures the search set out."""
        return int(self._numbers[ATTEMPTS])

    @property
    def timed_out(self) -> bool:
        """Whether the time of the budget ended the search."""
        return bool(self._numbers[TIMED_OUT])

    @property
    def start_moved(self) -> bool:
        """Whether the start was outside the limits and was moved into them."""
        return bool(self._numbers[MOVED])

    @property
    def errors(self) -> Errors:
        """The error of every objective in its own unit (m, rad); a PoseErrors, which has both, for a pose."""
        owners, errors = self.problem.compiled.owners, self.term_errors
        return Errors(
            (objective, objective.error(errors[owner]))
            for objective, owner in zip(self.problem.objectives, owners, strict=True)
        )

    @property
    def term_errors(self) -> Array:
        """The error of every term of the compiled problem, in its order."""
        return self._numbers[OUTCOME : (OUTCOME + self._numbers.size) // 2]

    @property
    def term_satisfied(self) -> NDArray[np.bool_]:
        """Whether each term is within its tolerance; one that only guides always is."""
        return np.asarray(self._numbers[(OUTCOME + self._numbers.size) // 2 :] != 0.0)

    def explain(self) -> str:
        """What was reached, what was missed and why, one sentence a line.

        After a failure it solves parts of the problem again to find the cause, which takes up to some seconds. It
        speaks of the targets as they are now, so ask before you assign new ones.
        """
        return explain(self, type(self).diagnose)

    def draw(
        self, path: str | PathLike[str] | None = None, *, view: tuple[float, float] | None = None,
        size: tuple[float, float] = (800, 800), title: str | None = None, world: World | None = None,
    ) -> str:  # fmt: skip
        """Draw the body in the posture `q`, with the targets of positions and poses; return the SVG, and write it to `path` if
        given, as .svg or .png. See `mk.draw`, which explains the options: view [degrees], size [pixels]."""
        from memetik.write.picture import VIEW, draw  # pictures show solutions, of which they know

        seen = VIEW if view is None else view
        return draw(
            self.problem.body,
            self.q,
            path,
            view=seen,
            size=size,
            targets=_targets(self.problem),
            title=title,
            world=world,
        )

    def to_dict(self) -> dict[str, Any]:
        """All that can be said of it as plain dicts, lists, texts and numbers, as JSON takes them: body, method, success,
        status, values by joint [rad or m], every objective with its error, tolerance and unit, and what the search took.

        What is NaN or infinite is None. `mk.Solution.of(problem, problem.body.vector(given["q"]))` is the way back.
        """
        rows = ({**row._asdict(), "objective": title(row.objective)} for row in measures(self))
        return {
            "body": self.problem.body.name,
            "method": self.method,
            "success": self.success,
            "status": self.status.name,
            "cost": _finite(self.cost),
            "q": {name: _finite(value) for name, value in zip(self.keys(), self.q.tolist(), strict=True)},
            "objectives": [{key: _finite(value) for key, value in row.items()} for row in rows],
            **{name: getattr(self, name) for name in SPENT},
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text."""
        spaces = None if indent is None else whole_number(indent, ProblemError, "indent", least=0, most=100)
        return json.dumps(self.to_dict(), indent=spaces, allow_nan=False)

    def to_frame(self) -> Any:
        """A row for each joint as a data frame of pandas or, where that is not installed, of polars: its name, value, unit
        and the limits in force."""
        turns = self.problem.body.variables.turns
        return data_frame(
            {
                "joint": list(self.keys()),
                "value": self.q.copy(),
                "unit": ["rad" if turn else "m" for turn in turns.tolist()],
                "lower": self.problem.lower.copy(),
                "upper": self.problem.upper.copy(),
            }
        )

    def __bool__(self) -> bool:
        return self.success

    def __getitem__(self, joint: str) -> float:
        return float(self.q[self.problem.body.index(joint)])

    def keys(self) -> tuple[str, ...]:
        """The names of the joints, in the order of `q`; with them `dict(solution)` gives every value by name."""
        return self.problem.body.joint_names

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __str__(self) -> str:
        return report(self)

    def __repr__(self) -> str:
        return f"<Solution {self.status.name} by {self.method} in {self.seconds * 1e6:.0f} us>"


def _targets(problem: Problem) -> list[Array]:
    """The targets of positions and poses in the frame of the root, in which bodies are drawn."""
    root_from_world = np.eye(4) if problem.root is None else np.linalg.inv(problem.root)
    drawn = []
    for each in problem.objectives:
        if isinstance(each, (Position, Pose)) and each.relative_to is None:
            pose = root_from_world @ as_transform(each.target)
            drawn.append(pose[:3, 3] if isinstance(each, Position) else pose)
    return drawn


def _finite(value: Any) -> Any:
    """As JSON takes it, which has no NaN and no infinity."""
    if isinstance(value, tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _judge(problem: Problem, q: ArrayLike, start: ArrayLike | None) -> tuple[Array, int, Array]:
    """The vector as it may be returned, its status, and the numbers of a Solution with the errors of all terms."""
    require_problem(problem, "Solution.of")
    origin = problem.start(start)
    c = problem.compiled
    vector = _vector(problem, q)
    numbers = np.zeros(c.outcome_size)
    numbers[MOVED] = move_inside(origin, c.limits)
    finite = bool(np.isfinite(vector).all())
    first, rest = origin[c.active], vector[c.active]
    pool = scratch_pool(c)
    scratch = pool.lease()
    scratch.take_targets()
    record, work = scratch.arrays.problem, scratch.arrays.work
    rest_at_start(c.terms, record.data, first)
    work.start[:] = first
    status = int(verify(record, rest, numbers, work))
    numbers[ERROR] = cost_of(record, rest, work)
    problem.raise_faults(scratch.clock)
    pool.give_back(scratch)
    if finite:
        move_inside(vector, c.limits)
        vector[c.active] = rest
    return vector, status if finite else INVALID, numbers


def _vector(problem: Problem, q: ArrayLike) -> Array:
    body = problem.body
    vector = np.array(real_array(q, ProblemError, "q is not a joint vector"))
    if vector.shape != (body.dof,):
        raise ProblemError(
            f"q has shape {vector.shape}, but body {body.name!r} has {body.dof} free joints. Give one number for each of "
            "body.joint_names."
        )
    for joint, value in problem.lock.items():
        vector[body.index(joint)] = value
    return vector
