"""The OFKT kernels: after any edits the cache holds exactly what plain forward kinematics gives."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.body.forward import forward, frame_pose
from memetik.kernels.body.ofkt import (
    COUNT_LOCAL,
    COUNT_REFERENCE,
    COUNT_WORLD,
    LOCAL,
    REFERENCE,
    VALUE,
    WIDTH,
    clear,
    frame_world,
    predict,
    update,
)
from memetik.kernels.math.pose import compose, load
from tests.conftest import COMPILED
from tests.kernels.body.edits import differences
from tests.naive import pose as naive
from tests.naive.bodies import random_body

pytestmark = pytest.mark.quick

HERE = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def filled(body, q):
    flat, frames = body.flatten()
    cache = np.empty((flat.nodes.size, WIDTH))
    clear(cache)
    update(flat.nodes, q, cache, None)
    return flat.nodes, frames, cache


@pytest.mark.parametrize("seed", range(8))
def test_edits_leave_no_trace(seed):
    """100,000 edits of random subsets of the joints: every transform stays bit for bit that of plain FK."""
    rng = np.random.default_rng(seed)
    body = random_body(rng, 4 + 2 * seed)
    flat, _ = body.flatten()
    edits = 100_000 if COMPILED else 40
    assert differences(flat.nodes, body.variables.sample_lower, body.variables.sample_upper, edits, rng) == 0


def test_differences_are_seen(rng):
    """The counter above does find a transform that was not refreshed."""
    body = random_body(rng, 8, mimics=0.0)
    nodes = body.flatten()[0].nodes.copy()
    nodes["last"] = np.arange(nodes.size)  # each motion claims to carry nothing
    assert differences(nodes, body.variables.sample_lower, body.variables.sample_upper, 20, rng) > 0


def test_a_cleared_cache_is_computed_anew(rng):
    body = random_body(rng, 6)
    q = body.sample(rng)
    nodes, _, cache = filled(body, q)
    before = cache.copy()
    cache[:, LOCAL:] = 0.0
    clear(cache)
    assert np.isnan(cache[:, VALUE]).all()
    update(nodes, q, cache, None)
    assert_array_equal(cache, before)


def test_nothing_changed_nothing_computed(rng):
    body = random_body(rng, 6)
    q = body.sample(rng)
    nodes, _, cache = filled(body, q)
    counts = np.zeros(3, dtype=np.int64)
    update(nodes, q, cache, counts)
    assert_array_equal(counts, 0)


@pytest.mark.parametrize("seed", range(10))
def test_only_what_hangs_below_a_change_is_computed(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 10, mimics=0.0)
    q = body.sample(rng)
    nodes, _, cache = filled(body, q)
    changed = int(rng.integers(nodes.size))
    below = {changed}
    for i in range(nodes.size):
        if nodes["parent"][i] in below:
            below.add(i)
    q[nodes["variable"][changed]] += 0.1
    cache[:, LOCAL:] += 1.0  # marks what is left alone
    marked, counts = cache.copy(), np.zeros(3, dtype=np.int64)
    update(nodes, q, cache, counts)
    assert counts[COUNT_LOCAL] == 1 and counts[COUNT_REFERENCE] == len(below) and counts[COUNT_WORLD] == 0
    untouched = sorted(set(range(nodes.size)) - below)
    assert_array_equal(cache[untouched], marked[untouched])


@pytest.mark.parametrize("seed", range(10))
def test_world(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 6)
    q, world = body.sample(rng), naive.random_pose(rng)
    nodes, frames, cache = filled(body, q)
    poses, counts = np.empty((nodes.size, 7)), np.zeros(3, dtype=np.int64)
    forward(nodes, q, poses)
    for k in range(frames.size):
        expected = compose(world, frame_pose(frames[k], poses))
        assert_allclose(frame_world(frames[k], cache, world, None), expected, rtol=0.0, atol=1e-14)
        assert frame_world(frames[k], cache, world, counts) == frame_world(frames[k], cache, world, None)
    assert_array_equal(counts, [0, 0, frames.size])


@pytest.mark.parametrize("seed", range(10))
def test_predict_is_update_without_the_update(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 8, mimics=0.0)
    q, world = body.sample(rng), naive.random_pose(rng)
    nodes, frames, cache = filled(body, q)
    for changed in range(nodes.size):
        value = rng.normal()
        other = q.copy()
        other[nodes["variable"][changed]] = value
        _, _, expected = filled(body, other)
        before, counts = cache.copy(), np.zeros(3, dtype=np.int64)
        for k in range(frames.size):
            told = predict(nodes, cache, changed, value, frames[k], world, None)
            there = frame_world(frames[k], expected, world, None)
            assert_allclose(naive.matrix(told), naive.matrix(there), rtol=0.0, atol=1e-13)
            assert predict(nodes, cache, changed, value, frames[k], world, counts) == told
        carried = sum(changed <= frames["node"]) - sum(frames["node"] > nodes["last"][changed])
        assert_array_equal(counts, [carried, 3 * carried, frames.size])
        assert_array_equal(cache, before)


def test_the_cache_holds_value_local_and_reference(rng):
    body = random_body(rng, 6)
    q = body.sample(rng)
    nodes, _, cache = filled(body, q)
    for i, node in enumerate(nodes):
        value = node["ratio"] * q[node["variable"]] + node["offset"]
        assert cache[i, VALUE] == pytest.approx(value, rel=1e-15)  # product and sum may be one operation
        assert_allclose(naive.matrix(load(cache, i, LOCAL)), naive.local(node, value), rtol=0.0, atol=1e-14)
        parent = HERE if node["parent"] < 0 else load(cache, node["parent"], REFERENCE)
        assert load(cache, i, REFERENCE) == pytest.approx(compose(parent, load(cache, i, LOCAL)), abs=1e-15)
