"""The camera: which way is right and up, and that what it frames fits."""

import numpy as np
import pytest

from memetik.write.camera import DISTANCE, look

MARGINS = np.array([40.0, 60.0, 40.0, 20.0])  # left, top, right, bottom
SIZE = (640.0, 480.0)
CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def camera(view):
    return look(CUBE, np.zeros(8), view, SIZE, MARGINS)


@pytest.mark.parametrize(
    ("view", "right", "up", "back"),
    [
        ((0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)),  # from the front
        ((90, 0), (-1, 0, 0), (0, 0, 1), (0, 1, 0)),  # from the left
        ((-90, 90), (1, 0, 0), (0, 1, 0), (0, 0, 1)),  # from above, as on a map
        ((-90, -90), (1, 0, 0), (0, -1, 0), (0, 0, -1)),  # from below
    ],
)
def test_the_axes_of_common_views(view, right, up, back):
    assert np.allclose(camera(view).axes, [right, up, back], atol=1e-15)


def test_page_coordinates_go_right_and_down_and_near_things_are_larger():
    front = camera((0, 0))
    middle, to_right, to_top = front.project(np.array([[0.0, 0, 0], [0, 1, 0], [0, 0, 1]]))
    assert to_right[0] > middle[0] and to_right[1] == middle[1]
    assert to_top[1] < middle[1] and to_top[0] == middle[0]
    near, far = front.scale(front.see(np.array([[1.0, 0, 0], [-1.0, 0, 0]])))
    radius = np.sqrt(3.0)
    assert near / far == pytest.approx((DISTANCE * radius + 1) / (DISTANCE * radius - 1))


@pytest.mark.parametrize("view", [(0, 0), (35, 18), (-120, 60), (77, -33)])
def test_what_is_framed_fills_the_room_within_the_margins(view):
    rng = np.random.default_rng(3)
    points, radii = rng.normal(size=(20, 3)) * (1.0, 2.0, 0.5) + 7.0, rng.uniform(0.0, 0.3, 20)
    seen_by = look(points, radii, view, SIZE, MARGINS)
    seen = seen_by.see(points)
    reach = (radii * seen_by.scale(seen))[:, None]
    low, high = (seen_by.page(seen) - reach).min(axis=0), (seen_by.page(seen) + reach).max(axis=0)
    room_low, room_high = MARGINS[:2], np.array(SIZE) - MARGINS[2:]
    assert np.all(low >= room_low - 1e-9) and np.all(high <= room_high + 1e-9)
    assert np.isclose(high - low, room_high - room_low).any()
    assert np.allclose(low - room_low, room_high - high)  # in the middle of the room


def test_a_single_point_has_a_picture():
    point = look(np.ones((1, 3)), np.zeros(1), (35, 18), SIZE, MARGINS)
    assert np.isfinite(point.zoom) and np.allclose(point.project(np.ones((1, 3))), [[320, 260]])
