"""One problem, many threads: every answer is, bit for bit, what one thread alone would have got."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import memetik as mk
from tests.conftest import COMPILED

THREADS = 8
SOLVES = 12 if COMPILED else 1  # by each thread
BUDGET = mk.Budget(evaluations=300)


def methods():
    """All but those that train for minutes or need another package; a portfolio runs in threads of its own as well."""
    return [method.name for method in mk.methods() if method.name not in ("learned", "analytic")]


@pytest.fixture(scope="module")
def body():
    return mk.load("panda")


def poses(body, count):
    rng = np.random.default_rng(11)
    return [body.forward(body.sample(rng))["panda_hand"] for _ in range(count)]


def together(work):
    """What `work(k)` returns in each thread; all begin at once."""
    ready = threading.Barrier(THREADS)

    def run(k):
        ready.wait()
        return work(k)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def bits(solution):
    return solution.q.tobytes(), int(solution.status), solution.evaluations, solution.term_errors.tobytes()


@pytest.mark.parametrize("method", methods())
def test_every_method_from_many_starts(method, body):
    objectives = [mk.Pose("panda_hand", poses(body, 1)[0])]
    if method not in ("ccd", "fabrik"):
        objectives.append(mk.Displacement(weight=0.01))  # it writes where the solve began into the problem's data
    problem, solver = mk.Problem(body, objectives), mk.solver(method)
    rng = np.random.default_rng(3)
    starts = [[body.sample(rng) for _ in range(SOLVES)] for _ in range(THREADS)]
    expected = [[bits(solver.solve(problem, start, BUDGET)) for start in mine] for mine in starts]
    found = together(lambda k: [bits(solver.solve(problem, start, BUDGET)) for start in starts[k]])
    assert found == expected


@pytest.mark.parametrize("method", ["memetic", "bioik", "dls", "lbfgsb", "ccd"])
def test_a_target_that_is_set_meanwhile_is_seen_whole_or_not_at_all(method, body):
    pose = mk.Pose("panda_hand", np.eye(4))
    problem, solver, targets = mk.Problem(body, pose), mk.solver(method), poses(body, 2)
    known = set()
    for target in targets:
        pose.target = target
        known.add(bits(solver.solve(problem, None, BUDGET)))
    solving = threading.Event()

    def set_targets():
        while not solving.is_set():
            for target in targets:
                pose.target = target

    setter = threading.Thread(target=set_targets)
    setter.start()
    try:
        found = together(lambda k: [bits(solver.solve(problem, None, BUDGET)) for _ in range(SOLVES)])
    finally:
        solving.set()
        setter.join()
    assert {answer for mine in found for answer in mine} <= known


def test_paths_all_solutions_batches_and_judgements(body):
    pose = mk.Pose("panda_hand", poses(body, 1)[0])
    problem = mk.Problem(body, [pose, mk.Displacement(weight=0.01)])
    path = np.array(poses(body, 4))
    q = body.sample(np.random.default_rng(1))

    def work(k):
        match k % 4:
            case 0:
                return mk.track(problem, {pose: path}, budget=BUDGET).q.tobytes()
            case 1:
                return [bits(solution) for solution in mk.solve_all(problem, count=3, budget=BUDGET)]
            case 2:
                return mk.solve_batch(problem, {pose: path}, budget=BUDGET, threads=2).q.tobytes()
            case _:
                return bits(mk.Solution.of(problem, q, start=q))

    expected = [work(k) for k in range(THREADS)]
    assert together(work) == expected


def test_what_a_function_raises_reaches_the_thread_that_called_it(body):
    """A function of the user's that fails for one thread must not end the solves of others."""
    limits = threading.local()

    def careful(value):
        if getattr(limits, "fails", False):
            raise ValueError("not today")
        return value - 0.1

    with pytest.warns(mk.MemetikWarning, match="cannot compile"):
        problem = mk.Problem(body, mk.FunctionalRelation("panda_joint1", careful, sources=["panda_joint2"]))

    def work(k):
        limits.fails = k % 2 == 1
        try:
            mk.solve(problem, budget=BUDGET)
        except mk.errors.ProblemError as error:
            return "not today" in str(error)
        return None

    assert together(work) == [None, True] * (THREADS // 2)


@pytest.mark.timed
@pytest.mark.only_if(COMPILED, "compiled kernels")
@pytest.mark.parametrize("way", ["solve", "bind", "solve_all", "track", "contacts"])
def test_other_threads_run_while_one_solves(way, body):
    """This thread computes at the same time, also on a processor that they share; it waits as long as a search holds the GIL."""
    pose = mk.Pose("panda_hand", mk.translation(9.0, 0.0, 0.0))
    problem = mk.Problem(body, [pose, *([mk.SelfDistance(body)] if way == "contacts" else [])])
    budget, path = mk.Budget(evaluations=100_000), np.tile(pose.target, (2000, 1, 1))
    step = mk.bind(problem, pose, budget=budget)
    work = {
        "solve": lambda: mk.solve(problem, budget=budget),
        "contacts": lambda: mk.solve(problem, budget=budget),
        "bind": lambda: step(pose.target),
        "solve_all": lambda: mk.solve_all(problem, budget=budget, patience=10**6),
        "track": lambda: mk.track(problem, {pose: path}, budget=budget),
    }[way]
    work()  # compiled
    ended = []

    def run():
        begin = time.thread_time()
        while time.thread_time() - begin < 0.4:
            work()
        ended.append(time.thread_time() - begin)

    thread = threading.Thread(target=run)
    begin = time.thread_time()
    thread.start()
    while not ended:
        sum(range(100))
    here = time.thread_time() - begin
    thread.join()
    assert here > 0.5 * ended[0]
