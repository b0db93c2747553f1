"""All ways to solve take the same arguments in the same order, and the same methods."""

import inspect

import numpy as np
import pytest

import memetik as mk

WAYS = (mk.solve, mk.solve_all, mk.track, mk.solve_batch)
KEYWORD = inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_the_common_order(way):
    parameters = inspect.signature(way).parameters.values()
    first = [each.name for each in parameters if each.kind is not KEYWORD]
    then = [each.name for each in parameters if each.kind is KEYWORD]
    many = way in (mk.track, mk.solve_batch)
    assert first == ["problem", *(["targets"] if many else []), "starts" if way is mk.solve_batch else "start"]
    assert then[:3] == ["method", "budget", "seed"]
    defaults = {each.name: each.default for each in parameters}
    assert defaults["method"] == "memetic" and defaults["seed"] == 0


@pytest.fixture(scope="module")
def ur5():
    body = mk.load("ur5")
    pose = mk.Pose("tool0", body.forward(body.vector({"elbow_joint": 1.2, "wrist_2_joint": 1.0}))["tool0"])
    return body, pose, mk.Problem(body, pose)


@pytest.mark.parametrize("method", ["dls", "lbfgsb", "analytic"])
def test_a_batch_by_another_method_is_its_solves(ur5, method):
    body, pose, problem = ur5
    rng = np.random.default_rng(5)
    targets = np.array([body.forward(body.sample(rng))["tool0"] for _ in range(4)])
    starts = np.array([body.sample(rng) for _ in range(4)])
    batch = mk.solve_batch(problem, {pose: targets}, starts, method=method, seed=2)
    for k in range(4):
        alone = mk.Problem(body, mk.Pose("tool0", targets[k]))
        assert np.array_equal(batch.q[k], mk.solve(alone, starts[k], method=method, seed=2).q)
        assert batch[k].method == method and batch[k].success == batch.success[k]


def test_a_batch_by_another_method_is_refused_where_it_cannot_run(ur5):
    _, pose, problem = ur5
    targets = {pose: pose.target[None]}
    with pytest.raises(mk.errors.ProblemError, match="only methods 'memetic' and 'analytic' run on several threads"):
        mk.solve_batch(problem, targets, method="dls", threads=2)
    with pytest.raises(mk.errors.ProblemError, match="only methods 'memetic' and 'analytic' run on a graphics card"):
        mk.solve_batch(problem, targets, method="dls", device="cuda")
    assert mk.solve_batch(problem, targets, method="dls", threads=1, device="auto").success.all()


def test_memetic_as_a_solver_is_memetic_by_name(ur5):
    _, pose, problem = ur5
    named = mk.solve_batch(problem, {pose: pose.target[None]}, seed=7)
    given = mk.solve_batch(problem, {pose: pose.target[None]}, method=mk.solvers.Memetic(seed=7))
    assert np.array_equal(named.q, given.q)
    same = (mk.solve_all(problem, seed=7), mk.solve_all(problem, method=mk.solvers.Memetic(seed=7)))
    assert [each.q.tolist() for each in same[0]] == [each.q.tolist() for each in same[1]]


def test_all_solutions_by_other_methods(ur5):
    _, _, problem = ur5
    known = mk.solve_all(problem, count=16)
    found = mk.solve_all(problem, method="levenberg_marquardt", count=16, patience=60)
    assert len(found) == len(known) and all(found)
    for one in found:  # two that are as far from the start may come in either order
        assert min(np.abs(np.angle(np.exp(1j * (one.q - other.q)))).max() for other in known) < 0.05
    assert len({one.evaluations for one in found}) == 1 and found[0].evaluations <= 200_000
    assert found[0].attempts > len(found)
    distances = [np.linalg.norm(one.q - problem.body.home) for one in found]
    assert distances == sorted(distances)


def test_a_track_by_another_method_says_where_it_jumps():
    body = mk.build.planar_chain(2, limits=(-3.0, 3.0))
    reach = mk.Position("tip", (0.5, 0.5, 0.0))
    problem = mk.Problem(body, reach)

    class Flips:
        """Bends the elbow to the other side at every step."""

        side = 1.0

        def solve(self, problem, start=None, budget=None):
            self.side = -self.side
            return mk.solve(problem, (self.side * 0.8, -self.side * 1.6))

    path = np.array([[0.6, 0.1 * k, 0.0] for k in range(4)])
    flipped = mk.track(problem, {reach: path}, method=Flips(), jump=0.5)
    assert flipped.reached.all() and not flipped.success
    assert flipped.jumped.tolist() == [False, True, True, True]
    assert mk.track(problem, {reach: path}, method="dls").success
    assert np.array_equal(reach.target, (0.5, 0.5, 0.0))
