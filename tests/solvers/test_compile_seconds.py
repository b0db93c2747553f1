"""What kernels take to compile is a figure of its own: neither in the seconds of a solve, nor in those of its budget."""

import time

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

import memetik as mk
from memetik.kernels.compiler.compile_time import compile_times
from memetik.solvers.memetic_plan import MemeticPlan, memetic_plan
from tests.conftest import COMPILED

pytestmark = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")

COMPILING = 0.2  # s, as if a kernel were not in memory yet; far more than any of these solves takes


def pretend_to_compile():
    with global_compiler_lock:
        time.sleep(COMPILING)
        compile_times.note()


@pytest.fixture
def problem():
    arm = mk.build.planar_chain([1.0, 1.0])
    return mk.Problem(arm, [mk.Position(arm.frame("tip"), target=(1.0, 1.0, 0.0), tolerance=1e-4)])


class Home:
    """A network that always guesses the same."""

    def predict(self, problem, start=None):
        return problem.start(start)


METHODS = {
    "memetic": "memetic",
    "bioik": "bioik",
    "dls": "dls",
    "lbfgsb": "lbfgsb",
    "ccd": "ccd",
    "analytic": "analytic",
    "learned": mk.solvers.Learned(network=Home()),
    "portfolio": mk.solvers.Portfolio(methods=("memetic", "ccd")),
    "race": mk.solvers.Portfolio(methods=("memetic", "ccd"), race=True),
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_methods(method, problem, monkeypatch):
    mk.solve(problem, method=method)
    warm = mk.solve(problem, method=method)
    assert warm.compile_seconds == 0.0 and "compile" not in str(warm)
    check_start = mk.Problem.start

    def start(self, *given):
        pretend_to_compile()
        return check_start(self, *given)

    monkeypatch.setattr(mk.Problem, "start", start)
    cold = mk.solve(problem, method=method, budget=mk.Budget(seconds=0.5 * COMPILING))
    assert cold.success and not cold.timed_out
    assert COMPILING <= cold.compile_seconds < 5 * COMPILING
    assert 0.0 < cold.seconds < 0.5 * COMPILING
    assert f"besides, kernels took {cold.compile_seconds * 1e3:.0f}"[:-1] in str(cold)


def test_one_pose(monkeypatch):
    """Which has a way of its own through `solve`."""
    arm = mk.load("panda")
    problem = mk.Problem(arm, [mk.Pose(arm.frame("panda_hand"), target=arm.forward(arm.home)["panda_hand"])])
    start = arm.home + 0.1
    mk.solve(problem, start)
    assert mk.solve(problem, start).compile_seconds == 0.0
    monkeypatch.setattr(mk.Problem, "start", lambda *_: (pretend_to_compile(), start.copy())[1])
    cold = mk.solve(problem, start.tolist())  # the kernel itself looks at an array
    assert cold.success and cold.compile_seconds >= COMPILING and cold.seconds < 0.5 * COMPILING


def test_what_compiles_between_the_stages_is_not_in_the_budget(problem, monkeypatch):
    """A target out of reach: the kernels that come after the search are compiled when the search has missed."""
    problem.objectives[0].target = (5.0, 0.0, 0.0)
    mk.solve(problem)
    addresses = memetic_plan(problem.compiled).stages

    def late(_):
        pretend_to_compile()
        return addresses

    monkeypatch.setattr(MemeticPlan, "stages", property(late))
    missed = mk.solve(problem, budget=mk.Budget(evaluations=200, seconds=0.5 * COMPILING))
    assert not missed.timed_out and missed.compile_seconds >= COMPILING and missed.seconds < 0.5 * COMPILING


def test_all_solutions_and_paths(problem, monkeypatch):
    (reach,) = problem.objectives
    targets = {reach: np.linspace((1.0, 1.0, 0.0), (1.1, 0.9, 0.0), 5)}
    mk.solve_all(problem)
    mk.track(problem, targets)
    assert {found.compile_seconds for found in mk.solve_all(problem)} == {0.0}
    assert mk.track(problem, targets).compile_seconds == 0.0
    monkeypatch.setattr(mk.Problem, "start", lambda *_: (pretend_to_compile(), np.full(2, 0.1))[1])
    found = mk.solve_all(problem)
    track = mk.track(problem, targets)
    for cold in (*found, track):
        assert cold.compile_seconds >= COMPILING and 0.0 < cold.seconds < 0.5 * COMPILING
    assert len(found) == 2 and track.success


def test_batch(problem):
    (reach,) = problem.objectives
    targets = {reach: np.tile((1.0, 1.0, 0.0), (3, 1))}

    def solve(progress):
        return mk.solve_batch(problem, targets, threads=1, progress=progress)

    solve(False)
    warm = solve(False)
    assert warm.compile_seconds == 0.0 and "compile" not in str(warm)
    told = []
    cold = solve(lambda done, total: (told.append(done), pretend_to_compile()))
    assert cold.compile_seconds >= COMPILING * len(told) > 0.0 and cold.seconds < 0.5 * COMPILING
    assert "besides, kernels took" in str(cold)
    assert cold[0].compile_seconds == 0.0  # a row is timed alone
    assert cold[:2].compile_seconds == cold.compile_seconds
