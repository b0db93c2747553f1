"""Compilation in a thread of its own: the main thread can be interrupted at any moment of it, and nothing is left half done."""

import itertools
import os
import signal
import threading
import time

import numpy as np
import pytest
from numba.core import event

import memetik as mk
from memetik.kernels.compiler.interruptible import AbandonedError, interruptible, raise_if_abandoned
from memetik.kernels.compiler.jit import jit
from tests.conftest import COMPILED

ALARM = getattr(signal, "SIGALRM", None)
pytestmark = [
    pytest.mark.only_if(COMPILED, "compiled kernels"),
    pytest.mark.only_if(ALARM is not None, "systems with alarms"),
]
BODY = mk.load("ur5")
BUDGET = mk.Budget(evaluations=200)
names = itertools.count()


class PressedError(Exception):
    """What the signal handler raises in these tests."""


@pytest.fixture
def handler():
    def press(*_):
        raise PressedError

    before = signal.signal(ALARM, press)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(ALARM, before)


class PressAt(event.Listener):
    """Sends a signal when Numba begins its k-th pass over a function, and counts them."""

    def __init__(self, k):
        self.k, self.passes = k, 0

    def on_start(self, happening):
        self.passes += 1
        if self.passes == self.k:
            os.kill(os.getpid(), ALARM)

    def on_end(self, happening):
        pass


def fresh_problem():
    """A problem with a function that Numba has not seen yet, always the same one but for its name."""
    name = f"unlike_{next(names)}"
    scope = {}
    exec(f"def {name}(hand, first):\n    return hand.position[2] - 0.3 + 0.0 * first", scope)
    wish = mk.objective(reads=["tool0"], joints=["elbow_joint"])(scope[name])
    return mk.Problem(BODY, wish)


def answer(problem):
    return mk.solve(problem, BODY.home, budget=BUDGET).q.tobytes()


def settled(patience=30.0):
    """Whether compilations that nobody waits for have ended."""
    latest = time.monotonic() + patience
    while any(thread.name == "memetik compiler" for thread in threading.enumerate()):
        if time.monotonic() > latest:
            return False
        time.sleep(0.005)
    return True


def test_a_result_and_an_error_arrive():
    assert interruptible(lambda a, b: (a + b, threading.current_thread().name), 1, 2) == (3, "memetik compiler")
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)


def test_other_threads_compile_themselves():
    found = []
    thread = threading.Thread(target=lambda: found.append(interruptible(threading.current_thread)))
    thread.start()
    thread.join()
    assert found == [thread]
    assert interruptible(lambda: interruptible(lambda: threading.current_thread().name)) == "memetik compiler"


def test_a_signal_is_answered_while_the_compiler_does_not_listen(handler):
    begin = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(PressedError):
        interruptible(time.sleep, 2.0)  # as LLVM, which asks nobody
    assert time.perf_counter() - begin < 1.5
    assert settled()


def test_what_nobody_waits_for_ends_at_the_next_chance(handler):
    ended = []

    def compile_():
        try:
            while True:
                time.sleep(0.001)
                raise_if_abandoned()
        except AbandonedError:
            ended.append(True)
            raise

    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with pytest.raises(PressedError):
        interruptible(compile_)
    assert settled() and ended


def test_a_signal_in_any_pass_leaves_the_compiler_as_it_was(handler):
    """As Ctrl-C may come at any time, and the same function compiles afterwards."""
    expected = answer(fresh_problem())
    for k in itertools.count(1, 7):
        listener = PressAt(k)
        event.register("numba:run_pass", listener)
        try:
            problem = fresh_problem()
        except PressedError:
            problem = None
        finally:
            event.unregister("numba:run_pass", listener)
        if listener.passes < k:
            break
        assert problem is None, f"the signal in pass {k} was lost"
        assert settled()
    assert k > 20, "there are that many passes at least"
    assert answer(fresh_problem()) == expected


def test_an_interrupted_kernel_compiles_afterwards(handler):
    """As those of the package, which Python calls."""
    for k in (1, 9, 14):
        scope = {}
        exec("def double(x):\n    return 2.0 * x", scope)  # of no file, so that nothing of it is on disk
        kernel = jit(scope["double"])
        listener = PressAt(k)
        event.register("numba:run_pass", listener)
        try:
            with pytest.raises(PressedError):
                kernel(np.float64(k))
        finally:
            event.unregister("numba:run_pass", listener)
        assert settled()
        assert kernel(np.float64(k)) == 2.0 * k
