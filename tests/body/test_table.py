"""A printed body, letter for letter."""

import pytest

from memetik import Body
from memetik.body import Chain
from memetik.build import Joint, Link, Mimic

pytestmark = pytest.mark.quick

GRIPPER = """\
gripper: 4 degrees of freedom, 6 links, 4 moving joints
root: world
chains: lift, pinch

joint      kind        lower  upper   parent  child   mimics
---------  ----------  -----  ------  ------  ------  -------------
cart.x     planar      -2 m   2 m     world   base
cart.y                 -1 m   1 m
cart.turn              free   free
mount      fixed                      base    column
left       prismatic   0 m    0.04 m  column  thumb
right      prismatic   free   free    column  finger  -1 * left
indicator  continuous  free   free    finger  dial    50 * left - 1"""


def test_table():
    body = Body(
        "gripper",
        map(Link, ["world", "base", "column", "thumb", "finger", "dial"]),
        [
            Joint("cart", "planar", "world", "base", lower=(-2, -1, -float("inf")), upper=(2, 1, float("inf"))),
            Joint("mount", "fixed", "base", "column"),
            Joint("left", "prismatic", "column", "thumb", lower=0.0, upper=0.04),
            Joint("right", "prismatic", "column", "finger", mimic=Mimic("left", -1.0)),
            Joint("indicator", "continuous", "finger", "dial", mimic=Mimic("left", 50.0, -1.0)),
        ],
        chains={"lift": Chain("world", ("column",)), "pinch": Chain("column", ("thumb", "finger"))},
    )
    assert str(body) == GRIPPER


def test_a_body_without_joints_prints_too():
    assert str(Body("stone", [Link("stone")], [])).startswith("stone: 0 degrees of freedom, 1 links, 0 moving joints\n")
