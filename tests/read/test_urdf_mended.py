"""URDF with harmless flaws: the right body, and a warning that says what was done."""

import math
import warnings

import numpy as np
import pytest

from memetik.errors import MemetikWarning
from memetik.read import parse_urdf
from tests.read.samples import URDF, changed

SLIDE_LIMIT = '<limit lower="0" upper="0.2" effort="10" velocity="1"/>'
ELBOW_AXIS = '<origin xyz="0.4 0 0"/><axis xyz="0 0 1"/>'


def read_changed(old, new):
    return parse_urdf(changed(URDF, old, new), file="arm.urdf")


MENDED = {
    "long axis": (
        ELBOW_AXIS,
        '<origin xyz="0.4 0 0"/><axis xyz="0 0 -2"/>',
        r"joint 'elbow' \(line 36\): the axis is not of length 1",
        lambda body: body.joints["elbow"].axis.tolist() == [0.0, 0.0, -1.0],
    ),
    "no effort and no velocity": (
        SLIDE_LIMIT,
        '<limit lower="0" upper="0.2"/>',
        "'slide'.*no effort and no velocity",
        lambda body: body.joints["slide"].velocity == (math.inf,),
    ),
    "velocity of zero": (
        '<limit effort="10" velocity="3"/>',
        '<limit effort="10" velocity="0"/>',
        "'elbow'.*could never move",
        lambda body: body.joints["elbow"].velocity == (math.inf,),
    ),
    "limit without lower": (
        'lower="-2" ',
        "",
        "'shoulder'.*no lower, which means 0.*continuous",
        lambda body: body.lower[0] == 0.0,
    ),
    "limit without both": (
        'lower="-2" upper="2" ',
        "",
        "no lower and upper, which means 0",
        lambda body: body.lower[0] == body.upper[0] == 0.0,
    ),
    "limits of a continuous joint": (
        '<limit effort="10" ',
        '<limit lower="-1" upper="1" effort="10" ',
        "'elbow'.*ignored",
        lambda body: body.upper[1] == math.inf,
    ),
    "limits beyond any use": (
        'lower="-2" upper="2"',
        'lower="-1e16" upper="1e16"',
        "taken as none",
        lambda body: np.isinf(body.lower[0]),
    ),
    "a fixed joint that mimics": (
        '<axis xyz="0 0 0"/>',
        '<mimic joint="finger"/>',
        "'mount'.*ignored",
        lambda body: body.joints["mount"].mimic is None,
    ),
    "a slip of the pen": (
        '<origin xyz="0.4 0 0"/>',
        '<orgin xyz="0.4 0 0"/>',
        "did you mean <origin>",
        lambda body: body.joints["elbow"].origin[0, 3] == 0.0,
    ),
    "no name": ('<robot name="arm">', "<robot>", "called 'arm'", lambda body: body.name == "arm"),
    "colour out of range": (
        'rgba="1 0 0 0.5"',
        'rgba="255 0 -1 0.5"',
        "clipped",
        lambda body: body.links["upper"].visuals[0].color == (1.0, 0.0, 0.0, 0.5),
    ),
    "unknown material": (
        '<material name="steel"/>',
        '<material name="stel"/>',
        "'base'.*no colour",
        lambda body: body.links["base"].visuals[0].color is None,
    ),
    "two materials": (
        '<material name="steel"/>',
        '<material name="steel"/><material name="red"/>',
        "several materials",
        lambda body: body.links["base"].visuals[0].color == (0.6, 0.6, 0.7, 1.0),
    ),
}


@pytest.mark.parametrize(("old", "new", "says", "holds"), MENDED.values(), ids=MENDED)
def test_mended(old, new, says, holds):
    with pytest.warns(MemetikWarning, match=says) as caught:
        body = read_changed(old, new)
    assert len(caught) == 1 and str(caught[0].message).startswith("arm.urdf, ")
    assert holds(body)


def test_one_warning_for_many_joints_at_the_line_of_the_caller():
    text = URDF.replace(' effort="1" velocity="1"', "")
    with pytest.warns(MemetikWarning) as caught:
        parse_urdf(text)
    (warning,) = caught
    assert "joint 'finger'" in str(warning.message) and "joint 'finger_mimic'" in str(warning.message)
    assert warning.filename == __file__


HARMLESS = {
    "extensions": ('<link name="fore"/>', '<link name="fore"><sensor/></link><ros2_control a="nan"/>'),
    "a fixed joint with limits": (
        '<axis xyz="0 0 0"/>',
        '<limit lower="0" upper="0" effort="0" velocity="0"/>',
    ),
    "an axis of three digits": (
        ELBOW_AXIS,
        '<origin xyz="0.4 0 0"/><axis xyz="0.707 0 0.707"/>',
    ),
    "a texture": ('<material name="steel"/>', '<material name="wood"><texture filename="w.png"/></material>'),
    "speeds without end": ('velocity="3"', 'velocity="1e300"'),
}


@pytest.mark.parametrize(("old", "new"), HARMLESS.values(), ids=HARMLESS)
def test_harmless(old, new):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_changed(old, new).dof == 4


def test_every_axis_is_a_unit_vector_even_if_tiny():
    with pytest.warns(MemetikWarning, match="length 1"):
        body = read_changed('<origin xyz="0.3 0 0"/>', '<origin xyz="0.3 0 0"/><axis xyz="1e-6 0 1e-6"/>')
    assert np.allclose(body.joints["slide"].axis, (math.sqrt(0.5), 0.0, math.sqrt(0.5)), atol=1e-15)
