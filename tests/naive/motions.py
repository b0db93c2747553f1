"""Distances of a whole body along a motion, posture by posture, by MuJoCo: a judge that shares nothing with the kernels."""

from __future__ import annotations

import math
from itertools import combinations

import mujoco
import numpy as np

import memetik as mk
from memetik.objectives import SelfDistance

KINDS = {
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE, "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER, "box": mujoco.mjtGeom.mjGEOM_BOX,
}  # fmt: skip


def crowded(name):
    """A bundled body, with the pairs that touch at home left out, and a world around it."""
    body = mk.load(name)
    body = body.with_touching([pair[:2] for pair in mk.collision.find_collision_pairs(body, 1, boxes=0).of("default")])
    size = float(np.ptp(body.forward(body.home).array[:, :3, 3], axis=0).max())
    rng = np.random.default_rng(5)

    def somewhere():
        direction = rng.normal(size=3)
        middle = body.forward(body.home).array[:, :3, 3].mean(axis=0)
        return mk.transform(
            middle + 0.6 * size * direction / np.linalg.norm(direction), mk.geometry.random_rotation(rng)
        )

    scale = 0.12 * size
    shapes = {
        "box": ("box", (scale, 2 * scale, scale)), "ball": ("sphere", (scale,)),
        "pillar": ("cylinder", (0.5 * scale, 3 * scale)), "rail": ("capsule", (0.3 * scale, 3 * scale)),
    }  # fmt: skip
    return body, mk.World({key: mk.Shape(*shape, somewhere()) for key, shape in shapes.items()})


def radius(shape):
    """Of a ball around a shape."""
    a, b, c = (*shape.size, 0.0, 0.0)[:3]
    return {
        "sphere": a, "capsule": a + b / 2, "cylinder": math.hypot(a, b / 2), "box": math.hypot(a, b, c) / 2
    }[shape.kind]  # fmt: skip


def mujoco_size(shape):
    """Radius and half length, or half sizes."""
    sizes = np.array(shape.size)
    if shape.kind in ("capsule", "cylinder"):
        sizes[1] /= 2.0
    return (sizes / 2.0 if shape.kind == "box" else sizes).tolist()


class Judge:
    """All shapes of a body and of a world as geoms of MuJoCo, which are put where forward kinematics has them."""

    def __init__(self, body, world=(), pairs=None):
        self.body = body
        owned = [(link, shape) for link in body.links.values() for shape in link.shapes]
        self.links = [list(body.links).index(link.name) for link, _ in owned]
        placed = [shape for obstacle in world for shape in world[obstacle].placed if world[obstacle].enabled]
        self.shapes = [shape for _, shape in owned] + placed
        self.offsets = np.array([shape.link_from_shape for shape in self.shapes])
        self.radii = np.array([radius(shape) for shape in self.shapes])
        of = {link.name: [k for k, (owner, _) in enumerate(owned) if owner is link] for link in body.links.values()}
        apart = SelfDistance(body).pairs if pairs is None else pairs
        found = [(a, b) for one, two in apart for a in of[one] for b in of[two]]
        found += [(a, len(owned) + b) for a in range(len(owned)) for b in range(len(placed))]
        self.pairs = np.array(found)
        spec = mujoco.MjSpec()
        for shape in self.shapes:
            spec.worldbody.add_geom(type=KINDS[shape.kind], size=np.resize([*mujoco_size(shape), 0, 0], 3))
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def places(self, path):
        """world_from_shape of every shape at every posture (n, shapes, 4, 4)."""
        poses = self.body.forward(np.atleast_2d(path)).array[:, self.links] @ self.offsets[: len(self.links)]
        fixed = np.broadcast_to(self.offsets[len(self.links) :], (len(poses), len(self.shapes) - len(self.links), 4, 4))
        return np.concatenate([poses, fixed], axis=1)

    def distance(self, places, one, two, enough=10.0):
        """Signed distance of two shapes."""
        for k in (one, two):
            self.data.geom_xpos[k], self.data.geom_xmat[k] = places[k, :3, 3], places[k, :3, :3].ravel()
        return mujoco.mj_geomDistance(self.model, self.data, one, two, enough, None)

    def least(self, path):
        """The least distance of any pair at any posture; looked at from the nearest bounding balls on."""
        places = self.places(path)
        one, two = self.pairs.T
        centers = places[:, :, :3, 3]
        gaps = np.linalg.norm(centers[:, one] - centers[:, two], axis=-1) - self.radii[one] - self.radii[two]
        best = math.inf
        for row, pair in zip(*np.unravel_index(np.argsort(gaps, axis=None), gaps.shape), strict=True):
            if gaps[row, pair] >= best:
                break
            best = min(
                best, self.distance(places[row], *self.pairs[pair].tolist(), max(best, 0.0) if best < 9 else 10.0)
            )
        return best

    def meets(self, q, one, two):
        """Whether shapes of two links are in contact at a posture."""
        places = self.places(q)[0]
        of = lambda name: [k for k, link in enumerate(self.links) if list(self.body.links)[link] == name]  # noqa: E731
        return any(self.distance(places, a, b) < 0.0 for a in of(one) for b in of(two))


def straight(q0, q1, count):
    """Postures along a straight line."""
    return q0 + np.linspace(0.0, 1.0, count)[:, None] * (np.asarray(q1) - q0)


def all_pairs(body):
    """Every pair of links that have shapes."""
    return list(combinations([link.name for link in body.links.values() if link.shapes], 2))
