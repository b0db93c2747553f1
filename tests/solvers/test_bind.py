"""A bound step is `objective.target = target; mk.solve(problem, start)` bit for bit, refuses what they refuse, and is safe."""

import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import memetik as mk
from memetik.problem.cancel import CancelToken
from tests.conftest import COMPILED
from tests.timing import ratio

POSES = 500 if COMPILED else 2
FEW = mk.Budget(evaluations=300)


def poses(body, tip, count, seed=1):
    rng = np.random.default_rng(seed)
    return [body.forward(body.sample(rng))[tip] for _ in range(count)]


def bits(answer):
    """Of a step or a solution."""
    return answer.q.tobytes(), int(answer.status), answer.evaluations, repr(list(answer.errors.values()))


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda")


@pytest.fixture
def reach(panda):
    """An arm, one pose of its hand, the problem, and a target that it reaches."""
    pose = mk.Pose("panda_hand", np.eye(4))
    return panda, pose, mk.Problem(panda, pose), poses(panda, "panda_hand", 1)[0]


# ---- The same bits ------------------------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize(("name", "tip"), [("panda", "panda_hand"), ("ur5", "tool0")])
def test_poses_one_after_another(name, tip):
    """Some out of reach, so that the later stages run, too."""
    body = mk.load(name)
    pose = mk.Pose(tip, np.eye(4))
    problem = mk.Problem(body, pose)
    step, q = mk.bind(problem, pose, budget=FEW), body.home
    for k, target in enumerate(poses(body, tip, POSES)):
        if k % 5 == 1:
            target[:3, 3] *= 2.0
        pose.target = target
        expected = mk.solve(problem, q, budget=FEW)
        q = step(target, q)
        assert bits(step) == bits(expected)
        assert q.tobytes() == expected.q.tobytes() and step.success == expected.success
        assert step.errors[pose] == expected.errors[pose]


def wishes(body):
    """Kinds of problems: the objectives, those that are bound, and the targets of each for one step after another."""
    hand, elbow = "panda_hand", "panda_link4"
    at_hand, at_elbow = poses(body, hand, 8), poses(body, elbow, 8)
    points, turns = [pose[:3, 3] for pose in at_hand], [pose[:3, :3] for pose in at_hand]
    position, turned = mk.Position(hand, (0.4, 0.0, 0.4)), mk.Orientation(hand, np.eye(3))
    pose, point = mk.Pose(hand, np.eye(4)), mk.Position(elbow, (0.0, 0.0, 0.5), tolerance=0.3)
    value, look = mk.JointValue("panda_joint1", 0.0), mk.LookAt(hand, (1.0, 0.0, 0.0))
    down = mk.Direction(hand, (0.0, 0.0, -1.0))
    calm = mk.Displacement(weight=0.01)
    return {
        "a point": ([position], [position], [points]),
        "a point, lists of numbers": ([position], [position], [[list(map(float, point)) for point in points]]),
        "point and rotation": ([position, turned], [position, turned], [points, turns]),
        "the other order": ([position, turned], [turned, position], [turns, points]),
        "pose and elbow": ([pose, point], [pose, point], [at_hand, [pose[:3, 3] for pose in at_elbow]]),
        "one of two": ([pose, point], [pose], [at_hand]),
        "with a guide": ([pose, calm], [pose], [at_hand]),
        "a joint and a look": ([value, look], [value, look], [np.linspace(-1.0, 1.0, 8), points]),
        "only guides": ([mk.Position(hand, (0.4, 0.0, 0.4), tolerance=None), calm], None, [points]),
        "a direction": ([position, down], [position, down], [points, [-turn[:, 2] for turn in turns]]),
    }


@pytest.mark.parametrize("kind", wishes(mk.load("panda")))
def test_kinds_of_problems(kind, panda):
    objectives, bound, targets = wishes(panda)[kind]
    bound = objectives[:1] if bound is None else bound
    problem = mk.Problem(panda, objectives, lock={"panda_finger_joint1": 0.01})
    step, q = mk.bind(problem, *bound, seed=3, budget=FEW), panda.home
    for row in zip(*targets, strict=True):
        for objective, target in zip(bound, row, strict=True):
            objective.target = target
        expected = mk.solve(problem, q, seed=3, budget=FEW)
        q = step(*row, q)
        assert bits(step) == bits(expected)
        assert step.errors == expected.errors


@pytest.mark.parametrize(
    "method",
    ["bioik", "dls", "lbfgsb", "ccd", mk.solvers.Memetic(seed=5), mk.solvers.Portfolio(methods=("ccd", "dls"))],
)
def test_methods(method, reach):
    panda, pose, problem, _ = reach
    step, q = mk.bind(problem, pose, method=method, budget=FEW), panda.home
    for target in poses(panda, "panda_hand", 4, seed=2):
        pose.target = target
        expected = mk.solve(problem, q, method=method, budget=FEW)
        q = step(target, q)
        assert bits(step) == bits(expected)


def test_locked_joints_and_limits(panda):
    pose = mk.Pose("panda_hand", np.eye(4))
    lock = {"panda_joint3": 0.2, "panda_finger_joint1": 0.03}
    problem = mk.Problem(panda, pose, lock=lock, limits={"panda_joint1": (-1.0, 1.0)})
    step = mk.bind(problem, pose, budget=FEW)
    for target in poses(panda, "panda_hand", 20):
        pose.target = target
        assert bits(mk.solve(problem, panda.home + 0.3, budget=FEW)) == (step(target, panda.home + 0.3), bits(step))[1]
        assert all(step.q[panda.index(name)] == value for name, value in lock.items())


def test_a_solver_of_ones_own_sees_the_target(reach):
    panda, pose, problem, target = reach

    class Looks:
        def solve(self, problem, start=None, budget=None):
            (wish,) = problem.objectives
            np.testing.assert_allclose(wish.target, target, atol=1e-12)
            return mk.solve(problem, start)

    step = mk.bind(problem, pose, method=Looks())
    step(target, panda.home)
    assert step.success


# ---- Targets and starts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        lambda T: T.tolist(),
        lambda T: np.asfortranarray(T),
        lambda T: np.tile(T, (2, 2))[4:, 4:],
        lambda T: mk.transform(T[:3, 3], T[:3, :3]),
        lambda T: (T[:3, 3], T[:3, :3]),
        lambda T: T.astype(np.float32).astype(">f8"),
        lambda T: _closed(T),
    ],
    ids=["list", "Fortran", "slice", "transform", "pair", "swapped", "read-only"],
)
@pytest.mark.parametrize(
    "start", [lambda q: q, lambda q: q.tolist(), lambda q: np.repeat(q, 2)[::2], lambda q: _closed(q)]
)
def test_whatever_kind_of_target_and_start(kind, start, reach):
    panda, pose, problem, target = reach
    pose.target = kind(target)
    expected = mk.solve(problem, start(panda.home + 0.1))
    step = mk.bind(problem, pose)
    step(kind(target), start(panda.home + 0.1))
    assert bits(step) == bits(expected)


def _closed(array):
    array = array.copy()
    array.setflags(write=False)
    return array


def test_a_step_starts_where_the_last_one_ended(reach):
    panda, pose, problem, _ = reach
    step, last = mk.bind(problem, pose), None
    for target in poses(panda, "panda_hand", 10):
        pose.target = target
        expected = mk.solve(problem, last)
        answer = step(target) if last is None else step(target, None)
        assert answer.tobytes() == expected.q.tobytes()
        last = expected.q
        answer[:] = np.nan  # it belongs to the caller
        step.q[:] = np.nan


def test_the_start_is_left_alone(reach):
    panda, pose, problem, target = reach
    start, kept = panda.home + 0.1, panda.home + 0.1
    q = mk.bind(problem, pose)(target, start)
    assert q is not start and np.array_equal(start, kept)


def test_targets_are_its_own(reach):
    _, pose, problem, target = reach
    before = pose.target
    step = mk.bind(problem, pose)
    step(target)
    assert np.array_equal(pose.target, before)
    pose.target = mk.translation(9.0, 9.0, 9.0)
    step(target)
    assert step.success


def test_what_is_not_bound_is_followed(panda):
    """Targets of other objectives, weights and tolerances count as they are when a step is taken."""
    pose, elbow = mk.Pose("panda_hand", np.eye(4)), mk.Position("panda_link4", (0.0, 0.0, 0.5), tolerance=0.5)
    problem, targets = mk.Problem(panda, [pose, elbow]), poses(panda, "panda_hand", 3)
    step = mk.bind(problem, pose, budget=FEW)

    def hold_equal(target):
        pose.target = target
        expected = mk.solve(problem, panda.home, budget=FEW)
        pose.target = np.eye(4)
        step(target, panda.home)
        assert bits(step) == bits(expected)
        return step.success

    assert hold_equal(targets[0])
    elbow.target = (3.0, 0.0, 0.5)
    assert not hold_equal(targets[0])
    elbow.tolerance = None
    assert hold_equal(targets[1])
    pose.weight = 3.0
    assert hold_equal(targets[2])


def test_a_tolerance_of_a_single_pose_is_followed(reach):
    panda, pose, problem, target = reach
    step = mk.bind(problem, pose)
    q = step(target, panda.home)
    pose.position_tolerance = 0.5
    pose.orientation_tolerance = 3.2
    assert step.success and np.array_equal(step.q, q)  # the last answer is what it was
    pose.target = target
    assert step(target).tobytes() == mk.solve(problem, q).q.tobytes()
    assert step(target, panda.home).tobytes() == mk.solve(problem, panda.home).q.tobytes() != q.tobytes()


# ---- What is wrong ------------------------------------------------------------------------------------------


def test_what_cannot_be_bound(reach):
    panda, pose, problem, _ = reach
    calm = mk.Displacement(weight=0.01)
    other = mk.Problem(panda, [mk.Pose("panda_hand", np.eye(4)), calm])
    for wrong, says in (
        (lambda: mk.bind(problem), "name the objectives whose targets move"),
        (
            lambda: mk.bind(problem, other.objectives[0]),
            "is not an objective of this problem, which has <Pose panda_hand>",
        ),
        (lambda: mk.bind(problem, "pose"), "'pose' is not an objective of this problem"),
        (lambda: mk.bind(problem, pose, pose), "named twice"),
        (lambda: mk.bind(other, calm), "has no target that could move"),
        (lambda: mk.bind(pose, pose), "bind: <Pose panda_hand> is not a problem"),
        (lambda: mk.bind(problem, pose, budget=3), "bind: budget is 3"),
        (lambda: mk.bind(problem, pose, seed=-1), "bind: seed is -1"),
        (lambda: mk.bind(problem, pose, method=mk.solvers.Memetic), "bind: method is"),
        (lambda: mk.bind(problem, pose, method=mk.solvers.Memetic(seed=2), seed=1), "has a seed of its own"),
    ):
        with pytest.raises(mk.errors.ProblemError, match=says):
            wrong()
    with pytest.raises(mk.errors.UnknownNameError):
        mk.bind(problem, pose, method="memtic")


@pytest.mark.quick
def test_steps_that_cannot_be_taken(reach):
    """The same words as from the setter of the target and from `solve`; the step is then as it was."""
    panda, pose, problem, target = reach
    step = mk.bind(problem, pose)
    with pytest.raises(mk.errors.ProblemError, match="no answer yet"):
        step.status  # noqa: B018
    q = step(target, panda.home)
    known = bits(step)
    nan, skewed, last_row = (target.copy() for _ in range(3))
    nan[0, 3], skewed[0, 0], last_row[3, 0] = np.nan, 2.0, 1.0
    for given, says in (
        ((nan,), "Pose: the target has an entry that is NaN or infinite"),
        ((skewed,), "Pose: the target's 3x3 part is not a rotation"),
        ((last_row,), "Pose: the last row of the target must be 0 0 0 1"),
        ((np.eye(3),), "Pose: "),
        ((target[:3, 3],), "a position alone"),
        (("there",), "Pose: "),
        ((None,), "Pose: "),
        ((target, np.zeros(3)), r"the start has shape \(3,\), but body 'panda' has 8 free joints"),
        ((target, np.zeros((8, 1))), "the start has shape"),
        ((target, np.full(panda.dof, np.nan)), "the start has an entry that is NaN"),
        ((target, np.full(panda.dof, np.inf)), "the start has an entry that is NaN"),
        ((target, "home"), "the start is not a joint vector"),
        ((), "1 or 2 arguments, not 0"),
        ((target, q, q), "1 or 2 arguments, not 3"),
    ):
        with pytest.raises(mk.MemetikError, match=says):
            step(*given)
        assert bits(step) == known
    assert step(target).tobytes() == step(target, q).tobytes()


def test_a_start_in_degrees_is_doubted_once(reach):
    panda, pose, problem, target = reach
    step, start = mk.bind(problem, pose), np.full(panda.dof, 90.0)
    with pytest.warns(mk.MemetikWarning, match="radians"):
        step(target, start)
    pose.target = target
    with pytest.warns(mk.MemetikWarning, match="radians"):
        expected = mk.solve(problem, start)
    assert step(target, start).tobytes() == expected.q.tobytes() == mk.solve(problem, start).q.tobytes()


# ---- Budgets, threads, signals ------------------------------------------------------------------------------


def test_a_limit_of_time_is_said(panda):
    pose = mk.Pose("panda_hand", np.eye(4))
    step = mk.bind(mk.Problem(panda, pose), pose, budget=mk.Budget(evaluations=10**12, seconds=0.005))
    step(mk.transform((2.0, 0.0, 0.5)))
    assert step.timed_out and not step.success and step.status == mk.Status.CLOSEST


def test_a_token_cancels_the_steps_that_follow(reach):
    panda, pose, problem, target = reach
    token = CancelToken()
    step = mk.bind(problem, pose, budget=mk.Budget(token=token))
    q = step(target, panda.home)
    assert step.success
    token.cancel()
    step(mk.transform((2.0, 0.0, 0.5)))
    assert not step.success and step.status == mk.Status.INVALID
    fresh = mk.bind(problem, pose)
    assert step(target, q) is not None and fresh(target, q).tobytes() == q.tobytes()


@pytest.mark.only_if(COMPILED, "compiled kernels; Python handles signals by itself")
def test_a_token_cancels_a_step_under_way(panda):
    token, pose = CancelToken(), mk.Pose("panda_hand", np.eye(4))
    step = mk.bind(mk.Problem(panda, pose), pose, budget=mk.Budget(evaluations=10**12, token=token))
    timer = threading.Timer(0.2, token.cancel)
    timer.start()
    step(mk.transform((2.0, 0.0, 0.5)))
    timer.join()
    assert not step.success


def together(count, work):
    found, ready = [None] * count, threading.Barrier(count)

    def run(k):
        ready.wait()
        found[k] = work(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_each_thread_with_a_step_of_its_own(reach):
    """On the same problem and objective, whose targets they do not share."""
    panda, pose, problem, _ = reach
    targets = [poses(panda, "panda_hand", 40 if COMPILED else 1, seed) for seed in range(4)]

    def loop(k):
        step = mk.bind(problem, pose)
        return [(step(target), bits(step))[1] for target in targets[k]]

    expected = [loop(k) for k in range(4)]
    assert together(4, loop) == expected


def test_two_threads_with_one_step_get_an_error_and_never_a_wrong_answer(reach):
    panda, pose, problem, target = reach
    step = mk.bind(problem, pose)
    expected = step(target, panda.home).tobytes()
    refused = []

    def loop(_):
        for _ in range(2_000 if COMPILED else 2):
            try:
                assert step(target, panda.home).tobytes() == expected
            except mk.errors.ProblemError as error:
                refused.append(str(error))
        return True

    assert together(4, loop) == [True] * 4
    assert all("Let each thread call mk.bind" in message for message in refused)
    assert step(target, panda.home).tobytes() == expected


def test_a_step_within_a_step_is_refused(reach):
    panda, pose, problem, target = reach

    class Nested:
        def solve(self, problem, start=None, budget=None):
            step(target)

    step = mk.bind(problem, pose, method=Nested())
    for _ in range(2):
        with pytest.raises(mk.errors.ProblemError, match="is being taken already"):
            step(target, panda.home)


@pytest.mark.timed
@pytest.mark.only_if(COMPILED, "compiled kernels")
def test_a_step_takes_less_than_a_solve(reach):
    panda, pose, problem, _ = reach
    step, targets, start = mk.bind(problem, pose), poses(panda, "panda_hand", 200), panda.home.copy()

    def bound():
        for target in targets:
            step(target, start)

    def solved():
        for target in targets:
            pose.target = target
            mk.solve(problem, start)

    assert ratio(bound, solved) < 0.95


# ---- In another process -----------------------------------------------------------------------------------


def ways():
    """Steps of every kind: a pose with a kernel of its own, several targets of a problem with a root, another method."""
    body = mk.load("panda")
    pose = mk.Pose("panda_hand", body.forward(body.home, "panda_hand"))
    yield mk.bind(mk.Problem(body, pose, lock={"panda_finger_joint1": 0.02}), pose, seed=3), [pose.target]
    reach, face = mk.Position("panda_hand", pose.target[:3, 3]), mk.Orientation("panda_hand", pose.target[:3, :3])
    several = mk.Problem(body, [face, mk.Displacement(), reach], root=mk.translation(0.0, 0.0, 0.1))
    yield mk.bind(several, reach, face), [reach.target, face.target]
    yield mk.bind(mk.Problem(body, reach), reach, method=mk.solvers.DampedLeastSquares(damping=0.05)), [reach.target]


@pytest.mark.parametrize("taken", [0, 2])
@pytest.mark.parametrize("kind", range(3))
def test_a_pickled_step_goes_on_where_it_was(kind, taken):
    step, targets = list(ways())[kind]
    for k in range(taken):
        moved = [np.array(target) for target in targets]
        moved[0][..., -1] += 0.02 * k if moved[0].ndim == 1 else 0.0
        step(*moved)
    twin = pickle.loads(pickle.dumps(step))
    assert twin.problem is not step.problem and all(each in twin.problem.objectives for each in twin.objectives)
    if taken:
        assert np.array_equal(twin.q, step.q) and twin.status == step.status and twin.success == step.success
        assert list(twin.errors.values()) == list(step.errors.values()) and twin.evaluations == step.evaluations
    else:
        with pytest.raises(mk.errors.ProblemError, match="no answer yet"):
            twin.q  # noqa: B018 - a property
    for _ in range(3):
        assert np.array_equal(twin(*targets), step(*targets)) and twin.status == step.status


def test_a_step_is_restored_in_another_process():
    step, targets = next(ways())
    step(*targets)
    program = (
        "import pickle, sys; step, targets = pickle.load(sys.stdin.buffer); "
        "sys.stdout.buffer.write(step(*targets).tobytes())"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps((step, targets)), capture_output=True, check=True
    )
    assert told.stdout == step(*targets).tobytes()


def test_a_step_that_can_be_cancelled_stays():
    step, _ = next(ways())
    tied = mk.bind(step.problem, *step.objectives, budget=mk.Budget(token=CancelToken()))
    with pytest.raises(mk.errors.ProblemError, match="cannot be pickled: the token of its budget"):
        pickle.dumps(tied)
