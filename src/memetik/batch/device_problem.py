"""What of a problem stays on a graphics card from one batch to the next: all but the targets."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memetik.batch.transfer import SMALL, Block, CardArray, Fields, key_of
from memetik.kernels.cuda.launch_record import LANES, SIMULATED, Tree
from memetik.kernels.problem.problem_record import Problem as FlatProblem
from memetik.kernels.runtime.record import words
from memetik.kernels.search.population_poses import place_population

if TYPE_CHECKING:
    from memetik.problem.compile import Compiled
    from memetik.solvers.memetic_plan import MemeticPlan

BLOCKS = 64  # that are kept for a problem


class DeviceProblem:
    """What stays on the device for the next batch of a problem: all but the targets, and the memory of small batches."""

    def __init__(self, cuda: Any, c: Compiled, plan: MemeticPlan) -> None:
        self.cuda = cuda
        self._alive: list[Any] = []
        self._more: dict[str, Any] = {}
        problem, population = c.flat, plan.population
        if c.mounts.size:
            problem = c.placed(problem)._replace(mounts=c.mounts[:0])
            frame_poses, limb_poses = np.empty_like(population.frame_poses), np.empty_like(population.limb_poses)
            population = population._replace(frame_poses=frame_poses, limb_poses=limb_poses)
            place_population(problem.nodes, problem.frames, population, np.empty((c.nodes.size, 7)))
        self.problem, self.population = self.sent(problem), self.sent(population)
        self.tree = self.sent(_tree(problem))
        self.multiprocessors = 1 if SIMULATED else int(cuda.get_current_device().MULTIPROCESSOR_COUNT)
        self._lock = threading.Lock()
        self._free: dict[Any, list[Block]] = {}
        self._problems: dict[int, FlatProblem] = {}  # by the address of their data
        self.known: dict[int, list[int]] = {}  # the words of records that stay, by their id
        if not SIMULATED:
            self.known = {id(record): list(words(record)) for record in (self.population, self.tree)}

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """An array or a record in the memory of the device that is made and sent at the first need."""
        if name not in self._more:
            made = make()
            self._more[name] = self.sent(made) if isinstance(made, tuple) else self.array(made)
        return self._more[name]

    def problem_with(self, data: Any) -> FlatProblem:
        """The problem with its data elsewhere on the device."""
        problem: FlatProblem | None = None if SIMULATED else self._problems.get(data.address)
        if problem is None:
            problem = self.problem._replace(data=data)
        if not SIMULATED and id(problem) not in self.known:
            self.known[id(problem)] = list(words(problem))
            self._problems[data.address] = problem  # kept, so that no other has its id
        return problem

    def sent(self, record: Any) -> Any:
        """The record with its arrays in the memory of the device, where they stay."""
        if SIMULATED:
            return record
        return type(record)(*(value if isinstance(value, int | float) else self.array(value) for value in record))

    def array(self, array: NDArray[Any]) -> Any:
        """An array in the memory of the device, where it stays."""
        if SIMULATED:
            return array
        there = self.cuda.to_device(np.ascontiguousarray(array))
        self._alive.append(there)
        return CardArray(there.device_ctypes_pointer.value or 0, array.shape, array.dtype)

    def find(self, key: Any) -> Block | None:
        """Memory that was taken with this key before, and given back."""
        with self._lock:
            free = self._free.get(key)
            return free.pop() if free else None

    def take(self, fields: Fields, mapped: bool = False, key: Any = None) -> Block:
        """Memory for these fields, `mapped` each time or never, which may be found again by a key instead of by its fields."""
        key = key_of(fields) if key is None else key
        return self.find(key) or Block(self.cuda, fields, key, mapped)

    def give_back(self, block: Block) -> bool:
        """Keep a small block for the next batch."""
        if block.size > SMALL:
            return False
        with self._lock:
            if sum(map(len, self._free.values())) >= BLOCKS:
                self._free.clear()
            self._free.setdefault(block.key, []).append(block)
        return True


def device_problem(cuda: Any, c: Compiled, plan: MemeticPlan) -> DeviceProblem:
    """What is on the device of a problem, sent there at the first need."""
    if c.mounts.size:  # the root may be elsewhere than last time
        return DeviceProblem(cuda, c, plan)
    kept: DeviceProblem | None = c.plans.get(DeviceProblem)
    return kept or c.plans.setdefault(DeviceProblem, DeviceProblem(cuda, c, plan))


def _tree(problem: FlatProblem) -> Tree:
    """The motions of a body as the lanes of a warp share them."""
    nodes, terms = problem.nodes, problem.terms
    depths = np.zeros(len(nodes), dtype=np.int64)
    for k, parent in enumerate(nodes["parent"]):
        depths[k] = depths[parent] + 1 if parent >= 0 else 0
    levels = np.searchsorted(np.sort(depths), np.arange(depths.max(initial=-1) + 2))
    stumps, own = nodes.copy(), np.arange(len(nodes))[:, None]
    stumps["parent"] = -1
    carried = np.broadcast_to(problem.frames, (len(nodes), len(problem.frames))).copy()
    carries = (own <= carried["node"]) & (carried["node"] <= nodes["last"][:, None])
    carried["node"] = np.where(carries, own, -1)
    alone = len(np.unique(nodes["variable"])) == len(nodes)  # or two lanes would add to the same derivative
    few = [int(t) for t in np.argsort(terms["kind"], kind="stable") if terms["rows"][t] > 0]
    if alone and len(few) < LANES:
        moves = problem.affects[:, nodes["variable"]] != 0
        pairs = [(t, int(i)) for t in few for i in np.flatnonzero(moves[t])]
    else:
        pairs = [(t, -1) for t in few]
    found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    couples, shared = _couples(problem)
    springs = int((terms["rows"] == 0).sum())
    return Tree(springs, np.argsort(depths, kind="stable"), levels, found, stumps, carried, couples, shared)


def _couples(problem: FlatProblem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The lower triangle of J J^T in squares of up to three rows and columns, which have the same term each, and the variables
    that move both; those with the most first, so that lanes end together."""
    sides = [
        (row, min(3, int(term["row"] + term["rows"]) - row), t)
        for t, term in enumerate(problem.terms)
        for row in range(int(term["row"]), int(term["row"] + term["rows"]), 3)
    ]
    if problem.terms["rows"].sum() > problem.variables.size:
        sides = []  # then steps go by the variables
    squares = []
    for row, rows, t in sides:
        for column, columns, other in sides:
            if column <= row:
                both = np.flatnonzero((problem.affects[t] != 0) & (problem.affects[other] != 0))
                squares.append((row, column, rows, columns, both))
    squares.sort(key=lambda square: -len(square[4]))
    ends = np.cumsum([0, *(len(both) for *_, both in squares)])
    couples = [
        (row, column, ends[k], ends[k + 1], rows, columns) for k, (row, column, rows, columns, _) in enumerate(squares)
    ]
    shared = np.concatenate([np.zeros(0, dtype=np.int64), *(both for *_, both in squares)])
    return np.array(couples, dtype=np.int64).reshape(-1, 6), shared
