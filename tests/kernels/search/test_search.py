"""Selection, recombination and restarts: which joints are to blame, which posture is tried next."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from memetik import Body
from memetik.build import Joint, Link
from memetik.geometry import random_rotation
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS
from memetik.kernels.problem.evaluate import count_residuals
from memetik.kernels.problem.limits import sample
from memetik.kernels.problem.quick_error import quick_error
from memetik.kernels.runtime.random import seed_stream
from memetik.kernels.search.search import FRESH, SHARE, choose_limbs, draw, mark_unsatisfied_joints, rank, search
from memetik.kernels.search.search_record import Callees
from memetik.objectives import Direction, Displacement, LookAt, Orientation, Position
from memetik.problem import Problem
from memetik.solvers import Budget, solve
from memetik.solvers.memetic_plan import memetic_plan
from tests.kernels.flat import Flat

pytestmark = pytest.mark.quick


def two_arms():
    """A torso that turns and an arm of two joints on either side: variables torso, left 1 and 2, right 1 and 2."""
    links, joints = [Link("base"), Link("torso")], [Joint("torso", "continuous", "base", "torso")]
    for side, y in (("left", 0.2), ("right", -0.2)):
        below = "torso"
        for k in (1, 2):
            name = f"{side}{k}"
            links.append(Link(name))
            origin = np.eye(4)
            origin[:3, 3] = (0.0, y, 0.0) if k == 1 else (0.4, 0.0, 0.0)
            joints.append(Joint(name, "continuous", below, name, origin))
            below = name
    return Body("two arms", links, joints)


@pytest.fixture
def body():
    return two_arms()


@pytest.fixture
def tips(body):
    offset = (0.4, 0.0, 0.0)
    return body.frame("left2", offset), body.frame("right2", offset)


def at(body, tip, q):
    return (body.forward(q)[tip.link] @ tip.link_from_frame)[:3, 3]


class Search:
    """The two arms at a posture, the left tip `off` its target by some metres, the right tip likewise."""

    def __init__(self, body, tips, q, off=(0.0, 0.0), more=()):
        left, right = (Position(tip, at(body, tip, q) + np.array([0, 0, d])) for tip, d in zip(tips, off, strict=True))
        self.problem = Problem(body, [left, right, *more])
        self.flat = flat = Flat(self.problem)
        self.x = q.copy()
        self.failed, self.chosen = flat.scratch.failed, flat.scratch.chosen
        flat.measure(self.x)

    def mark_unsatisfied_joints(self):
        return mark_unsatisfied_joints(self.flat.problem, self.x, self.failed, self.chosen, self.flat.work)


Q = np.array([0.3, 0.5, -0.7, 0.2, 0.9])


def test_joints_of_a_missed_target_are_to_blame(body, tips):
    """The torso moves both tips: with the left one missed, the right arm and its target stay out of it."""
    case = Search(body, tips, Q, off=(0.5, 0.0))
    assert body.joint_names == ("torso", "left1", "left2", "right1", "right2")
    assert case.mark_unsatisfied_joints()
    assert_array_equal(case.chosen, [1, 1, 1, 0, 0])
    assert_array_equal(case.failed, [1, 0])
    assert not case.mark_unsatisfied_joints()  # nothing has changed since


def test_with_both_missed_all_are_to_blame(body, tips):
    case = Search(body, tips, Q, off=(0.5, 0.5))
    assert case.mark_unsatisfied_joints()
    assert_array_equal(case.chosen, 1)
    assert_array_equal(case.failed, [1, 1])


def test_a_satisfied_target_counts_if_only_blamed_joints_move_it(body, tips):
    """Drawing the torso again moves the elbow too, so its target must be watched although it is satisfied."""
    elbow = Direction("left1", body.forward(Q)["left1"][:3, 0], axis=(1, 0, 0))
    case = Search(body, tips, Q, off=(0.5, 0.0), more=[elbow])
    case.mark_unsatisfied_joints()
    assert_array_equal(case.failed, [1, 0, 1])


def test_guides_are_never_to_blame(body, tips):
    more = [Displacement(reference=np.full(5, 9.0)), Position("right2", (9, 9, 9), tolerance=None)]
    case = Search(body, tips, Q, off=(0.5, 0.0), more=more)
    case.mark_unsatisfied_joints()
    assert_array_equal(case.chosen, [1, 1, 1, 0, 0])
    assert_array_equal(case.failed, [1, 0, 0, 0])


def test_rank_scores_the_marked_terms(body, tips):
    case = Search(body, tips, Q, off=(0.5, 0.0))
    case.mark_unsatisfied_joints()
    flat, plan = case.flat, memetic_plan(case.flat.compiled)
    flat.scratch.used[[3, 5]] = 1
    rank(flat.problem, plan.population, flat.scratch, flat.work)
    assert_array_equal(np.flatnonzero(np.isinf(flat.scratch.score)), [3, 5])
    target = case.problem.objectives[0].target
    for k in (0, 7, 30):
        gap = at(body, tips[0], plan.population.genes[k]) - target
        assert flat.scratch.score[k] == pytest.approx(flat.terms["scale"][0] ** 2 * (gap @ gap), rel=1e-9)


def test_rank_by_its_fast_paths_is_the_quick_error(body, tips, rng):
    """Whole positions and orientations in the world have a path of their own; others go posture by posture."""
    left, right = tips
    wanted = [
        Position(left, rng.normal(size=3)),
        Orientation(left, random_rotation(rng)),
        Position(right, rng.normal(size=3), mask=(1, 0, 1)),
        Orientation(right, random_rotation(rng), relative_to=left),
        Direction(right, (0.0, 1.0, 0.5)),
        LookAt(left, rng.normal(size=3)),
        LookAt(left, rng.normal(size=3), relative_to=right),
    ]
    flat = Flat(Problem(body, wanted))
    plan = memetic_plan(flat.compiled)
    genes = plan.population.genes
    flat.scratch.failed[:] = 1
    rank(flat.problem, plan.population, flat.scratch, flat.work)
    for k in (0, 9, 30):
        flat.place(genes[k])
        looks = [quick_error(t, flat.data, flat.work.world, genes[k], flat.work.right) for t in flat.terms]
        assert flat.scratch.score[k] == pytest.approx(flat.terms["scale"] ** 2 @ looks, rel=1e-9)


def test_limbs_are_chosen_for_where_they_begin(body, tips):
    """Of all postures the left arm that comes nearest with the torso as it is; what is not to blame stays."""
    case = Search(body, tips, Q, off=(0.0, 0.0))
    flat, genes = case.flat, memetic_plan(case.flat.compiled).population.genes
    case.problem.objectives[0].target = at(body, tips[0], np.array([0.3, -2.0, 1.0, 0.0, 0.0]))
    flat.measure(case.x)
    case.mark_unsatisfied_joints()
    assert_array_equal(case.chosen, [1, 1, 1, 0, 0])
    choose_limbs(
        flat.problem, memetic_plan(flat.compiled).population, flat.scratch, case.x, flat.run(), flat.work
    )  # fmt: skip
    target = case.problem.objectives[0].target
    gaps = [np.linalg.norm(at(body, tips[0], np.r_[Q[0], arm, Q[3:]]) - target) for arm in genes[:, 1:3]]
    assert_array_equal(case.x, np.r_[Q[0], genes[np.argmin(gaps), 1:3], Q[3:]])
    assert flat.outcome[EVALUATIONS] == 1


def test_a_limb_that_gains_little_stays(body, tips):
    """The target is out of reach of every arm, and one is about as good as the other."""
    case = Search(body, tips, Q, off=(9.0, 0.0))
    case.mark_unsatisfied_joints()
    choose_limbs(
        case.flat.problem, memetic_plan(case.flat.compiled).population, case.flat.scratch, case.x, case.flat.run(),
        case.flat.work,
    )  # fmt: skip
    assert_array_equal(case.x, Q)


def test_the_population_lies_within_the_limits_and_its_poses_are_right(body, tips):
    problem = Problem(body, Position(tips[0], (0, 0, 0)), limits={"left1": (-0.3, 0.4)})
    flat, plan = Flat(problem), memetic_plan(problem.compiled)
    genes = plan.population.genes
    assert genes[:, 1].min() >= -0.3 and genes[:, 1].max() <= 0.4
    for k in range(0, len(genes), 10):
        flat.place(genes[k])
        assert_allclose(plan.population.frame_poses[:, :, k], flat.work.world, atol=1e-14)


def test_draw_takes_the_best_of_a_few_and_leaves_the_rest(body, tips):
    case = Search(body, tips, Q, off=(0.5, 0.0))
    case.mark_unsatisfied_joints()
    flat, state = case.flat, case.flat.state
    seed_stream(state, 1, 0)
    draw(flat.problem, case.x, flat.scratch, flat.run(1_000), flat.work)
    assert flat.outcome[EVALUATIONS] == FRESH
    assert_array_equal(case.x[3:], Q[3:])
    assert (case.x[:3] != Q[:3]).all() and (np.abs(case.x[:3]) <= math.pi).all()
    flat.place(case.x)
    chosen = quick_error(flat.terms[0], flat.data, flat.work.world, case.x, flat.work.right)
    seed_stream(state, 1, 0)
    looks = []
    for _ in range(FRESH):
        trial = Q.copy()
        one_at_a_time(flat, case, state, trial)
        flat.place(trial)
        looks.append(quick_error(flat.terms[0], flat.data, flat.work.world, trial, flat.work.right))
    assert chosen == pytest.approx(min(looks))


def one_at_a_time(flat, case, state, trial):
    for k in np.flatnonzero(case.chosen):
        trial[k] = sample(flat.variables[k], state)


@pytest.mark.parametrize(("most", "drawn"), [(3, 2), (1, 0), (100, FRESH)])
def test_draw_leaves_one_evaluation_for_the_attempt(body, tips, most, drawn):
    case = Search(body, tips, Q, off=(0.5, 0.0))
    case.mark_unsatisfied_joints()
    flat = case.flat
    draw(flat.problem, case.x, flat.scratch, flat.run(most), flat.work)
    assert flat.outcome[EVALUATIONS] == drawn
    assert (case.x != Q).any() == (drawn > 0)


def test_count_residuals(body, tips):
    more = [Displacement(), Direction("left1", (1, 0, 0))]
    assert count_residuals(Search(body, tips, Q, more=more).flat.terms) == 9
    only_springs = Problem(body, Displacement(reference=Q))
    assert count_residuals(only_springs.compiled.terms) == 0


def run_search(case, most, goes_on=True):
    flat, plan = case.flat, memetic_plan(case.flat.compiled)
    for flags in flat.scratch[1:]:
        flags[:] = 1
    flat.scratch.resumed[:] = 0
    flat.outcome[ERROR] = math.inf
    flat.work.x[:] = case.x
    plan.complete()
    callees = Callees(plan.attempt, int(plan.addresses[0]["next_start"]) if goes_on else 0)
    ended = search(flat.problem, plan.population, flat.scratch, callees, flat.run(most), flat.work)
    assert ended == goes_on
    case.x[:] = flat.work.x
    return flat.scratch.used


def test_search_exploits_a_share_of_the_population_once_and_then_draws(body, tips):
    """A target out of reach is never satisfied, so every way of going on is taken."""
    case = Search(body, tips, Q, off=(5.0, 0.0))
    used = run_search(case, 1200)
    flat, people = case.flat, used.size
    assert used.sum() == people // SHARE
    assert flat.outcome[ATTEMPTS] > people // SHARE + 2
    assert flat.outcome[EVALUATIONS] == 1200
    assert_array_equal(case.x, flat.work.best)
    assert flat.measure(case.x)[1] == pytest.approx(flat.outcome[ERROR], rel=1e-12)


def test_search_ends_with_success(body, tips):
    case = Search(body, tips, Q)
    case.x = Q + 1.0
    run_search(case, 2000)
    assert case.flat.measure(case.x)[2]
    assert_allclose(at(body, tips[0], case.x), at(body, tips[0], Q), atol=1e-4)


def test_search_does_not_end_where_it_cannot_go_on(body, tips):
    case = Search(body, tips, Q, off=(5.0, 0.0))
    run_search(case, 1200, goes_on=False)
    assert case.flat.outcome[ATTEMPTS] == 1.0
    assert case.flat.outcome[EVALUATIONS] < 1200


@pytest.mark.parametrize("guides", [[], [Displacement(weight=0.01)]], ids=["contact_free", "guided"])
def test_a_first_solve_that_has_to_begin_again_gives_the_same_answer(body, tips, guides):
    """In a plan that knows where to go on from, and in one that does not yet."""
    targets = [
        Position(tip, at(body, tip, Q) + np.array([0, 0, far])) for tip, far in zip(tips, (5.0, 0.0), strict=True)
    ]
    problems = [Problem(body, [*targets, *guides]) for _ in range(2)]
    memetic_plan(problems[1].compiled).complete()
    first, second = (solve(problem, start=Q, budget=Budget(evaluations=400)) for problem in problems)
    assert first.attempts > 1
    assert_array_equal(first.q, second.q)
    assert (first.status, first.evaluations, first.attempts) == (second.status, second.evaluations, second.attempts)
