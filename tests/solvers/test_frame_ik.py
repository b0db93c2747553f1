"""Body.ik: one target, its options, and what is wrong with a call."""

import numpy as np
import pytest

import memetik as mk
from memetik.errors import ProblemError, UnknownNameError

HAND = "panda_hand"


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda")


def targets(body, frame, count, seed=0):
    rng = np.random.default_rng(seed)
    return [body.forward(body.sample(rng), frame) for _ in range(count)]


def pinocchio_pose(q):
    """Where Pinocchio has the hand of the bundled Panda."""
    pinocchio = pytest.importorskip("pinocchio", reason="pip install pin")
    from memetik import bodies

    model = pinocchio.buildModelFromUrdf(str(bodies.path("panda")))
    data, values = model.createData(), np.zeros(model.nq)
    for name, value in zip(mk.load("panda").joint_names, q, strict=True):
        values[model.joints[model.getJointId(name)].idx_q] = value
    pinocchio.framesForwardKinematics(model, data, values)
    return data.oMf[model.getFrameId(HAND)].homogeneous


def test_a_pose_is_reached(panda):
    for target in targets(panda, HAND, 50):
        solution = panda.ik(HAND, target)
        assert solution.success
        assert np.linalg.norm(panda.forward(solution.q, HAND)[:3, 3] - target[:3, 3]) <= 1e-4


def test_the_pose_is_that_of_pinocchio(panda):
    target = targets(panda, HAND, 1)[0]
    assert pinocchio_pose(panda.ik(HAND, target).q) == pytest.approx(target, abs=2e-3)


def test_the_nearest_posture_of_a_closed_form_is_taken():
    body = mk.load("ur5")
    frame = body.tips()[0]
    rng = np.random.default_rng(1)
    for target in targets(body, frame, 20):
        start = body.sample(rng)
        solution = body.ik(frame, target, start=start)
        every = mk.solve_all(mk.Problem(body, mk.Pose(frame, target)), start)
        nearest = min(np.linalg.norm(each.q - start) for each in every)
        assert solution.success and np.linalg.norm(solution.q - start) <= nearest + 1e-3


def test_a_point_leaves_the_rotation_free(panda):
    solution = panda.ik(HAND, (0.4, 0.2, 0.5))
    assert solution.success and panda.forward(solution.q, HAND)[:3, 3] == pytest.approx([0.4, 0.2, 0.5], abs=1e-4)
    assert panda.ik(HAND, (0.4, 0.2, 9.0), free="z").success


def test_free_axes_do_not_count(panda):
    far = np.diag([1.0, -1.0, -1.0, 1.0])
    far[:3, 3] = 0.5, 0.0, 5.0
    assert not panda.ik(HAND, far, budget=mk.Budget(evaluations=500)).success
    solution = panda.ik(HAND, far, free=("z", "rz"))
    pose = panda.forward(solution.q, HAND)
    assert solution.success and pose[:2, 3] == pytest.approx([0.5, 0.0], abs=1e-4)
    assert pose[:3, 2] == pytest.approx([0.0, 0.0, -1.0], abs=2e-3)


def test_obstacles_are_avoided(panda):
    target = panda.forward(panda.home, HAND)
    elbow = panda.forward(panda.home)["panda_link4"]
    ball = mk.Shape("sphere", (0.08,), mk.translation(*elbow[:3, 3]))
    for obstacles in (ball, [ball], {"ball": ball}, mk.World({"ball": ball})):
        solution = panda.ik(HAND, target, obstacles=obstacles, clearance=0.01, self_collision=True)
        apart = mk.Problem(panda, [mk.Distance(panda, ball, clearance=0.01), mk.SelfDistance(panda, clearance=0.01)])
        judged = mk.solve(apart, solution.q)
        assert solution.success and judged.success and np.array_equal(judged.q, solution.q)


def test_locks_and_the_root_hold(panda):
    root = mk.transform((1.0, 2.0, 0.0), mk.rpy(0, 0, 1.0))
    target = root @ panda.forward(panda.home, HAND)
    solution = panda.ik(HAND, target, root=root, lock={"panda_joint3": 0.1})
    assert solution.success and solution.q[panda.index("panda_joint3")] == 0.1
    assert panda.forward(solution.q, HAND, root=root)[:3, 3] == pytest.approx(target[:3, 3], abs=1e-4)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"free": "rz"}, ProblemError, "leaves all rotations free"),
        ({"free": "yaw"}, UnknownNameError, "yaw"),
        ({"free": 3}, ProblemError, "free is 3"),
        ({"obstacles": "table"}, mk.MemetikError, "table"),
        ({"lock": {"elbow": 0.0}}, UnknownNameError, "elbow"),
        ({"self_collision": "tip"}, ProblemError, "self_collision"),
        ({"tolerance": 1.0}, TypeError, "tolerance"),
    ],
)
def test_mistakes_say_what_is_wrong(panda, options, error, says):
    with pytest.raises(error, match=says):
        panda.ik(HAND, (0.4, 0.2, 0.5), **options)
