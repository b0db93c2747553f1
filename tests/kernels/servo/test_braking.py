"""The velocities from which a joint can still stop, against braking tick by tick."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memetik.kernels.servo.braking import PLANNED, fastest_to_stop, least_braking, velocity_range
from memetik.kernels.servo.record import MOVER
from tests.naive import followers

distances = st.floats(1e-9, 3.0)
accelerations = st.floats(0.5, 100.0)
ticks = st.sampled_from([1e-3, 1 / 240, 1 / 60])


@given(distance=distances, acceleration=accelerations, tick=ticks)
@settings(deadline=None, max_examples=60)
def test_the_fastest_velocity_is_found_by_trying(distance, acceleration, tick):
    fastest = fastest_to_stop(distance, acceleration, tick)
    assert fastest == pytest.approx(followers.fastest_to_stop(distance, acceleration, tick), rel=1e-9)
    assert followers.stopping_distance(0.999999 * fastest, acceleration, tick) <= distance


@given(distance=distances, acceleration=accelerations, tick=ticks)
@settings(deadline=None, max_examples=60)
def test_the_smooth_rule_is_a_little_faster(distance, acceleration, tick):
    """So it cannot be what a joint is held to: from the difference it would have to brake harder than it may."""
    brake = acceleration * tick
    rule = np.sqrt(0.25 * brake**2 + 2.0 * acceleration * distance) - 0.5 * brake
    exact = fastest_to_stop(distance, acceleration, tick)
    assert exact * (1.0 - 1e-9) - 1e-12 <= min(rule, distance / tick) <= exact + 0.5 * brake


@given(distance=distances, velocity=st.floats(1e-3, 10.0), tick=ticks)
@settings(deadline=None, max_examples=60)
def test_the_least_braking_stops_at_the_end_of_the_way(distance, velocity, tick):
    least = least_braking(velocity, distance, tick)
    after = velocity - least * tick
    assert followers.stopping_distance(after, least, tick) == pytest.approx(distance, rel=1e-9)
    assert fastest_to_stop(distance, least, tick) == pytest.approx(after, rel=1e-9, abs=1e-9)


def test_nothing_has_to_brake_that_rests_or_has_no_limit():
    assert least_braking(0.0, 1.0, 1e-3) == least_braking(-1.0, 1.0, 1e-3) == 0.0
    assert least_braking(1.0, np.inf, 1e-3) == least_braking(1.0, 0.0, 1e-3) == 0.0


def test_ends_of_the_line():
    assert fastest_to_stop(0.0, 1.0, 1e-3) == 0.0
    assert fastest_to_stop(-1.0, 1.0, 1e-3) == 0.0
    assert fastest_to_stop(np.inf, 1.0, 1e-3) == np.inf
    assert fastest_to_stop(1e-9, 1.0, 1e-3) == 1e-9 / 1e-3  # there in one tick


@given(
    q=st.floats(-1.0, 1.0), velocity=st.floats(-3.0, 3.0), acceleration=accelerations, tick=ticks,
    choices=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60),
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_whoever_stays_in_range_never_passes_a_limit(q, velocity, acceleration, tick, choices):
    """Any choice within the range, tick after tick, from a state that can stop: the range is never empty either."""
    mover = np.zeros(1, dtype=MOVER)
    mover["lower"], mover["upper"], mover["velocity"], mover["acceleration"] = -1.0, 1.0, 3.0, acceleration
    room = 1.0 - q if velocity > 0.0 else q + 1.0
    velocity = np.sign(velocity) * min(abs(velocity), fastest_to_stop(room, PLANNED * acceleration, tick))
    q = q + velocity * tick
    for share in choices:
        low, high = velocity_range(mover[0], q, velocity, tick)
        assert low <= high + 1e-12
        assert low >= velocity - acceleration * tick - 1e-9 and high <= velocity + acceleration * tick + 1e-9
        velocity = low + share * (high - low)
        q += velocity * tick
        assert -1.0 - 1e-12 <= q <= 1.0 + 1e-12 and abs(velocity) <= 3.0 + 1e-12


def test_a_joint_out_of_limits_may_only_go_in():
    mover = np.zeros(1, dtype=MOVER)
    mover["lower"], mover["upper"], mover["velocity"], mover["acceleration"] = -1.0, 1.0, 1.0, 10.0
    assert velocity_range(mover[0], 1.2, 0.0, 1e-3) == (-0.01, 0.0)
