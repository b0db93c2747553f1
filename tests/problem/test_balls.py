"""Which joints of a problem step by rotations, and what a Displacement measures on them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik.kernels.terms.springs import SPRING_BALL

FREE = ("base.x", "base.y", "base.z", "base.rz", "base.rx", "base.ry")


def box(**options):
    return mk.Body(
        "box", [mk.build.Link("w"), mk.build.Link("b")], [mk.build.Joint("base", "floating", "w", "b", **options)]
    )


def balls(body, *more, **conditions):
    return mk.Problem(body, [mk.Pose("b", np.eye(4)), *more], **conditions).compiled.balls


def test_a_free_joint_is_a_ball():
    (ball,) = balls(box())
    assert (ball["node"], ball["variable"], ball["sign"]) == (3, 3, 1.0)
    assert balls(box(order="xzy"))["sign"] == -1.0
    assert (
        balls(box(lower=(-1, -1, -1, *[-np.inf] * 3), upper=(1, 1, 1, *[np.inf] * 3))).size == 1
    )  # slides may have limits


@pytest.mark.parametrize(
    "more",
    [
        mk.Displacement(), mk.Displacement(reference=np.arange(6.0)), mk.Displacement(stiffness={"base.x": 3.0}),
        mk.Displacement(stiffness=dict.fromkeys(FREE, 0.0) | {"base.x": 1.0}), mk.AvoidLimits(), mk.CenterJoints(),
        mk.JointValue("base.y", 0.2),
    ],
)  # fmt: skip
def test_what_leaves_it_one(more):
    assert balls(box(), more).size == 1


@pytest.mark.parametrize(
    "more",
    [
        mk.JointValue("base.rx", 0.2),
        mk.Displacement(stiffness={"base.ry": 2.0}),
        mk.Displacement(stiffness={"base.rz": 0.0}),
    ],
)
def test_what_makes_it_plain_angles(more):
    assert balls(box(), more).size == 0


def test_limits_locks_and_mimic_joints_make_it_plain_angles():
    assert balls(box(), limits={"base.rx": (-9.0, 9.0)}).size == 0
    assert balls(box(), lock={"base.rz": 0.1}).size == 0
    assert balls(box(), lock={"base.x": 0.1}).size == 1
    joints = [
        mk.build.Joint("base", "spherical", "w", "a"),
        mk.build.Joint("turn", "revolute", "a", "b", mimic=mk.build.Mimic("base.rx")),
    ]
    assert balls(mk.Body("arm", [mk.build.Link(name) for name in "wab"], joints)).size == 0


def test_limits_are_kept():
    body = box(lower=(-1, -1, -1, -0.3, -0.3, -0.3), upper=(1, 1, 1, 0.3, 0.3, 0.3))
    solution = mk.solve(mk.Problem(body, mk.Orientation("b", mk.euler(1.0, 1.0, 1.0))))
    assert not solution.success and (np.abs(solution.q[3:]) <= 0.3).all()


def test_a_displacement_is_the_angle_of_the_rotation():
    body, start = box(), np.array([0.0, 0.0, 0.0, 0.4, np.pi / 2, -0.2])
    calm = mk.Displacement(tolerance=1.0)
    problem = mk.Problem(body, [mk.Position("b", (0, 0, 0), tolerance=None), calm])
    terms, data = problem.compiled.terms, problem.compiled.data
    assert (data[int(terms[1]["numbers"]) + SPRING_BALL :: 5][:6] != 0.0).tolist() == [False] * 3 + [True] + [False] * 2
    for change, angle in (((1.0, 0.0, -1.0), 0.0), ((0.3, 0.0, 0.0), 0.3), ((0.0, 0.5, 0.0), 0.5)):
        found = mk.Solution.of(problem, start + np.array([0.0, 0.0, 0.0, *change]), start=start)
        assert found.errors[calm] == pytest.approx(angle / 6.0, abs=1e-12)  # the mean over six variables


def test_it_stays_where_nothing_asks_it_to_turn(rng):
    """Guides that follow the start hold the rotation, in the gimbal lock, too, and values stay those of the start."""
    body, start = box(), np.array([0.0, 0.0, 0.0, 0.4, np.pi / 2, -0.2])
    problem = mk.Problem(body, [mk.Position("b", (0.3, 0.2, 0.1)), mk.Displacement(weight=0.1)])
    for method in ("memetic", "dls", "bioik", "lbfgsb"):
        solution = mk.solve(problem, start, method=method, budget=mk.Budget(evaluations=3000))
        assert solution.success
        assert_allclose(body.forward(solution.q)["b"][:3, :3], body.forward(start)["b"][:3, :3], atol=2e-2)
    assert_allclose(mk.solve(problem, start).q[3:], start[3:], atol=1e-6)
