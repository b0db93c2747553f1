"""Grids of signed distances from meshes: against coal's of the triangles, and where they are inside."""

import coal
import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose

import memetik as mk
from memetik.errors import ProblemError
from tests.naive import coal as by_coal


def triangles(mesh):
    """A mesh as coal has it."""
    found = coal.BVHModelOBBRSS()
    vertices, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    vertices.extend(np.array(mesh.vertices))
    faces.extend([coal.Triangle(*map(int, face)) for face in mesh.faces])
    found.beginModel(len(mesh.faces), len(mesh.vertices))
    found.addSubModel(vertices, faces)
    found.endModel()
    return found


def distance(shape, model):
    """From a shape to triangles."""
    return coal.distance(
        by_coal.geometry(shape), by_coal.pose(shape.link_from_shape), model, by_coal.pose(np.eye(4)),
        by_coal.exact(coal.DistanceRequest()), coal.DistanceResult(),
    )  # fmt: skip


def ring():
    return trimesh.creation.torus(0.2, 0.06, major_sections=24, minor_sections=12)


def test_samples_are_signed_distances():
    mesh = ring()
    grid = mk.collision.SignedDistanceGrid.from_mesh(mesh, 0.03)
    model, rng = triangles(mesh), np.random.default_rng(0)
    for i, j, k in rng.integers(grid.values.shape, size=(200, 3)):
        place = grid.origin + grid.spacing * (i, j, k)
        tiny = mk.Shape("sphere", (1e-6,), mk.translation(*place))
        assert_allclose(abs(grid.values[i, j, k]), abs(distance(tiny, model) + 1e-6), atol=2e-6)
    around = np.hypot(
        *np.meshgrid(
            *(grid.origin[k] + 0.03 * np.arange(n) for k, n in enumerate(grid.values.shape[:2])), indexing="ij"
        )
    )
    middle = np.abs(grid.origin[2] + 0.03 * np.arange(grid.values.shape[2])).argmin()
    assert (grid.values[:, :, middle][np.abs(around - 0.2) < 0.03] < 0.0).all()
    assert (grid.values[around < 0.1] > 0.0).all() and (grid.values[around > 0.28] > 0.0).all()


def test_no_shape_is_farther_than_from_the_mesh():
    """What is free at a clearance by the grid is free by coal, too; and the hole of a ring is free."""
    mesh = ring()
    grid, model, rng = mk.collision.SignedDistanceGrid.from_mesh(mesh, 0.02), triangles(mesh), np.random.default_rng(1)
    centers = rng.uniform(-0.35, 0.35, (300, 3))
    bounds = grid.distance(centers) - 0.03
    true = np.array([distance(mk.Shape("sphere", (0.03,), mk.translation(*center)), model) for center in centers])
    assert (bounds <= np.maximum(true, 0.0) + 1e-9).all()
    assert bounds[np.linalg.norm(centers, axis=1) < 0.06].min() > 0.05  # the hole is free


def test_of_a_file(tmp_path):
    path = tmp_path / "box.stl"
    trimesh.creation.box((0.2, 0.3, 0.4)).export(path)
    grid = mk.collision.SignedDistanceGrid.from_mesh(path, 0.05, scale=(1.0, -1.0, 1.0), margin=0.1)
    assert repr(grid) == "<SignedDistanceGrid of 9 x 11 x 13 samples>"
    assert grid.values.min() == pytest.approx(-0.1) and grid.error == pytest.approx(0.5 * 0.05 * 3**0.5)
    far = grid.distance([[1.0, 0.0, 0.0]])[0]
    assert 0.8 < far <= 0.9  # from the rim of the grid on, by Pythagoras


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"spacing": 0.0}, "spacing"),
        ({"spacing": 0.1, "margin": 0.01}, "margin"),
        ({"spacing": 0.1, "scale": 0.0}, "scale"),
        ({"spacing": 1e-5}, "wider spacing"),
        ({"spacing": 0.1, "error": -1.0}, "error"),
    ],
)
def test_wrong_grids_of_meshes(arguments, said):
    with pytest.raises(ProblemError, match=said):
        mk.collision.SignedDistanceGrid.from_mesh(ring(), **arguments)


def test_wrong_grids():
    values = np.zeros((2, 2, 2))
    for arguments in ({"spacing": -1.0}, {"spacing": 0.1, "origin": (0.0, 0.0)}, {"spacing": 0.1, "error": np.inf}):
        with pytest.raises(ProblemError):
            mk.collision.SignedDistanceGrid(values, **arguments)
    with pytest.raises(ProblemError, match="vertices"):
        mk.collision.SignedDistanceGrid.from_mesh(object(), 0.1)
    with pytest.raises(ProblemError, match="points"):
        mk.collision.SignedDistanceGrid(values, spacing=0.1).distance([1.0, 2.0, 3.0])
