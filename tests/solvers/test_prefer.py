"""Preferences: guides that choose between distinct solutions."""

import numpy as np
import pytest

import memetik as mk
from memetik.errors import ProblemError

UR5 = mk.load("ur5")
POSE = mk.transform((0.4, 0.2, 0.3), mk.euler(180, 0, 0, degrees=True))


def elbow(q):
    return UR5.forward(q)["forearm_link"][2, 3]


def elbow_up(weight=0.1):
    return mk.Plane("forearm_link", (0.0, 0.0, 0.8), (0.0, 0.0, 1.0), side="above", tolerance=None, weight=weight)


@pytest.fixture(scope="module")
def down():
    """The solution with the lowest elbow."""
    every = mk.solve_all(mk.Problem(UR5, mk.Pose("tool0", POSE)), count=16)
    return min((solution.q for solution in every), key=elbow)


def test_from_below_a_light_guide_chooses_the_elbow_above(down):
    problem = mk.Problem(UR5, [mk.Pose("tool0", POSE), elbow_up()])
    assert elbow(mk.solve(problem, down).q) < 0.1
    solution = mk.solve(problem, down, prefer=True)
    assert solution.success and elbow(solution.q) > 0.5
    assert np.array_equal(mk.solve(problem, down, prefer=True).q, solution.q)


@pytest.mark.parametrize("method", ["memetic", "analytic", "dls"])
def test_objectives_outside_the_problem_choose_too(down, method):
    problem = mk.Problem(UR5, mk.Pose("tool0", POSE))
    for prefer in (elbow_up(), [elbow_up()]):
        solution = mk.solve(problem, down, method=method, prefer=prefer)
        assert solution.success and solution.problem is problem and elbow(solution.q) > 0.5


@pytest.mark.parametrize("joints", [{}, {"shoulder_pan_joint": 5.0, "wrist_3_joint": 0.0}])
def test_a_displacement_prefers_the_nearest(joints, rng):
    """The same as where it is in the problem, and as the nearest of all."""
    pose = mk.Pose("tool0", POSE)
    calm = mk.Displacement(stiffness=joints)
    weights = np.array([joints.get(name, 1.0) for name in UR5.joint_names])
    for _ in range(10):
        start = UR5.sample(rng)
        problem = mk.Problem(UR5, pose)
        found = mk.solve(problem, start, prefer=calm)
        distances = [np.linalg.norm(weights * (each.q - start)) for each in mk.solve_all(problem, start, count=16)]
        assert np.linalg.norm(weights * (found.q - start)) == pytest.approx(min(distances))
        inside = mk.solve(mk.Problem(UR5, [mk.Pose("tool0", POSE), mk.Displacement(stiffness=joints)]), start)
        assert np.abs(inside.q - found.q).max() < 1e-6


def test_without_a_solution_the_closest_is_the_answer():
    problem = mk.Problem(UR5, [mk.Position("tool0", (3.0, 0.0, 0.0)), elbow_up()])
    assert mk.solve(problem, prefer=True).status == mk.Status.CLOSEST


@pytest.mark.parametrize("wrong", [[], 5, "up", ["up"], None])
def test_what_cannot_choose_is_named(wrong):
    with pytest.raises(ProblemError, match="prefer"):
        mk.solve(mk.Problem(UR5, mk.Pose("tool0", POSE)), prefer=wrong)


def test_true_needs_guides():
    with pytest.raises(ProblemError, match="prefer=True chooses by guides, and the problem has none"):
        mk.solve(mk.Problem(UR5, mk.Pose("tool0", POSE)), prefer=True)
