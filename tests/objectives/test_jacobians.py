"""The Jacobian of every objective, on bodies with every kind of joint, is the derivative of its residual.

A new objective class fails here until it has an entry in EXAMPLES.
"""

from __future__ import annotations

import copy
from types import SimpleNamespace

import numpy as np
import pytest

import memetik.objectives
from memetik import Body
from memetik.build import Joint, Link, Mimic
from memetik.geometry import random_rotation, transform
from memetik.objectives import Objective
from tests.conftest import COMPILED
from tests.naive.bodies import KINDS, dressed, random_body, random_direction, random_hull, random_origin, random_shape
from tests.objectives.finite_differences import check_jacobian

pytestmark = pytest.mark.quick


def every_kind(rng):
    """A tree that has each kind of joint and two mimic joints on the way to its two tips, "left" and "right".

              +- screw - spherical - cylindrical - revolute mimic of "turn" - left
    floating -+ turn
              +- planar - xyz - continuous - prismatic mimic of "screw" - right
    """
    made, links = [], [Link("world"), Link("trunk", mass=3.0)]

    def grow(name, kind, parent, child, **fields):
        if child not in [link.name for link in links]:
            links.append(Link(child, mass=rng.uniform(0.1, 1.0), center_of_mass=tuple(rng.normal(scale=0.1, size=3))))
        joint = Joint(
            name, kind, parent, child, origin=random_origin(rng), axis=random_direction(rng),
            screw_pitch=0.07 if kind == "screw" else 0.0, **fields,
        )  # fmt: skip
        made.append(joint)

    grow("base", "floating", "world", "trunk", order="xzy")
    grow("turn", "revolute", "trunk", "chest", lower=-2.0, upper=2.0)
    grow("screw", "screw", "chest", "a", lower=-1.5, upper=2.5)
    grow("ball", "spherical", "a", "b", order="yxz")
    grow("tube", "cylindrical", "b", "c", lower=-1.0, upper=(1.0, 2.0))
    grow("tied", "revolute", "c", "left", mimic=Mimic("turn", -0.7, 0.3))
    grow("floor", "planar", "chest", "d")
    grow("table", "xyz", "d", "e", lower=-1.0, upper=1.0)
    grow("wheel", "continuous", "e", "f")
    grow("rod", "prismatic", "f", "g", lower=-0.2, upper=0.5)
    grow("sleeve", "prismatic", "g", "right", mimic=Mimic("screw", 0.2, 0.1))
    return Body("every kind", links, made), "left", "right"


def random_tree(seed):
    """A random body; its last link and one on the way there or elsewhere."""

    def make(rng):
        body = random_body(np.random.default_rng(seed), 9, [kind for kind in KINDS if kind != "fixed"])
        return body, "link9", "link5"

    return make


BODIES = {"every kind": every_kind, "tree 1": random_tree(1), "tree 2": random_tree(2)}
if not COMPILED:
    BODIES = {"every kind": every_kind}  # plain Python is slow, and this body has it all


def point(rng):
    return rng.normal(scale=0.5, size=3)


def pose(rng):
    return transform(point(rng), random_rotation(rng))


def frame(body, link, rng):
    return body.frame(link, offset=pose(rng))


def coming(body, rng):
    """The poses of the links at the posture that is drawn next."""
    return body.forward(body.sample(copy.deepcopy(rng)))


def reads_two(first, second, value):
    """A custom objective of everything that a function can read."""
    dx = first.position[0] - second.position[0]
    return dx * first.axis_x[2] + value, first.quaternion[0] * second.axis_y[1] - second.axis_z[0] * value * value


def stay_above(frame):
    return max(0.0, 5.0 - frame.position[2])


# Class name -> makers of objectives, each from (body, a link far out, another link, random generator).
EXAMPLES = {
    "AvoidLimits": [lambda o, body, tip, other, rng: o.AvoidLimits(margin=0.45, stiffness={body.joint_names[0]: 2.0})],
    "Balance": [
        lambda o, body, tip, other, rng: o.Balance(3.0 + 0.1 * rng.normal(size=(6, 2)), margin=1e-3),
    ],
    "CenterJoints": [lambda o, body, tip, other, rng: o.CenterJoints()],
    "Cone": [
        lambda o, body, tip, other, rng: o.Cone(frame(body, tip, rng), (0.1, 0.2, -1.0), 0.4, axis=(1, 2, 0)),
        lambda o, body, tip, other, rng: o.Cone(tip, point(rng), 0.1, relative_to=other),
    ],
    "Custom": [
        lambda o, body, tip, other, rng: o.Custom(
            reads_two, reads=[frame(body, tip, rng), other], joints=body.joint_names[-1:]
        ),
        lambda o, body, tip, other, rng: o.Custom(stay_above, reads=[tip]),
    ],
    "Direction": [
        lambda o, body, tip, other, rng: o.Direction(frame(body, tip, rng), point(rng)),
        lambda o, body, tip, other, rng: o.Direction(tip, point(rng), relative_to=other, axis=(0, 1, 1)),
    ],
    "Displacement": [
        lambda o, body, tip, other, rng: o.Displacement(
            reference=0.3 * body.home + 0.1, stiffness={body.joint_names[1]: 3.0}
        ),
    ],
    "Distance": [
        lambda o, body, tip, other, rng: o.Distance([tip, other], [random_shape(rng), (*point(rng), 0.1)], margin=5.0),
        lambda o, body, tip, other, rng: o.Distance(tip, [other, frame(body, body.root, rng)], margin=5.0, weight=2.0),
        lambda o, body, tip, other, rng: o.Distance(frame(body, tip, rng), point(rng), radius=0.2, margin=5.0),
        lambda o, body, tip, other, rng: o.Distance([tip, other], random_hull(rng), margin=5.0),
    ],
    "FunctionalRelation": [
        lambda o, body, tip, other, rng: o.FunctionalRelation(
            body.joint_names[0], lambda a, b: a * a - 0.5 * b, sources=body.joint_names[1:3]
        ),
    ],
    "GravityTorque": [
        lambda o, body, tip, other, rng: o.GravityTorque(dict.fromkeys(body.joint_names, 0.5), effort_fraction=0.0, weight=2.0),
        lambda o, body, tip, other, rng: o.GravityTorque(
            dict.fromkeys(body.joint_names[1::2], 2.0), effort_fraction=0.01, gravity=point(rng)
        ),
    ],
    "JointValue": [lambda o, body, tip, other, rng: o.JointValue(body.joint_names[2], 0.4)],
    "Line": [
        lambda o, body, tip, other, rng: o.Line(frame(body, tip, rng), point(rng), point(rng)),
        lambda o, body, tip, other, rng: o.Line(tip, point(rng), point(rng), relative_to=frame(body, other, rng)),
    ],
    "LookAt": [
        lambda o, body, tip, other, rng: o.LookAt(frame(body, tip, rng), point(rng)),
        lambda o, body, tip, other, rng: o.LookAt(tip, point(rng), relative_to=other, axis=(0, 1, 1)),
    ],
    "Manipulability": [
        lambda o, body, tip, other, rng: o.Manipulability(frame(body, tip, rng), 50.0, axes="position"),
        lambda o, body, tip, other, rng: o.Manipulability(tip, 50.0, axes="rotation", weight=2.0),
        lambda o, body, tip, other, rng: o.Manipulability(tip, 50.0),
    ],
    "MaxDistance": [
        lambda o, body, tip, other, rng: o.MaxDistance(frame(body, tip, rng), 10.0 + point(rng), 0.1),
        lambda o, body, tip, other, rng: o.MaxDistance(tip, 10.0 + point(rng), 0.1, relative_to=other),
    ],
    "MinDistance": [
        lambda o, body, tip, other, rng: o.MinDistance(frame(body, tip, rng), point(rng), 10.0),
        lambda o, body, tip, other, rng: o.MinDistance(tip, point(rng), 10.0, relative_to=frame(body, other, rng)),
    ],
    "Orientation": [
        lambda o, body, tip, other, rng: o.Orientation(frame(body, tip, rng), random_rotation(rng)),
        lambda o, body, tip, other, rng: o.Orientation(
            tip, random_rotation(rng), relative_to=other, mask=(1, 0, 1), weight=3.0
        ),
    ],
    "Plane": [
        lambda o, body, tip, other, rng: o.Plane(frame(body, tip, rng), point(rng), point(rng), side="on"),
        lambda o, body, tip, other, rng: o.Plane(tip, (0, 0, 50), (1, 1, 9), side="above", relative_to=other),
    ],
    "Pose": [
        lambda o, body, tip, other, rng: o.Pose(frame(body, tip, rng), pose(rng)),
        lambda o, body, tip, other, rng: o.Pose(tip, pose(rng), relative_to=frame(body, other, rng)),
    ],
    "Position": [
        lambda o, body, tip, other, rng: o.Position(frame(body, tip, rng), point(rng)),
        lambda o, body, tip, other, rng: o.Position(tip, point(rng), mask=(0, 1, 1), mask_axes=random_rotation(rng)),
        lambda o, body, tip, other, rng: o.Position(tip, point(rng), relative_to=frame(body, other, rng), weight=0.2),
        lambda o, body, tip, other, rng: o.Position(tip, point(rng), tolerance=(0.1, 0.3, np.inf)),
    ],
    "Projection": [
        lambda o, body, tip, other, rng: o.Projection(frame(body, tip, rng), o.Ground(point(rng), point(rng))),
        lambda o, body, tip, other, rng: o.Projection(tip, o.Ground(), direction=point(rng), lift=0.1, align=False),
    ],
    "SelfDistance": [lambda o, body, tip, other, rng: o.SelfDistance(body, margin=1.0)],
    "Side": [
        lambda o, body, tip, other, rng: o.Side(tip, coming(body, rng)[tip][:3, 2] + 0.1),
        lambda o, body, tip, other, rng: o.Side(
            tip, coming(body, rng)[other][:3, :3].T @ coming(body, rng)[tip][:3, 2] + 0.1, relative_to=other
        ),
    ],
    "Touch": [
        lambda o, body, tip, other, rng: o.Touch(tip, point(rng), point(rng)),
        lambda o, body, tip, other, rng: o.Touch(tip, (0, 0, 50), (1, 1, 9), side="above", relative_to=other),
    ],
}  # fmt: skip

# The public names, and those that the library has for itself.
NAMES = SimpleNamespace(
    **{name: getattr(package, name) for package in (memetik, memetik.objectives) for name in package.__all__}
)
CLASSES = sorted(
    name for name, thing in vars(NAMES).items() if isinstance(thing, type) and Objective in thing.__mro__[1:]
)


def test_every_objective_has_an_example():
    assert sorted(EXAMPLES) == CLASSES


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", CLASSES)
def test_jacobian_is_the_derivative_of_the_residual(name, body, rng):
    made, tip, other = BODIES[body](rng)
    made = dressed(made, np.random.default_rng(7))
    for example in EXAMPLES[name]:
        objective = example(NAMES, made, tip, other, rng)
        assert type(objective).__name__ == name
        jacobian = check_jacobian(made, [objective], made.sample(rng))
        assert jacobian.size == 0 or np.abs(jacobian).max() > 1e-3, "nothing moves: the example tests nothing"
