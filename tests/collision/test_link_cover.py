"""The shapes of a link hold all of its surface and inside, and little else."""

import numpy as np
import pytest
import scipy.optimize
import trimesh

import memetik as mk
from memetik.collision.fit import KINDS, least_around_all
from memetik.collision.link_cover import Style, cover_surface, shapes_volume
from memetik.collision.meshes import hull_volume
from memetik.collision.surface import split
from memetik.kernels.covers.solid_sizes import MIDDLE, SIZE, VOLUME
from tests.collision.samples import MESHES, points_on
from tests.naive import covers as naive

ALL_KINDS = ("capsule", "sphere", "box", "cylinder")


@pytest.mark.parametrize("name", MESHES)
def test_the_whole_surface_is_held(name, rng):
    triangles = np.asarray(MESHES[name]().triangles)
    shapes, volume = cover_surface(triangles, Style(kinds=ALL_KINDS))
    assert 1 <= len(shapes) <= 4
    assert naive.outside(shapes, points_on(triangles, 6, rng)).max() <= 0.0
    hull = hull_volume(triangles)
    assert volume >= 0.0 if hull == 0.0 else volume < 1.5 * hull


@pytest.mark.parametrize(
    ("name", "kind"), [("box", "box"), ("ball", "sphere"), ("capsule", "capsule"), ("cylinder", "cylinder")]
)
def test_a_simple_mesh_is_known_again(name, kind):
    triangles = np.asarray(MESHES[name]().triangles)
    shapes, volume = cover_surface(triangles, Style(kinds=ALL_KINDS))
    assert [shape.kind for shape in shapes] == [kind]
    assert volume < 1.15 * hull_volume(triangles)  # meshes of round solids have flat faces, which lie inside these


@pytest.mark.parametrize(("name", "share"), [("ell", 0.6), ("bent tube", 0.9)])
def test_a_bent_link_takes_less_than_its_hull(name, share):
    triangles = np.asarray(MESHES[name]().triangles)
    shapes, volume = cover_surface(triangles, Style())
    assert len(shapes) >= 2
    assert volume < share * hull_volume(triangles)


@pytest.mark.parametrize("most", [1, 2, 4, 8])
def test_the_inside_of_a_closed_surface_is_held(most, rng):
    triangles = np.asarray(trimesh.creation.icosphere(2, 0.1).triangles)
    shapes, _ = cover_surface(triangles, Style(most=most, kinds=("box",), gain=0.0))
    assert len(shapes) <= most
    inside = rng.normal(size=(4000, 3))
    inside *= 0.095 * rng.uniform(0.0, 1.0, (4000, 1)) ** (1 / 3) / np.linalg.norm(inside, axis=1, keepdims=True)
    assert naive.outside(shapes, inside).max() <= 0.0


def test_more_shapes_cost_a_gain():
    triangles = np.asarray(MESHES["bent tube"]().triangles)
    counts = [len(cover_surface(triangles, Style(gain=gain))[0]) for gain in (0.0, 0.1, 0.9)]
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[2] == 1


def test_only_the_kinds_that_are_asked_for():
    triangles = np.asarray(MESHES["ell"]().triangles)
    for kind in ALL_KINDS:
        shapes, _ = cover_surface(triangles, Style(kinds=(kind,)))
        assert {shape.kind for shape in shapes} == {kind}


def test_the_same_mesh_gives_the_same_shapes():
    triangles = np.asarray(MESHES["bent tube"]().triangles)
    one, other = (cover_surface(triangles, Style())[0] for _ in range(2))
    for a, b in zip(one, other, strict=True):
        assert (a.kind, a.size) == (b.kind, b.size)
        np.testing.assert_array_equal(a.link_from_shape, b.link_from_shape)


def test_the_least_sphere_is_that_of_an_optimizer(rng):
    points = rng.normal(size=(60, 3)) * (1.0, 0.7, 0.4)
    row = least_around_all(points, np.array([KINDS["sphere"]]))[0]

    def room(x):
        return x[3] - np.linalg.norm(points - x[:3], axis=1)

    found = scipy.optimize.minimize(
        lambda x: x[3], (0.0, 0.0, 0.0, 5.0), constraints={"type": "ineq", "fun": room}, method="SLSQP"
    )
    assert found.success
    assert found.x[3] - 1e-6 <= row[SIZE] <= 1.01 * found.x[3]
    assert np.linalg.norm(points - row[MIDDLE : MIDDLE + 3], axis=1).max() <= row[SIZE] + 1e-12


def test_the_least_box_is_no_larger_than_that_of_trimesh(rng):
    points = rng.normal(size=(80, 3)) * (1.0, 0.5, 0.2) @ mk.geometry.random_rotation(rng).T
    row = least_around_all(points, np.array([KINDS["box"]]))[0]
    assert row[VOLUME] <= 1.02 * np.prod(trimesh.bounds.oriented_bounds(points)[1])


def test_the_volume_of_a_union_is_counted(rng):
    shapes = (
        mk.Shape("box", (0.4, 0.2, 0.2)),
        mk.Shape("sphere", (0.15,), mk.transform((0.2, 0.0, 0.0))),
        mk.Shape("capsule", (0.08, 0.5), mk.transform((0.1, 0.1, 0.0), mk.euler(0.3, 0.9, 0.0))),
        mk.Shape("cylinder", (0.1, 0.3), mk.transform((-0.2, 0.0, 0.1))),
    )
    counted = naive.union_volume(shapes, (-0.5,) * 3, (0.6,) * 3, 20_000, rng)
    assert shapes_volume(shapes) == pytest.approx(counted, rel=0.05)
    assert shapes_volume(shapes[:1]) == pytest.approx(0.4 * 0.2 * 0.2)
    assert shapes_volume(shapes[:1] * 3) == pytest.approx(0.4 * 0.2 * 0.2)


def test_a_plane_cuts_triangles(rng):
    triangles = rng.normal(size=(300, 3, 3))
    normal = np.array([0.6, 0.0, 0.8])
    below, above = split(triangles, normal, 0.1)
    assert (below @ normal).max() <= 0.1 + 1e-12 and (above @ normal).min() >= 0.1 - 1e-12

    def area(some):
        return np.linalg.norm(np.cross(some[:, 1] - some[:, 0], some[:, 2] - some[:, 0]), axis=1).sum()

    assert area(below) + area(above) == pytest.approx(area(triangles))
    assert [len(part) for part in split(triangles, normal, 99.0)] == [300, 0]
