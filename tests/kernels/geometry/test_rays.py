"""Rays and nearest points on height fields and triangles, one facet after the other."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from memetik.objectives import Ground, HeightField, TriangleMesh
from tests.naive import raycast as naive
from tests.naive import surfaces
from tests.naive.bodies import random_direction

pytestmark = pytest.mark.quick

RAYS = 80


def field(rng):
    return HeightField(rng.uniform(-0.4, 0.4, (4, 5)), spacing=0.4, origin=(-0.6, -0.8))


def mesh(rng):
    """Nine triangles, more than fit in one box."""
    corners = rng.uniform(-0.7, 0.7, (9, 1, 3)) + rng.normal(scale=0.3, size=(9, 3, 3))
    return TriangleMesh(corners.reshape(-1, 3), np.arange(27).reshape(-1, 3))


def ground(rng):
    return Ground(rng.normal(scale=0.3, size=3), random_direction(rng))


@pytest.mark.parametrize("make", [ground, field, mesh])
def test_cast(make, rng):
    surface = make(rng)
    facets = None if make is ground else surfaces.facets_of(surface)
    hits = 0
    for _ in range(RAYS):
        origin, direction = rng.uniform(-1.0, 1.0, 3), random_direction(rng)
        distance, normal = surfaces.meet(surface, facets, origin, direction)
        hit = surface.cast(origin, direction)
        assert (hit is None) == (normal is None)
        if hit is not None:
            assert hit.distance == pytest.approx(distance, abs=1e-9, rel=1e-9)
            assert_allclose(hit.normal, normal, atol=1e-9)
            hits += 1
    assert 5 < hits < RAYS


@pytest.mark.parametrize("make", [ground, field, mesh])
def test_beside(make, rng):
    surface = make(rng)
    facets = None if make is ground else surfaces.facets_of(surface)
    for _ in range(RAYS):
        place = rng.uniform(-1.5, 1.5, 3)
        point, normal = surface.beside(place)
        twin, twin_normal = surfaces.beside(surface, facets, place)
        assert_allclose(point, twin, atol=1e-9)
        assert_allclose(normal, twin_normal, atol=1e-9)


def test_straight_down_along_the_axes(rng):
    """Rays along x, y and z meet no division by zero."""
    surface = field(rng)
    facets = surfaces.facets_of(surface)
    for direction in np.vstack([np.eye(3), -np.eye(3)]):
        for _ in range(10):
            origin = rng.uniform(-0.5, 0.5, 3)
            distance, normal = naive.cast(facets, origin, direction)
            hit = surface.cast(origin, direction)
            assert (hit is None) == (normal is None)
            assert hit is None or hit.distance == pytest.approx(distance, abs=1e-9)
