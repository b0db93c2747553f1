"""The way to a stop after a tick, against the same ticks one by one."""

from types import SimpleNamespace

import numpy as np
import pytest

from memetik.kernels.compiler.jit import jit
from memetik.kernels.servo.braking import velocity_range
from memetik.kernels.servo.moving_mean import RESTED, TICKS, advance_mean
from memetik.kernels.servo.record import MOVER
from memetik.kernels.servo.stopping import sum_of_ways, way_after

TICK = 1e-3


@jit
def way(brake, speed, ticks, tick):
    return way_after(brake, speed, ticks, tick)


@jit
def sum_up(brake, speed, ticks, tick):
    return sum_of_ways(brake, speed, ticks, tick)


def brake_step_by_step(speed, brake, ticks):
    """Where a joint is after each tick, from the one at this speed on."""
    places, at = [], 0.0
    for _ in range(ticks + 1):
        at += speed * TICK
        places.append(at)
        speed = max(speed - brake, 0.0)
    return np.array(places)


@pytest.mark.quick
@pytest.mark.parametrize("speed", [0.0, 1e-4, 0.5, 1.0])
@pytest.mark.parametrize("brake", [0.3, 0.0101, 1e9])
def test_ways_and_their_sums_are_those_of_single_ticks(speed, brake):
    places = brake_step_by_step(speed, brake, 150)
    for ticks in (0, 1, 2, 7, 99, 150):
        assert way(brake, speed, ticks, TICK) == pytest.approx(places[ticks], abs=1e-12)
        assert sum_up(brake, speed, ticks, TICK) == pytest.approx(places[: ticks + 1].sum(), abs=1e-12)


@pytest.mark.quick
def test_the_mean_of_what_is_planned_keeps_every_limit(rng):
    """Random velocities within limits: differences of the mean, up to the third, are those that windows promise."""
    dof, window, ticks = 3, 20, 2000
    movers = np.zeros(dof, dtype=MOVER)
    movers["lower"], movers["upper"], movers["velocity"], movers["acceleration"] = -1.0, 1.0, 2.0, 10.0
    movers["window"], movers["realistic"] = window, 1
    movers = movers.view(np.recarray)
    own = SimpleNamespace(
        movers=movers, history=np.zeros((window, dof)), counts=np.zeros(2, dtype=np.int64), mean=np.zeros(dof)
    )
    planned, velocity, path = np.zeros(dof), np.zeros(dof), [np.zeros(dof)]
    for _ in range(ticks):
        for k in range(dof):
            low, high = velocity_range(movers[k], planned[k], velocity[k], TICK)
            velocity[k] = rng.choice([low, high, rng.uniform(low, high)])
        planned = planned + velocity * TICK
        own.counts[RESTED] = 0
        getattr(advance_mean, "py_func", advance_mean)(own, planned, path[-1])
        path.append(own.mean.copy())
    path = np.array(path)
    assert own.counts[TICKS] == ticks
    v = np.diff(path, axis=0) / TICK
    a = np.diff(v, axis=0) / TICK
    jerk = np.diff(a, axis=0) / TICK
    assert np.abs(path).max() <= 1.0 and np.abs(v).max() <= 2.0 + 1e-9 and np.abs(a).max() <= 10.0 + 1e-6
    assert 0.5 < np.abs(jerk).max() / (2.0 * 10.0 / (window * TICK)) <= 1.0 + 1e-6
