"""Distances from height fields: against coal's of the prisms under the facets, and by moving solids the way out."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from memetik import Shape, transform, translation
from memetik.collision.solids import solid, stack
from memetik.geometry import random_rotation
from memetik.kernels.geometry.solids import SOLID_DATA, apart
from memetik.objectives import HeightField
from tests.naive.fields import field_distance

pytestmark = pytest.mark.quick

KINDS = ("sphere", "capsule", "box", "cylinder", "hull")
seeds = st.integers(0, 2**32 - 1)


def measured(one, other, enough=np.inf):
    """d, a, b and n of two shapes placed in the world."""
    data = stack([solid(one, "one"), solid(other, "other")])
    p, q = tuple(data[:7].tolist()), tuple(data[SOLID_DATA : SOLID_DATA + 7].tolist())
    d, *rest = apart(data, p, 0, q, SOLID_DATA, enough)
    return d, *map(np.array, rest)


def random_field(rng, counts=(4, 5)):
    """Rough ground somewhere, turned."""
    field = HeightField(rng.uniform(0.0, 0.3, counts), spacing=rng.uniform(0.08, 0.2, 2), depth=0.4).shape
    return dataclasses.replace(field, link_from_shape=transform(rng.uniform(-0.2, 0.2, 3), random_rotation(rng)))


def random_shape(rng, kind, near, spread=0.5):
    place = transform(near + rng.uniform(-spread, spread, 3), random_rotation(rng))
    if kind == "hull":
        return Shape("hull", (0.02,), place, points=0.08 * rng.normal(size=(9, 3)))
    return Shape(kind, tuple(rng.uniform(0.03, 0.15, {"sphere": 1, "box": 3}.get(kind, 2))), place)


def middle(field):
    return (field.link_from_shape @ [*field.field_box[0][:2], field.values.mean(), 1.0])[:3]


@given(seeds, st.sampled_from(KINDS))
@settings(max_examples=40)
def test_as_coal_has_the_prisms(seed, kind):
    """Where they are apart the same distance, and contact where coal finds contact."""
    rng = np.random.default_rng(seed)
    field = random_field(rng)
    shape = random_shape(rng, kind, middle(field))
    d, a, b, n = measured(shape, field)
    true = field_distance(shape, field)
    if true > 1e-6:
        # coal stops at 1e-9 or so of round shapes
        assert_allclose(d, true, atol=1e-10 if kind in ("hull", "sphere", "capsule") else 1e-7)
        radius = shape.size[0] if kind in ("sphere", "capsule", "hull") else 0.0
        assert_allclose(a, b + (d + radius) * n, atol=1e-9)
        assert_allclose(np.linalg.norm(n), 1.0, atol=1e-12)
    elif true < -1e-6:
        assert d < 0.0
    back = measured(field, shape)
    assert_allclose([back[0], *back[1], *back[2], *back[3]], [d, *b, *a, *-n], atol=1e-9)


@given(seeds, st.sampled_from(KINDS[1:]))
@settings(max_examples=40)
def test_the_way_out_leads_out(seed, kind):
    """A solid in rough ground that is moved as deep as it is along the normal is free of it, or touches it."""
    rng = np.random.default_rng(seed)
    field = dataclasses.replace(random_field(rng), link_from_shape=np.eye(4))
    shape = random_shape(rng, kind, middle(field), 0.1)
    shape = dataclasses.replace(shape, size=(0.0,)) if kind == "hull" else shape
    shape = dataclasses.replace(shape, size=(0.0, shape.size[1])) if kind == "capsule" else shape
    d, a, b, n = measured(shape, field)
    if d < 0.0:
        moved = dataclasses.replace(shape, link_from_shape=translation(*((1e-6 - d) * n)) @ shape.link_from_shape)
        assert measured(moved, field)[0] >= 0.0
        assert_allclose(a, b + d * n, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_level_ground_is_left_straight_up(kind):
    rng = np.random.default_rng(5)
    field = HeightField(np.full((6, 7), 0.1), spacing=0.1).shape
    shape = random_shape(rng, kind, np.array([0.25, 0.3, 0.05]), 0.05)
    d, _, _, n = measured(shape, field)
    assert_allclose(n, (0.0, 0.0, 1.0), atol=1e-6)
    lifted = dataclasses.replace(shape, link_from_shape=translation(0.0, 0.0, 0.3 - d) @ shape.link_from_shape)
    assert_allclose(measured(lifted, field)[0], 0.3, atol=1e-9)


def test_a_ball_in_a_wall_goes_back_where_it_came_from():
    """One cell into a step of a metre the way out is sideways."""
    heights = np.zeros((12, 6))
    heights[6:] = 1.0
    field = HeightField(heights, spacing=0.05).shape
    d, _, b, n = measured(Shape("sphere", (0.02,), translation(0.33, 0.12, 0.5)), field)
    assert_allclose(n[0], -1.0, atol=0.01)
    assert d > -0.08 and b[0] < 0.31


def test_what_is_far_is_not_looked_at():
    field = HeightField(np.zeros((3, 3)), spacing=0.5).shape
    for shape in (Shape("sphere", (0.1,), translation(0.5, 0.5, 2.0)), Shape("box", (0.1,) * 3, translation(3, 0, 0))):
        assert measured(shape, field, 0.2)[0] >= 0.2
        assert measured(shape, field)[0] > 1.0


def test_beside_and_below():
    """A height field has walls at its rim, and a bottom."""
    field = HeightField(np.full((3, 3), 0.2), spacing=0.5, depth=0.3).shape
    assert_allclose(measured(Shape("sphere", (0.1,), translation(-0.4, 0.5, 0.1)), field)[0], 0.3, atol=1e-12)
    assert_allclose(measured(Shape("box", (0.2,) * 3, translation(0.5, 0.5, -0.5)), field)[0], 0.3, atol=1e-12)


def test_two_fields_count_one_as_its_box():
    one = HeightField(np.zeros((3, 3)), spacing=0.5, depth=0.1).shape
    other = dataclasses.replace(one, link_from_shape=translation(0.2, 0.1, 0.4))
    assert_allclose(measured(one, other)[0], 0.3, atol=1e-12)
