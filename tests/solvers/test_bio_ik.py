"""Bio IK: every objective, the same answer every time, budgets and limits, and what its switches do."""

from __future__ import annotations

import dataclasses
import math
import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.errors import ProblemError
from memetik.kernels.bio_ik import search as kernel
from memetik.objectives import CenterJoints, Custom, Displacement, LookAt, Pose, Position
from memetik.problem import Problem
from memetik.solution import Status
from memetik.solvers import Budget, Memetic
from memetik.solvers.bio_ik import BioIK
from tests.conftest import COMPILED
from tests.naive.bodies import random_body, random_shape, serial_arm
from tests.stress import honesty
from tests.stress.batch import Postures, Setting
from tests.stress.wishes import FACTORIES
from tests.timing import overrun


def arm_problem(seed=0, count=8):
    """A panda and targets, every third one out of reach."""
    body = mk.load("panda")
    rng = np.random.default_rng(seed)
    targets = [body.forward(body.sample(rng))["panda_hand"].copy() for _ in range(count)]
    for target in targets[::3]:
        target[:3, 3] += 5.0
    objective = Pose("panda_hand", targets[0])
    return Problem(body, [objective]), objective, targets


def answers(problem, objective, targets, solver, evaluations=2000):
    """Bits of all answers."""
    found = []
    for target in targets:
        objective.target = target
        solution = solver.solve(problem, budget=Budget(evaluations=evaluations))
        found.append((solution.q.tobytes(), solution.status, solution.evaluations, solution.attempts))
    return found


def humanoid():
    """Valkyrie with poses of both palms and a gaze."""
    body = mk.load("valkyrie")
    poses = body.forward(body.sample(np.random.default_rng(0)))
    head = poses["head"]
    wanted = [Pose("rightPalm", poses["rightPalm"]), Pose("leftPalm", poses["leftPalm"]),
              LookAt("head", head[:3, 3] + head[:3, 0])]  # fmt: skip
    return Problem(body, wanted)


def hand_of_five():
    """The Shadow Hand with a position for each finger tip."""
    body = mk.load("shadow_hand")
    poses = body.forward(body.sample(np.random.default_rng(1)))
    tips = [name for name in body.links if name.endswith("tip")]
    return Problem(body, [Position(tip, poses[tip][:3, 3]) for tip in tips])


# ---- Every objective ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def setting():
    """A tree of eight joints with masses and round shapes, one of them locked and another narrowed."""
    rng = np.random.default_rng(2)
    body = random_body(rng, 8, ("revolute", "continuous", "prismatic"), mimics=0.2)
    links = [
        dataclasses.replace(link, shapes=(random_shape(rng, ("sphere", "capsule")),) if k % 3 else ())
        for k, link in enumerate(body.links.values())
    ]
    return Setting(mk.Body("tree", links, body.joints.values()), {"joint3": 0.1}, {"joint4": (-0.4, 0.4)})


@pytest.mark.parametrize("kind", FACTORIES, ids=lambda kind: kind.__name__)
def test_every_objective_is_satisfied_where_the_flagship_satisfies_it(kind, setting):
    """Beside a position, which the objective must not keep from being reached."""
    solved = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        wish = next(w for w in (FACTORIES[kind](setting, rng) for _ in range(50)) if w is not None)
        there = Postures(setting, setting.sample(rng, 1))
        if wish.targets is not None:
            setattr(wish.objective, wish.assign, wish.targets(rng, there)[0])
        reach = Position("link8", there.frame("link8")[0][:3, 3])
        problem = Problem(setting.body, [wish.objective, reach], lock=setting.lock, limits=setting.limits)
        start = setting.clamped(setting.sample(rng, 1))[:, 0]
        if Memetic().solve(problem, start).success:
            solution = BioIK().solve(problem, start)
            assert solution.success, solution
            assert (problem.lower <= solution.q).all()
            assert (solution.q <= problem.upper).all()
            solved += 1
    assert solved


def test_it_tells_the_truth_and_keeps_limits_and_budgets():
    _count, wrong, seen = honesty.run(300, method="bioik")
    assert wrong == []
    assert seen["REACHED"] > 50
    assert seen["CLOSEST"] > 50


def test_guides_alone_come_to_their_balance():
    body = serial_arm(4)
    problem = Problem(body, CenterJoints(), limits=dict.fromkeys(body.joint_names, (-1.0, 2.0)))
    solution = BioIK().solve(problem, np.full(4, -1.0))
    assert solution.success
    assert_allclose(solution.q, 0.5, atol=1e-3)
    assert solution.evaluations < 5000


def test_a_guide_shapes_the_solution_and_does_not_block_it():
    body = mk.load("panda")
    q = body.sample(np.random.default_rng(4))
    reach = Position("panda_hand", body.forward(q)["panda_hand"][:3, 3], tolerance=1e-5)
    plain = BioIK().solve(Problem(body, reach))
    calm = BioIK().solve(Problem(body, [reach, Displacement(weight=0.5)]))
    assert plain.success
    assert calm.success
    assert np.abs(calm.q - body.home).mean() < np.abs(plain.q - body.home).mean()


def test_what_is_never_a_number_is_said_to_be_invalid():
    body = serial_arm(3)
    problem = Problem(body, Custom(lambda a: a * math.nan, joints=["joint0"]))
    assert BioIK().solve(problem, budget=Budget(evaluations=500)).status == Status.INVALID


# ---- The same answer ----------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_bits_whatever_was_solved_before():
    first = answers(*arm_problem(), BioIK())
    problem, objective, targets = arm_problem()
    answers(problem, objective, arm_problem(seed=1)[2], BioIK(seed=3))
    assert answers(problem, objective, targets[::-1], BioIK())[::-1] == first
    assert {status for _, status, _, _ in first} == {Status.REACHED, Status.CLOSEST}
    assert answers(*arm_problem(), BioIK(seed=1)) != first


def bits(solution):
    return solution.q.tobytes(), solution.status, solution.evaluations, solution.attempts


@pytest.mark.parametrize("gradient", ["analytic", "ofkt", "differences"])
def test_the_ofkt_gives_the_same_bits(gradient):
    assert answers(*arm_problem(), BioIK(gradient=gradient)) == answers(
        *arm_problem(), BioIK(gradient=gradient, ofkt=True)
    )
    for problem in (humanoid(), hand_of_five()):
        for seed in range(3):
            plain, tree = (BioIK(seed=seed, gradient=gradient, ofkt=ofkt).solve(problem) for ofkt in (False, True))
            assert bits(plain) == bits(tree)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_give_the_same_bits(threads):
    """Whoever exploits an elite, also where several satisfy all, and where none ever does."""
    assert answers(*arm_problem(), BioIK(elites=4)) == answers(*arm_problem(), BioIK(elites=4, threads=threads))
    problem, rng = humanoid(), np.random.default_rng(5)
    ways = [BioIK(elites=4, steps=8, threads=n) for n in (1, threads)]
    for _ in range(10):
        start = problem.body.sample(rng)
        alone, together = (bits(way.solve(problem, start, Budget(evaluations=5_000))) for way in ways)
        assert alone == together
    alone, together = (way.evolve(problem, start, Budget(evaluations=5_000))[1] for way in ways)
    assert_array_equal(alone.genes, together.genes)
    assert_array_equal(alone.parents, together.parents)


def last_scratch(problem, solver):
    """The scratch of the last solve, which waits for the next one."""
    (scratch,) = problem.compiled.plans[solver].free
    return scratch


def ways_tried(problem, solver):
    """Evaluations that count, of elites exploited alone and together where there was a choice."""
    return last_scratch(problem, solver).shared.ways["evaluations"].tolist()


def test_threads_do_exploit_elites():
    """Both ways are tried, where kernels are compiled."""
    problem, objective, targets = arm_problem()
    objective.target = targets[0]  # out of reach
    solver = BioIK(elites=4, threads=2)
    solver.solve(problem, budget=Budget(evaluations=20_000))
    assert [evaluations > 100.0 for evaluations in ways_tried(problem, solver)] == [COMPILED, COMPILED]


def test_the_fittest_of_the_first_generation_goes_alone():
    """A search that ends with it calls nobody, and so takes no longer."""
    problem, solver = humanoid(), BioIK(elites=4, threads=2)
    rng, alone = np.random.default_rng(5), 0
    solver.solve(problem)
    for _ in range(5):
        before = ways_tried(problem, solver)
        solution = solver.solve(problem, problem.body.sample(rng))
        if solution.attempts == 1 and last_scratch(problem, solver).shared.reached[0] == 0:
            assert ways_tried(problem, solver) == before
            alone += 1
    assert alone > 2


def test_searches_of_several_threads_share_the_crew():
    """Two at once, each of which calls others: as one after the other."""
    seeds = range(6)

    def solve_all():
        problem, objective, targets = arm_problem()
        objective.target = targets[0]  # out of reach
        return [
            bits(BioIK(elites=4, threads=3, seed=seed).solve(problem, budget=Budget(evaluations=5_000)))
            for seed in seeds
        ]

    expected = solve_all()
    with ThreadPoolExecutor(2) as pool:
        found = [pool.submit(solve_all) for _ in range(2)]
        assert [future.result() for future in found] == [expected, expected]


@pytest.mark.only_if(hasattr(os, "fork"), "systems that fork")
def test_a_forked_process_starts_threads_of_its_own():
    problem, objective, targets = arm_problem()
    objective.target = targets[0]
    solver, budget = BioIK(elites=4, threads=2), Budget(evaluations=20_000)
    expected = bits(solver.solve(problem, budget=budget))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of threads, which is the point
        child = os.fork()
    if child == 0:
        same = bits(solver.solve(problem, budget=budget)) == expected
        engaged = any(thread.name.startswith("memetik elites") for thread in threading.enumerate())
        os._exit(0 if same and engaged == COMPILED else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_functions_of_users_run_in_one_thread():
    body = serial_arm(3)
    problem = Problem(body, Custom(lambda a: a - 0.3, joints=["joint0"], tolerance=1e-6))
    assert bits(BioIK(threads=2).solve(problem)) == bits(BioIK().solve(problem))


def test_the_mean_error_reaches_less_often():
    problem, objective, targets = arm_problem(count=60)
    rmse, mean = (answers(problem, objective, targets, BioIK(loss=loss), evaluations=4000) for loss in ("rmse", "mean"))
    solved = [sum(status == Status.REACHED for _, status, _, _ in found) for found in (rmse, mean)]
    assert 10 < solved[1] < solved[0] == 40


@pytest.mark.parametrize("gradient", ["analytic", "ofkt", "differences"])
def test_all_gradients_reach(gradient):
    problem, objective, targets = arm_problem()
    found = answers(problem, objective, targets, BioIK(gradient=gradient), evaluations=20_000)
    assert [status == Status.REACHED for _, status, _, _ in found] == [k % 3 != 0 for k in range(len(targets))]


# ---- Budgets ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("evaluations", [1, 2, 50, 81, 90, 100, 150, 333])
def test_the_budget_is_kept_and_used(evaluations):
    problem, objective, targets = arm_problem()
    objective.target = targets[0]  # out of reach
    for gradient in ("analytic", "ofkt"):
        solution = BioIK(gradient=gradient).solve(problem, budget=Budget(evaluations=evaluations))
        assert solution.status == Status.CLOSEST
        assert evaluations - 9 <= solution.evaluations <= evaluations


@pytest.mark.timed
def test_deadlines_are_kept():
    problem, objective, targets = arm_problem()
    objective.target = targets[0]
    BioIK().solve(problem, budget=Budget(evaluations=1000))  # compiled, or loaded, before the clock runs
    budget = Budget(evaluations=10**9, seconds=0.005)
    assert overrun(lambda: BioIK().solve(problem, budget=budget), budget.seconds) < 1e-3


@pytest.mark.quick
@pytest.mark.parametrize("ofkt", [False, True])
def test_a_short_search_keeps_its_budget_and_what_it_found(ofkt):
    target = np.array([0.3, 0.6, 0.0])
    problem = Problem(mk.build.planar_chain(3), Position("tip", target, tolerance=1e-15))
    start = np.array([0.3, -0.4, 0.2])
    solver = BioIK(population=6, elites=2, steps=4, ofkt=ofkt)
    solution = solver.solve(problem, start, Budget(evaluations=150))
    assert solution.evaluations <= 150 and solution.attempts > 2
    assert solution.term_errors[0] < 0.1 * math.dist(problem.body.forward(start)["tip"][:3, 3], target)


def test_a_start_that_satisfies_all_is_the_answer():
    problem, objective, _ = arm_problem()
    q = problem.body.sample(np.random.default_rng(3))
    objective.target = problem.body.forward(q)["panda_hand"]
    solution = BioIK().solve(problem, q)
    assert_array_equal(solution.q, q)
    assert (solution.evaluations, solution.attempts) == (1, 0)


def test_out_of_reach_it_comes_close():
    """Nearly as the flagship, which minimises the distance alone; eq. 4.4 also likes to be far from the root."""
    body = mk.load("ur5")
    problem = Problem(body, Position("tool0", (3.0, 0.5, 0.2)))
    gaps = [float(solver.solve(problem).errors[problem.objectives[0]]) for solver in (BioIK(), Memetic())]
    assert gaps[1] <= gaps[0] < gaps[1] + 0.005


# ---- Parameters ---------------------------------------------------------------------------------------------


def test_sizes_follow_the_degrees_of_freedom_and_the_objectives():
    """Near those of Table 5.4: 90 and 2 for one wrist of ten joints, 130 and 3 for both and the head."""
    body = mk.load("valkyrie")
    wrist = Problem(body, Pose("rightPalm", np.eye(4)))
    assert BioIK().sizes(wrist.compiled) == (91, 2)
    assert BioIK().sizes(humanoid().compiled) == (126, 3)
    assert BioIK(population=40, elites=7).sizes(wrist.compiled) == (40, 7)
    assert BioIK(population=2).sizes(wrist.compiled) == (2, 2)


@pytest.mark.parametrize("changed", [{"population": 1}, {"elites": 0}, {"steps": 0}, {"threads": 0}, {"loss": "square"},
                                     {"gradient": "numeric"}, {"population": 5, "elites": 6}])  # fmt: skip
def test_nonsense_is_refused(changed):
    with pytest.raises(ProblemError, match="BioIK"):
        BioIK(**changed)


@pytest.mark.parametrize("phase", ["adoption", "weight_interpolation", "momentum", "niching", "exploitation"])
def test_each_phase_can_be_left_out(phase):
    """Another search then, from the first generation on."""
    problem, objective, targets = arm_problem()
    objective.target = targets[0]  # out of reach
    full, without = (
        BioIK(**changed).evolve(problem, budget=Budget(evaluations=1000))[1] for changed in ({}, {phase: False})
    )
    first, second = full.genes[full.generation <= 2], without.genes[without.generation <= 2]
    assert first.shape == second.shape
    assert (first != second).any()


def test_all_is_drawn_anew_when_the_solution_stands_for_long():
    """Elites that end where others have do not keep a search in its minimum."""
    problem, objective, targets = arm_problem()
    objective.target = targets[0]  # out of reach
    solver = BioIK(weight_interpolation=False)
    _, history = solver.evolve(problem, budget=Budget(evaluations=20_000))
    best, stood, longest, drawn = math.inf, 0, 0, 0
    for generation in range(history.generations):
        rows = history.rows(generation)
        anew = history.parents[rows[0], 0] < 0
        fittest = history.fitness[rows].min()
        stood = 0 if anew or fittest < (1.0 - kernel.STANDING) * best else stood + 1
        best, longest, drawn = min(best, fittest), max(longest, stood), drawn + anew
    assert longest == solver.patience == 4 and drawn > 5


def test_when_all_are_stuck_the_population_is_drawn_anew_around_the_solution():
    """Eq. 4.23: generations without elites; the first individual is the best there was."""
    problem, objective, targets = arm_problem()
    objective.target = targets[0]
    for wipe_out in (True, False):
        _, history = BioIK(wipe_out=wipe_out).evolve(problem, budget=Budget(evaluations=4000))
        anew = [g for g in range(1, history.generations) if not history.elite[history.generation == g].any()]
        assert bool(anew) == wipe_out
        for generation in anew:
            first = np.flatnonzero(history.generation == generation)[0]
            assert history.fitness[first] == history.fitness[:first].min()


def test_small_populations_and_all_elites():
    problem, objective, targets = arm_problem()
    objective.target = targets[1]
    for population, elites in ((2, 1), (2, 2), (3, 3), (10, 9)):
        assert BioIK(population=population, elites=elites).solve(problem).success


# ---- History ------------------------------------------------------------------------------------------------


def test_history_tells_how_the_solution_came_to_be():
    problem = humanoid()
    solver = BioIK(steps=5, elites=3)
    solution, history = solver.evolve(problem)
    assert_array_equal(solution.q, solver.solve(problem).q)
    assert history.generations == solution.attempts + 1
    size = solver.sizes(problem.compiled)[0]
    counts = np.bincount(history.generation)
    assert (counts[:-1] == size).all()
    assert (history.elite.nonzero()[0] % size < 3).all()
    assert_array_equal(history.genes[0], problem.body.home[problem.compiled.active])
    inside = (history.lower <= history.genes) & (history.genes <= history.upper)
    assert inside.all()
    born = history.parents[:, 0] >= 0
    assert (history.generation[history.parents[born]] == history.generation[born, None] - 1).all()
    elites = history.elite & born
    assert (history.fitness[elites] <= history.fitness[history.parents[elites, 0]]).all()
    assert len(history) == len(history.fitness)


def test_niches_are_where_the_elites_are():
    _, history = BioIK(steps=3, elites=4).evolve(humanoid())
    niche = history.niches()
    assert (niche[history.generation == 0] == -1).all()
    assert 2 <= niche.max() + 1 <= 4
    alone = BioIK(steps=3, elites=1).evolve(humanoid())[1].niches()
    assert set(alone) == {-1, 0}
    assert history.niches(apart=2.0).max() == 0


def test_families_come_to_the_founders_alive_in_the_end():
    problem = humanoid()
    _, history = BioIK(steps=3, elites=4).evolve(problem, budget=Budget(evaluations=2000))
    founders, family = history.founders(), history.families()
    assert 2 <= len(founders) <= 4
    assert history.elite[founders].all()
    assert len(set(history.generation[founders])) == 1
    assert (np.diff(history.fitness[founders]) >= 0.0).all()
    assert_array_equal(family[founders], np.arange(len(founders)))
    rows = history.rows(history.last_whole)
    assert len(rows) == BioIK(steps=3, elites=4).sizes(problem.compiled)[0]
    postures = history.postures(rows)
    assert_array_equal(postures[:, problem.compiled.active], history.genes[rows])
    still = np.setdiff1d(np.arange(len(problem.body.joint_names)), problem.compiled.active)
    assert_array_equal(postures[:, still], np.tile(problem.body.home[still], (len(rows), 1)))


def test_without_elites_there_are_no_founders():
    problem, _, _ = arm_problem()
    _, history = BioIK().evolve(problem, budget=Budget(evaluations=20))
    assert len(history.founders()) == 0
    assert set(history.families()) == {-1}


def test_as_published_exploits_for_as_long_as_it_breeds(rng):
    body = mk.load("ur5")
    target = body.forward(body.sample(rng), "tool0")
    problem = mk.Problem(body, mk.Pose("tool0", target, position_tolerance=1e-4, orientation_tolerance=1e-3))
    solver = BioIK.as_published(problem, seed=3)
    psi, kappa = solver.sizes(problem.compiled)
    assert solver.steps == round((psi - kappa) * 13 / 43) and solver.gradient == "ofkt" and solver.patience == 0
    assert not (
        solver.yielding or solver.strides or solver.whole_turns or solver.early_stop or solver.smooth_projection
    )
    assert solver.solve(problem).success
    other = BioIK.as_published(problem, population=44, elites=2, gradient="analytic")
    assert (other.steps, other.gradient) == (13, "analytic")
    with pytest.raises(mk.errors.ProblemError, match="is not a problem"):
        BioIK.as_published("ur5")
    with pytest.raises(mk.errors.UnknownNameError, match="no parameter named 'elite'"):
        BioIK.as_published(problem, elite=3)


def test_as_published_all_is_drawn_anew_by_equation_4_23_alone():
    """Exactly where no elite is fitter than before and the solution was not replaced: no threshold, no patience."""
    problem, objective, targets = arm_problem()
    objective.target = targets[0]  # out of reach
    solver = BioIK.as_published(problem, weight_interpolation=False, elites=1)
    _, history = solver.evolve(problem, budget=Budget(generations=120))
    best, before, drawn = math.inf, None, 0
    for generation in range(history.generations):
        rows = history.rows(generation)
        anew = history.parents[rows[0], 0] < 0
        assert anew == (generation == 0 or (before is not None and before))
        fitness, drawn = history.fitness[rows], drawn + anew
        stuck = not anew and fitness.min() >= best
        elites = rows[history.elite[rows]]
        stuck = stuck and (history.fitness[elites] >= history.fitness[history.parents[elites, 0]]).all()
        best, before = min(best, fitness.min()), stuck
    assert drawn > 1


def test_without_strides_all_genes_go_by_one():
    problem = hand_of_five()
    for strides in (True, False):
        solver = BioIK(strides=strides)
        solver.solve(problem, budget=Budget(generations=1))
        stride = problem.compiled.plans[solver].lease(None).shared.stride
        assert (stride >= 1.0).all() and (stride > 1.0).any() == strides


def test_without_an_early_stop_elites_get_all_their_steps():
    problem, objective, targets = arm_problem()
    objective.target = targets[0]  # out of reach: little is gained
    spent = [
        BioIK(early_stop=early, steps=40).solve(problem, budget=Budget(generations=2)).evaluations
        for early in (True, False)
    ]
    assert spent[0] < spent[1]


def test_a_projection_is_not_caught_where_one_of_its_losses_is_zero():
    """Two feet are raised onto a slope: with the mean of eq. 4.11 they turn with it first, and stay below."""
    body = mk.load("kyle", base="floating")
    soles = [body.frame(f"{side}_midfoot", offset=(0.03, 0.0, -0.095)) for side in ("left", "right")]
    slope = mk.objectives.Ground((9.0, 0.0, 0.04), (0.1, 0.1, 1.0))
    start = body.home.copy()
    start[0] = 9.0  # far from the origin, where the loss of a position weighs little (lambda of eq. 4.4)
    low = min(body.forward(start, sole)[2, 3] for sole in soles)
    start[2] -= low
    feet = [mk.Projection(sole, slope, lift=0.5, length=0.5, on_miss=body.forward(start, sole)) for sole in soles]
    problem = mk.Problem(body, feet)
    found = [
        BioIK(smooth_projection=smooth).solve(problem, start, Budget(evaluations=1000)) for smooth in (True, False)
    ]
    assert found[0].success and found[0].evaluations < 400
    off = max(found[1].errors[foot].position for foot in feet)
    assert not found[1].success and off > 1e-3 and max(found[1].errors[foot].orientation for foot in feet) < 1e-6


def test_joints_that_turn_freely_meet_no_limits():
    """On an arm whose joints turn twice; the answer is within them, and other arms see no difference."""
    found = {}
    for name, tip in (("ur5", "tool0"), ("panda", "panda_hand")):
        body = mk.load(name)
        pose = Pose(tip, np.eye(4), position_tolerance=1e-5, orientation_tolerance=1e-5)
        problem = Problem(body, pose)
        for turns in (True, False):
            rng, evaluations = np.random.default_rng(5), []
            for _ in range(30):
                pose.target = body.forward(body.sample(rng), tip)
                solution = BioIK(whole_turns=turns).solve(problem, body.sample(rng))
                assert solution.success
                assert (body.lower <= solution.q).all() and (solution.q <= body.upper).all()
                evaluations.append(solution.evaluations)
            found[name, turns] = np.mean(evaluations)
    assert found["ur5", True] < 0.9 * found["ur5", False]
    assert found["panda", True] == found["panda", False]


def test_a_budget_of_generations_is_kept_to_the_last():
    problem, objective, targets = arm_problem()
    objective.target = targets[0]  # out of reach
    for generations in (1, 2, 7, 30):
        solver = BioIK(population=20, elites=2, seed=generations)
        solution, history = solver.evolve(problem, budget=Budget(generations=generations))
        drawn = sum(history.parents[history.rows(g)[0], 0] < 0 for g in range(history.generations))
        assert solution.attempts == generations == history.generations - drawn
        again = solver.solve(problem, budget=Budget(generations=generations))
        assert (again.q == solution.q).all() and again.evaluations == solution.evaluations and not again.timed_out
    assert solver.solve(problem, budget=Budget(generations=30, evaluations=100)).evaluations <= 100
    assert solver.solve(problem, budget=Budget(evaluations=20_000)).attempts > 30  # the limit does not stay


def test_generations_are_shared_by_the_search_with_guides_and_the_one_without(rng):
    body = mk.load("panda")
    pose = Pose("panda_hand", body.forward(body.sample(rng), "panda_hand"))
    problem = Problem(body, [pose, Displacement(weight=0.01)])
    assert problem.compiled.displacement_only
    for generations in (1, 2, 5):
        assert BioIK().solve(problem, budget=Budget(generations=generations)).attempts <= generations


def test_without_yielding_a_heavy_guide_holds_the_others_back(rng):
    body = mk.build.planar_chain(3)
    reach = mk.Position("tip", body.forward(body.sample(rng), "tip")[:3, 3], tolerance=1e-4)
    problem = mk.Problem(body, [reach, mk.Displacement(weight=0.5)])
    assert problem.compiled.displacement_only
    solutions = [BioIK(yielding=yielding).solve(problem) for yielding in (True, False)]
    scratches = [problem.compiled.plans[BioIK(yielding=yielding)].lease(None) for yielding in (True, False)]
    assert scratches[0].shared.yields.any() and not scratches[1].shared.yields.any()
    assert solutions[0].success and not solutions[1].success  # the guide holds the tip back, as in the thesis
