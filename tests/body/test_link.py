"""Links, shapes and frames: what is kept, what is refused."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from memetik import Frame, Shape
from memetik.build import Link
from memetik.errors import BodyError, GeometryError

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "a link has no name"),
        ({"name": "hand", "mass": -1.0}, "link 'hand': mass is -1.0 kg; it must be zero or positive"),
        ({"name": "hand", "mass": math.nan}, "link 'hand': mass is nan kg"),
        (
            {"name": "hand", "center_of_mass": (0.0, 0.0)},
            "link 'hand': the centre of mass must be three finite",
        ),
        ({"name": "hand", "center_of_mass": (0.0, math.inf, 0.0)}, "the centre of mass must be three finite"),
    ],
)
def test_links_refused(fields, message):
    with pytest.raises(BodyError, match=message):
        Link(**fields)


@pytest.mark.parametrize(
    ("kind", "size", "message"),
    [
        ("ball", (1.0,), "unknown shape 'ball'. The shapes are: sphere, capsule"),
        ("capsule", (1.0,), "a capsule takes radius, length; got 1 numbers"),
        ("box", (1.0, -1.0, 1.0), "a box has a size that is negative or not finite"),
        ("mesh", (1.0, math.nan, 1.0), "a mesh has a size that is negative or not finite"),
    ],
)
def test_shapes_refused(kind, size, message):
    with pytest.raises(BodyError, match=message):
        Shape(kind, size)


def test_a_shape_with_a_bad_origin_is_refused():
    with pytest.raises(BodyError, match="a sphere has a bad origin"):
        Shape("sphere", (1.0,), np.ones((4, 4)))


def test_a_mesh_may_be_mirrored():
    assert Shape("mesh", (1.0, -1.0, 1.0), mesh="hand.stl").size == (1.0, -1.0, 1.0)


def test_shapes_and_frames_keep_their_own_numbers():
    place = np.eye(4)
    shape, frame = Shape("sphere", (1.0,), place), Frame("hand", place)
    place[0, 3] = 7.0
    for array in (shape.link_from_shape, frame.link_from_frame):
        assert_array_equal(array, np.eye(4))
        with pytest.raises(ValueError, match="read-only"):
            array[0, 3] = 7.0


def test_a_frame_takes_any_pose_and_refuses_the_rest():
    assert_array_equal(Frame("hand", (0, 0, 0.1)).link_from_frame[:3, 3], [0, 0, 0.1])
    with pytest.raises(GeometryError, match="link_from_frame"):
        Frame("hand", np.ones((4, 4)))


def test_a_frame_prints_its_link_and_offset():
    assert str(Frame("hand")) == "hand"
    assert str(Frame("hand", (0, 0, 0.125))) == "hand + (0, 0, 0.125) m"
