"""Distance: links and frames keep away from obstacles, in the world or on the body itself."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from memetik.body import Body, Shape
from memetik.collision.obstacles import FAR
from memetik.collision.parts import solid_links
from memetik.collision.solids import (
    GROUP_OF_ONE,
    ball,
    group,
    link_solids,
    renew_kernels,
    shape_of,
    solid,
    world_groups,
)
from memetik.collision.world import World
from memetik.errors import ProblemError
from memetik.geometry.checks import real_array, several
from memetik.kernels.geometry.solids import SOLID_POINTS
from memetik.kernels.terms.distance import GROUP_CENTER, GROUP_SOLIDS
from memetik.objectives.apart import Apart
from memetik.objectives.attributes import attribute, fixed, frozen_copy
from memetik.objectives.broad_phase import Group, place_group
from memetik.objectives.objective import FrameLike, Packer, Target, checked_frame, checked_length, checked_name
from memetik.objectives.point_cloud import PointCloud
from memetik.sharing import LOCK
from memetik.types import Array


class Standing(NamedTuple):
    """A group in the world that stays where it is as long as the problem is packed: of a cloud, or a field."""

    numbers: Array
    name: str
    slot: int = -1  # in a world, of which it is known what may touch it
    kept: object = None  # whose memory the numbers point to


class Distance(Apart):
    """Frames or links keep away from obstacles: max(0, clearance - d) <= tolerance [m] for each pair of shapes, with their
    distance d = |a - b| - r_a - r_b.

    frame: what keeps away, one or several. A link by name stands for its collision shapes, a body for all its links that
    have some. A frame, or a link with `radius` [m], stands for a ball of that radius around its origin.
    others: what to keep away from: points (k, 3) or spheres (k, 4) in the world, shapes placed in the world, clouds of
    thousands of points (mk.objectives.PointCloud), ground (mk.objectives.HeightField), meshes as grids of distances
    (mk.collision.SignedDistanceGrid), links of the body by name (their shapes) or frames (their origins), or a list of
    these; or a World, whose obstacles come, move and go.
    clearance: the distance that is required [m], and judged: an answer is REACHED only if every pair is that far apart, by
    the exact distances at the joint vector that is returned. 0 is contact, as in eq. 4.7 of the thesis, whose loss is
    infinite there.
    margin: the search aims at this distance [m] beyond the clearance. It is not judged: an answer may be anywhere in it.
    loss: what Bio IK and the other evolutionary methods lose. "margin": zero where the margin is kept, from there a hyperbola to
    infinity at the clearance. "published": eq. 4.7 as the thesis has it, the sum of 1 / (d - clearance) [1/m] over all pairs at
    any distance, infinite where d <= clearance; it is never zero and pulls on whatever else is wanted, so give it a small
    weight. All other methods minimise what is lacking to the margin, with either.

    a and b are the closest points of the cores of two shapes, r_a and r_b what surrounds these: the centre of a sphere,
    the axis of a capsule, the whole of a box or of a convex hull. The distances are exact, save for cylinders: from all but
    hulls such a one counts as being where both the capsule and the box around it are, which sticks out at the rims only.
    Meshes count as their convex hulls (mk.collision.hull, body.with_hulls), or must be covered by simple shapes
    (body.with_shapes). The
    error is what the nearest pair lacks of the clearance: with none, the depth of the deepest pair.
    """

    def __init__(
        self, frame: Body | FrameLike | Iterable[FrameLike], others: object, *, radius: float | None = None,
        clearance: float = 0.0, margin: float = 0.005, tolerance: float | None = 0.0, weight: float = 1.0,
        name: str | None = None, priority: int = 1, loss: str = "margin",
    ) -> None:  # fmt: skip
        self.kept = frame
        usual = f"Distance of {len(self.kept)} links" if len(self.kept) > 1 else None
        super().__init__(
            clearance=clearance, margin=margin, tolerance=tolerance, weight=weight, name=checked_name(name) or usual,
            priority=priority, loss=loss,
        )  # fmt: skip
        self.radius = radius
        self.world = others if isinstance(others, World) else None
        self.others, self.clouds, self.fields, obstacles = _sort(() if isinstance(others, World) else others, self.name)
        if not self.kept:
            raise ProblemError(f"{self.name}: nothing keeps away. Name at least one link or frame.")
        shared = {_link(each) for each in self.kept} & {_link(each) for each in self.others}
        if shared:
            names = ", ".join(sorted(shared))
            raise ProblemError(f"{self.name}: {names} cannot keep away from itself. Leave it out of one side.")
        self._world, self._count = Target(0), 0
        if self.world is None:
            self.obstacles = obstacles
        else:
            self.world.watch(self)

    @fixed
    def kept(self, value: Body | FrameLike | Iterable[FrameLike]) -> tuple[FrameLike, ...]:
        """The frames and links that keep away."""
        return _kept(value)

    @attribute
    def radius(self, value: float | None) -> float | None:
        """The radius of the balls that stand for links and frames [m]; None where links have their shapes."""
        return None if value is None else checked_length(value, self.name, "radius")

    @fixed
    def world(self, value: World | None) -> World | None:
        """The world that it keeps away from, None where it was given obstacles."""
        return value

    @fixed
    def others(self, value: tuple[FrameLike, ...]) -> tuple[FrameLike, ...]:
        """The frames and links of the body that it keeps away from."""
        return value

    @fixed
    def clouds(self, value: tuple[PointCloud, ...]) -> tuple[PointCloud, ...]:
        """The clouds of points that it keeps away from."""
        return value

    @fixed
    def fields(self, value: tuple[Shape, ...]) -> tuple[Shape, ...]:
        """The height fields and grids that it keeps away from."""
        return value

    @property
    def obstacles(self) -> Array:
        """The obstacles in the world as balls (x, y, z, radius), around each if it is no ball itself.

        Assign points, spheres or shapes to move them; as many as before change in place, others compile again. Those of a World
        are changed there.
        """
        with LOCK:
            balls = self._groups[:, GROUP_CENTER : GROUP_CENTER + 4].copy()
        # In a world, neither empty slots, nor what is disabled, nor fields.
        return frozen_copy(balls if self.world is None else balls[balls[:, 0] < FAR])

    @obstacles.setter
    def obstacles(self, value: object) -> None:
        if self.world is not None:
            raise ProblemError(
                f"{self.name}: its obstacles are those of a world. Change them there, world.move(name, pose)."
            )
        self.take_world(*world_groups(value, self.name))

    @property
    def obstacle_numbers(self) -> tuple[Array, Array]:
        """The numbers of the obstacles in the world as they are now, a row for each, and the points of hulls behind them."""
        with LOCK:
            numbers, end = frozen_copy(self._world.numbers), self._count * GROUP_OF_ONE
        return numbers[:end].reshape(-1, GROUP_OF_ONE), numbers[end:]

    def obstacle_name(self, data: Array, place: int) -> str | None:
        """Return the name of the obstacle whose numbers stand at a place in the data of a compiled problem, None if there is none
        of this objective."""
        slot = (place - self._world.place(data)) // GROUP_OF_ONE
        if not 0 <= slot < self._count:
            return None
        return f"obstacle {slot}" if self.world is None else self.world.owner(slot)

    @property
    def _groups(self) -> Array:
        """The numbers of the obstacles in the world; behind them stand the points of hulls."""
        return self._world.numbers[: self._count * GROUP_OF_ONE].reshape(-1, GROUP_OF_ONE)

    def take_world(self, groups: Array, points: Array) -> None:
        """Take over the numbers of all obstacles, a row for each, and the points of hulls."""
        with LOCK:
            if len(groups) != self._count or groups.size + points.size != self._world.numbers.size:
                self._world, self._count = Target(groups.size + points.size), len(groups)
                self._changed()
            self._world.assign(0, np.concatenate([groups.ravel(), points]))

    def take_slot(self, slot: int, numbers: Array) -> None:
        """Take over the numbers of the obstacle in a slot, which is the same as before but elsewhere."""
        self._world.assign(slot * GROUP_OF_ONE, numbers)

    def pair_anew(self) -> None:
        """What may touch what has changed in the world, or which obstacles are hulls."""
        self._changed()

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Those that were written to a file before there were worlds and fields have none.
        super().__setstate__({"world": None, "fields": (), **state})
        if self.world is not None:
            self.world.watch(self)

    def frames(self) -> tuple[FrameLike, ...]:
        return (*self.kept, *self.others)

    def pack(self, packer: Packer) -> None:
        kept = [self._group(packer, frame, self.radius) for frame in self.kept]
        others = [self._group(packer, frame, None) for frame in self.others]
        with LOCK:  # all as it was at one time
            groups = self._groups.copy()
            renew_kernels(groups)
            self._world.assign(0, groups.ravel())
            world = packer.target(self._world)
            touching = {} if self.world is None else self.world.touching()
            standing = self.standing()
        others += [Group(place) for place in range(world, world + groups.size, GROUP_OF_ONE)]
        for each in standing:
            packer.keep(each.kept)
        slots = [*range(len(self.others)), *range(len(groups)), *(each.slot for each in standing)]
        others += [Group(packer.numbers(each.numbers)) for each in standing]
        fields = any(each.kept is not None for each in standing)
        hulls = bool((groups[:, GROUP_SOLIDS + SOLID_POINTS] > 0.0).any())
        pairs = [
            (one, other)
            for (frame, one), (slot, other) in product(
                zip(self.kept, kept, strict=True), zip(slots, others, strict=True)
            )
            if _link(frame) not in touching.get(slot, ())
        ]
        self._pack_pairs(packer, pairs, self.frames(), hulls=hulls, fields=fields)

    def standing(self) -> list[Standing]:
        """What stands in the world besides the obstacles that move in place: clouds, height fields, grids."""
        clouds = [Standing(numbers, "point cloud") for cloud in self.clouds for numbers in cloud.groups()]
        names = {"heights": "height field", "grid": "signed distance grid"}
        fields = [
            Standing(group(-1, [solid(shape, self.name)]), names[shape.kind], kept=shape) for shape in self.fields
        ]
        known = [] if self.world is None else self.world.fields()
        return [*clouds, *fields, *(Standing(each.numbers, each.owner, each.slot, each.shape) for each in known)]

    def target_rows(self, targets: ArrayLike) -> tuple[Array, Target]:
        """Obstacles over time: rows of as many points or spheres as now, an array of rows x k x 3 or 4; of a World the poses of
        those that move, {name: poses (rows, 4, 4)}."""
        if self.world is not None:
            with LOCK:
                return self.world.rows(targets), self._world
        rows = np.array([world_groups(np.asarray(step), self.name)[0].ravel() for step in np.asarray(targets)])
        if rows.shape[1:] != self._world.numbers.shape:
            count = len(self.obstacles)
            raise ProblemError(f"{self.name}: many obstacles must be an array of rows x {count} x 3 or 4.")
        return rows, self._world

    def _group(self, packer: Packer, frame: FrameLike, radius: float | None) -> Group:
        if isinstance(frame, str) and radius is None:
            solids = link_solids(packer.body, frame, self.name)
        else:
            solids = [ball(packer.body.frame(frame).link_from_frame[:3, 3], radius or 0.0)]
        return place_group(packer, _link(frame), solids)


def _kept(frame: Body | FrameLike | Iterable[FrameLike]) -> tuple[FrameLike, ...]:
    if isinstance(frame, Body):
        return tuple(solid_links(frame))
    if isinstance(frame, FrameLike):
        return (frame,)
    each = several(frame, ProblemError, "Distance: frame", "['hand', 'elbow']")
    return tuple(checked_frame(one, "Distance") for one in each)


def _sort(others: object, name: str) -> tuple[tuple[FrameLike, ...], tuple[PointCloud, ...], tuple[Shape, ...], object]:
    """What rides on the body, clouds of points, height fields and grids, and what else stands in the world."""
    others = shape_of(others)
    if isinstance(others, FrameLike):
        return (others,), (), (), ()
    if isinstance(others, PointCloud):
        return (), (others,), (), ()
    if isinstance(others, Shape) and others.is_field:
        return (), (), (others,), ()
    if isinstance(others, np.ndarray | Shape) or not isinstance(others, Iterable):
        return (), (), (), others
    items = several(others, ProblemError, f"{name}: others", "[(0.5, 0.0, 0.3)]")
    if items and all(np.isscalar(item) and not isinstance(item, str) for item in items):
        return (), (), (), real_array(items, ProblemError, f"{name}: others are not numbers")
    on_body = tuple(item for item in items if isinstance(item, FrameLike))
    clouds = tuple(item for item in items if isinstance(item, PointCloud))
    rest = [shape_of(item) for item in items if not isinstance(item, FrameLike | PointCloud)]
    fields = tuple(item for item in rest if isinstance(item, Shape) and item.is_field)
    return on_body, clouds, fields, [item for item in rest if not (isinstance(item, Shape) and item.is_field)]


def _link(frame: FrameLike) -> str:
    return frame if isinstance(frame, str) else frame.link
