"""Balance: where the centre of mass is, how far outside of the polygon, and bodies that keep their balance."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import numpy as np
import pytest

from memetik import Body
from memetik.build import Joint, Link
from memetik.errors import ProblemError
from memetik.objectives import Balance, Displacement, Pose, Position
from memetik.problem import Problem
from memetik.solvers import Memetic
from tests.naive.bodies import KINDS, random_body, serial_arm
from tests.naive.kinematics import center_of_mass
from tests.naive.raycast import distance_to_edges
from tests.objectives.finite_differences import Evaluated, check_jacobian, posture

EXAMPLE = Path(__file__).parents[2] / "examples" / "10_balance.py"
SQUARE = np.array([(-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1)])


def distance_outside(polygon, point):
    """Of an anticlockwise polygon; zero inside."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    left = edges[:, 0] * (point - polygon)[:, 1] - edges[:, 1] * (point - polygon)[:, 0]
    return 0.0 if (left >= 0.0).all() else distance_to_edges(polygon, np.roll(polygon, -1, axis=0), point).min()


def random_polygon(rng, corners):
    """Corners on an ellipse somewhere, anticlockwise."""
    angles = np.sort(rng.uniform(0.0, 2.0 * math.pi, corners))
    return rng.normal(scale=0.4, size=2) + rng.uniform(0.1, 0.4, 2) * np.stack([np.cos(angles), np.sin(angles)], 1)


def residuals(problem, q):
    """x and y from the polygon to the centre of mass."""
    return Evaluated(problem, posture(problem, q)).residual


def pillar():
    """A heavy foot that slides in the plane, a light mast on top that turns."""
    return Body(
        "pillar",
        [Link("world"), Link("foot", 3.0), Link("mast", 1.0, (0.4, 0.0, 0.0))],
        [Joint("slide", "planar", "world", "foot"), Joint("turn", "continuous", "foot", "mast")],
    )


# ---- Residuals and derivatives ------------------------------------------------------------------------------


def test_the_error_is_the_distance_of_the_center_of_mass(rng):
    outside = 0
    for _ in range(20):
        body = random_body(rng, 8, KINDS).with_base("xyz")
        polygon = random_polygon(rng, rng.integers(3, 17))
        problem = Problem(body, Balance(polygon))
        for _ in range(5):
            q = body.sample(rng)
            expected = distance_outside(polygon, center_of_mass(body, q)[:2])
            error = np.linalg.norm(residuals(problem, q))
            assert error == pytest.approx(expected, abs=1e-9)
            outside += expected > 0.0
    assert 20 < outside < 100


def test_the_center_of_mass_is_that_of_the_body(rng):
    """Around a tiny triangle at the origin the residual is the centre of mass itself."""
    body = random_body(rng, 12, KINDS).with_base("planar")
    problem = Problem(body, Balance(1e-12 * np.array([(0, 0), (1, 0), (0, 1)])))
    for _ in range(5):
        q = body.sample(rng)
        np.testing.assert_allclose(residuals(problem, q), body.center_of_mass(q)[:2], atol=1e-9)


def test_derivatives_agree_with_differences(rng):
    edges, corners, inside = 0, 0, 0
    for _ in range(40):
        body = random_body(rng, 7, KINDS).with_base("floating")
        jacobian = check_jacobian(body, [Balance(random_polygon(rng, 5))], body.sample(rng))
        rank = np.linalg.matrix_rank(jacobian, tol=1e-9)
        inside, edges, corners = inside + (rank == 0), edges + (rank == 1), corners + (rank == 2)
    assert min(edges, corners, inside) > 0, (edges, corners, inside)


def test_on_the_rim_there_is_no_error():
    problem = Problem(pillar(), Balance(SQUARE))
    q = np.array([0.2 - 0.1, 0.0, 0.0, 0.0])  # a quarter of the mass is 0.4 m ahead: 0.1 m for the whole
    np.testing.assert_allclose(residuals(problem, q), 0.0, atol=1e-15)
    np.testing.assert_allclose(residuals(problem, q + np.array([1e-3, 0.0, 0.0, 0.0])), (1e-3, 0.0), atol=1e-12)
    np.testing.assert_allclose(residuals(problem, q + np.array([0.3, 0.5, 0.0, 0.0])), (0.3, 0.4), atol=1e-12)


def test_locked_joints_keep_their_mass(rng):
    body = random_body(rng, 8, ("revolute", "prismatic"), mimics=0.0).with_base("planar")
    q = body.sample(rng)
    q[:3] = 0.3, -0.4, 0.5
    held = {name: q[k] for k, name in enumerate(body.joint_names) if not name.startswith("base")}
    problem = Problem(body, Balance(1e-12 * np.array([(0, 0), (1, 0), (0, 1)])), lock=held)
    assert len(problem.compiled.active) == 3
    np.testing.assert_allclose(residuals(problem, q), body.center_of_mass(q)[:2], atol=1e-9)


# ---- Polygons -----------------------------------------------------------------------------------------------


def test_the_polygon_is_the_convex_hull_of_the_points(rng):
    inner = rng.uniform(-0.09, 0.09, (20, 2))
    balance = Balance(rng.permutation(np.concatenate([SQUARE, inner, (SQUARE + np.roll(SQUARE, 1, axis=0)) / 2])))
    assert {tuple(corner) for corner in balance.polygon} == {tuple(corner) for corner in SQUARE}
    edges = np.roll(balance.polygon, -1, axis=0) - balance.polygon
    turns = edges[:, 0] * np.roll(edges, -1, axis=0)[:, 1] - edges[:, 1] * np.roll(edges, -1, axis=0)[:, 0]
    assert (turns > 0.0).all()
    np.testing.assert_array_equal(Balance(np.column_stack([SQUARE, np.full(4, 0.7)])).polygon, balance.polygon)


def test_a_margin_keeps_the_center_of_mass_inside(rng):
    body = pillar()
    for _ in range(30):
        polygon = random_polygon(rng, 7)
        try:
            problem = Problem(body, Balance(polygon, margin=0.03))
        except ProblemError:  # too narrow
            continue
        q = body.sample(rng)
        solution = Memetic().solve(problem, q)
        assert solution.success
        point = body.center_of_mass(solution.q)[:2]
        assert distance_outside(polygon, point) == 0.0
        assert distance_to_edges(polygon, np.roll(polygon, -1, axis=0), point).min() > 0.03 - 1.1e-4


@pytest.mark.parametrize(
    ("polygon", "words"),
    [
        ([(0, 0), (1, 0)], "three corners"),
        ([(0, 0), (1, 1), (2, 2), (0.5, 0.5)], "three corners"),
        ([(0, 0), (0, 0), (1, 0), (1, 0)], "three corners"),
        (np.zeros((0, 2)), "three corners"),
        ([(0, 0), (1, 0), (0, math.nan)], "finite"),
        ([0.0, 1.0, 2.0], "points"),
        ("the feet", "points"),
        ([(math.cos(a), math.sin(a)) for a in range(17)], "at most 16"),
    ],
)
def test_bad_polygons_are_refused(polygon, words):
    with pytest.raises(ProblemError, match=words):
        Balance(polygon)


@pytest.mark.parametrize("margin", [-0.1, math.nan, math.inf])
def test_bad_margins_are_refused(margin):
    with pytest.raises(ProblemError, match="margin"):
        Balance(SQUARE, margin=margin)


def test_a_margin_that_leaves_nothing_is_refused_and_nothing_changes():
    balance = Balance(SQUARE, margin=0.05)
    with pytest.raises(ProblemError, match=r"radius of 0\.1 m"):
        balance.margin = 0.11
    with pytest.raises(ProblemError, match="leaves nothing"):
        balance.polygon = 0.1 * SQUARE
    assert balance.margin == 0.05
    assert {tuple(corner) for corner in balance.polygon} == {tuple(corner) for corner in SQUARE}


# ---- Solving ------------------------------------------------------------------------------------------------


def test_the_polygon_can_be_moved_without_compiling():
    body, balance = pillar(), Balance(SQUARE)
    problem = Problem(body, balance)
    compiled = problem.compiled
    start = np.array([1.0, 2.0, 0.3, 0.4])
    for polygon in (
        SQUARE,
        SQUARE + np.array([3.0, -1.0]),
        SQUARE[:3],
        np.array([(math.cos(a), math.sin(a)) for a in range(16)]),
    ):
        balance.polygon = polygon
        solution = Memetic().solve(problem, start)
        assert solution.success
        assert distance_outside(balance.polygon, body.center_of_mass(solution.q)[:2]) <= 1e-4
    balance.polygon = SQUARE
    balance.margin = 0.09
    solution = Memetic().solve(problem, start)
    assert abs(body.center_of_mass(solution.q)[1]) <= 0.01 + 1.1e-4
    assert problem.compiled is compiled


def test_a_row_of_polygons_has_the_numbers_of_each():
    balance, moved = Balance(SQUARE, margin=0.01), Balance(SQUARE, margin=0.01)
    path = SQUARE + np.linspace(0.0, 1.0, 5)[:, None, None]
    rows, target = balance.target_rows(path)
    for row, polygon in zip(rows, path, strict=True):
        moved.polygon = polygon
        np.testing.assert_array_equal(row, moved.target_rows(path[:1])[1].numbers)
    np.testing.assert_array_equal(target.numbers, rows[0])


def test_a_body_leans_back_while_it_reaches_ahead():
    """Five heavy links on a fixed foot: the shortest way to the target would tip them over."""
    body = Body(
        "acrobat",
        [Link(f"part{k}", 2.0, (0.0, 0.0, 0.25 if k else 0.0)) for k in range(6)],
        [
            Joint(f"bend{k}", "revolute", f"part{k}", f"part{k + 1}", _up(0.5 if k else 0.0), (0, 1, 0), -2.5, 2.5)
            for k in range(5)
        ],
    )
    tip = body.frame("part5", offset=(0, 0, 0.5))
    reach, balance = Position(tip, (1.2, 0.0, 0.8)), Balance(SQUARE, margin=0.05)
    start = np.full(5, 0.3)
    falling = Memetic().solve(Problem(body, reach), start)
    assert falling.success
    assert body.center_of_mass(falling.q)[0] > 0.2
    standing = Memetic().solve(Problem(body, [reach, balance]), start)
    assert standing.success
    assert abs(body.center_of_mass(standing.q)[0]) <= 0.15 + 1e-4
    assert standing.errors[balance] <= 1e-4


def test_every_joint_that_moves_mass_is_read():
    """The mast matters for the balance, so a wish to stay put concerns its joint as well."""
    body, stay = pillar(), Displacement(weight=1.0)
    foot = Pose("foot", np.eye(4))
    assert len(Problem(body, [foot, stay]).compiled.active) == 3
    problem = Problem(body, [foot, Balance(SQUARE), stay])
    assert len(problem.compiled.active) == 4
    assert Balance(SQUARE).joints(body) == body.joint_names


def test_a_body_without_mass_is_refused(rng):
    with pytest.raises(ProblemError, match="no mass"):
        Problem(serial_arm(4), Balance(SQUARE))


def test_mass_that_nothing_moves_is_refused():
    body = Body("rock", [Link("rock", 5.0), Link("fly")], [Joint("wing", "revolute", "rock", "fly")])
    with pytest.raises(ProblemError, match="no free joint"):
        Problem(body, Balance(SQUARE))


def test_the_example_succeeds(capsys):
    runpy.run_path(str(EXAMPLE))
    told = capsys.readouterr().out
    assert "with balance: success True" in told
    assert "without balance: success True" in told


def _up(height):
    pose = np.eye(4)
    pose[2, 3] = height
    return pose
