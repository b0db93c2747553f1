"""Hulls of points, mesh files and bodies; what they weigh; how few points may stand for many."""

import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull

import memetik as mk
from memetik.collision import hull_of
from memetik.errors import BodyError, FormatError, ProblemError
from tests.kernels.geometry.test_hulls import apart, shifted
from tests.naive import coal

CUBE = [(x, y, z) for x in (0.0, 0.1) for y in (0.0, 0.2) for z in (0.0, 0.3)]


def inside(shape, points, more=1e-12):
    """Whether points are within the radius of a hull, by the planes of its faces."""
    planes = ConvexHull(shape.points).equations
    return (points @ planes[:, :3].T + planes[:, 3] <= shape.size[0] + more).all()


def test_only_corners_are_kept():
    rng = np.random.default_rng(0)
    inner = rng.uniform(0.01, 0.09, (50, 3))
    shape = mk.collision.hull([*CUBE, *CUBE, *inner])
    assert sorted(map(tuple, shape.points)) == sorted(CUBE)
    assert shape.hull.faces.shape == (12, 3)
    a, b, c = (shape.hull.vertices[shape.hull.faces[:, k]] for k in range(3))
    outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - np.mean(CUBE, axis=0))
    assert (outward > 0.0).all()


@pytest.mark.parametrize(
    ("points", "corners", "faces"),
    [
        (CUBE[:1] * 3, 1, 0),
        ([(0, 0, 0), (1, 1, 1), (0.5, 0.5, 0.5)], 2, 0),
        ([(0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1), (0.5, 0.5, 1)], 4, 4),
    ],
)
def test_flat_hulls(points, corners, faces):
    shape = mk.Shape("hull", points=points)
    assert len(shape.hull.vertices) == corners and len(shape.hull.faces) == faces


def test_of_a_file_and_of_a_mesh(tmp_path):
    mesh = trimesh.creation.icosphere(subdivisions=2, radius=0.1)
    for suffix in ("stl", "obj", "ply"):
        mesh.export(tmp_path / f"ball.{suffix}")
        shape = mk.collision.hull(tmp_path / f"ball.{suffix}", mk.transform((1, 2, 3)), scale=(1.0, 2.0, -1.0))
        assert_allclose(np.ptp(shape.points, axis=0), (0.2, 0.4, 0.2), atol=1e-6)
        assert_allclose(shape.link_from_shape[:3, 3], (1, 2, 3))
    assert_allclose(np.sort(mk.collision.hull(mesh).points, axis=0), np.sort(mesh.vertices, axis=0))


def test_few_points_with_a_radius_hold_all():
    mesh = trimesh.creation.icosphere(subdivisions=3, radius=0.1)
    last = np.inf
    for most in (4, 12, 40, 200):
        shape = mk.collision.hull(mesh, most=most)
        assert len(shape.points) <= most and inside(shape, np.array(mesh.vertices))
        assert shape.size[0] < last
        last = shape.size[0]
    assert last < 0.002
    assert mk.collision.hull(mesh, most=10_000).size == (0.0,)


def test_of_a_body(tmp_path):
    """Distances of two meshes on links are those of coal between their hulls."""
    trimesh.creation.icosphere(subdivisions=1, radius=0.1).export(tmp_path / "ball.stl")
    mesh = mk.Shape("mesh", (1.0, 1.5, 1.0), mk.transform((0.0, 0.0, 0.2)), mesh="ball.stl")
    stone = mk.Shape("sphere", (0.05,))
    links = [mk.build.Link("base", shapes=[stone, mesh]), mk.build.Link("arm"), mk.build.Link("tip", shapes=[mesh])]
    joints = [
        mk.build.Joint("turn", "revolute", "base", "arm", axis=(0, 0, 1), lower=-1, upper=1),
        mk.build.Joint("slide", "prismatic", "arm", "tip", axis=(1, 0, 0), lower=-1, upper=1),
    ]
    body = mk.Body("two", links, joints, home={"slide": 0.15}, touching=[("base", "arm")])
    with pytest.raises(FormatError, match="with_hulls"):
        body.with_hulls()
    with pytest.raises(ProblemError, match="with_hulls"):
        mk.Problem(body, mk.SelfDistance(body)).compiled  # noqa: B018
    dressed = body.with_hulls(roots=[tmp_path])
    assert [shape.kind for shape in dressed.links["base"].shapes] == ["sphere", "hull"]
    assert_allclose(dressed.home, body.home)
    assert dressed.touching == body.touching and dressed.joint_names == body.joint_names
    away = mk.SelfDistance(dressed)
    problem = mk.Problem(dressed, away)
    one = hull_of(mesh, [tmp_path])
    for slide in (0.05, 0.15, 0.3):
        other = shifted(one, (slide, 0.0, 0.0))
        wanted = min(coal.distance(one, other)[0], coal.distance(mk.Shape("sphere", (0.05,)), other)[0])
        found = mk.solve(problem, start=[0.0, slide], budget=mk.Budget(evaluations=1)).errors[away]
        assert_allclose(found, max(0.0, -wanted), atol=1e-9)


def test_mass_of_a_built_link():
    builder = mk.build.BodyBuilder("block", shapes=[mk.collision.hull(CUBE, mk.translation(1.0, 0.0, 0.0))])
    builder.add("base", "turn", "revolute", "tip", lower=-1.0, upper=1.0, shapes=[mk.Shape("box", (0.1, 0.2, 0.3))])
    body = builder.build()
    assert_allclose(body.links["base"].mass, body.links["tip"].mass)
    assert_allclose(body.links["base"].center_of_mass, (1.05, 0.1, 0.15))


def test_time_grows_slowly_with_points():
    """Ten thousand points are as good as any: the same distance as coal's."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(10_000, 3))
    points *= 0.1 / np.linalg.norm(points, axis=1, keepdims=True)
    one, other = mk.collision.hull(points), mk.collision.hull(points[::2], mk.translation(0.3, 0.05, 0.02))
    assert_allclose(apart(one, other)[0], coal.distance(one, other)[0], atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"points": None}, "no points"),
        ({"points": np.empty((0, 3))}, "at least 1"),
        ({"points": [(0.0, 0.0)]}, "shape"),
        ({"points": [(0.0, np.inf, 0.0)]}, "NaN or infinite"),
        ({"points": "corners"}, "not numbers"),
        ({"points": CUBE, "size": (-0.1,)}, "negative"),
    ],
)
def test_wrong_hulls(arguments, said):
    with pytest.raises(BodyError, match=said):
        mk.Shape("hull", **arguments)


def test_wrong_arguments(tmp_path):
    (tmp_path / "broken.stl").write_text("solid")
    with pytest.raises(FormatError, match="mesh"):
        mk.collision.hull(tmp_path / "broken.stl")
    with pytest.raises(BodyError, match="scale"):
        mk.collision.hull(CUBE, scale=0.0)
    with pytest.raises(BodyError, match="most"):
        mk.collision.hull(CUBE, most=2)
    with pytest.raises(BodyError, match=r"\(n, 3\)"):
        mk.collision.hull([1.0, 2.0])
    with pytest.raises(BodyError, match="no points"):
        mk.Shape("sphere", (0.1,), points=CUBE)
