"""Soles on a surface, against what flat and sloping ground asks of them."""

import numpy as np
import pytest

import memetik as mk
from memetik.kernels.feet.soles import deepest_point, depths_of, place_sole, place_soles

pytestmark = [
    pytest.mark.quick,
    pytest.mark.filterwarnings("ignore:place_feet"),  # a chain that lies on its side: its last link is below its tip
]

SOLE = np.array([(x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
ABOVE = 0.5


def numbers_of(surface):
    return mk.motion.FootPlacer(mk.build.planar_chain(2).with_base("floating"), surface, ["tip"])._terrain.numbers


def slope(angle):
    """A height field that rises along x."""
    across = np.linspace(-1.0, 1.0, 5)
    return mk.objectives.HeightField(np.tan(angle) * np.tile(across[:, None], (1, 5)), spacing=0.5, origin=(-1.0, -1.0))


def placed(surface, pose, share=1.0):
    spots, out = np.empty((len(SOLE), 16)), np.empty((4, 4))
    moved = place_sole(numbers_of(surface), pose, SOLE, ABOVE, share, spots, out)
    return moved, out


def test_a_sole_above_the_ground_stays():
    pose = mk.transform((0.2, 0.1, 0.05), mk.rpy(0.1, 0.2, 0.3))
    moved, out = placed(mk.objectives.Ground(), pose)
    assert not moved and np.array_equal(out, pose)


def test_a_sole_in_the_ground_is_lifted_onto_it():
    moved, out = placed(mk.objectives.Ground(), mk.translation(0.2, 0.1, -0.04))
    assert moved and np.allclose(out, mk.translation(0.2, 0.1, 0.0), atol=1e-12)
    numbers, spots = numbers_of(mk.objectives.Ground()), np.empty((len(SOLE), 16))
    assert deepest_point(numbers, out, SOLE, ABOVE, spots) < 1e-12
    assert deepest_point(numbers, mk.translation(0.0, 0.0, -0.04), SOLE, ABOVE, spots) == pytest.approx(0.04)


def test_a_sole_that_has_sunk_into_a_slope_lies_on_it():
    surface = slope(0.2)
    moved, out = placed(surface, mk.translation(0.0, 0.0, -0.03))
    corners = SOLE @ out[:3, :3].T + out[:3, 3]
    assert moved
    assert np.abs(corners[:, 2] - np.tan(0.2) * corners[:, 0]).max() < 1e-3
    assert out[2, 0] == pytest.approx(np.sin(0.2), abs=1e-3)


def test_a_share_of_the_turn():
    _, out = placed(slope(0.2), mk.translation(0.0, 0.0, -0.03), share=0.5)
    assert out[2, 0] == pytest.approx(np.sin(0.1), abs=1e-3)


def test_many_soles_are_placed_as_one():
    surface, spots = slope(0.2), np.empty((len(SOLE), 16))
    poses = np.array([mk.translation(0.1 * k, 0.0, 0.03 - 0.03 * k) for k in range(3)])
    shares, goals, depths = np.array([0.0, 0.5, 1.0]), np.empty((3, 4, 4)), np.empty(3)
    place_soles(numbers_of(surface), poses, SOLE, ABOVE, shares, spots, goals)
    depths_of(numbers_of(surface), poses, SOLE, ABOVE, spots, depths)
    for pose, share, goal, depth in zip(poses, shares, goals, depths, strict=True):
        assert np.array_equal(goal, placed(surface, pose, share)[1])
        assert depth == deepest_point(numbers_of(surface), pose, SOLE, ABOVE, spots)
