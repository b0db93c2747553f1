"""The pairs of solids that the distances of a problem keep apart, ready for kernels/collision/between.py."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memetik.body import Body
from memetik.collision.parts import groups_of, meeting, welded
from memetik.collision.solids import GROUP_OF_ONE, ball, link_solids
from memetik.collision.world import World
from memetik.errors import ProblemError
from memetik.geometry.rotation import quaternion_of_matrix
from memetik.geometry.transform import invert
from memetik.kernels.collision.between import check_motions
from memetik.kernels.collision.solids_record import PAIR, VERDICT, Solids
from memetik.kernels.geometry.solids import SOLID_DATA
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.terms.distance import GROUP_CENTER, GROUP_COUNT, GROUP_SOLIDS
from memetik.objectives import Distance, Objective, SelfDistance
from memetik.objectives.distance import Standing
from memetik.objectives.objective import FrameLike
from memetik.problem import Problem
from memetik.types import Array

LOOKS = 20_000  # postures for each motion
FEW_LOOKS = 500  # of a motion that is checked in this thread
AT_ONCE = 0.05  # s that the kernel runs before Python handles signals


class Names(NamedTuple):
    """The names of pairs, put together when somebody asks, and how far they have to keep apart."""

    links: Sequence[tuple[str, str]]  # of each pair, obstacles by number
    others: NDArray[np.int64]  # the second group of each pair
    owners: Mapping[int, str | None]  # whose that group is in a world
    required: Array  # m that each pair has to keep

    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The names of each pair."""
        owners = [self.owners.get(other) for other in self.others.tolist()]
        return tuple((one, owner or two) for (one, two), owner in zip(self.links, owners, strict=True))


class Obstacles(NamedTuple):
    """The obstacles of one objective, as groups that follow those of the body."""

    objective: Distance
    first: int  # the number of the first group
    size: int  # how many there are
    place: int  # where their numbers begin among those of all solids
    numbers: Array  # as they were when the plan was made, with the points of hulls behind them


class Fixed(NamedTuple):
    """A group that stays where it is: of a cloud of points, a height field or a grid."""

    place: int  # where its numbers begin among those of all solids
    what: Standing


class Apart(NamedTuple):
    """Two groups by their numbers, the distance that they keep [m], and what they are called."""

    one: int
    other: int
    clearance: float
    names: tuple[str, str]


class Motions(NamedTuple):
    """What the kernel takes, a row for each motion."""

    table: Any
    before: Array
    after: Array
    path: Array  # a row more
    bends: Array
    resolution: float
    verdicts: NDArray[np.void]

    def check(self) -> None:
        """Check all of them. Python handles signals every now and then."""
        done, count = 0, 1
        while done < len(self.verdicts):
            begin = perf_counter()
            self._run(slice(done, done + count), FEW_LOOKS)
            done += count
            count = max(int(count * min(AT_ONCE / max(perf_counter() - begin, 1e-9), 8.0)), 1)
        for k in np.flatnonzero(self.verdicts["looks"] >= FEW_LOOKS).tolist():
            # It may take seconds: this thread waits for signals meanwhile.
            thread = threading.Thread(
                target=self._run, args=(slice(k, k + 1), LOOKS), name="memetik motion", daemon=True
            )
            thread.start()
            thread.join()

    def _run(self, part: slice, looks: int) -> None:
        check_motions(
            self.table, self.before[part], self.after[part], self.path[part.start : part.stop + 1], self.bends[part],
            self.resolution, looks, self.verdicts[part],
        )  # fmt: skip


class Riders:
    """The groups of solids on the body, each once, however many objectives look at it."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.groups: list[tuple[str, list[Array]]] = []  # links, and solids in their frames
        self._known: dict[tuple[object, ...], int] = {}

    def number(self, frame: FrameLike, radius: float | None, who: str) -> int:
        """The number of the group that stands for a frame, as in Distance: the shapes of a link, or a ball."""
        link = link_of(frame)
        if isinstance(frame, str) and radius is None:
            return self._add((link,), link, lambda: link_solids(self.body, link, who))
        place = self.body.frame(frame).link_from_frame[:3, 3]
        return self._add((link, radius, *place.tolist()), link, lambda: [ball(place, radius or 0.0)])

    def _add(self, key: tuple[object, ...], link: str, solids: Callable[[], list[Array]]) -> int:
        if key not in self._known:
            self._known[key] = len(self.groups)
            self.groups.append((link, solids()))
        return self._known[key]


class Plan:
    """The pairs that some objectives keep apart; obstacles are taken as they are when a check begins.

    keep: the variables of the body, whose locked joints are welded, in the joint vector of the problem.
    """

    def __init__(
        self, body: Body, objectives: Iterable[Objective], keep: NDArray[np.int64], problem: Problem | None = None
    ) -> None:  # fmt: skip
        self.keep = keep
        self._problem = None if problem is None else weakref.ref(problem)
        self._free: list[tuple[Solids, Any]] = []  # scratch that no call uses, and its table
        riders, part = Riders(body), welded(body)
        kept = [
            each for each in objectives if isinstance(each, (Distance, SelfDistance)) and each.tolerance is not None
        ]
        pairs: list[Apart] = []
        for objective in kept:
            pairs += _on_body(objective, riders, part)
            if isinstance(objective, Distance):
                for frame in objective.kept:
                    riders.number(frame, objective.radius, objective.name)
        self.groups = groups_of(body, riders.groups)
        self.obstacles: list[Obstacles] = []
        self.fixed: list[Fixed] = []
        self._body = body  # whose fields the numbers point to
        places = [*self.groups.places]
        self.size = self.groups.data.size  # numbers of all solids
        for objective in kept:
            if isinstance(objective, Distance):
                rows, points = objective.obstacle_numbers
                numbers = np.concatenate([rows.ravel(), points])
                self.obstacles.append(Obstacles(objective, len(places), len(rows), self.size, numbers))
                pairs += _in_world(self.obstacles[-1], riders)
                places += (self.size + GROUP_OF_ONE * k for k in range(len(rows)))
                self.size += numbers.size
                for what in objective.standing():
                    self.fixed.append(Fixed(self.size, what))
                    pairs += _with_fixed(objective, what, len(places), riders)
                    places.append(self.size)
                    self.size += what.numbers.size
        self.places = np.array(places, dtype=np.int64)
        nodes = [*self.groups.frames["node"].tolist(), *[-1] * (len(places) - len(riders.groups))]
        self.names = [pair.names for pair in pairs]
        self.pairs = np.array(
            [
                (self.places[one], self.places[other], one, other, meeting(self.groups.nodes, nodes[one], nodes[other]), apart)
                for one, other, apart, _ in pairs
            ],
            dtype=PAIR,
        )  # fmt: skip

    def check(
        self, path: Array, bends: Array, moving: Mapping[Objective, Array], clearance: float, resolution: float
    ) -> tuple[NDArray[np.void], Names]:  # fmt: skip
        """Check every motion from one row of the path to the next."""
        root_from_world = self._root_from_world()
        none = np.zeros((len(path) - 1, 0))
        drifting: list[int] = []
        before, after = [none], [none]
        for objective, first, count, _, _ in self.obstacles:
            if objective in moving:
                over = moving[objective][:, : count * GROUP_OF_ONE].reshape(len(path), count, GROUP_OF_ONE)
                over = _seen_from(root_from_world, over)
                drifting += range(first, first + count)
                before.append(over[:-1].reshape(len(path) - 1, -1))
                after.append(over[1:].reshape(len(path) - 1, -1))
        solids, table = self._scratch(drifting)
        self.place_world(solids, clearance)
        verdicts = np.zeros(len(path) - 1, dtype=VERDICT)
        motions = Motions(
            table, np.hstack(before), np.hstack(after), np.ascontiguousarray(path[:, self.keep]),
            np.ascontiguousarray(bends[:, self.keep]), resolution, verdicts,
        )  # fmt: skip
        motions.check()
        if not drifting:
            self._free.append((solids, table))
        return verdicts, self.names_now(clearance)

    def place_world(self, solids: Solids, clearance: float) -> None:
        """Write the obstacles as they are now, and how far pairs keep apart, with a `clearance` [m] beyond what is asked for."""
        root_from_world = self._root_from_world()
        for objective, _, count, place, planned in self.obstacles:
            rows, points = objective.obstacle_numbers
            if rows.size + points.size != planned.size:  # another thread has just added some, or changed a hull
                rows = planned[: count * GROUP_OF_ONE].reshape(count, GROUP_OF_ONE)
                points = planned[rows.size :]
            solids.data[place : place + planned.size] = np.concatenate(
                [_seen_from(root_from_world, rows).ravel(), points]
            )
        for place, what in self.fixed:
            solids.data[place : place + what.numbers.size] = _fixed_seen_from(root_from_world, what.numbers)
        solids.pairs["clearance"] = self.pairs["clearance"] + clearance

    def names_now(self, clearance: float) -> Names:
        """The names of the pairs, with the obstacles by what they are called now."""
        return Names(self.names, self.pairs["other"], self._owners(), self.pairs["clearance"] + clearance)

    def _root_from_world(self) -> Array | None:
        problem = None if self._problem is None else self._problem()
        return None if problem is None or problem.root is None else invert(problem.root)

    def _scratch(self, drifting: Sequence[int]) -> tuple[Solids, Any]:
        """What the kernel works on, for one call."""
        if not drifting:
            try:
                return self._free.pop()  # one step to all threads
            except IndexError:
                pass
        solids = self.new_solids(drifting)
        return solids, table_of(solids)

    def new_solids(self, drifting: Sequence[int] = ()) -> Solids:
        """Solids for one call to work on, without the obstacles (see `place_world`)."""
        sizes = {"nodes": self.groups.nodes.size, "frames": self.groups.frames.size, "variables": self.keep.size,
                 "pairs": self.pairs.size, "groups": self.places.size}  # fmt: skip
        data = np.zeros(self.size)
        data[: self.groups.data.size] = self.groups.data
        return allocate(
            Solids, sizes, nodes=self.groups.nodes.copy(), frames=self.groups.frames.copy(), data=data,
            pairs=self.pairs.copy(), groups=self.places.copy(), drifting=np.array(drifting, dtype=np.int64),
        )  # fmt: skip

    def _owners(self) -> dict[int, str | None]:
        """Whose each group in a world is now."""
        return {
            first + slot: objective.world.owner(slot)
            for objective, first, count, _, _ in self.obstacles
            if objective.world is not None
            for slot in range(count)
        }


def link_of(frame: FrameLike) -> str:
    """The link that a frame rides on."""
    return frame if isinstance(frame, str) else frame.link


def plan_of(problem: Problem) -> Plan:
    """The plan of a problem, kept with what is compiled of it."""
    plans = problem.compiled.plans
    found: Plan | None = plans.get(Plan)
    if found is not None:
        return found
    body, lock = problem.body, problem.lock
    joints = [joint for joint in body.joints.values() if joint.mimic is None and lock.keys() >= set(joint.variables)]
    held = body.fix({name: lock[name] for joint in joints for name in joint.variables})
    keep = np.array([body.index(name) for name in held.joint_names], dtype=np.int64)
    return plans.setdefault(Plan, Plan(held, problem.objectives, keep, problem))  # type: ignore[no-any-return]


_of_bodies: weakref.WeakKeyDictionary[Body, Plan] = weakref.WeakKeyDictionary()


def plan_of_body(body: Body, world: World | None) -> Plan:
    """All links of a body against each other, and against a world."""
    found = _of_bodies.get(body) if world is None else None
    if found is None:
        wanted: list[Objective] = [] if world is None else [Distance(body, world)]
        try:
            wanted.append(SelfDistance(body))
        except ProblemError:  # no two of its links can collide
            if world is None:
                raise
        found = Plan(body, wanted, np.arange(body.dof))
        if world is None:
            _of_bodies[body] = found
    return found


def _required(objective: Distance | SelfDistance) -> float:
    """How far apart the solids of an objective have to be [m] for it to be satisfied."""
    return objective.clearance - (objective.tolerance or 0.0)


def _on_body(objective: Distance | SelfDistance, riders: Riders, part: Mapping[str, str]) -> list[Apart]:
    """The pairs of an objective that are both on the body."""
    who, clearance = objective.name, _required(objective)
    if isinstance(objective, SelfDistance):
        return [
            Apart(riders.number(one, None, who), riders.number(two, None, who), clearance, (one, two))
            for one, two in objective.pairs
            if part[one] != part[two]  # locked joints weld more links together
        ]
    return [
        Apart(riders.number(one, objective.radius, who), riders.number(two, None, who), clearance, (str(one), str(two)))
        for one in objective.kept
        for two in objective.others
    ]


def _in_world(obstacles: Obstacles, riders: Riders) -> list[Apart]:
    """The pairs of an objective of which one is an obstacle."""
    objective, first, count = obstacles.objective, obstacles.first, obstacles.size
    touching = {} if objective.world is None else objective.world.touching()
    return [
        Apart(
            riders.number(frame, objective.radius, objective.name), first + slot, _required(objective),
            (str(frame), f"obstacle {slot}"),
        )
        for frame in objective.kept
        for slot in range(count)
        if link_of(frame) not in touching.get(slot, ())
    ]  # fmt: skip


def _with_fixed(objective: Distance, what: Standing, number: int, riders: Riders) -> list[Apart]:
    """The pairs of an objective with a group that stays where it is."""
    clearance, touching = _required(objective), {} if objective.world is None else objective.world.touching()
    return [
        Apart(riders.number(frame, objective.radius, objective.name), number, clearance, (str(frame), what.name))
        for frame in objective.kept
        if link_of(frame) not in touching.get(what.slot, ())
    ]


def _fixed_seen_from(root_from_world: Array | None, numbers: Array) -> Array:
    """A group of balls, or of one solid, in the frame of the root."""
    if root_from_world is None:
        return numbers
    moved = numbers.copy()
    if int(numbers[GROUP_COUNT]) == 1:
        moved[:GROUP_OF_ONE] = _seen_from(root_from_world, numbers[:GROUP_OF_ONE])
        return moved
    turn, offset = root_from_world[:3, :3], root_from_world[:3, 3]
    moved[GROUP_CENTER : GROUP_CENTER + 3] = turn @ numbers[GROUP_CENTER : GROUP_CENTER + 3] + offset
    end = GROUP_SOLIDS + int(numbers[GROUP_COUNT]) * SOLID_DATA
    balls, before = (each[GROUP_SOLIDS:end].reshape(-1, SOLID_DATA) for each in (moved, numbers))
    balls[:, 4:7] = before[:, 4:7] @ turn.T + offset
    return moved


def _seen_from(root_from_world: Array | None, groups: Array) -> Array:
    """Obstacles (..., numbers) in the frame of the root."""
    if root_from_world is None:
        return groups
    moved = groups.copy()
    turn, w = root_from_world[:3, :3], quaternion_of_matrix(root_from_world)
    for place in (slice(GROUP_CENTER, GROUP_CENTER + 3), slice(GROUP_SOLIDS + 4, GROUP_SOLIDS + 7)):
        moved[..., place] = groups[..., place] @ turn.T + root_from_world[:3, 3]
    a, b, c, d = w
    left = np.array([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])
    moved[..., GROUP_SOLIDS : GROUP_SOLIDS + 4] = groups[..., GROUP_SOLIDS : GROUP_SOLIDS + 4] @ left.T
    return moved
