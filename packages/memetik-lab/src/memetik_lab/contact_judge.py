"""A judge of every tick of a servo: contacts by coal, at poses by Pinocchio, and nothing of this library but the shapes.

To ask coal for thousands of pairs in each of a million ticks would take days. Each pair has a budget of motion instead: its
distance d when coal was last asked. A tick takes from it the most that the distance can have changed, and coal is asked
again when nothing is left, so no contact is missed:

- If no point of A moves by more than a, and none of B by more than b, their distance changes by at most a + b, since
  |p' - q'| >= |p - q| - a - b for all points p of A and q of B.
- While the joints go from q to q' along a straight line, a turn by dq moves a point at the distance r from its axis by at most
  |dq| r, a slide by |dq|. r is at most the sum of the lengths of the links between the joint and the shape, each slide on the
  way at its longest, and of the radius of the ball around the shape: sum of |dq_j| r_j in all. Only joints between both links
  count for a pair of the robot's own.
- An obstacle that goes from pose T to T' moves no point of its ball (centre c, radius r) by more than |T'c - Tc| + |R' - R| r,
  with the spectral norm, which is the Frobenius norm over the square root of 2 for two rotations.

`exhaustive=True` asks coal for every pair in every tick, to check this.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

import memetik as mk
from memetik.errors import MissingExtraError
from memetik.types import Array
from memetik_lab.coal_judge import coal_shape, radius_of

TOLERANCE = 1e-6  # m: of coal; shallower is no contact


class Contact(NamedTuple):
    """Two shapes that were apart in the tick before and overlap now."""

    first: str  # link
    second: str  # link or obstacle
    of_world: bool
    by_robot: bool  # would also be there if the obstacle had stayed where it was in the tick before
    depth: float  # [m]


class Near(NamedTuple):
    """A pair that is close."""

    first: str
    second: str
    distance: float  # [m]
    normal: Array  # (3,) from the first to the second, unit length
    jacobian: Array  # (dof,) change of the distance [m] by the joints, with the obstacle at rest


class ContactJudge:
    """Judges one posture a tick; `place` moves obstacles before that.

    world: obstacles with their shapes, where they are at first, and links that may touch them.
    pairs: of links that have to stay apart, as `mk.SelfDistance(body).pairs`.
    Links that no joint moves are not judged against the world.
    """

    def __init__(
        self, body: mk.Body, world: mk.World, pairs: Collection[tuple[str, str]], *, exhaustive: bool = False
    ) -> None:
        self._pin = pin = _pinocchio()
        self.body, self.exhaustive = body, exhaustive
        self._model = pinocchio_model(body)
        self._ratio = self._columns()
        self._data = self._model.createData()
        self._solids = pin.GeometryModel()
        self._names: list[str] = []
        self._balls: list[tuple[Array, float]] = []  # around each shape, in the frame of its joint or obstacle
        links: dict[str, list[int]] = {}
        for link in body.links.values():
            frame = self._model.frames[self._model.getFrameId(link.name, pin.FrameType.BODY)]
            for shape in link.shapes:
                place = np.array(frame.placement.homogeneous) @ shape.link_from_shape
                links.setdefault(link.name, []).append(self._add(link.name, int(frame.parentJoint), place, shape))
        self._obstacles: dict[str, list[int]] = {}
        self._moved: dict[int, Array] = {}  # pose of the obstacle that each shape belongs to
        self._local: dict[int, Array] = {}  # pose of each shape in its obstacle
        for name, obstacle in world.items():
            for shape in obstacle.shapes:
                k = self._add(name, 0, obstacle.pose @ shape.link_from_shape, shape)
                self._obstacles.setdefault(name, []).append(k)
                self._moved[k], self._local[k] = np.array(obstacle.pose), shape.link_from_shape
        joint = [int(each.parentJoint) for each in self._solids.geometryObjects]
        rows = [(a, b, False) for one, two in pairs for a in links.get(one, ()) for b in links.get(two, ())]
        rows += [
            (a, b, True)
            for link, own in links.items()
            for name, others in self._obstacles.items()
            if link not in world[name].touching
            for a in own
            for b in others
            if joint[a] > 0
        ]
        for a, b, _ in rows:
            self._solids.addCollisionPair(pin.CollisionPair(a, b))
        self._first, self._second, of_world = np.array(rows, dtype=np.intp).reshape(-1, 3).T
        self._of_world = of_world.astype(bool)
        self._placed = self._solids.createData()
        self._reach = self._motion_bounds(joint)
        self._of_shape = {k: np.flatnonzero(self._second == k) for k in self._moved}
        self._rows_of = {name: np.flatnonzero(np.isin(self._second, own)) for name, own in self._obstacles.items()}
        self._before: dict[int, Any] = {}  # where obstacles that moved in this tick came from
        self._budget = np.zeros(len(rows))
        self.touching = np.zeros(len(rows), dtype=bool)  # pairs that overlap
        self.depth = 0.0  # of the deepest pair in this tick [m]
        self.calls = 0  # of coal
        self._q: Array | None = None

    # ---- The model ---------------------------------------------------------------------------------------------

    def _add(self, name: str, joint: int, place: Array, shape: mk.Shape) -> int:
        pin = self._pin
        pose = pin.SE3(np.ascontiguousarray(place[:3, :3]), place[:3, 3])
        made = pin.GeometryObject(f"{name} {len(self._names)}", joint, pose, coal_shape(shape))
        self._names.append(name)
        self._balls.append((place[:3, 3], radius_of(shape)))
        return int(self._solids.addGeometryObject(made))

    def _columns(self) -> Array:
        """How fast the joints of Pinocchio's model move with those of the body: (nv, dof), mimic joints included."""
        if self._model.nq != self._model.nv:
            raise mk.errors.BodyError(
                f"body {self.body.name!r} has joints without limits; the judge takes joints that are numbers."
            )
        body, rest = self.body, np.array(self.body.home)
        model, step = self._model, 1e-3
        ratio = np.empty((model.nv, body.dof))
        at = self.body.to_pinocchio(rest, model)
        self._rest = rest, at
        for k in range(body.dof):
            moved = rest.copy()
            moved[k] += step if moved[k] + step <= body.upper[k] else -step
            change = self._pin.difference(model, at, body.to_pinocchio(moved, model))
            ratio[:, k] = change / (moved[k] - rest[k])
        return ratio

    def _motion_bounds(self, joint: Sequence[int]) -> Array:
        """The most that the distance of each pair changes by a unit of each joint: (pairs, dof)."""
        model = self._model
        slides = [model.joints[j].shortname().startswith("JointModelP") for j in range(model.njoints)]

        def above(j: int) -> list[int]:
            found = []
            while j > 0:
                found.append(j)
                j = int(model.parents[j])
            return found

        reach = np.zeros((len(self._names), model.nv))
        for k, j in enumerate(joint):
            center, radius = self._balls[k]
            length = float(np.linalg.norm(center)) + radius
            for i in above(j):
                v = model.joints[i].idx_v
                if slides[i]:
                    reach[k, v] = 1.0
                    at = model.joints[i].idx_q
                    length += max(abs(model.lowerPositionLimit[at]), abs(model.upperPositionLimit[at]))
                else:
                    reach[k, v] = length
                length += float(np.linalg.norm(model.jointPlacements[i].translation))
        bounds = np.empty((len(self._first), model.nv))
        chains = [{model.joints[i].idx_v for i in above(j)} for j in joint]
        for row, (a, b) in enumerate(zip(self._first, self._second, strict=True)):
            between = np.zeros(model.nv)
            between[list(chains[a] ^ chains[b])] = 1.0
            bounds[row] = between * (reach[a] + reach[b])
        found: Array = bounds @ np.abs(self._ratio)
        return found

    # ---- Ticks -------------------------------------------------------------------------------------------------

    def place(self, name: str, pose: Array) -> None:
        """Put an obstacle at a pose, as `mk.World.move` does."""
        for k in self._obstacles[name]:
            old = self._moved[k] @ self._local[k]
            new = pose @ self._local[k]
            turned = float(np.linalg.norm(new[:3, :3] - old[:3, :3])) / math.sqrt(2.0)
            way = float(np.linalg.norm(new[:3, 3] - old[:3, 3])) + turned * self._balls[k][1]
            self._budget[self._of_shape[k]] -= way
            shape = self._solids.geometryObjects[k]
            self._before.setdefault(k, shape.placement.copy())
            shape.placement = self._pin.SE3(np.ascontiguousarray(new[:3, :3]), new[:3, 3])
            self._moved[k] = np.array(pose)

    def check(self, q: Array) -> list[Contact]:
        """The contacts that are new with this posture, and the obstacles where they are now."""
        if self._q is None:
            self._budget[:] = -1.0
        else:
            self._budget -= self._reach @ np.abs(q - self._q)
        first, self._q = self._q is None, np.array(q)
        due = np.arange(len(self._budget)) if self.exhaustive else np.flatnonzero(self._budget <= 0.0)
        new, self.depth = [], 0.0
        if len(due):
            distances = self._ask(due)
            overlap = distances < -TOLERANCE
            self.depth = max(0.0, -float(distances.min()))
            for k, distance in zip(due[overlap], distances[overlap], strict=True):
                if not self.touching[k] and not first:
                    new.append(self._contact(int(k), float(distance)))
            self.touching[due] = overlap
        self._before.clear()
        return new

    def contacts(self) -> tuple[bool, bool]:
        """Whether the robot overlaps an obstacle, and itself."""
        return bool((self.touching & self._of_world).any()), bool((self.touching & ~self._of_world).any())

    def overlaps(self) -> list[tuple[str, str]]:
        """The pairs that overlap, by name."""
        return [self._pair(k) for k in np.flatnonzero(self.touching).tolist()]

    def distance(self, q: Array, *, world: bool | None = None) -> float:
        """The least distance of all pairs in a posture [m], of those with the world or of its own if told."""
        self._pose(q)
        rows = np.arange(len(self._first)) if world is None else np.flatnonzero(self._of_world == world)
        return min((self._one(k) for k in rows.tolist()), default=math.inf)

    def bound(self, obstacle: str) -> float:
        """A lower bound of how far an obstacle is from the robot [m], without asking coal."""
        rows = self._rows_of[obstacle]
        return float(self._budget[rows].min()) if len(rows) else math.inf

    def near(self, radius: float) -> list[Near]:
        """All pairs closer than this in the posture that was checked last, with the obstacles where they are now."""
        rows = np.flatnonzero(self._budget < radius)
        if self._q is None or not len(rows):
            return []
        close = rows[self._ask(rows) < radius]
        if not len(close):
            return []
        pin = self._pin
        pin.computeJointJacobians(self._model, self._data, self._configuration(self._q))
        return [self._near(k) for k in close.tolist()]

    def _near(self, k: int) -> Near:
        result = self._placed.distanceResults[k]
        a, b = np.array(result.getNearestPoint1()), np.array(result.getNearestPoint2())
        distance = float(result.min_distance)
        normal = (b - a) / distance if abs(distance) > TOLERANCE else np.array(result.normal)
        shapes = self._solids.geometryObjects
        row = np.zeros(self._model.nv)
        for point, index, sign in ((a, self._first[k], -1.0), (b, self._second[k], 1.0)):
            joint = int(shapes[int(index)].parentJoint)
            if joint:
                world = self._pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
                jacobian = self._pin.getJointJacobian(self._model, self._data, joint, world)
                arm = point - self._data.oMi[joint].translation
                row += sign * (normal @ jacobian[:3] + np.cross(arm, normal) @ jacobian[3:])
        return Near(*self._pair(k), distance, normal, row @ self._ratio)

    def _contact(self, k: int, distance: float) -> Contact:
        by_robot, other = True, int(self._second[k])
        if other in self._before:
            shape, pin = self._solids.geometryObjects[other], self._pin
            now = shape.placement.copy()
            shape.placement = self._before[other]
            pin.updateGeometryPlacements(self._model, self._data, self._solids, self._placed)
            by_robot = self._one(k) < -TOLERANCE
            shape.placement = now
            pin.updateGeometryPlacements(self._model, self._data, self._solids, self._placed)
        return Contact(*self._pair(k), bool(self._of_world[k]), by_robot, -distance)

    def _pair(self, k: int) -> tuple[str, str]:
        return self._names[self._first[k]], self._names[self._second[k]]

    def _ask(self, rows: NDArray[np.intp]) -> Array:
        """The signed distances of these pairs for the last posture; their budgets are new."""
        self._pose(self._q)
        distances = np.array([self._one(k) for k in rows.tolist()])
        self._budget[rows] = distances - TOLERANCE
        return distances

    def _pose(self, q: Array | None) -> None:
        self._pin.updateGeometryPlacements(self._model, self._data, self._solids, self._placed, self._configuration(q))

    def _configuration(self, q: Array | None) -> Array:
        """The joint vector as Pinocchio has it, which is linear here; its own conversion takes 150 us."""
        rest, at = self._rest
        found: Array = at + self._ratio @ (np.asarray(q) - rest)
        return found

    def _one(self, k: int) -> float:
        self.calls += 1
        return float(self._pin.computeDistance(self._solids, self._placed, int(k)).min_distance)


def pinocchio_model(body: mk.Body) -> Any:
    """Pinocchio's model of a body, without shapes, from the URDF that is written of it."""
    bare = ElementTree.fromstring(urdf_of(body))
    for link in bare.findall("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
    return _pinocchio().buildModelFromXML(ElementTree.tostring(bare, encoding="unicode"))


def urdf_of(body: mk.Body) -> str:
    """A body as the text of a URDF."""
    with tempfile.TemporaryDirectory() as folder:
        return body.write_urdf(Path(folder) / "robot.urdf").read_text()


def _pinocchio() -> Any:
    try:
        import pinocchio
    except ImportError as missing:
        raise MissingExtraError("pinocchio", "the judge of contacts", "peers") from missing
    return pinocchio
