"""The kinematics of every bundled body: plain, cached and naive agree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from memetik import bodies
from memetik.body import OFKT
from memetik.read.load import load
from tests.conftest import COMPILED
from tests.kernels.body.edits import differences
from tests.naive import kinematics as naive

EXACT = {"rtol": 0.0, "atol": 1e-12}


@pytest.fixture(scope="module", params=bodies.names())
def body(request):
    return load(request.param)


def test_forward(body, rng):
    tree = OFKT(body)
    for q in (body.home, body.lower, body.upper, body.sample(rng)):
        q = np.where(np.isfinite(q), q, 2.0)
        expected = naive.forward(body, q)
        poses = body.forward(q)
        for link in body.links:
            assert_allclose(poses[link], expected[link], **EXACT)
        assert_allclose(tree.update(q), poses.array, **EXACT)


def test_jacobian(body, rng):
    q = body.sample(rng)
    link = list(body.links)[-1]
    assert_allclose(body.jacobian(link, q), naive.exact_jacobian(body, link, q), **EXACT)


def test_edits_leave_no_trace(body, rng):
    """100,000 edits of random subsets of the joints: OFKT stays bit for bit plain forward kinematics."""
    nodes = body.flatten()[0].nodes
    edits = 100_000 if COMPILED else 20
    assert differences(nodes, body.variables.sample_lower, body.variables.sample_upper, edits, rng) == 0
