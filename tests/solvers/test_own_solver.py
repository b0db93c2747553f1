"""Solvers that users write: Solution.of verifies what they found, and every way to solve takes them."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import memetik as mk


@dataclass(frozen=True)
class Midway:
    """Looks at random postures and goes half of the way to the better one; good enough for a planar arm."""

    seed: int = 0

    def solve(self, problem, start=None, budget=mk.Budget()):  # noqa: B008 - a constant
        rng = np.random.default_rng(self.seed)
        best = mk.Solution.of(problem, problem.start(start), start=start, method="midway")
        spent = 1
        while spent < budget.evaluations and not best:
            q = (
                0.5 * (best.q + problem.body.sample(rng))
                if spent % 2
                else best.q + 0.05 * rng.standard_normal(best.q.size)
            )
            found = mk.Solution.of(problem, q, start=start, method="midway", evaluations=spent + 1)
            best, spent = min(found, best, key=lambda solution: solution.term_errors[0]), spent + 1
        return best


@pytest.fixture(scope="module")
def arm():
    body = mk.build.planar_chain(3)
    reach = mk.Position("tip", (0.4, 0.6, 0.0), tolerance=0.02)
    return mk.Problem(body, reach), reach


def test_a_vector_is_judged(arm):
    problem, reach = arm
    found = mk.solve(problem)
    judged = mk.Solution.of(problem, found.q, method="mine", evaluations=7, attempts=2, seconds=0.5)
    assert judged.status == mk.Status.REACHED and np.array_equal(judged.q, found.q)
    assert judged.errors == found.errors and judged.method == "mine"
    assert (judged.evaluations, judged.attempts, judged.seconds, judged.timed_out) == (7, 2, 0.5, False)
    off = mk.Solution.of(problem, problem.body.home)
    tip = problem.body.forward(problem.body.home)["tip"][:3, 3]
    assert off.status == mk.Status.CLOSEST
    assert off.errors[reach] == pytest.approx(np.linalg.norm(tip - reach.target), abs=1e-12)


def test_what_is_judged_keeps_limits_and_locks(arm):
    problem, reach = arm
    locked = mk.Problem(problem.body, reach, lock={"joint_2": 0.25}, limits={"joint_3": (-1.0, 1.0)})
    solution = mk.Solution.of(locked, [0.1, 0.9, 3.0])
    assert solution.q.tolist() == [0.1, 0.25, 1.0]


def test_whole_turns_go_towards_the_start():
    body = mk.build.planar_chain(2, limits=None)
    problem = mk.Problem(body, mk.Position("tip", (0.3, 0.4, 0.0)))
    found = mk.Solution.of(problem, [0.5 + 4.0 * math.pi, -0.5], start=[0.0, 2.0 * math.pi])
    assert found.q == pytest.approx([0.5, -0.5 + 2.0 * math.pi])


def test_displacement_is_measured_from_the_start():
    body = mk.build.planar_chain(2)
    calm = mk.Displacement(tolerance=10.0)
    problem = mk.Problem(body, [mk.Position("tip", (0.3, 0.4, 0.0)), calm])
    at_start = mk.Solution.of(problem, [0.5, 0.5], start=[0.5, 0.5])
    from_home = mk.Solution.of(problem, [0.5, 0.5])
    assert at_start.errors[calm] == 0.0 and from_home.errors[calm] > 0.1


@pytest.mark.parametrize("q", [[math.nan, 0.0, 0.0], [0.0, math.inf, 0.0]])
def test_no_number_is_invalid(arm, q):
    assert mk.Solution.of(arm[0], q).status == mk.Status.INVALID


@pytest.mark.parametrize("q", [[0.0, 0.0], "q", None, [[0.0] * 3], [1j, 0.0, 0.0]])
def test_no_vector_is_refused(arm, q):
    with pytest.raises(mk.errors.ProblemError, match=r"^q "):
        mk.Solution.of(arm[0], q)


def test_every_way_takes_an_own_solver(arm):
    problem, reach = arm
    solver = Midway(seed=3)
    single = mk.solve(problem, method=solver)
    assert single and single.method == "midway"
    every = mk.solve_all(problem, method=solver, count=3, patience=20)
    assert len(every) == 3 and all(every)
    points = np.array([[0.4, 0.6, 0.0], [0.42, 0.58, 0.0], [0.44, 0.56, 0.0]])
    followed = mk.track(problem, {reach: points}, method=solver, budget=mk.Budget())
    assert followed.reached.all() and followed.q.shape == (3, 3) and followed.evaluations >= 3
    batch = mk.solve_batch(problem, {reach: points}, method=solver)
    assert batch.success.all() and batch.method == batch[1].method == "midway"
    for k, point in enumerate(points):
        alone = mk.Problem(problem.body, mk.Position("tip", point, tolerance=0.02))
        assert np.array_equal(mk.solve(alone, method=solver).q, batch.q[k])
    assert np.array_equal(reach.target, (0.4, 0.6, 0.0))


class Returns:
    def __init__(self, value):
        self.value = value

    def solve(self, problem, start=None, budget=None):
        return self.value


@pytest.mark.parametrize("value", [None, [0.0, 0.0, 0.0], True])
@pytest.mark.parametrize("way", ["solve", "solve_all", "track", "solve_batch"])
def test_what_is_no_solution_is_told_so(arm, way, value):
    problem, reach = arm
    targets = ({reach: [[0.4, 0.6, 0.0]]},) if way in ("track", "solve_batch") else ()
    with pytest.raises(
        mk.errors.ProblemError, match=rf"returned a {type(value).__name__}\. .*mk\.Solution\.of\(problem, q"
    ):
        getattr(mk, way)(problem, *targets, method=Returns(value))


def test_a_solution_of_another_problem_is_told_so(arm):
    other = mk.Problem(arm[0].body, mk.Position("tip", (0.4, 0.6, 0.0)))
    with pytest.raises(mk.errors.ProblemError, match="a Solution of another problem"):
        mk.solve(arm[0], method=Returns(mk.solve(other)))


@pytest.mark.parametrize("method", [None, 3, Midway, np.zeros(3), {"solve": 1}])
@pytest.mark.parametrize("way", ["solve", "solve_all", "track", "solve_batch"])
def test_what_is_no_solver_is_told_so(arm, way, method):
    problem, reach = arm
    targets = ({reach: [[0.4, 0.6, 0.0]]},) if way in ("track", "solve_batch") else ()
    with pytest.raises(
        mk.errors.ProblemError, match=r"give a name from mk.methods\(\), or a solver such as mk.solvers.BioIK\(\)"
    ):
        getattr(mk, way)(problem, *targets, method=method)
