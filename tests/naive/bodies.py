"""Bodies to test with: random trees of all kinds of joints, a serial arm, an arm with a hand."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from memetik import Body, Shape
from memetik.build import Joint, Link, Mimic
from tests.naive.kinematics import slide, turn

KINDS = (
    "fixed",
    "revolute",
    "continuous",
    "prismatic",
    "screw",
    "cylindrical",
    "planar",
    "spherical",
    "xyz",
    "floating",
)
SINGLE = ("revolute", "continuous", "prismatic", "screw")


def random_direction(rng):
    """A direction drawn uniformly; now and then exactly along or against an axis, where special cases are."""
    if rng.random() < 0.3:
        return rng.permutation([0.0, 0.0, rng.choice([-1.0, 1.0])])
    vector = rng.standard_normal(3)
    return vector / math.sqrt(vector @ vector)


def random_origin(rng):
    """A place some decimetres away, turned anyhow."""
    return slide(random_direction(rng), rng.uniform(0.0, 0.5)) @ turn(random_direction(rng), rng.uniform(-3.0, 3.0))


def random_body(rng, joints, kinds=KINDS, mimics=0.3):
    """A tree of `joints` random joints of these kinds; a share `mimics` of the single ones follows another.

    A mimic joint may follow one variable of a joint of several, or another mimic joint, near it or far
    away in the tree.
    """
    links = [Link("link0", rng.uniform(0.1, 2.0), tuple(rng.normal(scale=0.1, size=3)))]
    made, sources = [], []
    for k in range(joints):
        kind, parent = str(rng.choice(kinds)), links[rng.integers(max(0, k - 4), k + 1)].name
        name, mimic = f"joint{k}", None
        links.append(Link(f"link{k + 1}", rng.uniform(0.1, 2.0), tuple(rng.normal(scale=0.1, size=3))))
        if kind in SINGLE and sources and rng.random() < mimics:
            mimic = Mimic(str(rng.choice(sources)), float(rng.choice([-1, 1]) * rng.uniform(0.5, 1.5)), rng.normal())
        limited = mimic is None and kind not in ("fixed", "continuous") and rng.random() < 0.7
        joint = Joint(
            name,
            kind,
            parent,
            links[-1].name,
            origin=random_origin(rng),
            axis=random_direction(rng),
            lower=rng.uniform(-2.5, -0.1) if limited else (),
            upper=rng.uniform(0.1, 2.5) if limited else (),
            mimic=mimic,
            screw_pitch=rng.normal(scale=0.1) if kind == "screw" else 0.0,
            order="".join(rng.permutation(list("xyz"))),
        )
        made.append(joint)
        sources.extend(joint.variables if mimic is None else (name,))
    return Body("random", links, [made[k] for k in rng.permutation(joints)])


def serial_arm(joints, rng=None):
    """`joints` revolute joints in a row, link0 to link{joints}."""
    rng = np.random.default_rng(joints) if rng is None else rng
    return Body(
        "arm",
        [Link(f"link{k}") for k in range(joints + 1)],
        [
            Joint(f"joint{k}", "revolute", f"link{k}", f"link{k + 1}", random_origin(rng), random_direction(rng))
            for k in range(joints)
        ],
    )


def anthropomorphic_arm(arm=7, fingers=5, each=4):
    """An arm that splits into fingers, and the fingertips. In the OFKT paper: 27 degrees of freedom."""
    rng = np.random.default_rng(arm * fingers * each)
    body = serial_arm(arm, rng)
    links, joints, tips = list(body.links.values()), list(body.joints.values()), []
    for finger in range(fingers):
        below = f"link{arm}"
        for k in range(each):
            name = f"finger{finger}_{k}"
            links.append(Link(name))
            joints.append(Joint(name, "revolute", below, name, random_origin(rng), random_direction(rng)))
            below = name
        tips.append(below)
    return Body("anthropomorphic arm", links, joints), tips


def random_shape(rng, kinds=("sphere", "capsule", "cylinder", "box")):
    """A solid of some centimetres, placed anyhow on its link."""
    kind = str(rng.choice(kinds))
    sizes = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3}
    return Shape(kind, tuple(rng.uniform(0.02, 0.3, sizes[kind])), random_origin(rng))


def random_hull(rng, count=20):
    """The hull of points of some centimetres, placed anyhow."""
    points = rng.normal(size=(count, 3)) * rng.uniform(0.02, 0.2, 3)
    return Shape("hull", (float(rng.choice([0.0, 0.05])),), random_origin(rng), points=points)


def dressed(body, rng, shapes=2):
    """The body with random solids on every link."""
    links = [
        dataclasses.replace(link, shapes=tuple(random_shape(rng) for _ in range(shapes)))
        for link in body.links.values()
    ]
    return Body(body.name, links, body.joints.values())
