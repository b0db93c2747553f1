"""The least solid of each kind around few points, and the volume of solids together: against what is known of them."""

import numpy as np
import pytest

from memetik.collision.fit import KINDS, Effort, least, union
from memetik.kernels.covers.solid_sizes import MIDDLE, SIZE, TURN, VOLUME

pytestmark = pytest.mark.quick

FEW = Effort(12, 25, 1)
CORNERS = np.array([(x, y, z) for x in (-0.3, 0.3) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])


def outside(kind, row, points):
    """How far points lie outside a solid, by the formula of each kind."""
    local = (points - row[MIDDLE : MIDDLE + 3]) @ row[TURN : TURN + 9].reshape(3, 3)
    size = row[SIZE : SIZE + 3]
    if kind == "box":
        return (np.abs(local) - 0.5 * size).max()
    if kind == "sphere":
        return (np.linalg.norm(local, axis=1) - size[0]).max()
    across, along = np.hypot(local[:, 0], local[:, 1]), np.abs(local[:, 2])
    if kind == "cylinder":
        return max((across - size[0]).max(), (along - 0.5 * size[1]).max())
    return (np.hypot(across, np.maximum(along - 0.5 * size[1], 0.0)) - size[0]).max()


@pytest.mark.parametrize("kind", KINDS)
def test_the_least_solid_holds_all_points_and_is_no_larger_than_a_simple_one(kind):
    (row,) = least(CORNERS, np.arange(8), np.array([KINDS[kind]]), FEW)
    simple = {
        "box": 0.6 * 0.2 * 0.2,
        "sphere": 4.0 / 3.0 * np.pi * np.linalg.norm(CORNERS[0]) ** 3,
        "cylinder": np.pi * 0.02 * 0.6,
        "capsule": np.pi * 0.02 * 0.6 + 4.0 / 3.0 * np.pi * 0.02**1.5,
    }
    assert row[VOLUME] <= simple[kind] * (1.0 + 1e-9)
    if kind in ("box", "sphere"):
        assert row[VOLUME] == pytest.approx(simple[kind], rel=1e-6)
    assert outside(kind, row, CORNERS) < 1e-9


def test_only_the_members_are_held():
    (row,) = least(CORNERS, np.arange(4), np.array([KINDS["sphere"]]), FEW)
    assert row[VOLUME] < 4.0 / 3.0 * np.pi * np.linalg.norm(CORNERS[0]) ** 3
    assert outside("sphere", row, CORNERS[:4]) < 1e-9 < outside("sphere", row, CORNERS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_in_another_solid_adds_no_volume(kind):
    rows = least(CORNERS, np.arange(8), np.array([KINDS[kind]]), FEW)
    both, kinds = np.vstack((rows, rows)), np.array([KINDS[kind]] * 2)
    assert union(kinds[:1], rows, 300) == pytest.approx(rows[0, VOLUME])
    assert union(kinds, both, 300) == pytest.approx(rows[0, VOLUME])
    both[1, MIDDLE] += 5.0
    assert union(kinds, both, 300) == pytest.approx(2.0 * rows[0, VOLUME])
