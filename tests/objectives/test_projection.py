"""Projection onto ground, height fields and triangles: rays, derivatives, misses, and feet that find the ground."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import numpy as np
import pytest

from memetik import Body, translation
from memetik.build import Joint, Link
from memetik.errors import ProblemError
from memetik.objectives import Ground, HeightField, Position, Projection, TriangleMesh
from memetik.problem import Problem
from memetik.solvers import Memetic
from tests.naive import kinematics
from tests.naive import raycast as naive
from tests.naive.bodies import KINDS, random_body, random_direction
from tests.objectives.finite_differences import Evaluated, differences, posture

EXAMPLE = Path(__file__).parents[2] / "examples" / "09_foot_on_terrain.py"
SPACING, ORIGIN = 0.35, (-1.0, -1.2)


def random_field(rng):
    """A height field of 7 x 8 corners around the root, and its facets."""
    heights = rng.uniform(-0.4, 0.4, (7, 8))
    facets = naive.triangles_of(heights, SPACING, ORIGIN)
    return HeightField(heights, spacing=SPACING, origin=ORIGIN), facets


def random_mesh(rng, count=120):
    """Triangles anywhere, and their facets."""
    corners = rng.uniform(-1.0, 1.0, (count, 1, 3)) + rng.normal(scale=0.3, size=(count, 3, 3))
    return TriangleMesh(corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)), corners


def surfaces(rng):
    """One of each kind with its facets; the ground as one large triangle."""
    normal = random_direction(rng)
    point = rng.normal(scale=0.3, size=3)
    one = np.cross(normal, rng.normal(size=3))
    one *= 1e4 / math.sqrt(one @ one)
    other = np.cross(normal, one)
    yield Ground(point, normal), np.array([[point - one - other, point + 3 * one - other, point - one + 3 * other]])
    yield random_field(rng)
    yield random_mesh(rng)


def movable_body(rng, joints=5):
    """A body of all kinds of joints whose root is free, and its last link."""
    body = random_body(rng, joints, KINDS).with_base("floating")
    return body, list(body.links)[-1]


def hand_body():
    """A single hand on a free root: any pose can be taken."""
    return Body("hand", [Link("world"), Link("hand")], [Joint("base", "floating", "world", "hand")])


# ---- Surfaces -----------------------------------------------------------------------------------------------


def test_casts_agree_with_the_obvious_way(rng):
    met, missed = 0, 0
    for _ in range(4):
        for surface, facets in surfaces(rng):
            for _ in range(60):
                origin, direction = rng.uniform(-1.3, 1.3, 3), random_direction(rng)
                distance, normal = naive.cast(facets, origin, direction)
                hit = surface.cast(origin, 2.0 * direction)
                if normal is None:
                    assert hit is None
                    missed += 1
                else:
                    assert hit.distance == pytest.approx(distance, abs=1e-9, rel=1e-9)
                    np.testing.assert_allclose(hit.normal, normal, atol=1e-9)
                    np.testing.assert_allclose(hit.point, origin + distance * direction, atol=1e-8 * (1 + distance))
                    met += 1
    assert met > 100
    assert missed > 100


def test_no_ray_slips_through_between_facets(rng):
    heights = rng.uniform(-0.4, 0.4, (7, 8))
    field = HeightField(heights, spacing=SPACING, origin=ORIGIN)
    corners = np.array(
        [[ORIGIN[0] + i * SPACING, ORIGIN[1] + j * SPACING, heights[i, j]] for i in range(7) for j in range(8)]
    )
    number = np.arange(56).reshape(7, 8)
    first, last = number[:-1, :-1].ravel(), number[1:, 1:].ravel()
    faces = np.concatenate(
        [np.stack([first, number[1:, :-1].ravel(), last], 1), np.stack([first, last, number[:-1, 1:].ravel()], 1)]
    )
    mesh = TriangleMesh(corners, faces)
    for share in np.linspace(0.0, 1.0, 9):
        for a, b, c in faces:
            for one, other in ((a, b), (b, c), (c, a)):
                point = corners[one] + share * (corners[other] - corners[one])
                for surface in (field, mesh):
                    inside = np.clip(point[:2], corners[0, :2] + 1e-7, corners[-1, :2] - 1e-7)
                    hit = surface.cast((*inside, 2.0), (0.0, 0.0, -1.0))
                    assert hit is not None
                    assert hit.point[2] == pytest.approx(point[2], abs=1e-5)


def test_rays_pass_through_facets_from_behind():
    assert Ground().cast((0.0, 0.0, -1.0), (0.0, 0.0, 1.0)) is None
    assert HeightField(np.zeros((2, 2))).cast((0.5, 0.4, -1.0), (0.0, 0.0, 1.0)) is None
    face = TriangleMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    assert face.cast((0.2, 0.2, -1.0), (0.0, 0.0, 1.0)) is None
    assert face.cast((0.2, 0.2, 1.0), (0.0, 0.0, -1.0)).distance == pytest.approx(1.0)


def test_the_point_beside_is_the_nearest_and_off_the_rim(rng):
    ground = Ground((0.0, 0.0, 0.3), (0.0, 1.0, 1.0))
    point, normal = ground.beside((1.0, 2.0, 3.0))
    np.testing.assert_allclose(np.cross((1.0, 2.0, 3.0) - point, normal), 0.0, atol=1e-12)
    assert (point - (0.0, 0.0, 0.3)) @ normal == pytest.approx(0.0, abs=1e-12)
    mesh, facets = random_mesh(rng)
    longest = np.linalg.norm(facets - np.roll(facets, 1, axis=1), axis=2).max()
    for place in rng.uniform(-2.0, 2.0, (100, 3)):
        point, normal = mesh.beside(place)
        gap = math.dist(point, place)
        assert naive.distance(facets, place) <= gap + 1e-12
        assert gap <= naive.distance(facets, place) + 0.02 * longest  # a hundredth off two edges
        assert naive.distance(facets, point) < 1e-12
        back = mesh.cast(point + 1e-6 * normal, -normal)
        assert back.distance == pytest.approx(1e-6, abs=1e-9)


def test_the_point_beside_a_height_field_is_straight_above_or_below(rng):
    field, facets = random_field(rng)
    for place in rng.uniform(-3.0, 3.0, (100, 3)):
        point, normal = field.beside(place)
        inset = 0.01 * SPACING
        low = np.array(ORIGIN) + inset
        high = np.array(ORIGIN) + SPACING * np.array([6, 7]) - inset
        np.testing.assert_allclose(point[:2], np.clip(place[:2], low, high), atol=1e-12)
        above = np.array(
            [point[0] + 1e-10, point[1] + 2e-10, 5.0]
        )  # off the seams, where the slow twin may see neither side
        distance, facing = naive.cast(facets, above, np.array([0.0, 0.0, -1.0]))
        assert point[2] == pytest.approx(5.0 - distance, abs=1e-9)
        if (low < point[:2]).any() and (point[:2] < high).any():  # the corners lie between two facets
            np.testing.assert_allclose(normal, facing, atol=1e-9)


def test_a_flat_triangle_is_left_out():
    vertices = [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0)]
    mesh = TriangleMesh(vertices, [(0, 1, 2), (0, 2, 3)])
    assert mesh.cast((0.5, 0.2, 1.0), (0, 0, -1)).distance == pytest.approx(1.0)
    with pytest.raises(ProblemError, match="one line"):
        TriangleMesh(vertices, [(0, 1, 2)])


# ---- Residuals and derivatives ------------------------------------------------------------------------------


@pytest.mark.parametrize("align", [True, False])
def test_residuals_agree_with_the_obvious_way(rng, align):
    met, missed = 0, 0
    for surface, facets in surfaces(rng):
        body, link = movable_body(rng)
        direction = random_direction(rng)
        problem = Problem(body, Projection(link, surface, direction=direction, lift=0.7, align=align))
        for _ in range(60):
            q = body.sample(rng)
            pose = kinematics.pose(body, link, q)
            p, V = pose[:3, 3], pose[:3, :3] @ direction
            distance, normal = naive.cast(facets, p - 0.7 * V, V)
            residual = Evaluated(problem, posture(problem, q)).residual
            position, angle = np.linalg.norm(residual[:4]), np.linalg.norm(residual[4:])
            if normal is not None and normal @ V < -0.05:
                assert position == pytest.approx(abs(distance - 0.7), abs=1e-9)
                assert angle == pytest.approx(angle_to(V, -normal) if align else 0.0, abs=1e-7)
                met += 1
            else:
                point, normal = surface.beside(p)
                assert position == pytest.approx(math.hypot(math.dist(point, p), 1e-3), abs=1e-9)
                free = 0.0 if align else math.radians(80.0)
                assert angle == pytest.approx(max(0.0, angle_to(V, -normal) - free), abs=1e-7)
                missed += 1
    assert met > 20
    assert missed > 20


def angle_to(a, b):
    return math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)


def test_derivatives_agree_with_differences(rng):
    """Of hits and misses, wherever no edge is so near that the differences cross it."""
    checked = dict.fromkeys(
        [(kind, hit) for kind in ("Ground", "HeightField", "TriangleMesh") for hit in (True, False)], 0
    )
    for _ in range(20):
        for surface, _ in surfaces(rng):
            body, link = movable_body(rng)
            problem = Problem(body, Projection(link, surface, direction=random_direction(rng), lift=0.7))
            for _ in range(4):
                q = body.sample(rng)
                x = posture(problem, q)
                here = Evaluated(problem, x)
                place = kinematics.pose(body, link, q)[:3, 3]
                hit = here.residual[3] == 0.0
                if np.linalg.norm(here.residual[:3]) > 3.0 or (not hit and at_the_rim(surface, place)):
                    continue
                expected = differences(problem, x)
                if np.abs(expected - differences(problem, x, 3e-5)).max() > 1e-4:
                    continue
                np.testing.assert_allclose(here.jacobian, expected, atol=1e-6 * max(1.0, np.abs(expected).max()))
                checked[type(surface).__name__, bool(hit)] += 1
    assert min(checked.values()) >= 5, checked


def at_the_rim(surface, place):
    """Whether the way to the point beside is not straight: down a height field, or along the normal of a facet."""
    point, normal = surface.beside(place)
    straight = (0.0, 0.0, 1.0) if isinstance(surface, HeightField) else normal
    return np.linalg.norm(np.cross(place - point, straight)) > 1e-9


def test_at_the_rim_the_goal_stays():
    body = hand_body()
    mesh = TriangleMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    problem = Problem(body, Projection("hand", mesh))
    here = Evaluated(problem, posture(problem, body.vector({"base.x": -0.5, "base.y": 0.3, "base.z": 0.2})))
    assert here.residual[3] > 0.0
    np.testing.assert_allclose(here.jacobian[:3, :3], np.eye(3), atol=1e-12)


# ---- Solving ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("height", [1.5, 0.1, -0.3, -2.0], ids=["high above", "near", "sunk in", "deep below"])
def test_a_foot_finds_the_ground(rng, height):
    body = hand_body()
    for surface in (Ground((0, 0, 0.1), (0.3, 0.1, 1.0)), random_field(rng)[0]):
        foot = Projection("hand", surface)
        q = body.vector({"base.x": 0.1, "base.y": -0.1, "base.z": height, "base.rx": 0.4})
        solution = Memetic().solve(Problem(body, foot), q)
        assert solution.success
        pose = body.forward(solution.q)["hand"]
        hit = surface.cast(pose[:3, 3] + pose[:3, 2], -pose[:3, 2])
        assert hit.distance == pytest.approx(1.0, abs=1e-4)
        assert hit.normal @ pose[:3, 2] == pytest.approx(1.0, abs=1e-6)
        assert solution.errors[foot].position <= 1e-4
        assert solution.errors[foot].orientation <= 1e-3


@pytest.mark.parametrize("start", [(5.0, 0.0, 1.0, 0.0), (-4.0, 7.0, -3.0, 2.0), (0.2, 0.1, 0.5, math.pi)])
def test_a_foot_beside_the_field_or_upside_down_comes_back(rng, start):
    body = hand_body()
    mesh = TriangleMesh([(-1, -1, 0), (1, -1, 0.2), (1, 1, 0.1), (-1, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    for surface in (random_field(rng)[0], mesh):
        foot = Projection("hand", surface)
        x, y, z, turn = start
        q = body.vector({"base.x": x, "base.y": y, "base.z": z, "base.rx": turn})
        solution = Memetic().solve(Problem(body, foot), q)
        assert solution.success
        pose = body.forward(solution.q)["hand"]
        assert surface.cast(pose[:3, 3] + 0.5 * pose[:3, 2], -pose[:3, 2]).distance == pytest.approx(0.5, abs=1e-4)


def test_without_align_any_orientation_will_do():
    slider = Body("slider", [Link("world"), Link("hand")], [Joint("slide", "xyz", "world", "hand")])
    slope = Ground((0.0, 0.0, 0.0), (0.0, 1.0, 2.0))
    tilted = Memetic().solve(Problem(slider, Projection("hand", slope)))
    assert not tilted.success
    foot = Projection("hand", slope, align=False)
    flat = Memetic().solve(Problem(slider, foot), (0.2, 0.3, 0.4))
    assert flat.success
    assert flat.errors[foot].orientation == 0.0
    assert flat.q @ (0.0, 1.0, 2.0) == pytest.approx(0.0, abs=3e-4)


@pytest.mark.parametrize("tolerance", [1e-4, 0.5])
def test_a_miss_is_never_satisfied(tolerance):
    """The hand cannot turn and looks up: on the ground or not, its ray never meets it."""
    slider = Body("slider", [Link("world"), Link("hand")], [Joint("slide", "xyz", "world", "hand")])
    foot = Projection("hand", Ground(), direction=(0, 0, 1), align=False, position_tolerance=tolerance)
    solution = Memetic().solve(Problem(slider, foot), np.zeros(3))
    assert not solution.success
    assert solution.errors[foot].position >= max(1e-3, 2.0 * tolerance)


def test_another_surface_can_be_assigned():
    slider = Body("slider", [Link("world"), Link("hand")], [Joint("slide", "xyz", "world", "hand")])
    foot = Projection("hand", Ground())
    problem = Problem(slider, foot)
    assert Memetic().solve(problem, np.full(3, 0.3)).q[2] == pytest.approx(0.0, abs=1e-4)
    foot.surface = HeightField(np.full((3, 3), 0.25))
    assert Memetic().solve(problem, np.full(3, 0.3)).q[2] == pytest.approx(0.25, abs=1e-4)


def test_objectives_share_the_numbers_of_a_surface(rng):
    field, _ = random_field(rng)
    body = hand_body()
    one = Problem(body, Projection("hand", field)).compiled.data.size
    two = Problem(body, [Projection("hand", field), Projection("hand", field, lift=0.1)]).compiled.data.size
    assert one > field.numbers.size
    assert two < 2 * field.numbers.size


def test_it_goes_along_with_other_objectives():
    body = hand_body()
    foot, where = Projection("hand", Ground()), Position("hand", (0.3, -0.2, 5.0), mask=(1, 1, 0))
    solution = Memetic().solve(Problem(body, [foot, where]))
    assert solution.success
    np.testing.assert_allclose(body.forward(solution.q)["hand"][:3, 3], (0.3, -0.2, 0.0), atol=1e-3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Ground(normal=(0, 0, 0)), "normal"),
        (lambda: Ground((0, 0, math.inf)), "point"),
        (lambda: HeightField([[1.0, 2.0]]), "2 x 2"),
        (lambda: HeightField([1.0, 2.0]), "dimensions"),
        (lambda: HeightField([[1.0, math.nan], [0.0, 0.0]]), "NaN"),
        (lambda: HeightField([[1.0, 2.0], [3.0]]), "numbers"),
        (lambda: HeightField(np.zeros((2, 2)), spacing=0.0), "spacing"),
        (lambda: HeightField(np.zeros((2, 2)), spacing=(1.0, 1.0, 1.0)), "spacing"),
        (lambda: HeightField(np.zeros((2, 2)), origin=(0.0,)), "origin"),
        (lambda: TriangleMesh(np.zeros((3, 2)), [(0, 1, 2)]), "vertices"),
        (lambda: TriangleMesh(np.eye(3), [(0, 1)]), "faces"),
        (lambda: TriangleMesh(np.eye(3), np.zeros((0, 3), dtype=int)), "faces"),
        (lambda: TriangleMesh(np.eye(3), [(0, 1, 3)]), "counted from 0"),
        (lambda: TriangleMesh(np.eye(3), [(0.0, 1.0, 2.0)]), "numbers of vertices"),
        (lambda: Ground().cast((0, 0), (0, 0, 1)), "origin"),
        (lambda: Ground().cast((0, 0, 0), (0, 0, 0)), "direction"),
        (lambda: Projection("hand", Ground(), lift=0.0), "lift"),
        (lambda: Projection("hand", Ground(), direction=(0, 0, 0)), "direction"),
        (lambda: Projection("hand", "the floor"), "not a surface"),
    ],
)
def test_mistakes_are_told(make, words):
    with pytest.raises(ProblemError, match=words):
        make()


def test_the_example_succeeds(capsys):
    runpy.run_path(str(EXAMPLE))
    assert "success: True" in capsys.readouterr().out


# ---- Rays that end, and what a miss means -------------------------------------------------------------------


def at(x, y, z):
    """The hand's joint vector."""
    return np.array([x, y, z, 0.0, 0.0, 0.0])


def test_a_foot_in_the_air_stays_there():
    """The ray ends at the contact point: 14 cm above the ground there is nothing to meet, and nothing to do."""
    body = hand_body()
    foot = Projection("hand", Ground(), length=0.5, on_miss="satisfied")
    above = Memetic().solve(Problem(body, foot), at(0.3, 0.2, 0.14))
    assert above.success and np.array_equal(above.q, at(0.3, 0.2, 0.14)) and above.errors[foot] == (0.0, 0.0)
    below = Memetic().solve(Problem(body, foot), at(0.3, 0.2, -0.14))
    assert below.success and below.q[2] == pytest.approx(0.0, abs=1e-4)
    endless = Projection("hand", Ground())
    assert Memetic().solve(Problem(body, endless), at(0.3, 0.2, 0.14)).q[2] == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize(
    "height, wanted", [(0.14, 0.14), (-0.14, 0.0), (-0.6, -0.6)], ids=["above", "sunk in", "too deep"]
)
def test_a_foot_with_a_pose_of_its_own(height, wanted):
    """Where the ray from the pose of the clip meets nothing, the foot has that pose; the start has no say."""
    body = hand_body()
    foot = Projection("hand", Ground(), length=0.5, on_miss=np.eye(4))
    problem = Problem(body, foot)
    foot.pose = translation(0.4, -0.3, height)
    for start in (0.5, -0.2):
        solution = Memetic().solve(problem, np.full(6, start))
        np.testing.assert_allclose(body.forward(solution.q, "hand")[:3, 3], (0.4, -0.3, wanted), atol=1e-4)
        assert solution.success
    np.testing.assert_allclose(foot.on_miss, foot.pose)
    path = np.tile(np.eye(4), (3, 1, 1))
    path[:, 2, 3] = 0.2, 0.0, -0.2
    rows, _ = foot.target_rows(path)  # as tracks and batches take them
    np.testing.assert_allclose(rows[:, 4:], path[:, :3, 3])


@pytest.mark.parametrize("on_miss", ["satisfied", translation(0.1, 0.2, -0.1)], ids=["satisfied", "a pose"])
def test_derivatives_of_rays_that_end(rng, on_miss):
    checked = 0
    for _ in range(5):
        for surface, _ in surfaces(rng):
            body, link = movable_body(rng)
            foot = Projection(link, surface, direction=random_direction(rng), lift=0.7, length=1.5, on_miss=on_miss)
            problem = Problem(body, foot)
            x = posture(problem, body.sample(rng))
            here, expected = Evaluated(problem, x), differences(problem, x)
            if np.abs(expected - differences(problem, x, 3e-5)).max() > 1e-4:
                continue  # at an edge, or at the end of a ray
            np.testing.assert_allclose(here.jacobian, expected, atol=1e-6 * max(1.0, np.abs(expected).max()))
            checked += 1
    assert checked >= 8


def test_misses_that_mean_nothing():
    for wrong in ({"on_miss": "fly"}, {"on_miss": (1, 2)}, {"length": 0.0}, {"length": math.nan}):
        with pytest.raises(ProblemError):
            Projection("hand", Ground(), **wrong)
    with pytest.raises(ProblemError, match="no pose"):
        Projection("hand", Ground()).pose  # noqa: B018
    with pytest.raises(ProblemError, match="no target that could move"):
        Projection("hand", Ground()).target_rows(np.zeros((2, 4, 4)))
