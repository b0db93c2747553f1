"""Problem -> flat arrays: the tree pruned to what the objectives read, the objectives as terms, limits, a population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body, Frame
from memetik.errors import ProblemError
from memetik.kernels.acts import search_at, settle_at, yield_at
from memetik.kernels.budget import OUTCOME
from memetik.kernels.cancel import new_clock
from memetik.kernels.crossing import table_of
from memetik.kernels.crowd import place_crowd
from memetik.kernels.descent import attempt, attempt_softly
from memetik.kernels.late import ACT, ATTEMPT, JACOBIAN, RESIDUAL, address
from memetik.kernels.pose_descent import attempt_pose
from memetik.kernels.pose_search import room_for_pose, solve_pose_at
from memetik.kernels.records import SCREW, SLIDE
from memetik.kernels.terms import ORIENTATION, POSITION, TERM
from memetik.kernels.workspace import size
from memetik.objectives.objective import Array, Objective, Target

# How many postures the population of a problem has, and the seed that draws it: part of the problem, not of a solve.
POPULATION, POPULATION_SEED = 256, 20170601

# A tolerance this wide, as a share of what counts as one in the search, leaves room that a solver can use.
WIDE = 0.02


@dataclass(frozen=True, eq=False)
class Compiled:
    """The immutable record of a problem (only targets in `data` change) and the scratch of one solve.

    The tuples are the arguments of the solving kernels in their order, put together once.
    """

    nodes: NDArray[np.void]
    frames: NDArray[np.void]
    terms: NDArray[np.void]
    data: Array
    bounds: Array  # (5, n) lower, upper, lower and upper for sampling, 1 where whole turns do not matter
    spans: NDArray[np.int64]  # (n, 2) first and past the last residual that each variable moves
    active: NDArray[np.int64]  # (n,) places of the variables in a joint vector
    limits: Array  # (2, dof) of all free joints of the body, read or not
    affects: NDArray[np.uint8]  # (terms, n)
    population: Array  # (p, n)
    crowd: Array  # (frames, 7, p) poses of the population's frames
    search: Any  # the kernel of the local search that fits
    kernels: Sequence[tuple[Any, Any]]  # residual and Jacobian of each term, nothing for springs
    owners: tuple[slice, ...]  # the terms of each objective
    only_guides: bool = field(init=False)  # nothing can be missed, so the balance of all terms is what counts
    roomy: NDArray[np.bool_] | None = field(
        init=False
    )  # terms with a tolerance wide enough to use, None if there are none
    one_pose: bool = field(init=False)  # a problem for pose_search.py
    outcome: Array = field(init=False)
    pose_arrays: Any = field(init=False)  # the arguments of pose_search.py that stay the same
    pose_table: Any = field(init=False)  # the same as a table (kernels/crossing.py)
    fate: Any = field(init=False)  # what decides where the search goes next
    scratch: Any = field(init=False)

    def __post_init__(self) -> None:
        n, terms, residuals = self.active.size, self.terms.size, int((self.terms["row"] + self.terms["rows"]).max())
        people = len(self.population)
        flags, clock = np.zeros(terms + n + people, dtype=np.uint8), new_clock()
        state, outcome = np.zeros(1, dtype=np.uint64), np.zeros(OUTCOME + 2 * terms)
        buffer = np.zeros(size(self.nodes.size, self.frames.size, n, residuals, people))
        put = object.__setattr__  # the dataclass is frozen; this is its constructor
        roomy = (self.terms["soft"] == 0) & (self.terms["tolerance"] * self.terms["scale"] > WIDE)
        put(self, "roomy", roomy if roomy.any() and not roomy.all() else None)
        put(self, "only_guides", bool(self.terms["soft"].all()))
        put(self, "one_pose", self.search is attempt_pose)
        put(self, "outcome", outcome)
        room = np.zeros(room_for_pose(self.nodes.size, n, people))
        pose_arrays = (
            self.nodes, self.frames, self.terms, self.data, self.bounds, self.active, self.limits, self.population,
            self.crowd, clock, state, room,
        )  # fmt: skip
        put(self, "pose_arrays", pose_arrays)
        put(self, "pose_table", table_of(pose_arrays))
        put(self, "fate", (self.affects, self.population, self.crowd))
        put(self, "scratch", (flags, clock, state, buffer, outcome))

    @cached_property
    def record(self) -> Any:
        """What all other kernels read. They call the terms by address, and those of a single pose, which is solved without
        them, are compiled when this is first asked for."""
        for term, (residual, jacobian) in zip(self.terms, self.kernels, strict=True):
            if residual is not None:
                term["residual"] = address(residual, RESIDUAL)
                term["jacobian"] = address(jacobian, JACOBIAN)
        return self.nodes, self.frames, self.terms, self.data, self.bounds, self.spans, self.active, self.limits

    def twin(self) -> Compiled:
        """The same problem with scratch of its own, and its own copy of the targets."""
        twin = replace(self, data=self.data.copy())
        # The terms know their kernels already; to look them up again would take longer than many a solve.
        twin.__dict__["record"] = (*self.record[:3], twin.data, *self.record[4:])
        return twin

    @cached_property
    def attempt(self) -> int:
        """The address of the local search."""
        return address(self.search, ATTEMPT)

    @cached_property
    def arrays(self) -> Any:
        """All that the acts of a solve (kernels/acts.py) read and write."""
        yields = self.roomy is not None
        roomy = self.roomy.view(np.uint8) if self.roomy is not None else np.zeros(0, dtype=np.uint8)
        eased = np.zeros(self.terms.size if yields else 0, dtype=TERM)
        spare = np.zeros(self.outcome.size + self.data.size + self.limits.shape[1] if yields else 0)
        searches = [0 if self.one_pose else self.attempt, address(attempt_softly, ATTEMPT) if yields else 0]
        addresses = np.array(searches, dtype=np.int64)
        return *self.record, *self.fate, *self.scratch[:4], addresses, roomy, eased, spare

    @cached_property
    def table(self) -> Any:
        """The same as a table (kernels/crossing.py)."""
        return table_of(self.arrays)

    @cached_property
    def first_act(self) -> tuple[int, Any]:
        """The address of the search, and its table."""
        if self.one_pose:
            return address(solve_pose_at, ACT), self.pose_table
        return address(search_at, ACT), self.table

    @cached_property
    def other_acts(self) -> NDArray[np.int64]:
        """The addresses of the acts that follow a search that missed, 0 for none; compiled when first asked for."""
        yields = 0 if self.roomy is None else address(yield_at, ACT)
        return np.array([address(settle_at, ACT), yields], dtype=np.int64)

    def for_thread(self) -> Compiled:
        """The same problem with targets and scratch of its own, for another thread to solve meanwhile."""
        own = replace(self, data=self.data.copy())
        known: dict[str, Any] = {
            "record": (*self.record[:3], own.data, *self.record[4:]),
            "other_acts": self.other_acts,
        }
        if not self.one_pose:
            known["attempt"] = self.attempt
        own.__dict__.update(known)  # Numba takes 0.2 ms to look up an address again
        return own


Reads = tuple[Sequence[int], Sequence[int]]  # rows of frames, places in the data where numbers of variables stand


class TermList:
    """The compiler as objectives see it (Packer in objectives/objective.py)."""

    def __init__(
        self, whole: Body, locked: Mapping[str, float], body: Body, lower: Array, upper: Array, moving: Sequence[str]
    ) -> None:
        self.whole, self.locked, self.body = whole, locked, body
        self.lower, self.upper = lower, upper
        self.moving = moving  # joints that objectives other than a mere displacement read
        self.frames: list[Frame] = []
        self.terms: list[tuple[float, ...]] = []
        self.kernels: list[tuple[Any, Any]] = []  # residual and Jacobian of each term, nothing for springs
        self.values: list[float] = []
        self.targets: list[tuple[Target, int]] = []
        self.reads: list[Reads] = []  # of each term
        self.places: list[int] = []  # where the numbers of variables stand
        self.objective: Objective | None = None
        self._rows = 0

    def frame(self, frame: str | Frame) -> int:
        wanted = self.body.frame(frame)
        for row, known in enumerate(self.frames):
            if known is wanted or (
                known.link == wanted.link and np.array_equal(known.link_from_frame, wanted.link_from_frame)
            ):
                return row
        self.frames.append(wanted)
        return len(self.frames) - 1

    def numbers(self, values: Array | list[float]) -> int:
        self.values.extend(float(value) for value in values)
        return len(self.values) - len(values)

    def target(self, target: Target) -> int:
        at = self.numbers(target.numbers)
        self.targets.append((target, at))
        return at

    def variable(self, name: str) -> int:
        source, _, value = self.drive(name)
        if source is None:
            raise ProblemError(
                f"{self.objective!r}: joint {name!r} is locked at {value:g}. Unlock it or leave the objective out."
            )
        self.places.append(self.numbers([self.body.index(name)]))
        return self.places[-1]

    def drive(self, name: str) -> tuple[str | None, float, float]:
        source, ratio, offset = name, 1.0, 0.0
        joint = self.whole.joints.get(name)
        if joint is not None and joint.mimic is not None:
            variable, ratio, offset = self.whole.variables.drives[name][0]
            source = self.whole.joint_names[variable]
        self.whole.index(source)
        if source in self.locked:
            return None, 0.0, ratio * self.locked[source] + offset
        return source, ratio, offset

    def limits(self, name: str) -> tuple[float, float]:
        k = self.body.index(name)
        return float(self.lower[k]), float(self.upper[k])

    def reach(self, frame: str | Frame) -> float:
        length, link = 0.0, self.body.frame(frame).link
        above = {joint.child: joint for joint in self.body.joints.values()}
        while link in above:
            joint = above[link]
            length += float(np.linalg.norm(joint.origin[:3, 3]))
            for low, high, motion in zip(joint.lower, joint.upper, joint.motions(), strict=True):
                if not motion.turns:  # a slide reaches as far as it goes; one without limits about a metre
                    length += max(abs(low), abs(high)) if np.isfinite(low) and np.isfinite(high) else 1.0
            link = joint.parent
        offset = float(np.linalg.norm(self.body.frame(frame).link_from_frame[:3, 3]))
        return max(length + offset, 1e-3)

    def add(
        self, kind: int, *, frame: int = -1, other: int = -1, rows: int, target: int = 0, data: int = 0, count: int = 0,
        unit: float = 1.0, reach: float = 1.0, tolerance: float | None, kernels: tuple[Any, Any] | None = None,
        more_frames: Sequence[int] = (), variables: Sequence[int] = (),
    ) -> None:  # fmt: skip
        assert self.objective is not None
        scale = self.objective.weight**0.5 / unit
        soft = tolerance is None
        limit = np.inf if tolerance is None else tolerance
        self.kernels.append(kernels or (None, None))
        self.terms.append((
            0, 0, kind, frame, other, self._rows, rows, target, data, count, soft, 0, scale, limit, reach,
            self.objective.weight,
        ))  # fmt: skip
        self.reads.append(([row for row in (frame, other, *more_frames) if row >= 0], variables))
        self._rows += rows


def compile_problem(
    body: Body, objectives: Sequence[Objective], lower: Array, upper: Array, locked: Mapping[str, float]
) -> Compiled:
    """Pack a problem. `lower` and `upper` are the limits in force.

    Locked joints are welded into the tree. Where only some variables of a joint are locked, their limits meet.
    """
    limits = np.array([lower, upper])
    joints = [joint for joint in body.joints.values() if joint.mimic is None and locked.keys() >= set(joint.variables)]
    welded = body.fix({name: locked[name] for joint in joints for name in joint.variables})
    keep = np.array(
        [body.index(name) for name in welded.joint_names], dtype=np.int64
    )  # welded variable -> joint vector
    lower, upper = lower[keep], upper[keep]
    for name in locked.keys() & set(welded.joint_names):
        lower[welded.index(name)] = upper[welded.index(name)] = locked[name]
    packed = TermList(body, locked, welded, lower, upper, _moving(welded, objectives))
    owners = _pack(packed, objectives)
    flat, frames = welded.flatten(packed.frames)
    nodes = flat.nodes.copy()
    data = np.array(packed.values, dtype=np.float64)
    direct = {int(data[place]) for place in packed.places}  # variables whose values matter, not only what they move
    read = sorted(set(nodes["variable"].tolist()) | direct)
    number = {variable: k for k, variable in enumerate(read)}
    nodes["variable"] = [number[v] for v in nodes["variable"]]
    data[packed.places] = [number[int(v)] for v in data[packed.places]]
    terms = np.array(packed.terms, dtype=TERM)
    for target, at in packed.targets:
        target.bind(data, at)
    active = np.array(read, dtype=np.int64)
    bounds = _bounds(welded, lower, upper, active, nodes, direct)
    affects = _affects(nodes, frames, packed.reads, data, len(read))
    _require_influence(objectives, owners, affects[:, bounds[0] < bounds[1]])
    population, crowd = _population(nodes, frames, bounds)
    n = len(read)
    spans = _spans(terms, affects, n)
    compiled = Compiled(
        nodes, frames, terms, data, bounds, spans, keep[active] if n else active, limits, affects, population, crowd,
        _attempt(terms, data, nodes), packed.kernels, owners,
    )  # fmt: skip
    if not compiled.one_pose:
        compiled.record  # noqa: B018 - compile the terms now, before the clock of a solve runs
    return compiled


def _pack(packed: TermList, objectives: Sequence[Objective]) -> tuple[slice, ...]:
    """Let all objectives add their terms; which terms belong to each."""
    owners = []
    for objective in objectives:
        packed.objective = objective
        first = len(packed.terms)
        objective.pack(packed)
        owners.append(slice(first, len(packed.terms)))
    if not packed.terms:
        raise ProblemError("no objective asks for anything. Add one, for example mk.Position(frame, target).")
    return tuple(owners)


def _moving(body: Body, objectives: Sequence[Objective]) -> tuple[str, ...]:
    """The joints that frames or wishes about single joints read."""
    frames = [frame for objective in objectives for frame in objective.frames()]
    nodes = body.flatten(frames)[0].nodes
    names = {body.joint_names[v] for v in nodes["variable"]} if frames else set()
    for objective in objectives:
        if not objective.follows_start:
            names.update(objective.joints(body))
    return tuple(name for name in body.joint_names if name in names)


def _bounds(
    body: Body, lower: Array, upper: Array, active: NDArray[np.int64], nodes: NDArray[np.void], direct: set[int]
) -> Array:
    variables = body.variables
    sample_lower = np.maximum(variables.sample_lower, lower)
    sample_upper = np.minimum(variables.sample_upper, upper)
    # Whole turns do not matter for an angle if nothing but turns follows it, at whole ratios.
    whole = np.array([bool(variables.turns[v]) and v not in direct for v in active], dtype=np.float64)
    for node in nodes:
        if node["motion"] in (SLIDE, SCREW) or node["ratio"] != round(float(node["ratio"])):
            whole[node["variable"]] = 0.0
    return np.array([lower[active], upper[active], sample_lower[active], sample_upper[active], whole]).reshape(5, -1)


def _affects(
    nodes: NDArray[np.void], frames: NDArray[np.void], reads: Sequence[Reads], data: Array, n: int
) -> NDArray[np.uint8]:
    """Which variables move which terms."""
    affects = np.zeros((len(reads), n), dtype=np.uint8)
    for moved, (rows, places) in zip(affects, reads, strict=True):
        for row in rows:
            node = frames[row]["node"]
            while node >= 0:
                moved[nodes[node]["variable"]] = 1
                node = nodes[node]["parent"]
        moved[data[list(places)].astype(int)] = 1
    return affects


def _require_influence(objectives: Sequence[Objective], owners: Sequence[slice], affects: NDArray[np.uint8]) -> None:
    for objective, owner in zip(objectives, owners, strict=True):
        if owner.stop > owner.start and not affects[owner].any():
            raise ProblemError(
                f"{objective!r}: no free joint can influence it. Its frame may hang on the root by fixed or locked joints "
                "only; free the root with mk.load(..., base='floating') or unlock a joint."
            )


def _spans(terms: NDArray[np.void], affects: NDArray[np.uint8], n: int) -> NDArray[np.int64]:
    spans = np.zeros((n, 2), dtype=np.int64)
    for k in range(n):
        moved = terms[(affects[:, k] != 0) & (terms["rows"] > 0)]
        if len(moved):
            spans[k] = moved["row"].min(), (moved["row"] + moved["rows"]).max()
    return spans


def _population(nodes: NDArray[np.void], frames: NDArray[np.void], bounds: Array) -> tuple[Array, Array]:
    rng = np.random.default_rng(POPULATION_SEED)
    population = rng.uniform(bounds[2], bounds[3], (POPULATION, bounds.shape[1]))
    crowd = np.empty((frames.size, 7, POPULATION))
    place_crowd(nodes, frames, population, np.empty((nodes.size, 7)), crowd)
    return population, crowd


def _attempt(terms: NDArray[np.void], data: Array, nodes: NDArray[np.void]) -> Any:
    """The local search that fits."""
    if terms["soft"].any():
        return attempt_softly
    if len(terms) == 2 and terms["kind"].tolist() == [POSITION, ORIENTATION]:
        position, orientation = terms
        whole = all(data[t["numbers"] : t["numbers"] + 3].sum() == 3.0 and t["count"] == 0 for t in terms)
        same = position["frame"] == orientation["frame"] and position["target"] == orientation["target"]
        alone = len(set(nodes["variable"].tolist())) == len(
            nodes
        )  # a coupled joint sums the columns of several motions
        if whole and same and alone and (terms["other"] < 0).all():
            return attempt_pose
    return attempt
