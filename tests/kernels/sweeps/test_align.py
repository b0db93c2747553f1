"""The best value of one joint, against all values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memetik.kernels.body.records import NODE
from memetik.kernels.sweeps.align import best_screw, best_slide, best_turn, circle, play
from tests.naive.kinematics import turn

pytestmark = pytest.mark.quick

numbers = st.floats(-3.0, 3.0)
limits = st.one_of(st.floats(0.0, 7.0), st.just(math.inf))


def grid(low, high, turns=2.0 * math.pi):
    return np.linspace(max(low, -turns), min(high, turns), 4001)


@given(a=numbers, b=numbers, low=limits, high=limits)
def test_no_angle_within_the_limits_is_better(a, b, low, high):
    t = best_turn(a, b, abs(a) + abs(b), -low, high)
    assert -low <= t <= high
    trials = grid(-low, high)
    assert a * math.cos(t) + b * math.sin(t) >= (a * np.cos(trials) + b * np.sin(trials)).max() - 1e-9


def test_the_short_way_is_taken_if_both_lead_there():
    assert best_turn(0.0, 1.0, 1.0, -math.inf, math.inf) == pytest.approx(0.5 * math.pi)
    assert best_turn(0.0, 1.0, 1.0, -math.inf, 1.0) == pytest.approx(-1.5 * math.pi)


def test_a_pull_that_is_mere_rounding_turns_nothing():
    assert best_turn(-1e-17, 1e-17, 1.0, -3.0, 3.0) == 0.0
    assert best_turn(-1e-6, 0.0, 1.0, -math.inf, math.inf) == pytest.approx(math.pi)


@given(seed=st.integers(0, 2**32 - 1))
def test_the_wave_of_a_point_on_a_circle(seed):
    rng = np.random.default_rng(seed)
    r, d, u = rng.normal(size=(3, 3))
    u /= math.sqrt(u @ u)
    a, b = circle(r, d, u)
    for t in rng.uniform(-4.0, 4.0, 5):
        moved = turn(u, t)[:3, :3] @ r
        still = r @ r + d @ d - 2.0 * (r @ u) * (d @ u)
        assert (moved - d) @ (moved - d) == pytest.approx(still - 2.0 * (a * math.cos(t) + b * math.sin(t)), abs=1e-9)


def test_a_slide_stops_at_its_limits():
    assert best_slide(3.0, 2.0, -1.0, 2.0) == 1.5
    assert best_slide(3.0, 2.0, -1.0, 1.0) == 1.0
    assert best_slide(-3.0, 2.0, -1.0, 1.0) == -1.0
    assert best_slide(3.0, 0.0, -1.0, 1.0) == 0.0  # nothing that a slide could bring nearer


@given(a=numbers, b=numbers, along=numbers, weight=st.floats(0.1, 3.0), pitch=st.floats(-0.5, 0.5))
def test_a_screw_finds_a_minimum_downhill(a, b, along, weight, pitch):
    def loss(t):
        return -2.0 * (a * np.cos(t) + b * np.sin(t)) + weight * (pitch * t) ** 2 - 2.0 * pitch * t * along

    t = best_screw(a, b, abs(a) + abs(b), along, weight, pitch, -2.0, 2.0)
    assert -2.0 <= t <= 2.0
    assert loss(t) <= loss(0.0) + 1e-12
    if math.hypot(a, b) > 0.1:  # a wave worth the name: the steps have settled, or come to a limit
        near = np.clip(t + np.array([-1e-3, 1e-3]), -2.0, 2.0)
        assert loss(t) <= loss(near).min() + 1e-5


@pytest.mark.parametrize("ratio", [2.0, -0.5])
def test_play_is_that_of_the_motion(ratio):
    node = np.zeros(1, dtype=NODE)
    node["ratio"] = ratio
    low, high = play(node[0], 0.3, -1.0, 2.0)
    assert (low, high) == pytest.approx(sorted((ratio * -1.3, ratio * 1.7)))
