"""URDF that cannot be right: refused with the file, the line, what is wrong and how to mend it."""

import re
import warnings

import pytest

from memetik.errors import BodyError, FormatError, MemetikError, MemetikWarning, UnknownNameError
from memetik.read import parse_urdf
from tests.read.samples import URDF, changed

SHOULDER_LIMIT = '<limit lower="-2" upper="2" effort="10" velocity="1.5" acceleration="7"/>'
SLIDE_LIMIT = '<limit lower="0" upper="0.2" effort="10" velocity="1"/>'
ELBOW_AXIS = '<origin xyz="0.4 0 0"/><axis xyz="0 0 1"/>'
BOX = '<box size="0.2 0.3 0.4"/>'
FORE = '<link name="fore"/>'

# Each row: what the sample says, what it says instead, and two things that the message must say.

UNKNOWN = {
    "parent": ('<parent link="base"/>', '<parent link="bse"/>', "'bse'", "'base'"),
    "child": ('<child link="fore"/>', '<child link="for"/>', "'for'", "'fore'"),
    "mimic": ('mimic joint="finger"', 'mimic joint="fingr"', "'fingr'", "'finger'"),
}

NO_BODY = {
    "two roots": (FORE, FORE + '<link name="lost"/>', "'lost'", "connect"),
    "two parents": (
        FORE,
        FORE + '<joint name="again" type="fixed"><parent link="base"/><child link="fore"/></joint>',
        "'again'",
        "remove one",
    ),
    "circle": (
        '<parent link="world"/><child link="base"/>',
        '<parent link="hand"/><child link="base"/>',
        "circle",
        "",
    ),
    "no root": (
        FORE,
        FORE + '<joint name="back" type="fixed"><parent link="hand"/><child link="world"/></joint>',
        "circle",
        "Remove the joint",
    ),
    "own parent": ('<parent link="fore"/>', '<parent link="hand"/>', "", ""),
    "duplicate link": (FORE, FORE * 2, "'fore'", "Rename"),
    "duplicate joint": ('name="elbow"', 'name="slide"', "'slide'", "Rename"),
    "mimic of itself": ('mimic joint="finger"', 'mimic joint="finger_mimic"', "circle", ""),
    "mimic of a fixed joint": ('mimic joint="finger"', 'mimic joint="mount"', "'mount'", "that moves"),
    "mimic that can never follow": ('offset="0.1"', 'offset="5"', "'finger_mimic'", "Correct"),
    "negative radius": ('<sphere radius="0.3"/>', '<sphere radius="-1"/>', "'upper'", "negative"),
}

BAD_TEXT = {
    "no parent": ('<parent link="fore"/>', "", "'slide'", "<parent link="),
    "no child": ('<child link="fore"/>', "", "'elbow'", "<child link="),
    "parent without link": ('<parent link="fore"/>', "<parent/>", "'slide'", "link="),
    "two parents given": ('<parent link="fore"/>', '<parent link="fore"/>' * 2, "'slide'", "Keep one"),
    "joint without name": ('<joint name="elbow" ', "<joint ", "<joint> has no name", "name="),
    "joint with empty name": ('<joint name="elbow" ', '<joint name=" " ', "has no name", "name="),
    "link without name": (FORE, "<link/>", "<link> has no name", "name="),
    "joint without type": (' type="continuous"', "", "'elbow'", 'type="revolute"'),
    "unknown type": ('type="continuous"', 'type="revolut"', "'elbow'", "Did you mean 'revolute'"),
    "spherical": ('type="continuous"', 'type="spherical"', "'elbow'", "in Python"),
    "revolute without limit": (SHOULDER_LIMIT, "", "'shoulder'", 'type="continuous"'),
    "prismatic without limit": (SLIDE_LIMIT, "", "'slide'", "<limit"),
    "lower above upper": ('lower="-2"', 'lower="2.5"', "'shoulder'", "Swap"),
    "lower not a number": ('lower="-2"', 'lower="abc"', "'shoulder'", 'lower="-1.57"'),
    "lower NaN": ('lower="-2"', 'lower="nan"', "'shoulder'", "radians"),
    "lower infinite": ('lower="-2"', 'lower="-inf"', "'shoulder'", "radians"),
    "no room": ('lower="-2" upper="2"', 'lower="1e10" upper="1e11"', "'shoulder'", "unit"),
    "velocity NaN": ('velocity="1.5"', 'velocity="NaN"', "'shoulder'", "per second"),
    "velocity below zero": ('velocity="1.5"', 'velocity="-1.5"', "'shoulder'", "Write its size"),
    "effort not a number": ('<limit effort="10"', '<limit effort="?"', "'elbow'", "newton"),
    "two limits": (SLIDE_LIMIT, SLIDE_LIMIT * 2, "'slide'", "Keep one"),
    "soft limit NaN": ('soft_upper_limit="3"', 'soft_upper_limit="nan"', "'shoulder'", "radians"),
    "damping NaN": ('damping="0.1"', 'damping="nan"', "'shoulder'", "damping"),
    "zero axis": (ELBOW_AXIS, '<axis xyz="0 0 0"/>', "'elbow'", "0 0 1"),
    "axis of two numbers": (ELBOW_AXIS, '<axis xyz="0 1"/>', "'elbow'", "0 0 1"),
    "axis without xyz": (ELBOW_AXIS, "<axis/>", "'elbow'", "xyz="),
    "NaN origin": ('<origin xyz="0.4 0 0"/>', '<origin xyz="0.4 nan 0"/>', "'elbow'", "metres"),
    "huge origin": ('<origin xyz="0.4 0 0"/>', '<origin xyz="1e308 0 0"/>', "'elbow'", "metres"),
    "infinite angle": ("1.5707963267948966 0", "inf 0", "'upper'", "radians"),
    "two rotations": ('xyz="0 0 0.5"', 'xyz="0 0 0.5" quat_xyzw="0 0 0 1"', "'shoulder'", "Keep one"),
    "long quaternion": ('rpy="0 0 1.5707963267948966"', 'quat_xyzw="0 0 0 2"', "'shoulder'", "length 1"),
    "mimic without joint": ('<mimic joint="finger" ', "<mimic ", "'finger_mimic'", "joint="),
    "mimic multiplier NaN": ('multiplier="-1"', 'multiplier="nan"', "'finger_mimic'", "multiplier"),
    "no mass": ('<mass value="4"/>', "", "'base'", "<mass value="),
    "mass below zero": ('<mass value="4"/>', '<mass value="-4"/>', "'base'", "positive"),
    "mass NaN": ('<mass value="4"/>', '<mass value="nan"/>', "'base'", "kilograms"),
    "inertia NaN": ('ixx="0.1"', 'ixx="nan"', "'base'", "kilogram"),
    "centre of mass NaN": ('xyz="0 0 0.1" rpy', 'xyz="0 0 nan" rpy', "'base'", "metres"),
    "shape without geometry": (f"<geometry>{BOX}</geometry>", "", "'base'", "<geometry>"),
    "empty geometry": (BOX, "", "'base'", "cylinder"),
    "unknown geometry": (BOX, "<cone/>", "'base'", "cylinder"),
    "two geometries": (BOX, BOX * 2, "'base'", "one of"),
    "box of two numbers": ('size="0.2 0.3 0.4"', 'size="0.2 0.3"', "'base'", "metres"),
    "box without size": (BOX, "<box/>", "'base'", "size="),
    "mesh without file": ('filename="package://arm/meshes/hand.stl" ', "", "'hand'", "filename="),
    "mesh scale NaN": ('scale="0.001', 'scale="nan', "'hand'", "scale"),
    "colour of three numbers": ('rgba="1 0 0 0.5"', 'rgba="1 0 0"', "'upper'", "opacity"),
    "colour NaN": ('rgba="0.6 0.6 0.7 1"', 'rgba="nan 0 0 1"', "'steel'", "opacity"),
    "broken XML": ('<robot name="arm">', '<robot name="arm"><oops>', "not XML", "end tags"),
    "xacro": (FORE, FORE + "<xacro:tool/>", "xacro:tool", ".xacro"),
}


def message_of(error, old, new, **options):
    with pytest.raises(error) as caught:
        parse_urdf(changed(URDF, old, new), file="arm.urdf", **options)
    return str(caught.value)


@pytest.mark.parametrize(("old", "new", "what", "mend"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_names(old, new, what, mend):
    message = message_of(UnknownNameError, old, new)
    assert message.startswith("arm.urdf: ") and what in message and mend in message, message


@pytest.mark.parametrize(("old", "new", "what", "mend"), NO_BODY.values(), ids=NO_BODY)
def test_links_and_joints_that_make_no_body(old, new, what, mend):
    message = message_of(BodyError, old, new)
    assert message.startswith("arm.urdf") and what in message and mend in message, message


@pytest.mark.parametrize(("old", "new", "what", "mend"), BAD_TEXT.values(), ids=BAD_TEXT)
def test_elements_that_cannot_be_read(old, new, what, mend):
    message = message_of(FormatError, old, new)
    assert re.match(r"arm\.urdf, line \d+[,:]", message) and what in message and mend in message, message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("not XML", "not XML"),
        ("<mujoco/>", "MuJoCo"),
        ("<sdf/>", "SDF"),
        ("<html/>", "<html>"),
        ('<robot name="r"/>', "at least one link"),
    ],
)
def test_not_a_urdf(text, says):
    with pytest.raises(MemetikError, match=says):
        parse_urdf(text)


@pytest.mark.parametrize("number", ["1e308", "-1e308", "1e999", "1e9", "-1e9", "4.9e-324", "nan"])
def test_extreme_numbers_never_upset_numpy(number):
    places = [match.span(1) for match in re.finditer(r'[" ](-?\d+\.?\d*)(?=[" ])', URDF)]
    assert len(places) > 80
    for start, end in places:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", MemetikWarning)
            try:
                body = parse_urdf(URDF[:start] + number + URDF[end:], soft_limits=True)
                body.forward(body.home)
            except MemetikError:
                pass
