"""Closed forms on bodies as they are: the nearest answer, twins, and the same answers by every way in."""

from __future__ import annotations

import numpy as np
import pytest

import memetik as mk
from memetik.solvers.analytic import Analytic, analytic_plan
from memetik.solvers.memetic_plan import memetic_plan
from tests.naive import arms, kinematics
from tests.stress import nearest
from tests.stress.closed_forms import apart, problem_of

BODIES = [("ur5", None), ("kr120", None), ("m10ia", None), ("valkyrie", ("pelvis", "rightFoot"))]


def task(name, ends):
    body = mk.load(name) if ends is None else mk.load(name).chain(*ends)
    tip = "tool0" if ends is None else ends[1]
    return body, tip, *problem_of(body, tip)


@pytest.mark.parametrize(("name", "ends"), BODIES)
def test_memetic_answers_with_the_nearest_of_all(name, ends):
    body, tip, pose, problem = task(name, ends)
    assert memetic_plan(problem.compiled).closed_form != 0
    rng = np.random.default_rng(0)
    for _ in range(100):
        start = body.sample(rng)
        pose.target = kinematics.pose(body, tip, body.sample(rng))
        answer, every = mk.solve(problem, start), Analytic().solve_all(problem, start)
        assert answer.success and answer.method == "memetic"
        assert np.abs(kinematics.pose(body, tip, answer.q) - pose.target).max() < 2e-8
        assert (answer.q >= body.lower).all() and (answer.q <= body.upper).all()
        assert np.linalg.norm(answer.q - start) <= np.linalg.norm(every[0].q - start) + 1e-6


@pytest.mark.parametrize("how", ["Pose", "Position, Orientation", "reversed"])
@pytest.mark.parametrize("arm", ["ur5", "puma560"])
def test_with_a_displacement_the_nearest_of_all_answers(arm, how):
    """By every way in, for every weight, from a reference as well as from the start."""
    make, tip = nearest.ARMS[arm]
    body = make()
    for beside in nearest.guides(body).values():
        failed, farther, worst, otherwise = nearest.measure(body, tip, nearest.wanted(tip, np.eye(4))[how], beside, 40)
        assert (failed, otherwise) == (0, 0)
        assert farther == 0 or (worst < 0.02 and how == "Pose" and not beside[0])  # steps end within the tolerances


def test_a_displacement_and_a_target_out_of_reach_go_on_to_the_search():
    body = mk.load("ur5")
    pose = mk.Pose("tool0", mk.translation(9.0, 0.0, 0.0))
    answer = mk.solve(mk.Problem(body, [pose, mk.Displacement()]))
    alone = mk.solve(mk.Problem(body, [mk.Pose("tool0", pose.target)]))
    assert answer.status == mk.Status.CLOSEST and answer.evaluations > 1000
    assert answer.errors[pose].position == pytest.approx(next(iter(alone.errors.values())).position, rel=1e-3)


def test_next_to_a_singularity_a_posture_within_the_tolerances_is_nearer():
    """A straight wrist, whose first and third joint turn about the same axis, asked to tilt a little to the side."""
    body = mk.load("kr120")
    start = np.array([0.1, -1.2, 1.4, 0.3, 0.0, 0.2])
    tilt = mk.transform((0.0, 0.0, 0.0), mk.rpy(0.0, 5e-4, 0.0))
    pose = mk.Pose("tool0", body.forward(start, "tool0") @ tilt)
    exact = mk.solve_all(mk.Problem(body, mk.Pose("tool0", pose.target)), start)[0]
    answer = mk.solve(mk.Problem(body, [pose, mk.Displacement()]), start)
    assert np.abs(exact.q - start).max() > 0.1
    assert answer.success and np.abs(answer.q - start).max() < 0.01


def test_a_start_next_to_the_target_takes_steps():
    body, tip, pose, problem = task(*BODIES[0])
    rng = np.random.default_rng(1)
    for _ in range(20):
        q = body.sample(rng)
        pose.target = kinematics.pose(body, tip, q)
        assert np.array_equal(mk.solve(problem, q).q, q)  # nothing is to be done
        near = np.clip(q + rng.normal(size=6) * 0.01, body.lower, body.upper)
        answer = mk.solve(problem, near)
        assert answer.success and 2 < answer.evaluations < 40


def test_budgets_of_one_posture_are_kept():
    body, tip, pose, problem = task(*BODIES[0])
    pose.target = kinematics.pose(body, tip, body.sample(np.random.default_rng(2)))
    for evaluations in (1, 2, 3):
        assert mk.solve(problem, budget=mk.Budget(evaluations=evaluations)).evaluations <= max(evaluations, 2)


def test_where_no_posture_is_within_the_limits_the_search_goes_on():
    body, tip, pose, problem = task(*BODIES[1])
    target = kinematics.pose(body, tip, body.home)
    target[:3, 3] = (9.0, 0.0, 0.0)
    pose.target = target
    answer, exact = mk.solve(problem), Analytic().solve(problem)
    assert answer.status == exact.status == mk.Status.CLOSEST
    assert answer.evaluations > 1000
    scale = problem.compiled.terms["scale"]
    cost, other = (np.sum((scale * each.term_errors) ** 2) for each in (answer, exact))
    assert cost <= other * (1.0 + 1e-3)


@pytest.mark.parametrize("method", ["memetic", "analytic"])
@pytest.mark.parametrize(("name", "ends"), BODIES[::3])
def test_every_way_in_gives_the_same_bits(method, name, ends):
    """solve, bind and solve_batch on any number of threads; every seventh target is out of reach."""
    body, tip, pose, problem = task(name, ends)
    rng = np.random.default_rng(3)
    starts = np.array([body.sample(rng) for _ in range(80)])
    targets = np.array([kinematics.pose(body, tip, body.sample(rng)) for _ in range(80)])
    targets[::7, :3, 3] += 3.0
    budget = mk.Budget(evaluations=400)
    one = mk.solve_batch(problem, {pose: targets}, starts, method=method, budget=budget, threads=1)
    two = mk.solve_batch(problem, {pose: targets}, starts, method=method, budget=budget, threads=2)
    assert np.array_equal(one.q, two.q) and np.array_equal(one.status, two.status)
    step = mk.bind(problem, pose, method=method, budget=budget)
    for k in range(80):
        pose.target = targets[k]
        answer = mk.solve(problem, starts[k], method=method, budget=budget)
        assert np.array_equal(answer.q, one.q[k]) and answer.status == one.status[k]
        assert np.array_equal(step(targets[k], starts[k]), answer.q)
    assert one.success.sum() >= 60


def test_twins_where_the_arm_as_meant_has_none():
    """An arm that as meant cannot reach, and as given bends a little: both ways to bend are found."""
    rng = np.random.default_rng(0)
    body = arms.rounded(arms.FAMILIES["spherical wrist, 2 and 3 parallel"](rng), rng)
    pose, problem = problem_of(body, "tip")
    assert 1e-7 < analytic_plan(problem).arm.off < 5e-5
    stretched = np.linspace(-3.0, 3.0, 7)
    for first in stretched:
        q = np.array([first, 0.4, 0.0, 0.9, 0.8, -0.3])
        # The elbow angle at which the arm is straight, where the determinant changes sign.
        angles = np.linspace(-3.1, 3.1, 400)
        volumes = [np.linalg.det(kinematics.exact_jacobian(body, "tip", np.array([*q[:2], a, *q[3:]]))) for a in angles]
        k = int(np.flatnonzero(np.diff(np.sign(volumes)))[0])
        low, high = angles[k], angles[k + 1]
        for _ in range(50):
            middle = 0.5 * (low + high)
            volume = np.linalg.det(kinematics.exact_jacobian(body, "tip", np.array([*q[:2], middle, *q[3:]])))
            low, high = (middle, high) if np.sign(volume) == np.sign(volumes[k]) else (low, middle)
        for bend in (1e-4, 3e-4, 1e-3):
            q[2] = low + bend
            pose.target = kinematics.pose(body, "tip", q)
            found = np.array([each.q for each in Analytic().solve_all(problem)])
            assert apart(found, q) < 1e-5
            straight = q.copy()
            straight[2] = low
            beside = [row for row in found if np.abs(np.angle(np.exp(1j * (row - straight)))).max() < 0.1]
            assert len(beside) >= 2
