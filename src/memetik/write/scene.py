"""A body in a posture as solids: the primitives of its links, and bones for the links that have none."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import numpy as np

from memetik.body import Body, Link, LinkPoses, Shape
from memetik.geometry import between, transform
from memetik.types import Array
from memetik.write.camera import SMALLEST, Camera
from memetik.write.colors import OBSTACLE, Color
from memetik.write.solids import Solid

BONE = 0.012  # radius of a bone, as a share of the size of the body
SLACK = 0.01  # by which things may sink into a backdrop, as a share of its size
STOUTEST = 0.25  # radius of a bone, at most, as a share of its length


class Scene(NamedTuple):
    """Where the links are, and the solids of every link."""

    poses: LinkPoses
    solids: dict[str, list[Solid]]

    def among(self, obstacles: Iterable[Shape]) -> Scene:
        """The same with shapes placed in the world, under a name that no link has."""
        solids = [_solid(shape, np.eye(4), OBSTACLE) for shape in obstacles]
        return self._replace(solids={**self.solids, "": solids})

    def all_solids(self) -> list[Solid]:
        """The solids of all links together."""
        return [solid for solids in self.solids.values() for solid in solids]

    def balls(self) -> tuple[Array, Array]:
        """Points (n, 3) and radii (n,) whose hull holds all solids; the links' origins if there are none."""
        balls = [solid.balls() for solid in self.all_solids()]
        if not balls:
            return self.poses.array[:, :3, 3], np.zeros(len(self.poses))
        return np.concatenate([points for points, _ in balls]), np.concatenate([radii for _, radii in balls])


def build_scene(
    body: Body, poses: LinkPoses, colors: dict[str, Color], *, shapes: bool = True, skeleton: bool = True
) -> Scene:
    """The primitives of the links if `shapes`, bones where there are none if `skeleton`."""
    size = float(np.linalg.norm(np.ptp(poses.array[:, :3, 3], axis=0)))
    primitives = {name: _primitives(link) if shapes else [] for name, link in body.links.items()}
    solids = {name: [_solid(shape, poses[name], colors[name]) for shape in own] for name, own in primitives.items()}
    if skeleton:
        # A root without shapes under a body that has some is only the place where the body stands.
        bare = {name for name, own in primitives.items() if not own}
        bare -= {body.root} if len(bare) < len(primitives) else set()
        for joint in body.joints.values():
            start, end = poses[joint.parent][:3, 3], poses[joint.child][:3, 3]
            if joint.parent in bare and math.dist(start, end) > 1e-3 * size:
                solids[joint.parent].append(_bone(start, end, size, colors[joint.parent]))
        if not any(solids.values()):
            solids[body.root].append(Solid("sphere", (0.2 * SMALLEST,), poses[body.root], colors[body.root]))
    return Scene(poses, solids)


def split_backdrop(scene: Scene, everything: list[Solid], camera: Camera) -> tuple[list[Solid], Scene]:
    """The boxes among the obstacles that everything else stands before, such as a table, and the scene without them.

    Pieces are painted by how near their middle is, which fails for what is far larger than the rest.
    """
    behind = [
        solid for solid in scene.solids.get("", ()) if solid.kind == "box" and _is_behind(solid, everything, camera)
    ]
    left = [solid for solid in scene.solids.get("", ()) if all(solid is not other for other in behind)]
    return behind, scene._replace(solids={**scene.solids, "": left})


def _is_behind(box: Solid, everything: list[Solid], camera: Camera) -> bool:
    """Whether all others, and the eye, are beyond one face of a box."""
    eye = camera.middle + camera.distance * camera.axes[2]
    others = [solid.balls() for solid in everything if solid is not box]
    points = np.concatenate([np.zeros((0, 3)), *(each for each, _ in others)])
    radii = np.concatenate([np.zeros(0), *(each for _, each in others)])
    for axis, sign in product(range(3), (-1.0, 1.0)):
        normal = sign * box.world_from_solid[:3, axis]
        face = box.world_from_solid[:3, 3] + 0.5 * box.size[axis] * normal
        if (eye - face) @ normal > 0.0 and ((points - face) @ normal - radii > -SLACK * max(box.size)).all():
            return True
    return False


def _primitives(link: Link) -> list[Shape]:
    """What can be drawn of a link; a mesh would need its file."""
    visuals, shapes = ([s for s in kind if s.kind != "mesh"] for kind in (link.visuals, link.shapes))
    return visuals or shapes


def _solid(shape: Shape, world_from_link: Array, color: Color) -> Solid:
    pose = world_from_link @ shape.link_from_shape
    hull = shape.rounded_hull if shape.kind == "hull" else shape.surface if shape.is_field else None
    if shape.color is None:
        return Solid(shape.kind, shape.size, pose, color, hull=hull)
    return Solid(shape.kind, shape.size, pose, shape.color[:3], shape.color[3], hull)


def _bone(start: Array, end: Array, size: float, color: Color) -> Solid:
    length = math.dist(start, end)
    pose = transform(0.5 * (start + end), between((0.0, 0.0, 1.0), end - start))
    return Solid("capsule", (min(BONE * size, STOUTEST * length), length), pose, color)
