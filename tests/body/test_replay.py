"""Queries in one compiled loop: the tips are where forward kinematics has them, in every way."""

import numpy as np
import pytest

from memetik.body import replay
from memetik.body.replay import WORLD_FROM_ROOT
from memetik.build.chains import snake
from memetik.kernels.body.replay import STEP

EDITS = np.array([[0, 3], [2, -1], [4, 1]])
COUNT = 7


def heights(body, postures):
    """The sum over postures of the tip's x in the world."""
    return sum(body.forward(q)["tip"][0, 3] + WORLD_FROM_ROOT[4] for q in postures)


@pytest.mark.parametrize("way", ["plain", "ofkt"])
def test_joints_move_before_each_query(way):
    body, q, postures = snake(5), snake(5).home.copy(), []
    for k in range(COUNT):
        joints = EDITS[k % len(EDITS)]
        q[joints[joints >= 0]] += STEP
        postures.append(q.copy())
    with_tip, without = (replay(body, EDITS, COUNT, way, tips)() for tips in (["tip"], []))
    assert with_tip - without == pytest.approx(heights(body, postures), abs=1e-12)


def test_predictions_move_one_joint_from_home():
    body, postures = snake(5), []
    for k in range(COUNT):
        q = body.home.copy()
        q[EDITS[k % len(EDITS), 0]] += STEP * (k // len(EDITS))
        postures.append(q)
    assert replay(body, EDITS, COUNT, "predicted", ["tip"])() == pytest.approx(heights(body, postures), abs=1e-12)


def test_a_jacobian_is_added():
    body = snake(5)
    assert replay(body, EDITS, COUNT, "jacobian")() != replay(body, EDITS, COUNT, "plain")()
