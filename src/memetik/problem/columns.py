"""Many targets of one problem as columns of numbers, for tracks and batches."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memetik.errors import ProblemError, shown
from memetik.objectives import Objective
from memetik.objectives.objective import Target
from memetik.parallel import empty_rows, in_parts
from memetik.problem.problem import Problem
from memetik.types import Array


class Columns(NamedTuple):
    """A row of numbers for each set of targets, where they stand in the problem's data, and whose they are."""

    places: NDArray[np.int64]
    rows: Array  # (count, places)
    targets: tuple[tuple[Target, slice], ...]  # the columns of each target

    def problems(self, problem: Problem) -> Iterator[Problem]:
        """A copy of the problem with the targets of each row, one after another; the problem itself is left alone."""
        own, twins = copy_problem(problem, [target for target, _ in self.targets])
        for row in self.rows:
            for target, (_, owned) in zip(twins, self.targets, strict=True):
                target.assign(0, row[owned])
            yield own

    def of(self, problem: Problem) -> Columns:
        """The same rows for another problem that has these targets."""
        places = np.empty_like(self.places)
        for target, owned in self.targets:
            at = target.place(problem.compiled.data)
            places[owned] = np.arange(at, at + owned.stop - owned.start)
        return Columns(places, self.rows, self.targets)


def copy_problem(problem: Problem, targets: Sequence[Target]) -> tuple[Problem, list[Target]]:
    """The same problem with objectives of its own, and those of its targets that stand for the given ones."""
    copies: dict[int, Any] = {id(problem.body): problem.body}  # filled by deepcopy
    objectives = copy.deepcopy(problem.objectives, copies)
    own = Problem(
        problem.body,
        objectives,
        lock=problem.lock,
        limits=problem.limits,
        root=problem.root,
        weighting=problem.weighting,
    )
    return own, [copies[id(target)] for target in targets]


def target_columns(problem: Problem, targets: Mapping[Objective, ArrayLike], who: str) -> Columns:
    """Check and convert the targets of several objectives, one array each; `who` asks, for the message."""
    places: list[int] = []
    blocks: list[Array] = []
    owners: list[tuple[Target, slice]] = []
    if not isinstance(targets, Mapping):
        raise ProblemError(f"{who}: targets are {shown(targets)}. Give {{objective: array with one target a row}}.")
    if not targets:
        raise ProblemError(f"{who}: no targets. Give {{objective: array with one target a row}}.")
    for objective, many in targets.items():
        if not isinstance(objective, Objective) or objective not in problem.objectives:
            known = ", ".join(map(repr, problem.objectives))
            raise ProblemError(f"{who}: {shown(objective)} is not an objective of this problem, which has {known}.")
        numbers, target = objective.target_rows(many)
        at = target.place(problem.compiled.data)
        owners.append((target, slice(len(places), len(places) + numbers.shape[1])))
        places.extend(range(at, at + numbers.shape[1]))
        blocks.append(numbers)
    lengths = {len(block) for block in blocks}
    if len(lengths) > 1:
        raise ProblemError(f"{who}: every objective needs the same number of targets; got {sorted(lengths)}.")
    mine = len(blocks) == 1 and not np.may_share_memory(blocks[0], np.asarray(many))
    rows = blocks[0] if mine else _side_by_side(blocks)  # what the caller changes later is not ours
    return Columns(np.array(places, dtype=np.int64), np.ascontiguousarray(rows), tuple(owners))


def _side_by_side(blocks: Sequence[Array]) -> Array:
    """The columns of all blocks, one after another."""
    rows: Array = empty_rows((len(blocks[0]), sum(block.shape[1] for block in blocks)))
    in_parts(lambda part: np.concatenate([block[part] for block in blocks], axis=1, out=rows[part]), len(rows))
    return rows
