"""Signed distances of hulls against coal, against hulls of differences by SciPy, and where geometry degenerates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from memetik import Shape, transform
from memetik.collision import solids
from memetik.collision.solids import solid, stack
from memetik.geometry import random_rotation
from memetik.kernels.geometry.hulls import hull_apart
from memetik.kernels.geometry.solids import SOLID_DATA
from tests.naive import coal
from tests.naive.bodies import random_direction
from tests.naive.distance import box, hull_distance, moved

pytestmark = pytest.mark.quick

KINDS = ("hull", "sphere", "capsule", "box", "cylinder")
seeds = st.integers(0, 2**32 - 1)


def apart(one, other, enough=np.inf):
    """d, a, b and n of two shapes placed in the world, one of which is a hull."""
    data = stack([solid(one, "one"), solid(other, "other")])
    p, q = tuple(data[:7].tolist()), tuple(data[SOLID_DATA : SOLID_DATA + 7].tolist())
    d, *rest = hull_apart(data, p, 0, q, SOLID_DATA, enough)
    return d, *map(np.array, rest)


def random_shape(rng, kind, count=None):
    """Somewhere near the origin, 5 to 40 cm large."""
    place = transform(rng.uniform(-0.3, 0.3, 3), random_rotation(rng))
    if kind == "hull":
        points = rng.normal(size=(count or int(rng.integers(4, 60)), 3))
        points *= rng.uniform(0.02, 0.2, 3) / np.linalg.norm(points, axis=1, keepdims=True)
        return Shape("hull", (), place, points=points)
    size = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3}[kind]
    return Shape(kind, tuple(rng.uniform(0.02, 0.2, size)), place)


def corners(shape):
    """Those of a hull or box in the world."""
    return moved(shape.link_from_shape, box(*shape.size) if shape.kind == "box" else shape.points)


def shifted(shape, step):
    return Shape(shape.kind, shape.size, transform(step) @ shape.link_from_shape, points=shape.points)


def outside(point, shape):
    """How far a point is from the core of a shape, by the largest of its coordinates."""
    if shape.kind in (
        "hull",
        "box",
    ):  # the least t for which corners with weights w >= 0 of the sum 1 are within t of it
        own = corners(shape)
        n = len(own)
        bound = np.hstack([np.vstack([own.T, -own.T]), -np.ones((6, 1))])
        total = np.append(np.ones(n), 0.0)[None]
        found = linprog(np.append(np.zeros(n), 1.0), bound, np.concatenate([point, -point]), total, [1.0])
        return found.x[-1]
    x, y, z = shape.link_from_shape[:3, :3].T @ (point - shape.link_from_shape[:3, 3])
    long = 0.0 if shape.kind == "sphere" else shape.size[1] / 2.0
    wide = shape.size[0] if shape.kind == "cylinder" else 0.0
    return max(abs(z) - long, np.hypot(x, y) - wide)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("swapped", [False, True])
def test_equal_to_coal(kind, swapped):
    rng = np.random.default_rng(len(kind))
    met = 0
    for _ in range(60):
        one, other = random_shape(rng, "hull"), random_shape(rng, kind)
        if swapped:
            one, other = other, one
        wanted, normal = coal.distance(one, other)
        d, a, b, n = apart(one, other)
        met += d < 0.0
        balls = sum(shape.size[0] for shape in (one, other) if shape.kind in ("sphere", "capsule"))
        assert_allclose(a, b + (d + balls) * n, atol=1e-12)
        assert_allclose(np.linalg.norm(n), 1.0, atol=1e-12)
        assert outside(a, one) < 1e-9 and outside(b, other) < 1e-9
        if kind != "cylinder" or wanted > 0.0:  # of cylinders coal's depth is a guess
            assert_allclose(d, wanted, atol=1e-9)
        if (
            kind not in ("cylinder", "capsule") and abs(d + balls) > 1e-3
        ):  # nearest to a round rim, normals have fewer digits
            assert_allclose(n, normal, atol=1e-6)
    assert 5 < met < 55


@pytest.mark.parametrize("kind", ["hull", "box"])
def test_depth_is_that_of_the_hull_of_all_differences(kind):
    rng = np.random.default_rng(1)
    for _ in range(60):
        one, other = random_shape(rng, "hull", 20), random_shape(rng, kind, 20)
        other = shifted(other, 0.8 * (one.link_from_shape - other.link_from_shape)[:3, 3])
        wanted = hull_distance(corners(one), corners(other))
        d, *_, n = apart(one, other)
        assert_allclose(d, wanted, atol=1e-6 if wanted > 0.0 else 1e-12)
        for step in (1e-9, -1e-9):  # moved out along n they just do not touch, or still do
            still = hull_distance(corners(one) - (d + step) * n, corners(other))
            assert (still < 1e-8) if step > 0.0 else (still > -1e-8)


def test_depth_of_a_cylinder():
    """No way out is shorter, in many directions, and the one that is found leads out."""
    rng = np.random.default_rng(2)
    ways = rng.normal(size=(20_000, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    for _ in range(30):
        one, other = random_shape(rng, "hull"), random_shape(rng, "cylinder")
        other = shifted(other, 0.8 * (one.link_from_shape - other.link_from_shape)[:3, 3])
        d, *_, n = apart(one, other)
        if d >= 0.0:
            continue

        def overlap(u, one=one, other=other):
            """How far `one` reaches against u beyond where `other` ends."""
            radius, length = other.size
            own = u @ other.link_from_shape[:3, :3]
            end = (
                u @ other.link_from_shape[:3, 3]
                + radius * np.hypot(own[:, 0], own[:, 1])
                + length / 2.0 * abs(own[:, 2])
            )
            return end - (u @ corners(one).T).min(axis=1)

        near = n + 1e-3 * ways[:2000]
        assert_allclose(overlap(n[None])[0], -d, atol=1e-9)
        assert overlap(ways).min() > -d - 1e-9
        assert overlap(near / np.linalg.norm(near, axis=1, keepdims=True)).min() > -d - 1e-9


@given(seeds)
def test_normals_are_the_slope_of_the_distance(seed):
    rng = np.random.default_rng(seed)
    one, other = random_shape(rng, "hull", 30), random_shape(rng, str(rng.choice(KINDS)), 30)
    d, *_, n = apart(one, other)
    u = random_direction(rng)
    step = 1e-6
    ahead, behind = apart(shifted(one, step * u), other)[0], apart(shifted(one, -step * u), other)[0]
    # Where the nearest features change, the slope does, too: it lies between those of both sides.
    low, high = sorted(((ahead - d) / step, (d - behind) / step))
    assert low - 1e-4 <= n @ u <= high + 1e-4


@given(seeds)
def test_neither_place_nor_scale_matters(seed):
    """Far from the origin, a thousand times smaller or larger, in other axes."""
    rng = np.random.default_rng(seed)
    one, other = random_shape(rng, "hull"), random_shape(rng, "hull")
    d = apart(one, other)[0]
    move = transform((1.0, -2.0, 0.5), random_rotation(rng))
    shapes = (Shape("hull", (), move @ shape.link_from_shape, points=shape.points) for shape in (one, other))
    assert_allclose(apart(*shapes)[0], d, atol=1e-12)
    for factor in (1e-3, 1e3):
        scaled = [
            Shape("hull", (), transform(factor * place[:3, 3], place[:3, :3]), points=factor * points)
            for place, points in ((shape.link_from_shape, shape.points) for shape in (one, other))
        ]
        assert_allclose(apart(*scaled)[0], factor * d, atol=1e-12 * factor)


@given(seeds)
def test_neighbours_lead_to_the_same_points(seed):
    rng = np.random.default_rng(seed)
    one, other = random_shape(rng, "hull", 200), random_shape(rng, "hull", 300)
    climbed = apart(one, other)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solids, "LINKED", 1000)
        assert_allclose(apart(one, other)[0], climbed, atol=1e-13)


@given(seeds)
def test_what_is_far_enough_may_be_inexact(seed):
    rng = np.random.default_rng(seed)
    one, other = random_shape(rng, "hull"), random_shape(rng, str(rng.choice(KINDS)))
    exact = apart(one, other)[0]
    enough = exact + rng.uniform(-0.1, 0.1)
    found = apart(one, other, enough)[0]
    if exact < enough:
        assert_allclose(found, exact, atol=1e-12)
    else:
        assert enough - 1e-12 <= found <= exact + 1e-12


def hull(*points, at=(0.0, 0.0, 0.0), radius=0.0):
    return Shape("hull", (radius,), transform(at), points=points)


SQUARE = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0))
CUBE = tuple((x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5))
POINT = ((0.0, 0.0, 0.0),)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        pytest.param(hull(*POINT), hull(*POINT), 0.0, id="equal points"),
        pytest.param(hull(*POINT, at=(0, 3, 4)), hull(*POINT), 5.0, id="points"),
        pytest.param(hull(*SQUARE[:2]), hull(*SQUARE[:2], at=(0.5, 0, 0)), 0.0, id="segments in a line"),
        pytest.param(hull(*SQUARE[:2]), hull(*SQUARE[:2], at=(0.5, 2, 0)), 2.0, id="parallel segments"),
        pytest.param(hull(*SQUARE), hull(*SQUARE), 0.0, id="equal squares"),
        pytest.param(hull(*SQUARE), hull(*SQUARE, at=(0.3, 0.4, 0)), 0.0, id="squares in a plane"),
        pytest.param(hull(*SQUARE), hull(*SQUARE, at=(3, 0, 0)), 2.0, id="squares in a plane apart"),
        pytest.param(hull(*SQUARE), hull(*SQUARE, at=(0.1, 0.2, 0.7)), 0.7, id="squares above each other"),
        pytest.param(hull(*SQUARE), hull((0.4, 0.4, -1), (0.4, 0.4, 0.1)), -0.1, id="a needle through a square"),
        pytest.param(hull(*CUBE), hull(*CUBE), -1.0, id="equal cubes"),
        pytest.param(hull(*CUBE), hull(*CUBE, at=(0.9, 0, 0)), -0.1, id="cubes in line"),
        pytest.param(hull(*CUBE), hull(*CUBE, at=(1, 0, 0)), 0.0, id="cubes that touch"),
        pytest.param(hull(*CUBE), hull(*CUBE, at=(1, 1, 0)), 0.0, id="cubes that touch at an edge"),
        pytest.param(hull(*CUBE), hull(*CUBE, at=(1, 1, 1)), 0.0, id="cubes that touch at a corner"),
        pytest.param(hull(*CUBE), hull(*CUBE, at=(1 + 1e-9, 0.2, 0)), 1e-9, id="cubes a nanometre apart"),
        pytest.param(hull(*CUBE), hull(*POINT), -0.5, id="a point in a cube"),
        pytest.param(hull(*CUBE), hull(*POINT, at=(0.5, 0.5, 0.5)), 0.0, id="a point on a corner"),
        pytest.param(hull(*CUBE), hull(*SQUARE, at=(-0.5, -0.5, 0.4)), -0.1, id="a square in a cube"),
        pytest.param(hull(*CUBE), Shape("box", (1, 1, 1)), -1.0, id="the box of a cube"),
        pytest.param(hull(*CUBE), Shape("sphere", (0.2,), transform((0, 0, 0.6))), -0.1, id="a sphere in a face"),
        pytest.param(hull(*CUBE), Shape("cylinder", (0.2, 1.0), transform((0, 0, 0.9))), -0.1, id="a cylinder on a face"),
        pytest.param(hull(*CUBE), Shape("cylinder", (0.2, 1.0), transform((0.7, 0, 0.2))), 0.0, id="a cylinder beside it"),
        pytest.param(hull(*CUBE, radius=0.1), hull(*CUBE, at=(1.25, 0, 0), radius=0.1), 0.05, id="rounded cubes"),
        pytest.param(hull(*POINT, radius=0.3), hull(*CUBE, at=(1, 0, 0)), 0.2, id="a rounded point"),
    ],
)  # fmt: skip
def test_degenerate(one, other, wanted):
    for pair in ((one, other), (other, one)):
        d, a, b, n = apart(*pair)
        balls = sum(shape.size[0] for shape in pair if shape.kind in ("hull", "sphere"))
        assert_allclose(d, wanted, atol=1e-10)
        assert_allclose(np.linalg.norm(n), 1.0, atol=1e-12)
        assert_allclose(a, b + (d + balls) * n, atol=1e-9)
        assert outside(a, pair[0]) < 1e-9 and outside(b, pair[1]) < 1e-9
        if wanted != 0.0:  # one step along n is as long a way
            assert_allclose(apart(shifted(pair[0], 1e-3 * n), pair[1])[0], wanted + 1e-3, atol=1e-9)
