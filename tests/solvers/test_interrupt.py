"""Ctrl-C during a solve: within a fifth of a second from every method, and the next solve is right."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest

import memetik as mk
from memetik import signals
from memetik.kernels.compiler.jit import COMPILED

ALARM = getattr(signal, "SIGALRM", None)
pytestmark = [
    pytest.mark.timed,
    pytest.mark.only_if(COMPILED, "compiled kernels; Python handles signals by itself"),
    pytest.mark.only_if(ALARM is not None, "systems with alarms"),
]

ENDLESS = mk.Budget(evaluations=10**12)
LATEST = 0.2  # s
TRIES = 3  # the best counts: another process may be running when the signal comes


class PressedError(Exception):
    """What the signal handler raises in these tests."""


@pytest.fixture
def press():
    """Call a function, send a signal while it works, and return how long it went on [s]."""

    def handler(*_):
        raise PressedError

    before = signal.signal(ALARM, handler)

    def press(function, delay=0.1):
        late = np.inf
        for _ in range(TRIES):
            moment = time.perf_counter() + delay
            signal.setitimer(signal.ITIMER_REAL, delay)
            with pytest.raises(PressedError):
                function()
            late = min(late, time.perf_counter() - moment)
        return late

    yield press
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(ALARM, before)


@pytest.fixture(scope="module")
def arm():
    """An arm that holds its elbow, a pose of its hand that it reaches then, and one that it does not.

    Either could be reached without the elbow, so no method knows before the search that there is nothing to find.
    """
    body, rng = mk.load("panda"), np.random.default_rng(4)
    here, there = (body.forward(body.sample(rng)) for _ in range(2))
    pose = mk.Pose("panda_hand", here["panda_hand"])
    elbow = mk.Position("panda_link4", here["panda_link4"][:3, 3], tolerance=1e-4)
    return mk.Problem(body, [pose, elbow]), pose, here["panda_hand"], there["panda_hand"]


def interruptible():
    """Methods that search; a closed form is over before anybody can press a key."""
    return [method.name for method in mk.methods() if method.name not in ("analytic", "learned")]


def own_threads():
    """Threads of memetik; the test runner has others."""
    return {
        thread.name for thread in threading.enumerate() if thread.name.startswith(("memetik", "ThreadPoolExecutor"))
    }


def has_only(before, patience=5.0):
    """Whether no thread has come to those before.

    A signal that comes while a thread is being started leaves it to end by itself, moments later: Python waits in vain for
    its first sign, and no pool knows of it.
    """
    latest = time.perf_counter() + patience
    while own_threads() - before and time.perf_counter() < latest:
        time.sleep(0.01)
    return own_threads() <= before


def settle(solver, problem):
    solver.solve(problem, budget=mk.Budget(evaluations=500))  # compiled, or loaded, before the signal comes


@pytest.mark.parametrize("method", interruptible())
def test_every_method_ends_at_once_and_the_next_solve_is_right(method, arm, press):
    problem, pose, good, bad = arm
    solver = mk.solver(method)
    pose.target = good
    expected = solver.solve(problem, budget=mk.Budget(evaluations=3_000))
    pose.target = bad
    settle(solver, problem)
    assert press(lambda: solver.solve(problem, budget=ENDLESS)) < LATEST
    pose.target = good
    again = solver.solve(problem, budget=mk.Budget(evaluations=3_000))
    assert again.status == expected.status
    np.testing.assert_array_equal(again.q, expected.q)


@pytest.mark.parametrize(
    "solver",
    [mk.solvers.BioIK(threads=2), mk.solvers.Portfolio(methods=("memetic", "bioik"), race=True)],
    ids=["elites", "race"],
)
def test_methods_with_threads(solver, arm, press):
    problem, pose, _, bad = arm
    pose.target = bad
    settle(solver, problem)
    before = own_threads()
    assert press(lambda: solver.solve(problem, budget=ENDLESS)) < LATEST
    assert has_only(before)


@pytest.mark.parametrize("method", ["memetic", "bioik", "de"])
def test_one_pose_out_of_reach(method, press):
    """The commonest problem, for which the flagship has kernels of its own."""
    problem = mk.Problem(mk.load("panda"), mk.Pose("panda_hand", mk.transform((2.0, 0.0, 0.5))))
    settle(solver := mk.solver(method), problem)
    assert press(lambda: solver.solve(problem, budget=ENDLESS)) < LATEST


@pytest.fixture
def slow_wish():
    """A problem whose objective runs as plain Python, almost all of the time of a solve."""

    def unlike(first, second):
        return float(str(first)) - second + 10.0  # which Numba does not compile

    wish = mk.objective(joints=["shoulder_pan_joint", "elbow_joint"], tolerance=1e-3)(unlike)
    with pytest.warns(mk.MemetikWarning, match="cannot compile"):
        problem = mk.Problem(mk.load("ur5"), [wish, mk.Position("tool0", (0.4, 0.2, 0.3))])
    settle(mk.solver("memetic"), problem)
    return problem


@pytest.mark.parametrize("method", ["memetic", "lbfgsb"])
def test_a_function_in_plain_python(method, slow_wish, press):
    """The signal comes inside the function, or on the way there or back, where nothing may be raised; none is lost."""
    settle(solver := mk.solver(method), slow_wish)
    expected = solver.solve(slow_wish, budget=mk.Budget(evaluations=300))
    for k in range(30):
        assert press(lambda: solver.solve(slow_wish, budget=ENDLESS), 0.01 + 0.0003 * k) < LATEST
    np.testing.assert_array_equal(solver.solve(slow_wish, budget=mk.Budget(evaluations=300)).q, expected.q)
    assert signal.getsignal(ALARM).__module__ == __name__, "the handler of before stands again"


def test_a_signal_on_the_way_into_a_function_waits_for_the_function(slow_wish):
    """In the first line that Python runs for a kernel, nothing may be raised, and nothing is lost."""
    place, answer = signals.place, slow_wish.objectives[0]._answer.__func__
    pressed = []

    def trace(frame, event, argument):
        if frame.f_code is answer.__code__ and not place.may_raise and not pressed:
            pressed.append(event)
            os.kill(os.getpid(), ALARM)
        return trace

    def handler(*_):
        raise PressedError

    before = signal.signal(ALARM, handler)
    try:
        with pytest.raises(PressedError):
            sys.settrace(trace)
            mk.solve(slow_wish, budget=ENDLESS)
    finally:
        sys.settrace(None)
        signal.signal(ALARM, before)
    assert pressed == ["call"]


def test_a_signal_in_a_finalizer_waits_for_its_end(press):
    """Python ignores what a finalizer raises, and objects die wherever a function of the user's lets go of them."""
    sent = []

    class Mortal:
        def __del__(self):
            if not sent:
                sent.append(True)
                os.kill(os.getpid(), ALARM)
                sum(range(100))

    def unlike(value):
        Mortal()
        return float(str(value)) + 9.0

    wish = mk.objective(joints=["elbow_joint"], tolerance=1e-3)(unlike)
    sent.append(True)
    with pytest.warns(mk.MemetikWarning, match="cannot compile"):
        problem = mk.Problem(mk.load("ur5"), wish)
    sent.clear()
    with pytest.raises(PressedError):
        mk.solve(problem, budget=ENDLESS)


def test_a_handler_that_raises_nothing_changes_nothing_of_a_function_in_plain_python(slow_wish):
    expected, rung = mk.solve(slow_wish, budget=mk.Budget(evaluations=3_000)), []
    before = signal.signal(ALARM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
        solution = mk.solve(slow_wish, budget=mk.Budget(evaluations=3_000))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(ALARM, before)
    assert rung
    np.testing.assert_array_equal(solution.q, expected.q)


def test_check_motion(press):
    body, rng = mk.load("panda"), np.random.default_rng(0)
    path = np.array([body.sample(rng) for _ in range(20_000)])
    mk.motion.check_motion(body, path[:3])
    assert press(lambda: mk.motion.check_motion(body, path)) < LATEST


def test_a_bound_step_ends_at_once_and_the_next_starts_from_the_last_answer(press):
    body, pose = mk.load("panda"), mk.Pose("panda_hand", mk.transform((2.0, 0.0, 0.5)))
    good = body.forward(body.sample(np.random.default_rng(4)))["panda_hand"]
    step = mk.bind(mk.Problem(body, pose), pose, budget=ENDLESS)
    q = step(good)
    assert press(lambda: step(mk.transform((2.0, 0.0, 0.5)))) < LATEST
    with pytest.raises(mk.errors.ProblemError, match="no answer"):
        step.status  # noqa: B018 - the last step has none
    assert step(good).tobytes() == step(good, q).tobytes()


def test_solve_all(arm, press):
    problem, pose, _, bad = arm
    pose.target = bad
    mk.solve_all(problem, budget=mk.Budget(evaluations=500))
    assert press(lambda: mk.solve_all(problem, patience=10**9, budget=ENDLESS)) < LATEST


def test_track_keeps_the_targets_it_found(arm, press):
    problem, pose, good, bad = arm
    pose.target = good
    path = np.tile(bad, (100_000, 1, 1))
    mk.track(problem, {pose: path[:2]})
    expected = mk.solve(problem).q
    assert press(lambda: mk.track(problem, {pose: path}, budget=mk.Budget(evaluations=10**9))) < LATEST
    np.testing.assert_array_equal(mk.solve(problem).q, expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_batches(threads, arm, press):
    problem, pose, good, bad = arm
    mk.solve_batch(problem, {pose: bad[None]}, threads=threads, budget=mk.Budget(evaluations=500))
    targets = np.tile(bad, (100, 1, 1))
    before = own_threads()
    assert press(lambda: mk.solve_batch(problem, {pose: targets}, threads=threads, budget=ENDLESS)) < LATEST
    assert has_only(before)
    batch = mk.solve_batch(problem, {pose: np.tile(good, (5, 1, 1))}, threads=threads)
    assert batch.success.all()


def test_a_large_body(press):
    body = mk.build.snake(400)
    tip = list(body.links)[-1]
    out_of_reach = 2.0 * body.forward(np.zeros(body.dof))[tip][:3, 3]
    problem = mk.Problem(body, mk.Pose(tip, mk.transform(out_of_reach, mk.rpy(0.0, 1.5, 0.0))))
    for method in ("memetic", "bioik", "lbfgsb", "levenberg_marquardt"):
        solver = mk.solver(method)
        solver.solve(problem, budget=mk.Budget(evaluations=60))
        assert press(lambda solver=solver: solver.solve(problem, budget=ENDLESS)) < LATEST, method


def test_a_handler_that_raises_nothing_lets_the_search_go_on(arm):
    """Signals are for programs, too: one that only takes notes must not change the answer."""
    problem, pose, _, bad = arm
    pose.target = bad
    budget = mk.Budget(evaluations=300_000)
    expected = mk.solve(problem, budget=budget)
    rung = []
    before = signal.signal(ALARM, lambda *_: rung.append(time.perf_counter()))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
        solution = mk.solve(problem, budget=budget)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(ALARM, before)
    assert rung
    assert solution.evaluations == expected.evaluations
    np.testing.assert_array_equal(solution.q, expected.q)


def test_the_key_itself(arm):
    """SIGINT as the terminal sends it, with Python's own handler."""
    problem, pose, _, bad = arm
    pose.target = bad
    settle(mk.solver("dls"), problem)
    sender = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's job in the background ignores the key
    try:
        sender.start()
        with pytest.raises(KeyboardInterrupt):
            mk.solve(problem, method="dls", budget=ENDLESS)
        sender.join()
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_solve_in_another_thread_is_left_alone(arm):
    """Python handles signals in its main thread; a solve elsewhere neither sees them nor takes them away."""
    body = mk.load("ur5")
    pose = mk.Pose("tool0", mk.transform((2.0, 0.0, 0.0)))
    problem = mk.Problem(body, pose)
    budget = mk.Budget(evaluations=1_000_000)
    expected = mk.solve(problem, budget=budget)
    answers = []
    rung = []
    before = signal.signal(ALARM, lambda *_: rung.append(1))
    try:
        thread = threading.Thread(target=lambda: answers.append(mk.solve(problem, budget=budget)))
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        thread.start()
        thread.join()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(ALARM, before)
    np.testing.assert_array_equal(answers[0].q, expected.q)
    assert rung
