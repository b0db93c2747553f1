"""Problem -> flat arrays: the tree pruned to what the objectives read, the objectives as terms, limits."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body
from memetik.errors import ProblemError
from memetik.kernels.body.records import BALL, FRAME, MOUNT, SCREW, SLIDE
from memetik.kernels.compiler.function_pointers import address, lasting_address
from memetik.kernels.compiler.second_compiler import compile_ahead
from memetik.kernels.problem.blocks import gather_blocks, step_by_blocks
from memetik.kernels.problem.budget import OUTCOME
from memetik.kernels.problem.function_pointers import GATHER_BLOCKS, STEP_BY_BLOCKS
from memetik.kernels.problem.mounts import place_root
from memetik.kernels.problem.problem_record import LIMIT, VARIABLE
from memetik.kernels.problem.problem_record import Problem as FlatProblem
from memetik.kernels.runtime.cancel import ALWAYS, AT_FIRST, CLOCK, NOT_LONG
from memetik.kernels.terms.function_pointers import JACOBIAN, RESIDUAL
from memetik.kernels.terms.manipulability import MOTION_DATA
from memetik.kernels.terms.records import (
    AT_REFERENCE,
    CONTACT,
    FOLLOWS_START,
    HYPERBOLA,
    POINT,
    ROTATION,
    TERM,
    kind_of,
)
from memetik.kernels.terms.springs import SPRING_DATA, SPRING_STIFFNESS
from memetik.objectives.objective import Objective, Target
from memetik.problem.balance import balance_weights, objective_weights
from memetik.problem.balls import find_balls, mark_springs
from memetik.problem.blocks import Split, split_residuals
from memetik.problem.term_list import Reads, TermList
from memetik.sharing import cached_property
from memetik.types import Array

# Motions and residuals of a problem of which a posture is measured in 10 us.
SMALL = 200
# A tolerance this wide, as a share of what counts as one in the search, leaves room that a solver can use.
WIDE = 0.02


@dataclass(frozen=True, eq=False)
class Compiled:
    """The record of a problem, shared by all threads: only the targets in `data` change, and function pointers are filled in.

    `plans` is what methods keep for the problem (tables, populations, pools of scratch), by whatever key they choose; `ready` is
    the flagship's scratch that no call uses at the moment, which most solves look for first.
    """

    nodes: NDArray[np.void]
    frames: NDArray[np.void]
    terms: NDArray[np.void]
    variables: NDArray[np.void]
    limits: NDArray[np.void]  # of all free joints of the body, read or not
    data: Array
    affects: NDArray[np.uint8]  # (terms, variables)
    split: Split
    balls: NDArray[np.void]  # joints that step by rotations
    mounts: NDArray[np.void]  # what hangs on the root, if the problem has one
    kernels: Sequence[tuple[Any, Any]]  # residual and Jacobian of each term, nothing for springs
    reads: Sequence[Sequence[int]]  # rows of the frames that each term reads
    owners: tuple[slice, ...]  # the terms of each objective
    priorities: NDArray[np.int64]  # (terms)
    one_pose: bool  # nothing but one full pose of one frame, which has methods of its own
    links: Sequence[str]  # the link of each frame that objectives asked for
    kept: Sequence[object]  # what `data` points to
    targets: Sequence[tuple[Target, int]]  # with their places in `data`
    plans: dict[Any, Any] = field(init=False, default_factory=dict)
    ready: list[Any] = field(init=False, default_factory=list)

    def bind_targets(self) -> None:
        """Let the targets live in `data` from now on, as they are now."""
        for target, at in self.targets:
            target.bind(self.data, at)

    @cached_property
    def active(self) -> NDArray[np.int64]:
        """Where the variables stand in a joint vector."""
        return np.ascontiguousarray(self.variables["index"])

    @property
    def residuals(self) -> int:
        """How many residuals all terms have together."""
        return int((self.terms["row"] + self.terms["rows"]).max())

    @cached_property
    def calls_python(self) -> bool:
        """Whether a term may call a function of the user's that runs as plain Python, or raises there."""
        return any(kind_of(term).calls_python for term in self.terms)

    @property
    def outcome_size(self) -> int:
        """How many numbers a solve reports (kernels/problem/budget.py), with the errors of all terms and their verdicts."""
        return OUTCOME + 2 * self.terms.size

    @cached_property
    def only_guides(self) -> bool:
        """Whether nothing can be missed, because no term has a finite tolerance, so that the cost of all terms is what counts."""
        return bool(np.isinf(self.terms["tolerance"]).all())

    @cached_property
    def ends_reached(self) -> bool:
        """Whether a search that has reached everything is the end of a solve, with nothing to balance or to raise after it."""
        return not self.calls_python and not self.only_guides

    @cached_property
    def displacement_only(self) -> bool:
        """Whether all guides want small changes from the start, of all variables alike, and something else can be missed."""
        guides = self.terms[self.terms["soft"] != 0]
        if len(guides) in (0, self.terms.size) or not (guides["other"] == FOLLOWS_START).all():
            return False
        return all(np.ptp(self.data[_stiffness(term)]) == 0.0 for term in guides)

    @cached_property
    def pose(self) -> tuple[int, ...]:
        """The terms of position and orientation, if besides one full pose there are only Displacements that guide; else none."""
        soft, goals = self.terms["soft"] != 0, self.terms["goal"]
        guides = self.terms[soft]
        calm = ((guides["rows"] == 0) & np.isin(guides["other"], (FOLLOWS_START, AT_REFERENCE))).all()
        rows = tuple(int(k) for goal in (POINT, ROTATION) for k in np.flatnonzero((goals == goal) & ~soft))
        if not calm or len(rows) != np.count_nonzero(~soft) or goals[list(rows)].tolist() != [POINT, ROTATION]:
            return ()
        return rows if _is_whole_pose(self.terms[list(rows)], self.data, self.nodes) else ()

    @cached_property
    def keeps_gil(self) -> int:
        """How long a search keeps the GIL (kernels/runtime/cancel.py), by what it takes to measure a posture."""
        if self.calls_python:  # which needs it at every posture, and lets other threads run by itself
            return ALWAYS
        contacts = bool(np.isin(self.terms["loss"], (CONTACT, HYPERBOLA)).any())
        return NOT_LONG if contacts or self.nodes.size + self.residuals > SMALL else AT_FIRST

    @cached_property
    def has_levels(self) -> bool:
        """Whether there are objectives of different priorities."""
        return bool((self.priorities != self.priorities[0]).any())

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """In which order terms count where not all can be satisfied, from 0: by priority, and on a level guides last."""
        levels = np.unique(self.priorities, return_inverse=True)[1]
        return np.asarray(np.unique(self.terms["soft"] - 2 * levels, return_inverse=True)[1], dtype=np.int64)

    @cached_property
    def weights(self) -> Array:
        """The weight of the objective of each term; those that leave their loss to a term of its own have it from there."""
        return objective_weights(self.terms)

    @cached_property
    def rank_scales(self) -> Array:
        """The scale of each term where only its own rank counts, of which the heaviest has the weight one."""
        heaviest = np.zeros(int(self.ranks.max()) + 1)
        np.maximum.at(heaviest, self.ranks, self.weights)
        return np.asarray(self.terms["scale"] / np.sqrt(heaviest[self.ranks]))

    @cached_property
    def loose_tolerances(self) -> NDArray[np.bool_] | None:
        """Terms with a tolerance that is wide enough to use; None if there are none, or no others."""
        hard = self.terms["soft"] == 0
        loose_tolerances = hard & (np.where(hard, self.terms["tolerance"], 0.0) * self.terms["scale"] > WIDE)
        return loose_tolerances if loose_tolerances.any() and not loose_tolerances.all() else None

    @cached_property
    def sizes(self) -> dict[str, int]:
        """What the sizes are called in the declarations of records (kernels/runtime/record.py)."""
        n, m = self.variables.size, self.residuals
        return {
            "nodes": self.nodes.size, "frames": self.frames.size, "terms": self.terms.size, "variables": n, "residuals": m,
            "balls": self.balls.size, "mounts": self.mounts.size,
            "system": max(min(n, m), 1), "dof": self.limits.size, "numbers": self.data.size, "outcome": self.outcome_size,
            "clock": CLOCK, **self.split.sizes,
        }  # fmt: skip

    @cached_property
    def flat(self) -> FlatProblem:
        """What kernels read, without the addresses of the terms: enough for a single pose, which is solved without them."""
        return FlatProblem(
            self.nodes, self.frames, self.terms, self.variables, self.limits, self.data, self.affects, self.split.blocks,
            self.split.order, self.balls, self.mounts,
        )  # fmt: skip

    @cached_property
    def record(self) -> FlatProblem:
        """The same for all other kernels, which call the terms by address; they are compiled when it is first asked for."""
        pairs = [pair for pair in self.kernels if pair[0] is not None]
        compile_ahead(each for pair in pairs for each in zip(pair, (RESIDUAL, JACOBIAN), strict=True))
        # Numba takes 0.2 ms to say an address again, and many terms have the same kernels.
        known = {pair: (address(pair[0], RESIDUAL), address(pair[1], JACOBIAN)) for pair in dict.fromkeys(pairs)}
        for term, pair in zip(self.terms, self.kernels, strict=True):
            if pair in known:
                term["residual"], term["jacobian"] = known[pair]
        if self.split.blocks.size > 1:
            compile_ahead([(gather_blocks, GATHER_BLOCKS), (step_by_blocks, STEP_BY_BLOCKS)])
            self.split.blocks["gather"] = lasting_address(gather_blocks, GATHER_BLOCKS)
            self.split.blocks["step"] = lasting_address(step_by_blocks, STEP_BY_BLOCKS)
        return self.flat

    def placed(self, record: FlatProblem | None = None) -> FlatProblem:
        """The record (`record` of this unless given) with the root where it is now: with a root, nodes and frames are copies."""
        record = self.record if record is None else record
        if self.mounts.size:
            record = record._replace(nodes=self.nodes.copy(), frames=self.frames.copy())
            place_root(record)
        return record


def compile_problem(
    body: Body, objectives: Sequence[Objective], lower: Array, upper: Array, locked: Mapping[str, float],
    root: Target | None = None, balanced: bool = False,
) -> Compiled:  # fmt: skip
    """Pack a problem. `lower` and `upper` are the limits in force, `root` the seven numbers of world_from_root, `balanced`
    whether errors are measured by their tolerances.

    Locked joints are welded into the tree. Where only some variables of a joint are locked, their limits meet.
    """
    limits = np.empty(len(lower), dtype=LIMIT)
    limits["lower"], limits["upper"] = lower, upper
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
    place = None if root is None else packed.target(root)
    flat, frames = welded.flatten(packed.frames)
    nodes = flat.nodes.copy()
    data = np.array(packed.values, dtype=np.float64)
    direct = {int(data[place]) for place in packed.places}  # variables whose values matter, not only what they move
    read = sorted(set(nodes["variable"].tolist()) | direct)
    number = {variable: k for k, variable in enumerate(read)}
    nodes["variable"] = [number[v] for v in nodes["variable"]]
    data[packed.places] = [number[int(v)] for v in data[packed.places]]
    asked = len(frames)
    frames = _write_motions(packed.chains, nodes, frames, data, lower[read] == upper[read])
    terms = np.array(packed.terms, dtype=TERM)
    if balanced:
        balance_weights(terms, data)
    affects = _affects(nodes, frames, packed.reads, data, len(read))
    # A spring that rests at the start has nothing against a whole turn that brings a joint nearer to it.
    settled = {
        read[int(data[place])]
        for term, (_, places) in zip(terms, packed.reads, strict=True)
        if not (term["rows"] == 0 and term["other"] == FOLLOWS_START)
        for place in places
    }
    variables = _variables(welded, lower, upper, read, nodes, settled)
    variables["index"] = keep[read] if read else []
    numbers = {welded.joint_names[v]: k for v, k in number.items()}
    springs = [places if term["rows"] == 0 else () for term, (_, places) in zip(terms, packed.reads, strict=True)]
    others = {
        int(data[p]) for spring, (_, places) in zip(springs, packed.reads, strict=True) if not spring for p in places
    }
    others.update(nodes["variable"][frames["node"][asked:]].tolist())
    balls = np.array(find_balls(welded, numbers, nodes, variables, data, springs, others), dtype=BALL)
    mark_springs(balls, variables, data, springs)
    _require_influence(objectives, owners, affects[:, variables["lower"] < variables["upper"]])
    split = split_residuals(terms, affects)
    write_row_ranges(variables, terms, affects)
    every = list(range(len(frames)))
    reads = [rows if len(frames) == asked else every for rows, _ in packed.reads]
    compiled = Compiled(
        nodes, frames, terms, variables, limits, data, affects, split, balls, _mounts(nodes, frames, place), packed.kernels,
        reads, owners, np.array(packed.priorities, dtype=np.int64), is_one_pose(terms, data, nodes),
        [frame.link for frame in packed.frames], packed.kept, packed.targets,
    )  # fmt: skip
    if not compiled.one_pose:
        compiled.record  # noqa: B018 - compile the terms now, before the clock of a solve runs
    return compiled


def write_row_ranges(variables: NDArray[np.void], terms: NDArray[np.void], affects: NDArray[np.uint8]) -> None:
    """Write which residuals each variable moves."""
    for variable, moves in zip(variables, affects.T, strict=True):
        moved = terms[(moves != 0) & (terms["rows"] > 0)]
        if len(moved):
            variable["row_begin"], variable["row_end"] = moved["row"].min(), (moved["row"] + moved["rows"]).max()


def _pack(packed: TermList, objectives: Sequence[Objective]) -> tuple[slice, ...]:
    """Let all objectives add their terms; which terms belong to each."""
    owners = []
    for objective in objectives:
        packed.objective = objective
        first = len(packed.terms)
        objective.pack(packed)
        owners.append(slice(first, len(packed.terms)))
    packed.add_losses()
    if not packed.terms:
        raise ProblemError("no objective asks for anything. Add one, for example mk.Position(frame, target).")
    return tuple(owners)


def _write_motions(
    chains: Sequence[tuple[int, int]], nodes: NDArray[np.void], frames: NDArray[np.void], data: Array,
    held: NDArray[np.bool_],
) -> NDArray[np.void]:  # fmt: skip
    """Write the motions that move a frame into the data, those of a variable in a row; the frames with one for each motion.

    A variable that is held, one of several of a joint, moves nothing.
    """
    rows: dict[int, int] = {}  # node -> row of the frame that it moves
    for at, row in chains:
        chain, node = [], int(frames[row]["node"])
        while node >= 0:
            chain.append(node)
            node = int(nodes[node]["parent"])
        for node in sorted(chain, key=lambda k: (nodes[k]["variable"], k)):
            here = rows.setdefault(node, frames.size + len(rows))
            fields = nodes[node]
            ratio = 0.0 if held[fields["variable"]] else fields["ratio"]
            data[at : at + MOTION_DATA] = here, fields["variable"], ratio, fields["motion"], fields["pitch"]
            at += MOTION_DATA
    moved = np.zeros(len(rows), dtype=FRAME)
    moved["node"], moved["w"] = list(rows), 1.0
    return np.concatenate([frames, moved])


def _stiffness(term: np.void) -> slice:
    """Where the stiffness of each spring of a term stands in the data."""
    first = int(term["numbers"])
    return slice(first + SPRING_STIFFNESS, first + int(term["count"]) * SPRING_DATA, SPRING_DATA)


def _moving(body: Body, objectives: Sequence[Objective]) -> tuple[str, ...]:
    """The joints that frames or wishes about single joints read."""
    frames = [frame for objective in objectives for frame in objective.frames()]
    nodes = body.flatten(frames)[0].nodes
    names = {body.joint_names[v] for v in nodes["variable"]} if frames else set()
    for objective in objectives:
        if not objective.follows_start:
            names.update(objective.joints(body))
    return tuple(name for name in body.joint_names if name in names)


def _variables(
    body: Body, lower: Array, upper: Array, read: Sequence[int], nodes: NDArray[np.void], settled: Collection[int]
) -> NDArray[np.void]:
    """The variables with their limits; the values of those that are settled matter, not only what they move."""
    known = body.variables
    variables = np.zeros(len(read), dtype=VARIABLE)
    variables["lower"], variables["upper"] = lower[read], upper[read]
    variables["sample_lower"] = np.maximum(known.sample_lower, lower)[read]
    variables["sample_upper"] = np.minimum(known.sample_upper, upper)[read]
    # Whole turns do not matter for an angle if nothing but turns follows it, at whole ratios.
    variables["whole_turn"] = [bool(known.turns[v]) and v not in settled for v in read]
    for node in nodes:
        if node["motion"] in (SLIDE, SCREW) or node["ratio"] != round(float(node["ratio"])):
            variables["whole_turn"][node["variable"]] = 0
    return variables


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


def _mounts(nodes: NDArray[np.void], frames: NDArray[np.void], place: int | None) -> NDArray[np.void]:
    """What hangs on the root itself, for a root whose pose stands at this place in the data."""
    pose = ["w", "x", "y", "z", "px", "py", "pz"]
    rows = [] if place is None else [
        (row, is_frame, place, *record[pose].tolist())
        for is_frame, records in ((0, nodes), (1, frames))
        for row, record in enumerate(records)
        if record["node" if is_frame else "parent"] < 0
    ]  # fmt: skip
    return np.array(rows, dtype=MOUNT)


def _require_influence(objectives: Sequence[Objective], owners: Sequence[slice], affects: NDArray[np.uint8]) -> None:
    for objective, owner in zip(objectives, owners, strict=True):
        if owner.stop > owner.start and not affects[owner].any():
            raise ProblemError(
                f"{objective!r}: no free joint can influence it. Its frame may hang on the root by fixed or locked joints "
                "only; free the root with mk.load(..., base='floating') or unlock a joint."
            )


def is_one_pose(terms: NDArray[np.void], data: Array, nodes: NDArray[np.void]) -> bool:
    """Whether the terms are position and orientation of one frame in the world, whole, and every joint moves alone."""
    if terms["soft"].any() or terms["goal"].tolist() != [POINT, ROTATION]:
        return False
    return bool(terms["target"][0] == terms["target"][1]) and _is_whole_pose(terms, data, nodes)


def _is_whole_pose(terms: NDArray[np.void], data: Array, nodes: NDArray[np.void]) -> bool:
    """Whether a position and an orientation are those of one frame in the world, whole, and every joint moves alone."""
    whole = all(data[t["numbers"] : t["numbers"] + 3].sum() == 3.0 and t["count"] == 0 for t in terms)
    same = terms["frame"][0] == terms["frame"][1]
    # A coupled joint would sum the columns of several motions.
    alone = len(set(nodes["variable"].tolist())) == len(nodes)
    return bool(whole and same and alone and (terms["other"] < 0).all())
