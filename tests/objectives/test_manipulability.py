"""Manipulability: its error is that of the body's own, and it keeps solutions away from singular postures."""

import numpy as np
import pytest

import memetik as mk
from memetik.errors import ProblemError


@pytest.fixture(scope="module")
def arm():
    return mk.load("iiwa14")


@pytest.mark.quick
@pytest.mark.parametrize("axes", ["all", "position", "rotation"])
def test_error_is_that_of_the_body(arm, axes):
    rng = np.random.default_rng(3)
    wish = mk.Manipulability("tool0", axes=axes)
    problem = mk.Problem(arm, wish)
    for _ in range(5):
        q = arm.sample(rng)
        expected = max(0.0, 1.0 - arm.manipulability("tool0", q, axes=axes) / wish.enough(arm))
        assert mk.Solution.of(problem, q).errors[wish] == pytest.approx(expected, abs=1e-7)


def test_a_guide_keeps_away_from_singular_postures(arm):
    """Of the many postures that reach a point, those that are found are seldom near a singular one."""
    rng = np.random.default_rng(4)
    reach = mk.Position("tool0", (0.5, 0.0, 0.5))
    careless, guided = mk.Problem(arm, reach), mk.Problem(arm, [reach, mk.Manipulability("tool0", 0.05)])
    found = []
    for _ in range(100):
        reach.target = arm.forward(arm.sample(rng), "tool0")[:3, 3]
        start = arm.sample(rng)
        solution = mk.solve(guided, start)
        assert solution.success
        found.append([arm.manipulability("tool0", q) for q in (mk.solve(careless, start).q, solution.q)])
    without, with_guide = np.quantile(found, 0.1, axis=0)
    assert with_guide > 1.5 * without, "at the edge of the workspace nothing helps"


def test_with_a_tolerance_it_decides(arm):
    wish = mk.Manipulability("tool0", 0.1, tolerance=0.0)
    solution = mk.solve(mk.Problem(arm, [mk.Position("tool0", (0.4, 0.2, 0.6)), wish]))
    assert solution.success and arm.manipulability("tool0", solution.q) >= 0.1 * (1 - 1e-9)
    wish.least = 5.0
    assert not mk.solve(mk.Problem(arm, [mk.Position("tool0", (0.4, 0.2, 0.6)), wish]), budget=mk.Budget(200)).success


def test_coupled_and_locked_joints_count_as_they_move(arm):
    """A locked joint has no column; the median is that of the body as it is left."""
    wish = mk.Manipulability("tool0")
    problem = mk.Problem(arm, [wish, mk.Position("tool0", (0.4, 0.2, 0.6))], lock={arm.joint_names[0]: 0.5})
    rest = arm.fix({arm.joint_names[0]: 0.5})
    q = arm.sample(np.random.default_rng(5))
    q[0] = 0.5
    expected = max(0.0, 1.0 - rest.manipulability("tool0", q[1:]) / wish.enough(rest))
    assert mk.Solution.of(problem, q).errors[wish] == pytest.approx(expected, abs=1e-7)


@pytest.mark.quick
def test_too_few_joints_for_all_axes(arm):
    """Five joints cannot move a frame in six directions: nothing is left to rounding."""
    lock = dict.fromkeys(arm.joint_names[:2], 0.5)
    wish = mk.Manipulability("tool0", 1e-4)
    problem = mk.Problem(arm, [wish, mk.Position("tool0", (0.4, 0.2, 0.6))], lock=lock)
    rng = np.random.default_rng(6)
    assert {mk.Solution.of(problem, arm.sample(rng)).errors[wish] for _ in range(50)} == {1.0}


@pytest.mark.quick
def test_what_is_wrong_is_said(arm):
    with pytest.raises(ProblemError, match="least is 0"):
        mk.Manipulability("tool0", 0)
    with pytest.raises(ProblemError, match="axes is"):
        mk.Manipulability("tool0", axes="x")
    with pytest.raises(ProblemError, match="every posture"):
        mk.solve(mk.Problem(mk.build.planar_chain((0.6, 0.4)), mk.Manipulability("tip")))


def test_a_part_of_a_joint_that_is_locked_moves_nothing(rng):
    """Two of three angles of a ball are left: the rotation of the tip is singular, whatever the third could do."""
    body = mk.Body(
        "ball", [mk.build.Link("base"), mk.build.Link("tip")], [mk.build.Joint("ball", "spherical", "base", "tip")]
    )
    keen = mk.Manipulability("tip", 0.5, axes="rotation", tolerance=0.1)
    lock = {body.joint_names[2]: 0.3}
    assert mk.solve(mk.Problem(body, keen)).errors[keen] == 0.0
    assert mk.solve(mk.Problem(body, keen, lock=lock), budget=mk.Budget(evaluations=50)).errors[keen] > 0.999


def parallel_axes(seed):
    """Slides and turns about parallel axes, far apart: the rotation of the tip is singular in every posture."""
    rng = np.random.default_rng(seed)
    kinds, axis, R = rng.permutation(["prismatic"] * 3 + ["revolute"] * 4), rng.normal(size=3), np.eye(3)
    joints = []
    for k, kind in enumerate(kinds):
        turn = mk.geometry.random_rotation(rng)
        R = R @ turn
        direction = R.T @ axis if kind == "revolute" else rng.normal(size=3)
        origin = mk.transform(3000.0 * rng.normal(size=3), turn)
        joints.append(mk.build.Joint(f"joint{k}", str(kind), f"link{k}", f"link{k + 1}", origin=origin, axis=direction))
    return mk.Body("parallel", [mk.build.Link(f"link{k}") for k in range(8)], joints)


@pytest.mark.parametrize("seed", range(4))
def test_rounding_is_no_manipulability(seed):
    body = parallel_axes(seed)
    wish = mk.Manipulability("link7", 0.2, tolerance=0.3)
    solution = mk.solve(mk.Problem(body, wish), budget=mk.Budget(evaluations=200))
    assert not solution.success and solution.errors[wish] == 1.0
