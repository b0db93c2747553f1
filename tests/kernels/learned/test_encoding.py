"""What a learned solver reads of targets, against the naive forward kinematics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import memetik as mk
from memetik.kernels.learned.encoding import write_wanted
from memetik.learn.samples import inputs_of
from tests.naive import kinematics

pytestmark = pytest.mark.quick

BODY = mk.build.serial_chain([0.3, 0.2, 0.2, 0.1], "zyx")
POSE = mk.Pose("tip", np.eye(4))
BETWEEN = mk.Position("tip", (0.0, 0.0, 0.0), relative_to="link_2")
ASKED = mk.Problem(BODY, [POSE, mk.JointValue("joint_1", 0.3, tolerance=None), BETWEEN])


@given(seed=st.integers(0, 2**32 - 1))
def test_inputs_of_a_posture_are_the_targets_that_it_shows(seed):
    q = BODY.sample(np.random.default_rng(seed))
    tip, middle = (kinematics.pose(BODY, link, q) for link in ("tip", "link_2"))
    seen = (np.linalg.inv(middle) @ tip)[:3, 3]
    expected = [*tip[:3, 3], *tip[:3, 0], *tip[:3, 1], *seen]
    assert_allclose(inputs_of(ASKED, q[np.newaxis])[0], expected, atol=1e-12)
    POSE.target, BETWEEN.target = tip, seen
    read = np.empty(12)
    write_wanted(ASKED.compiled.terms, ASKED.compiled.data, read)
    assert_allclose(read, expected, atol=1e-12)
