"""Obstacles: what stands in a world, and the numbers that place it there."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple, Protocol

from memetik.body import Shape
from memetik.collision.solids import ball, group, hull_middle, solid
from memetik.errors import ProblemError
from memetik.geometry import TransformLike
from memetik.geometry.checks import frozen
from memetik.geometry.rotation import quaternion_of_matrix
from memetik.geometry.transform import frozen_transform
from memetik.kernels.terms.distance import GROUP_CENTER, GROUP_SOLIDS
from memetik.types import Array

FAR = 1e6  # m; where there is nothing, a point stands so far away that no body reaches it
PLACE = slice(GROUP_SOLIDS, GROUP_SOLIDS + 7)  # quaternion and position of the solid of a slot

NOTHING: Array = frozen(group(-1, [ball((FAR, FAR, FAR))]))


class HasShape(Protocol):
    """A height field or a grid of signed distances."""

    @property
    def shape(self) -> Shape:
        """It as a shape that stands in the world."""


class Field(NamedTuple):
    """A height field or a grid that counts, as it stands in a world."""

    slot: int
    owner: str  # the obstacle that it belongs to
    shape: Shape
    pose: Array  # world_from_obstacle

    @property
    def numbers(self) -> Array:
        """As a group of one solid."""
        return group(-1, [solid(self.shape, f"obstacle {self.owner!r}", self.pose)])


@dataclasses.dataclass(frozen=True, eq=False)
class Obstacle:
    """An obstacle as it is now: its shapes, placed in its own frame by their link_from_shape, and where that frame is.

    pose: world_from_obstacle, 4x4, its place in metres.
    """

    name: str
    shapes: tuple[Shape, ...]
    pose: Array  # world_from_obstacle
    enabled: bool = True
    touching: frozenset[str] = frozenset()  # links that may touch it

    @property
    def placed(self) -> tuple[Shape, ...]:
        """Its shapes, placed in the world."""
        return tuple(
            dataclasses.replace(each, link_from_shape=self.pose @ each.link_from_shape) for each in self.shapes
        )


def pose_of(pose: TransformLike, name: str) -> Array:
    """The pose of an obstacle as the user gave it, checked."""
    return frozen_transform(pose, ProblemError, f"bad pose of obstacle {name!r}")


def middle_of(shape: Shape) -> Array | None:
    """Where the numbers of a hull have their origin, in its own frame; those of other shapes have it in the frame's."""
    return None if shape.points is None else hull_middle(shape)


def put(row: Array, pose: Array, middle: Array | None) -> None:
    """Place the solid of a slot."""
    at = pose[:3, 3] if middle is None else pose[:3, :3] @ middle + pose[:3, 3]
    place = row[PLACE]
    place[:4], place[4:] = quaternion_of_matrix(pose), at
    row[GROUP_CENTER : GROUP_CENTER + 3] = at
