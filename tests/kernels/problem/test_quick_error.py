"""A quick look at a posture ranks like the true errors, and is exact where it needs no trigonometry."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.problem.quick_error import quick_error
from memetik.kernels.terms.springs import springs_cost
from memetik.objectives import Cone, Custom, Direction, Displacement, LookAt, Orientation, Position
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.naive.bodies import random_direction, random_origin, serial_arm

pytestmark = pytest.mark.quick

POSTURES = 25


def nowhere(frame):
    return math.nan if frame.position[0] > 0.0 else 0.5


def looks(objective, rng):
    """Glance and the true squared residual of an objective's first term, at random postures."""
    arm = serial_arm(4)
    flat = Flat(Problem(arm, objective))
    term, pairs = flat.terms[0], []
    for _ in range(POSTURES):
        x = flat.sample(rng)
        flat.place(x)
        look = quick_error(term, flat.data, flat.work.world, x, flat.work.right)
        flat.measure(x, 1.0)
        true = (
            springs_cost(term, flat.data, x) if term["rows"] == 0 else (flat.work.residual[: term["rows"]] ** 2).sum()
        )
        pairs.append((look, true))
    return np.array(pairs).T


def exact(rng):
    return [
        Position("link4", rng.normal(size=3)),
        Position("link4", rng.normal(size=3), relative_to="link1", mask_axes=random_origin(rng)[:3, :3]),
        Position("link4", rng.normal(size=3), mask=(1, 0, 1)),
        Orientation("link4", random_origin(rng)[:3, :3], mask=(0, 1, 1)),
        Cone("link4", random_direction(rng), 0.3),
        Displacement(reference=rng.normal(size=4)),
    ]


@pytest.mark.parametrize("which", range(6))
def test_exact(which, rng):
    look, true = looks(exact(rng)[which], rng)
    assert true.max() > 0.0
    assert_allclose(look, true, rtol=1e-9, atol=1e-15)


def test_an_orientation_counts_by_the_cosine_of_half_its_angle(rng):
    look, true = looks(Orientation("link4", random_origin(rng)[:3, :3], relative_to="link1"), rng)
    assert_allclose(look, 8.0 * (1.0 - np.cos(0.5 * np.sqrt(true))), rtol=0.0, atol=1e-12)
    assert_array_equal(np.argsort(look), np.argsort(true))


@pytest.mark.parametrize("relative", [None, "link1"])
@pytest.mark.parametrize("kind", [Direction, LookAt])
def test_an_aim_counts_by_the_cosine_of_its_angle(kind, relative, rng):
    look, true = looks(kind("link4", random_direction(rng) + 0.1, relative_to=relative), rng)
    assert_allclose(look, 2.0 * (1.0 - np.cos(np.sqrt(true))), rtol=0.0, atol=1e-12)
    assert_array_equal(np.argsort(look), np.argsort(true))


def test_small_angles_count_as_their_squares(rng):
    arm = serial_arm(3)
    x = arm.sample(rng)
    T = arm.forward(x)["link3"]
    for off in (1e-3, 1e-2, 1e-1):
        turned = T[:3, :3] @ np.array(
            [[math.cos(off), -math.sin(off), 0], [math.sin(off), math.cos(off), 0], [0, 0, 1]]
        )
        flat = Flat(Problem(arm, [Orientation("link3", turned), Direction("link3", turned[:, 0], axis=(1, 0, 0))]))
        flat.place(x)
        for term in flat.terms:
            look = quick_error(term, flat.data, flat.work.world, x, flat.work.right)
            assert look == pytest.approx(off * off, rel=off * off / 10.0 + 1e-9)


def test_what_is_not_defined_looks_hopeless(rng):
    look, true = looks(Custom(nowhere, reads=["link4"]), rng)
    assert np.isnan(true).any() and np.isfinite(true).any()
    assert_array_equal(look, np.where(np.isnan(true), 1e300, 0.25))
