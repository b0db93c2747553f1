"""Limits set again, and margins that keep away from them."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.errors import BodyError, UnknownNameError

pytestmark = pytest.mark.quick


def test_a_margin_for_all():
    body = mk.load("panda")
    inner = body.with_limits(margin=0.01)
    assert_allclose(inner.lower, body.lower + 0.01)
    assert_allclose(inner.upper, body.upper - 0.01)
    assert ((inner.home >= inner.lower) & (inner.home <= inner.upper)).all()
    assert inner.joint_names == body.joint_names


def test_margins_by_name_and_shares():
    body = mk.load("panda")
    inner = body.with_limits(margin={"panda_joint4": 0.2}, fraction=0.1)
    span = body.upper - body.lower
    wanted = 0.1 * span
    wanted[body.index("panda_joint4")] += 0.2
    assert_allclose(inner.lower, body.lower + wanted)
    assert_allclose(inner.upper, body.upper - wanted)


def test_limits_in_place_of_others():
    body = mk.load("ur5").with_limits({"elbow_joint": (-1.0, 0.5)}, margin=0.1)
    k = body.index("elbow_joint")
    assert_allclose((body.lower[k], body.upper[k]), (-0.9, 0.4))
    wide = body.with_limits({"elbow_joint": (-math.inf, math.inf)})
    assert wide.lower[k] == -math.inf


def test_joints_without_limits_keep_none_and_may_get_some():
    endless = mk.Body(
        "wheel", [mk.build.Link("a"), mk.build.Link("b")], [mk.build.Joint("turn", "continuous", "a", "b")]
    )
    assert endless.with_limits(margin=0.1).joints["turn"].kind == "continuous"
    assert endless.with_limits({"turn": (-1.0, 1.0)}).joints["turn"].kind == "revolute"


def test_a_mimic_joint_keeps_what_it_allows():
    links = [mk.build.Link(name) for name in "abc"]
    joints = [
        mk.build.Joint("lead", "revolute", "a", "b", lower=-2.0, upper=2.0),
        mk.build.Joint("follow", "revolute", "b", "c", lower=-1.0, upper=1.0, mimic=mk.build.Mimic("lead")),
    ]
    body = mk.Body("pair", links, joints).with_limits(margin=0.25)
    assert_allclose((body.lower, body.upper), ([-0.75], [0.75]))


def test_joints_of_several_variables():
    body = (
        mk.build.planar_chain(2)
        .with_base("xyz", lower=(-1, -2, -3), upper=(1, 2, 3))
        .with_limits(margin={"base.y": 0.5})
    )
    assert_allclose(body.lower[:3], (-1.0, -1.5, -3.0))
    assert_allclose(body.upper[:3], (1.0, 1.5, 3.0))


def test_solutions_keep_the_margin():
    body = mk.build.planar_chain(3, limits=(-1.0, 1.0)).with_limits(margin=0.3)
    solution = mk.solve(mk.Problem(body, mk.Position("tip", (0.0, 5.0, 0.0), tolerance=None)))
    assert (np.abs(solution.q) <= 0.7).all()


def test_a_joint_held_by_its_limits_stays():
    body = mk.build.planar_chain(2, limits=(-1.0, 1.0)).with_limits({"joint_1": (0.25, 0.25)}).with_limits(margin=0.1)
    assert_array_equal((body.lower[0], body.upper[0]), (0.25, 0.25))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"margin": 2.0}, BodyError, "no room for a margin of 2"),
        ({"margin": -0.1}, BodyError, "negative"),
        ({"margin": math.nan}, BodyError, "not finite"),
        ({"fraction": 0.5}, BodyError, "below 0.5"),
        ({"margin": {"elbow": 0.1}}, UnknownNameError, "no free joint named 'elbow'"),
        ({"limits": {"joint_1": (1.0, 0.0)}}, BodyError, "the lower one first"),
        ({"limits": {"joint_1": 1.0}}, BodyError, "two numbers"),
    ],
)
def test_wrong_calls(arguments, error, message):
    with pytest.raises(error, match=message):
        mk.build.planar_chain(2, limits=(-1.0, 1.0)).with_limits(**arguments)
