"""Closed forms of arms of six and seven joints: every family, against EAIK, the search and the naive forward kinematics."""

from __future__ import annotations

import re
from importlib import resources

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import memetik as mk
from memetik.solution import Status
from memetik.solvers.analytic import Analytic
from tests.naive import arms, eaik, kinematics
from tests.naive.arms import FAMILIES
from tests.stress.closed_forms import NEAR, SEVEN, apart, problem_of, rounded, seven, six

ANALYTIC = Analytic()
BUNDLED = ["ur5", "kr120", "m10ia"]

# Where EAIK knows the family, and takes opposite axes for equal ones if they are parallel.
UNKNOWN_TO_EAIK = {
    "2, 3 and 4 meet", "2, 3 and 4 meet, 5 and 6 meet", "2, 3 and 4 meet, 5 and 6 parallel",
    "3, 4 and 5 meet", "3, 4 and 5 meet, 1 and 2 meet", "3, 4 and 5 meet, 1 and 2 parallel",
    "1, 2 and 3 parallel", "1, 2 and 3 parallel, 4 and 5 meet", "4, 5 and 6 parallel", "4, 5 and 6 parallel, 2 and 3 meet",
}  # fmt: skip
WRONG_FOR_EAIK = {
    "2, 3 and 4 parallel", "2, 3 and 4 parallel, 5 and 6 meet", "3, 4 and 5 parallel", "3, 4 and 5 parallel, 1 and 2 meet",
}  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES)
def test_families(name):
    """Two arms of each, with a singular pose of each."""
    tally = six(name, 50, 25)
    assert tally.poses == 50 and tally.missed == 0, tally.notes
    assert tally.singular >= 1 and tally.singular_missed == 0, tally.notes
    assert tally.worst < 1e-8
    assert tally.lacking == 0
    assert tally.compared == (0 if name in UNKNOWN_TO_EAIK else 50)
    if name not in WRONG_FOR_EAIK:
        assert tally.beyond <= 2  # double roots, where it loses digits


@pytest.mark.parametrize("name", sorted(UNKNOWN_TO_EAIK | WRONG_FOR_EAIK))
def test_what_the_search_finds_is_found(name):
    """Where EAIK is no oracle."""
    rng = np.random.default_rng(3)
    body = FAMILIES[name](rng)
    pose, problem = problem_of(body, "tip")
    for _ in range(2):
        pose.target = kinematics.pose(body, "tip", rng.uniform(-3.0, 3.0, 6))
        exact = np.array([each.q for each in ANALYTIC.solve_all(problem)])
        found = mk.solve_all(problem, count=16)
        assert len(found) <= len(exact)
        for each in found:
            assert apart(exact, each.q) < 1e-3


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_arms_have_the_solutions_of_eaik(name):
    body = mk.load(name)
    pose, problem = problem_of(body, "tool0")
    robot = eaik.robot(body, "tool0")
    rng = np.random.default_rng(1)
    for _ in range(200):
        pose.target = kinematics.pose(body, "tool0", body.sample(rng))
        found = np.array([each.q for each in ANALYTIC.solve_all(problem)]).reshape(-1, 6)
        theirs = eaik.solutions(robot, body, "tool0", pose.target)
        assert len(found) == len(theirs) or name == "ur5"  # whose joints turn twice, so that copies of one count
        assert all(apart(theirs, row) < NEAR for row in found)
        assert all(apart(found, row) < NEAR for row in theirs)


@pytest.mark.parametrize("name", SEVEN)
def test_seven_joints_have_the_solutions_of_eaik(name):
    tally = seven(name, 100)
    assert tally.missed == tally.lacking == 0 and tally.compared == 100
    assert tally.beyond <= 1 and tally.worst < 1e-8


# ---- Singular and out of reach ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "joints"),
    [
        ("ur5", {"wrist_2_joint": 0.0}),  # the wrist is straight, and an angle of it open
        ("ur5", {"elbow_joint": 0.0}),  # the arm is stretched
        ("ur5", {"elbow_joint": 0.0, "wrist_2_joint": 0.0}),
        ("kr120", {"joint_a5": 0.0}),
        ("m10ia", {"joint_5": 0.0}),
    ],
)
def test_singular_poses(name, joints):
    """From where it is singular, the same posture; from elsewhere, a solution; and all that are not next to it."""
    body = mk.load(name)
    pose, problem = problem_of(body, "tool0")
    rng = np.random.default_rng(5)
    for _ in range(10):
        q = body.sample(rng)
        for joint, angle in joints.items():
            q[body.joint_names.index(joint)] = angle
        pose.target = kinematics.pose(body, "tool0", q)
        answer = ANALYTIC.solve(problem, q)
        assert answer.success and np.abs(answer.q - q).max() < 1e-6
        found = np.array([each.q for each in ANALYTIC.solve_all(problem)])
        assert len(found)
        off = np.abs(kinematics.pose(body, "tool0", found.T) - pose.target).max()
        assert off < 2e-8


@pytest.mark.quick
def test_stretched_arms_of_a_spherical_wrist():
    """The elbow straight, and the wrist above the first axis, where that is open."""
    rng = np.random.default_rng(2)
    body = arms.puma(rng)
    pose, problem = problem_of(body, "tip")
    length = [np.linalg.norm(body.joints[name].origin[:3, 3]) for name in ("j2", "j3")]
    assert min(length) > 0.0
    for _ in range(10):
        q = rng.uniform(-3.0, 3.0, 6)
        elbow, wrist = kinematics.pose(body, "l2", 0.0 * q)[:3, 3], kinematics.pose(body, "l3", 0.0 * q)[:3, 3]
        upper, lower = elbow - kinematics.pose(body, "l1", 0.0 * q)[:3, 3], wrist - elbow
        # The angle that brings the lower arm in line with the upper one, seen along y.
        q[2] = np.arctan2(upper[0], upper[2]) - np.arctan2(lower[0], lower[2])
        pose.target = kinematics.pose(body, "tip", q)
        answer = ANALYTIC.solve(problem, q)
        assert answer.success and np.abs(answer.q - q).max() < 1e-6


@pytest.mark.quick
@pytest.mark.parametrize("name", FAMILIES)
def test_out_of_reach(name):
    """No solution is claimed, and what is offered is an honest attempt: nearer than to do nothing."""
    rng = np.random.default_rng(7)
    body = FAMILIES[name](rng)
    pose, problem = problem_of(body, "tip")
    start = rng.uniform(-3.0, 3.0, 6)
    target = kinematics.pose(body, "tip", rng.uniform(-3.0, 3.0, 6))
    target[:3, 3] = (40.0, 30.0, 20.0)
    pose.target = target
    answer = ANALYTIC.solve(problem, start)
    assert answer.status == Status.CLOSEST
    assert ANALYTIC.solve_all(problem, start) == []
    off = np.abs(kinematics.pose(body, "tip", answer.q)[:3, 3] - target[:3, 3])
    assert np.linalg.norm(off) == pytest.approx(answer.term_errors[0])


@pytest.mark.parametrize("name", BUNDLED)
def test_out_of_reach_is_a_minimum(name):
    """SciPy, from the answer, within the limits, finds nothing better; nor does the search."""
    body = mk.load(name)
    pose, problem = problem_of(body, "tool0")
    rng = np.random.default_rng(6)
    for place in ((6.0, 0.5, 1.5), (-2.0, 3.0, 0.4), (0.05, 0.0, 0.3)):
        target = kinematics.pose(body, "tool0", body.sample(rng))
        target[:3, 3] = place
        pose.target = target
        answer = ANALYTIC.solve(problem)
        if answer.success:
            continue
        assert answer.status == Status.CLOSEST
        by_position, by_rotation = problem.compiled.terms["scale"]

        def residuals(q, target=target, by_position=by_position, by_rotation=by_rotation):
            T = kinematics.pose(body, "tool0", q)
            turned = Rotation.from_matrix(target[:3, :3].T @ T[:3, :3]).as_rotvec()
            return np.concatenate((by_position * (T[:3, 3] - target[:3, 3]), by_rotation * turned))

        cost = np.sum(residuals(answer.q) ** 2)
        inside = np.clip(answer.q, body.lower + 1e-9, body.upper - 1e-9)
        better = least_squares(residuals, inside, bounds=(body.lower, body.upper), xtol=1e-12, ftol=1e-12, gtol=1e-12)
        assert cost <= 2.0 * better.cost * (1.0 + 1e-4) + 1e-9


# ---- Arms as files give them ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_rounded_arms(name):
    """The posture that was drawn is found to the last digit, and there are as many solutions as the arm as meant has."""
    tally = rounded(name, 40, 20)
    assert tally.poses == 40 and tally.missed == tally.lost == tally.extra == 0, tally.notes
    assert tally.worst < 1e-8


@pytest.mark.parametrize("name", BUNDLED)
def test_urdf_with_rounded_angles(name, tmp_path):
    """Angles to four digits and offsets to micrometres, in every joint: the solutions of the exact arm, on the rounded one."""

    def shorter(match):
        digits = 4 if match[1] == "rpy" else 6
        return f'{match[1]}="{" ".join(f"{float(number):.{digits}f}" for number in match[2].split())}"'

    exact = mk.load(name)
    text = (resources.files("memetik.bodies") / f"{name}.urdf").read_text()
    path = tmp_path / f"{name}.urdf"
    path.write_text(re.sub(r'(rpy|xyz)="([^"]*)"', shorter, text))
    body = mk.load(path)
    assert np.abs(kinematics.pose(body, "tool0", exact.home) - kinematics.pose(exact, "tool0", exact.home)).max() > 1e-8
    pose, problem = problem_of(body, "tool0")
    robot = eaik.robot(exact, "tool0")
    rng = np.random.default_rng(1)
    for _ in range(50):
        q = body.sample(rng)
        pose.target = kinematics.pose(body, "tool0", q)
        found = np.array([each.q for each in ANALYTIC.solve_all(problem)]).reshape(-1, 6)
        assert apart(found, q) < 1e-5
        assert np.abs(kinematics.pose(body, "tool0", found.T) - pose.target).max() < 1e-8
        for row in eaik.solutions(robot, exact, "tool0", pose.target):
            least = np.linalg.svd(kinematics.exact_jacobian(exact, "tool0", row), compute_uv=False)[-1]
            inside = (row > body.lower + 1e-3).all() and (row < body.upper - 1e-3).all()
            assert apart(found, row) < 1e-2 or least < 0.02 or not inside
        assert mk.solve(problem).success


@pytest.mark.parametrize("shape", ["wrist", "elbow"])
def test_singular_poses_of_rounded_arms(shape):
    """From the posture itself and from elsewhere a solution is found, and nothing that is off the target."""
    rng = np.random.default_rng(9)
    body = arms.rounded(arms.puma(rng), rng)
    pose, problem = problem_of(body, "tip")
    for _ in range(20):
        q = rng.uniform(-3.0, 3.0, 6)
        q[4 if shape == "wrist" else 2] = rng.normal() * 1e-6
        pose.target = kinematics.pose(body, "tip", q)
        assert ANALYTIC.solve(problem, q).success
        found = np.array([each.q for each in ANALYTIC.solve_all(problem)])
        assert len(found) and np.abs(kinematics.pose(body, "tip", found.T) - pose.target).max() < 2e-8


# ---- Which arms -------------------------------------------------------------------------------------------


def test_any_base_any_tool_and_links_between():
    """Fixed joints between the turning ones, and a body that stands anywhere."""
    rng = np.random.default_rng(0)
    inner = arms.spherical(rng)
    builder = mk.build.BodyBuilder("mounted")
    builder.add("base", "stand", "fixed", "floor", origin=(rng.normal(size=3), mk.geometry.random_rotation(rng)))
    for joint in inner.joints.values():
        between = f"{joint.child}_before"
        where = (joint.origin[:3, 3], joint.origin[:3, :3])
        parent = "floor" if joint.parent == "base" else joint.parent
        builder.add(parent, f"{joint.name}_fixed", "fixed", between, origin=where)
        builder.add(between, joint.name, joint.kind, joint.child, axis=joint.axis)
    builder.add("tip", "tool", "fixed", "tool", origin=(rng.normal(size=3), mk.geometry.random_rotation(rng)))
    body = builder.build()
    pose, problem = problem_of(body, "tool")
    for _ in range(10):
        q = rng.uniform(-3.0, 3.0, 6)
        pose.target = kinematics.pose(body, "tool", q)
        found = np.array([each.q for each in ANALYTIC.solve_all(problem)])
        assert apart(found, q) < 1e-7
        assert np.abs(kinematics.pose(body, "tool", found.T) - pose.target).max() < 1e-9


def refused(axes, points):
    body = arms.build(np.asarray(axes, dtype=float), np.asarray(points, dtype=float), np.eye(4))
    with pytest.raises(mk.errors.RefusedError, match=r"no closed form.*'memetic'"):
        ANALYTIC.solve(mk.Problem(body, mk.Pose("tip", np.eye(4))))


def test_arms_that_are_refused():
    rng = np.random.default_rng(0)
    drawn = np.array([arms.unit(rng) for _ in range(6)])
    refused(drawn, rng.normal(size=(6, 3)))  # in no arrangement
    x, y, z = np.eye(3)
    refused(
        [z, z, z, x, y, x], [0 * x, x, 2 * x, 3 * x, 3 * x, 3 * x]
    )  # wrist and three parallel axes: no way up or down
    refused([z, z, z, z, y, x], [0 * x, x, 2 * x, 3 * x, 3 * x, 4 * x])  # four parallel axes


@pytest.mark.parametrize("offset", [0.0, 1e-12, 1e-9, 1e-8, 5e-8, 1e-7, 3e-7, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 1e-2])
def test_axes_that_nearly_meet(offset):
    """From axes that meet to axes that pass each other the solutions stay."""
    rng = np.random.default_rng(4)
    x, y, z = np.eye(3)
    axes = np.array([z, y, (0.6, 0.0, 0.8), x, y, x])
    points = np.array([0 * x, offset * x, x + z, 2 * x, 2 * x, 2 * x])
    body = arms.build(axes, points, np.eye(4))
    pose, problem = problem_of(body, "tip")
    for _ in range(120):
        q = rng.uniform(-3.0, 3.0, 6)
        pose.target = kinematics.pose(body, "tip", q)
        found = np.array([each.q for each in ANALYTIC.solve_all(problem)]).reshape(-1, 6)
        assert apart(found, q) < 1e-5


@pytest.mark.quick
@pytest.mark.parametrize("name", ["ur5", "m10ia"])
def test_the_search_begins_in_closed_form(name, rng):
    """From afar it takes a solution at once; one beside the start it finds by steps; what is out of reach it approaches."""
    body = mk.load(name)
    pose, problem = problem_of(body, "tool0")
    q = body.sample(rng)
    pose.target = kinematics.pose(body, "tool0", q)
    far, near = mk.solve(problem, body.sample(rng)), mk.solve(problem, q + 0.01)
    assert far.success and far.attempts == 1 and near.success and np.abs(near.q - q).max() < 0.1
    pose.target = mk.translation(9.0, 0.0, 0.0)
    missed = mk.solve(problem, q, budget=mk.Budget(evaluations=60))
    assert missed.status == mk.Status.CLOSEST
