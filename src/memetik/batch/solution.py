"""BatchSolution: many answers as arrays, each of which can be taken out as a Solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.errors import ProblemError, RowError, TruthError, said, shown
from memetik.export import Table, TableColumns, by_name
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT
from memetik.kernels.terms.springs import rest_at_start
from memetik.objectives import Objective
from memetik.objectives.objective import Target
from memetik.problem import Problem
from memetik.problem.columns import copy_problem
from memetik.rich import Rich
from memetik.solution import Solution, Status, title
from memetik.solution.words import duration
from memetik.types import Array

Tell = Callable[[int], None]  # is told how many rows are done


class Answers(NamedTuple):
    """What a device writes, one row for each problem."""

    q: Array  # (count, dof) the starts, until the answers are written over them
    status: NDArray[np.int8]  # (count,) as in Status
    numbers: Array  # (count, k) what the search reports (kernels/problem/budget.py), errors of terms, whether satisfied
    seconds: Array  # (count,) what each row took

    @classmethod
    def empty(cls, problem: Problem, starts: Array) -> Answers:
        """Arrays to be written, with a copy of the starts."""
        count = len(starts)
        numbers = np.zeros((count, problem.compiled.outcome_size))
        return cls(starts.copy(), np.empty(count, dtype=np.int8), numbers, np.zeros(count))


@dataclass(frozen=True, eq=False, repr=False)
class BatchSolution(Table, Rich):
    """A joint vector for every row of targets, and what became of each.

    `batch[k]` is the Solution of row k; a slice, a mask or a list of rows gives a BatchSolution of those:
    `batch[~batch.success]` are the failures. `print(batch)` sums up.
    """

    problem: Problem
    q: Array  # (count, dof)
    status: NDArray[np.int8]  # (count,) as in Status; not a truth value, so ask `success` instead
    numbers: Array  # (count, k) as a Solution has them, a row each
    row_seconds: Array  # (count,) what each row took [s]
    seconds: float  # what all took together [s], without what kernels took to compile; of a part, its share of that
    device: str
    targets: tuple[tuple[Target, Array], ...]  # whose numbers they are, and a row of numbers for each problem
    starts: Array  # (count, dof) where each began
    method: str = "memetic"
    compile_seconds: float = 0.0  # what it took besides to compile kernels or load them from disk [s], for all rows

    def __post_init__(self) -> None:
        if self.problem.compiled.only_guides and isinstance(self.status, np.ndarray):
            status = np.where(self.status == Status.REACHED, np.int8(Status.MINIMUM), self.status)
            object.__setattr__(self, "status", status)

    def __len__(self) -> int:
        return len(self.q)

    @property
    def success(self) -> NDArray[np.bool_]:
        """(count,) Whether every objective with a tolerance is within it; where none has one, whether the posture is usable."""
        return np.asarray((self.status == Status.REACHED) | (self.status == Status.MINIMUM))

    @property
    def reached(self) -> NDArray[np.bool_]:
        """(count,) Whether the status is REACHED: there are objectives with a tolerance, and every one is within it."""
        return np.asarray(self.status == Status.REACHED)

    @property
    def cost(self) -> Array:
        """(count,) The cost of each row where nothing could be missed, as in a Solution; NaN elsewhere."""
        costs = self.numbers[:, ERROR]
        return costs.copy() if self.problem.compiled.only_guides else np.full(len(costs), np.nan)

    def __bool__(self) -> bool:
        raise TruthError(
            f"a batch is neither true nor false. Write `if batch.success.all():`, `.any()` or `if len(batch):`; of this one "
            f"{int(self.success.sum())} of {len(self)} are reached."
        )

    @property
    def evaluations(self) -> NDArray[np.int64]:
        """(count,) How often the search placed the body."""
        return self.numbers[:, EVALUATIONS].astype(np.int64)

    @property
    def attempts(self) -> NDArray[np.int64]:
        """(count,) From how many postures the search set out."""
        return self.numbers[:, ATTEMPTS].astype(np.int64)

    @property
    def timed_out(self) -> NDArray[np.bool_]:
        """(count,) Whether the time of the budget ended the search."""
        return np.asarray(self.numbers[:, TIMED_OUT] != 0.0)

    @property
    def start_moved(self) -> NDArray[np.bool_]:
        """(count,) Whether the start was outside the limits and was moved into them."""
        return np.asarray(self.numbers[:, MOVED] != 0.0)

    @property
    def errors(self) -> dict[Objective, Array]:
        """The error of every objective in its own unit (m, rad): (count,), or (count, 2) for a pose."""
        found = {}
        for objective, owner in zip(self.problem.objectives, self.problem.compiled.owners, strict=True):
            terms = self.numbers[:, OUTCOME + owner.start : OUTCOME + owner.stop]
            if terms.shape[1] == 0:
                found[objective] = np.zeros(len(self))
            else:
                found[objective] = terms if np.ndim(objective.error(np.zeros(terms.shape[1]))) else terms[:, 0]
        return found

    def to_columns(self) -> TableColumns:
        """A row for each problem: success, status, the value of every joint, the errors of every objective by its name, the cost
        where nothing could be missed, evaluations and seconds."""
        columns: TableColumns = {
            "success": self.success,
            "status": np.array([Status(code).name for code in self.status.tolist()]),
            **by_name(self.problem.body.joint_names, self.q),
        }
        for objective, errors in self.errors.items():
            label = f"error of {title(objective)}"
            while label in columns:
                label += "_"
            if errors.ndim == 1:
                columns[label] = errors
            else:
                columns |= by_name([f"{label}, position", f"{label}, orientation"], errors)
        if self.problem.compiled.only_guides:
            columns["cost"] = self.cost
        return {**columns, "evaluations": self.evaluations, "seconds": self.row_seconds}

    @overload
    def __getitem__(self, rows: int | np.integer) -> Solution: ...
    @overload
    def __getitem__(self, rows: slice | Sequence[int] | NDArray[Any]) -> BatchSolution: ...

    def __getitem__(self, rows: int | np.integer | slice | Sequence[int] | NDArray[Any]) -> Solution | BatchSolution:
        if isinstance(rows, (int, np.integer)) and not isinstance(rows, bool):
            return self._row(int(rows))
        if not isinstance(rows, slice):
            rows = self._chosen(rows)
        part = self.row_seconds[rows]
        whole = float(self.row_seconds.sum())
        return replace(
            self,
            q=self.q[rows],
            status=self.status[rows],
            numbers=self.numbers[rows],
            row_seconds=part,
            seconds=self.seconds * float(part.sum()) / whole if whole > 0.0 else 0.0,
            targets=tuple((target, numbers[rows]) for target, numbers in self.targets),
            starts=self.starts[rows],
        )

    def _chosen(self, rows: ArrayLike) -> NDArray[np.int64]:
        """The numbers of rows, from them or from a mask."""
        try:
            chosen = np.asarray(rows)
            if chosen.dtype == np.bool_ and chosen.shape == (len(self),):
                return np.flatnonzero(chosen)
            if chosen.ndim == 1 and (chosen.dtype.kind in "iu" or not chosen.size):
                return np.arange(len(self))[chosen.astype(np.int64)]
        except Exception as reason:  # a number out of range, or whatever the conversion of a stranger's object raises
            raise ProblemError(f"rows {shown(rows)} of a batch of {len(self)}: {said(reason)}.") from reason
        raise ProblemError(
            f"rows of a batch are {shown(rows)}. Give a number, a slice, a list of numbers, or a mask of {len(self)}."
        )

    def __iter__(self) -> Iterator[Solution]:
        return (self._row(k) for k in range(len(self)))

    def _row(self, k: int) -> Solution:
        if not -len(self) <= k < len(self):
            raise RowError(f"row {k} of a batch of {len(self)}: there is none, they are numbered from 0.")
        return RowSolution(self, k)

    def __str__(self) -> str:
        if not len(self):
            return "no problems"
        lines = [f"{len(self):,} problems on {self.device} in {duration(self.seconds)}, {self.rate:,.0f} a second"]
        if self.compile_seconds > 0.0:
            lines.append(f"  besides, kernels took {duration(self.compile_seconds)} to compile or load")
        for status in Status:
            number = int((self.status == status).sum())
            if number:
                lines.append(f"  {status.name:8} {number:>12,} {100.0 * number / len(self):8.3f} %")
        for what, numbers in (("evaluations", self.evaluations), ("attempts", self.attempts)):
            lines.append(f"  {what} a problem: mean {numbers.mean():.1f}, most {numbers.max()}")
        if self.timed_out.any():
            lines.append(f"  the time ran out for {int(self.timed_out.sum()):,}")
        if self.start_moved.any():
            lines.append(f"  {int(self.start_moved.sum()):,} starts were outside the limits and were moved into them")
        return "\n".join(lines)

    def __repr__(self) -> str:
        how = "guides only" if self.problem.compiled.only_guides else "reached"
        return f"<BatchSolution: {int(self.success.sum())} of {len(self)} {how}, {duration(self.seconds)}>"

    @property
    def rate(self) -> float:
        """Problems a second."""
        return len(self) / self.seconds if self.seconds > 0.0 else 0.0


class RowSolution(Solution):
    """One row of a batch: a solution like any other, which remembers the targets of its row."""

    __slots__ = ("_start", "_targets")

    def __init__(self, batch: BatchSolution, k: int) -> None:
        super().__init__(
            batch.problem,
            batch.q[k].copy(),
            int(batch.status[k]),
            batch.numbers[k].copy(),
            float(batch.row_seconds[k]),
            batch.method,
        )
        self._start = batch.starts[k]
        self._targets = [(target, numbers[k]) for target, numbers in batch.targets]

    def explain(self) -> str:
        """What was reached, what was missed and why, one sentence a line. It speaks of the targets of this row."""
        problem, targets = copy_problem(self.problem, [target for target, _ in self._targets])
        for target, (_, numbers) in zip(targets, self._targets, strict=True):
            target.assign(0, numbers)
        c = problem.compiled
        rest_at_start(c.terms, c.data, self._start[c.active])
        return Solution(problem, self.q, int(self.status), self.numbers, self.seconds, self.method).explain()
