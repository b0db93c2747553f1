"""Distances from grids: never above the true ones, those of the interpolation, and the way out."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik import Shape, transform, translation
from memetik.collision import SignedDistanceGrid
from memetik.collision.solids import solid, stack
from memetik.geometry import random_rotation
from memetik.kernels.geometry.solids import SOLID_DATA, apart
from tests.naive import coal
from tests.naive.fields import error_bound, interpolated

pytestmark = pytest.mark.quick

KINDS = ("sphere", "capsule", "box", "cylinder", "hull")
RADIUS, SPACING = 0.2, np.array([0.05, 0.06, 0.07])
seeds = st.integers(0, 2**32 - 1)


def ball_grid():
    """The distances from a ball about the origin, whose true ones are known."""
    axes = [np.arange(-0.3, 0.31, step) for step in SPACING]
    values = np.linalg.norm(np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1), axis=-1) - RADIUS
    return SignedDistanceGrid(values, spacing=SPACING, origin=(-0.3, -0.3, -0.3))


def measured(one, other, enough=np.inf):
    data = stack([solid(one, "one"), solid(other, "other")])
    p, q = tuple(data[:7].tolist()), tuple(data[SOLID_DATA : SOLID_DATA + 7].tolist())
    d, *rest = apart(data, p, 0, q, SOLID_DATA, enough)
    return d, *map(np.array, rest)


@given(seeds)
def test_points_as_interpolated(seed):
    """Less the error that can be; outside of the grid as far as its rim and on from there, by Pythagoras."""
    rng = np.random.default_rng(seed)
    grid = ball_grid()
    low, high = grid.origin, grid.origin + (np.array(grid.values.shape) - 1) * SPACING
    point = rng.uniform(-0.6, 0.6, 3)
    nearest = np.clip(point, low, high)
    value = interpolated(grid.values, SPACING, nearest - low)
    bound = value - error_bound(value, SPACING)
    away = np.linalg.norm(point - nearest)
    found = grid.distance([point])[0]
    assert_allclose(found, np.hypot(away, bound) if bound > 0.0 else away + bound, atol=1e-12)
    assert found <= np.linalg.norm(point) - RADIUS + 1e-12


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=60)
def test_never_above_the_true_distance(seed, kind):
    """That from the ball itself, by coal; and not below it by more than what is said."""
    rng = np.random.default_rng(seed)
    turned = transform(rng.uniform(-0.1, 0.1, 3), random_rotation(rng))
    grid = ball_grid().shape
    grid = dataclasses.replace(grid, link_from_shape=turned @ grid.link_from_shape)
    place = transform(rng.uniform(-0.5, 0.5, 3), random_rotation(rng))
    size = rng.uniform(0.03, 0.15, {"sphere": 1, "hull": 1, "box": 3}.get(kind, 2))
    points = 0.05 * rng.normal(size=(9, 3)) if kind == "hull" else None
    shape = Shape(kind, tuple(size), place, points=points)
    d, a, b, n = measured(shape, grid)
    true = coal.distance(shape, Shape("sphere", (RADIUS,), turned))[0]
    assert d <= true + 1e-7
    inside = (
        np.abs(np.linalg.inv(grid.link_from_shape)[:3] @ place[:, 3] - grid.field_box[0]) < grid.field_box[1]
    ).all()
    if inside and true > 0.0:
        slack = {"sphere": 0.0, "capsule": 0.05}.get(kind, 1.0) * SPACING.min()
        assert d >= true - 2.0 * grid.size[3] - slack - 1e-9
    back = measured(grid, shape)
    assert_allclose([back[0], *back[1], *back[2], *back[3]], [d, *b, *a, *-n], atol=1e-12)


def test_the_normal_is_the_gradient():
    """Of capsules as of balls, by finite differences."""
    grid = ball_grid().shape
    for shape in (
        Shape("sphere", (0.05,), translation(0.21, 0.12, 0.1)),
        Shape("capsule", (0.05, 0.1), translation(0.22, 0.15, 0.07)),
    ):
        d, _, _, n = measured(shape, grid)
        for axis in range(3):
            step = 1e-6 * np.eye(3)[axis]
            moved = dataclasses.replace(shape, link_from_shape=translation(*step) @ shape.link_from_shape)
            assert_allclose((measured(moved, grid)[0] - d) / 1e-6, n[axis], atol=2e-3)


def test_what_is_far_costs_little_and_is_said_to_be_far():
    grid = ball_grid().shape
    assert measured(Shape("box", (0.1, 0.2, 0.3), translation(0.0, 0.0, 1.0)), grid, 0.1)[0] >= 0.1
