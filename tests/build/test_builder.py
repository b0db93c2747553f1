"""BodyBuilder: trees put together by hand, and what it refuses."""

import math

import numpy as np
import pytest

from memetik.body import Mimic, Shape
from memetik.build.builder import BodyBuilder, rod
from memetik.errors import BodyError, MemetikError, UnknownNameError
from memetik.geometry import axis_angle, transform


def crane():
    builder = BodyBuilder("crane", root_link="mast", shapes=[rod((0, 0, 0), (0, 0, 2), 0.1)])
    builder.add("mast", "slew", "revolute", "boom", origin=(0, 0, 2), shapes=[rod((0, 0, 0), (3, 0, 0), 0.05)])
    builder.add("boom", "hoist", "prismatic", "hook", origin=(3, 0, 0), axis=(0, 0, -1), lower=0.2, upper=1.8)
    builder.add("mast", "light_mount", "fixed", "light", origin=((0, 0, 2.5), axis_angle((1, 0, 0), 0.3)))
    return builder


def test_a_tree_moves_as_it_was_described():
    body = crane().chain("hook", "mast", "hook").touching("light", "boom").build()
    assert body.joint_names == ("slew", "hoist") and body.root == "mast"
    q = [0.7, 0.5]
    poses = body.forward(q)
    assert np.allclose(poses["hook"][:3, 3], [3 * math.cos(0.7), 3 * math.sin(0.7), 1.5], atol=1e-14)
    assert np.allclose(poses["light"], transform((0, 0, 2.5), axis_angle((1, 0, 0), 0.3)), atol=1e-14)
    assert body.chain("hook").joint_names == ("slew", "hoist")
    assert frozenset(("light", "boom")) in body.touching
    assert (body.lower[1], body.upper[1]) == (0.2, 1.8)


def test_home_limits_velocity_and_mimic_reach_the_joints():
    builder = BodyBuilder("gripper")
    builder.add("base", "left", "prismatic", "jaw_1", lower=0.0, upper=0.04, velocity=0.2, home=0.01)
    builder.add("base", "right", "prismatic", "jaw_2", axis=(0, 0, -1), mimic=Mimic("left"))
    builder.add("jaw_1", "ball", "spherical", "eye", lower=-1.0, upper=(1.0, 1.5, 2.0), home=(0.1, 0.2, 0.3))
    body = builder.build()
    assert body.joint_names == ("left", "ball.rz", "ball.rx", "ball.ry")
    assert body.home.tolist() == [0.01, 0.1, 0.2, 0.3]
    assert body.upper.tolist() == [0.04, 1.0, 1.5, 2.0] and body.lower.tolist() == [0.0, -1.0, -1.0, -1.0]
    assert body.variables.velocity[0] == 0.2
    assert body.forward(body.home)["jaw_2"][2, 3] == pytest.approx(-0.01)


def test_mass_is_given_or_that_of_water():
    ball, box = Shape("sphere", (0.1,)), Shape("box", (0.1, 0.2, 0.3), transform((0.5, 0, 0)))
    tube, disc = rod((0, 0, 0), (0, 0, 1), 0.1), Shape("cylinder", (0.1, 0.5))
    builder = BodyBuilder("weights", shapes=[ball, box])
    builder.add("base", "j", "revolute", "tube", shapes=[tube])
    builder.add("base", "k", "revolute", "disc", shapes=[disc])
    builder.add("base", "l", "revolute", "given", shapes=[disc], mass=7.0)
    body = builder.build()
    volume_of_ball, volume_of_box = 4 / 3 * math.pi * 1e-3, 6e-3
    assert body.links["base"].mass == pytest.approx(1000 * (volume_of_ball + volume_of_box))
    assert body.links["base"].center_of_mass[0] == pytest.approx(0.5 * 6e-3 / (volume_of_ball + volume_of_box))
    assert body.links["tube"].mass == pytest.approx(1000 * (math.pi * 1e-2 + volume_of_ball))
    assert body.links["tube"].center_of_mass == pytest.approx((0, 0, 0.5))
    assert body.links["disc"].mass == pytest.approx(1000 * math.pi * 1e-2 * 0.5)
    assert body.links["given"].mass == 7.0
    assert BodyBuilder("mesh", shapes=[Shape("mesh", (1, 1, 1), mesh="a.stl")]).build().mass == 0.0


def test_a_rod_spans_its_two_points():
    start, end = np.array([0.1, -0.2, 0.3]), np.array([-0.4, 0.1, 0.9])
    shape = rod(start, end, 0.02)
    half = np.array([0, 0, 0.5 * shape.size[1], 1])
    assert shape.kind == "capsule" and shape.size[0] == 0.02
    assert np.allclose((shape.link_from_shape @ half)[:3], end, atol=1e-15)
    assert np.allclose((shape.link_from_shape @ (half * [1, 1, -1, 1]))[:3], start, atol=1e-15)
    assert rod(start, start, 0.02).kind == "sphere"


def test_a_body_built_early_does_not_see_what_comes_later():
    builder = crane()
    before = builder.build()
    builder.add("hook", "swing", "revolute", "load", axis=(1, 0, 0))
    assert before.dof == 2 and builder.build().dof == 3


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda b: b.add("boon", "j", "revolute", "x"), UnknownNameError, "no link named 'boon'.*'boom'"),
        (lambda b: b.add("boom", "slew", "revolute", "x"), BodyError, "already has a joint named 'slew'"),
        (lambda b: b.add("boom", "j", "revolute", "light"), BodyError, "already has a link named 'light'"),
        (lambda b: b.add("boom", "j", "hinge", "x"), BodyError, "unknown kind 'hinge'"),
        (lambda b: b.add("boom", "j", "revolute", "x", lower=1, upper=0), BodyError, "above upper"),
        (lambda b: b.add("boom", "j", "revolute", "x", home=(0, 1)), BodyError, "1 degrees of freedom"),
        (lambda b: b.add("boom", "j", "revolute", "x", origin=(0, 1)), MemetikError, "origin of joint 'j'"),
        (
            lambda b: b.add("boom", "j", "revolute", "x", lower=0, upper=1, home=2).build(),
            BodyError,
            "home of",
        ),
        (lambda b: b.chain("c", "mast", "hok").build(), UnknownNameError, "'hook'"),
        (lambda b: b.touching("mast", "bom").build(), UnknownNameError, "'boom'"),
    ],
)
def test_mistakes_are_named(call, error, says):
    with pytest.raises(error, match=says):
        call(crane())


def test_a_refused_joint_leaves_the_builder_as_it_was():
    builder = crane()
    with pytest.raises(BodyError):
        builder.add("boom", "j", "revolute", "x", home=(0, 1))
    assert set(builder.add("boom", "j", "revolute", "x").build().links) == {
        "mast",
        "boom",
        "hook",
        "light",
        "x",
    }
