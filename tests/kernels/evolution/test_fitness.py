"""Fitness against its twin, and what the evolutionary methods share: populations, patience, the best that was seen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from memetik.kernels.compiler.function_pointers import address
from memetik.kernels.compiler.jit import jit
from memetik.kernels.evolution import evolve
from memetik.kernels.evolution import fitness as kernel
from memetik.kernels.evolution.evolve import populate
from memetik.kernels.evolution.fitness import appraise
from memetik.kernels.lbfgsb.minimiser import no_minimiser
from memetik.kernels.lbfgsb.search import Descents
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS
from memetik.kernels.problem.evaluate import term_error
from memetik.kernels.problem.losses import measured_loss
from memetik.kernels.runtime.cancel import cancel
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.terms.projection import PROJECTION
from memetik.objectives import Custom, Displacement, Ground, JointValue, Orientation, Pose, Position, Projection
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.naive import evolution as naive
from tests.naive.bodies import serial_arm

pytestmark = pytest.mark.quick


@pytest.fixture
def body():
    return serial_arm(4)


def new_run(flat, most=1000, seed=0):
    flat.outcome[:] = 0.0
    flat.outcome[ERROR] = math.inf
    return flat.run(most, seed=seed)


def weigh(flat, x, ease):
    flat.place(x)
    return kernel.weigh(flat.terms, flat.data, flat.work.world, x, ease, flat.work.residual)


def wishes(body, rng):
    """Some that can be missed, some that guide, one within its tolerance wherever the arm is."""
    pose = body.forward(body.sample(rng))["link4"]
    return [
        Pose("link4", pose, weight=2.0), Position("link2", (0.1, 0.2, 0.3), tolerance=9.0), Displacement(weight=0.5),
        JointValue("joint1", 0.3, weight=0.7), Orientation("link3", pose[:3, :3], tolerance=None),
        Projection("link4", Ground(), position_tolerance=None),
    ]  # fmt: skip


def test_fitness_agrees_with_its_twin(body, rng):
    flat = Flat(Problem(body, wishes(body, rng)))
    for ease in (1.0, 0.3, 0.0):
        x = flat.sample(rng)
        found, *verdict = weigh(flat, x, ease)
        losses, weights, eased = [], [], []
        t = 0
        while t < flat.terms.size:
            pair = flat.terms[t : t + (2 if flat.terms[t]["kind"] == PROJECTION.number else 1)]
            losses.append(np.mean([measured_loss(p, flat.data, flat.work.world, x, flat.work.residual) for p in pair]))
            weights.append(pair[0]["weight"])
            eased.append(all(p["soft"] or term_error(p, flat.data, x, flat.work.residual)[1] for p in pair))
            t += len(pair)
        assert found == pytest.approx(naive.fitness(losses, weights, eased, ease), rel=1e-12)
        assert verdict == pytest.approx(flat.measure(x)[1:], rel=1e-12)  # as all methods measure it
        assert eased.count(True) >= 3 and not all(eased)


def test_at_full_weight_it_is_equation_4_3(body, rng):
    flat = Flat(Problem(body, wishes(body, rng)))
    x = flat.sample(rng)
    found = weigh(flat, x, 1.0)[0]
    assert found == pytest.approx(flat.fitness(x), rel=1e-12)


def test_satisfied_is_only_what_could_be_missed(body, rng):
    q = body.sample(rng)
    reached = Position("link4", body.forward(q)["link4"][:3, 3])
    assert weigh(Flat(Problem(body, [reached, Displacement()])), q, 1.0)[2]
    assert not weigh(Flat(Problem(body, [reached, Displacement()])), q + 0.1, 1.0)[2]
    guide = Position("link4", body.forward(q)["link4"][:3, 3], tolerance=None)
    fitness, error, satisfied = weigh(Flat(Problem(body, guide)), q + 0.1, 1.0)
    assert not satisfied and error == fitness > 0.0


def test_what_is_not_a_number_is_as_bad_as_can_be(body):
    nowhere = Custom(lambda link: float("nan"), reads=["link4"], tolerance=1.0)
    flat = Flat(Problem(body, nowhere))
    assert weigh(flat, np.zeros(4), 1.0) == (math.inf, math.inf, False)
    appraise(flat.problem, new_run(flat), np.ones(4), 1.0, flat.work)
    assert flat.outcome[ERROR] == math.inf  # and is never the best


def test_an_appraisal_counts_remembers_and_ends(body, rng):
    q = body.sample(rng)
    flat = Flat(Problem(body, Position("link4", body.forward(q)["link4"][:3, 3])))
    run = new_run(flat, most=3)

    def judge(x):
        return appraise(flat.problem, run, x, 1.0, flat.work)

    far, near = judge(q + 0.5), judge(q + 0.1)
    assert far[0] > near[0] > 0.0 and not far[1] and not near[1]
    assert_array_equal(flat.work.best, q + 0.1)
    assert judge(q + 0.6)[1]  # the budget is spent
    assert flat.outcome[EVALUATIONS] == 3
    run = new_run(flat)
    assert judge(q)[1]  # it is satisfied
    judge(q + 1e-9)
    assert_array_equal(flat.work.best, q)
    cancel(flat.clock)
    assert judge(q + 0.6)[1]  # another thread cancelled it


def test_populations_are_drawn_within_the_limits_and_differ(body, rng):
    flat = Flat(Problem(body, Position("link4", (5.0, 0.0, 0.0)), limits={"joint2": (0.1, 0.2)}))
    run = new_run(flat, seed=3)
    flat.work.x[:] = x = flat.sample(rng)
    genes, fitness = np.empty((6, 4)), np.empty(6)
    assert not populate(flat.problem, run, genes, fitness, flat.work)
    first = genes.copy()
    assert_array_equal(first[0], x)
    assert (first >= flat.variables["lower"]).all() and (first <= flat.variables["upper"]).all()
    assert len(np.unique(first[:, 0])) == 6
    assert_array_equal(fitness, [weigh(flat, row, 1.0)[0] for row in first])
    # The next of the same search has another stream, and the start no more.
    assert not populate(flat.problem, run, genes, fitness, flat.work)
    assert not np.isin(genes, first).any()
    assert flat.outcome[ATTEMPTS] == 2 and flat.outcome[EVALUATIONS] == 12
    assert not populate(flat.problem, new_run(flat, seed=3), genes, fitness, flat.work)
    assert_array_equal(genes, first)
    assert populate(flat.problem, new_run(flat, most=4, seed=3), genes, fitness, flat.work)
    assert flat.outcome[EVALUATIONS] == 4


def test_patience():
    assert evolve.wait(0.5, math.inf, 7) == (0.5, 0)
    assert evolve.wait(0.49, 0.5, 3) == (0.5, 4)  # a twentieth is not gained
    assert evolve.wait(0.47, 0.5, 3) == (0.47, 0)
    assert evolve.wait(math.inf, math.inf, 3) == (math.inf, 4)


def test_whether_anything_can_be_missed(body):
    guide = Position("link4", (1.0, 0.0, 0.0), tolerance=None)
    assert Problem(body, [guide, Displacement()]).compiled.only_guides
    assert not Problem(body, [guide, Position("link3", (1.0, 0.0, 0.0))]).compiled.only_guides


@jit
def count_generations(problem, run, generation, best, ease, own, work):
    """A method that gains nothing and notes what it is told in the genes of the first individual."""
    evolution = evolve.read_evolution(own)
    evolution.genes[0, 0], evolution.genes[0, 1], evolution.genes[0, 2] = generation, best, ease
    evolution.fitness[0], evolution.fitness[1], evolution.fitness[2] = 0.5, 0.2, 0.2
    return run.outcome[ATTEMPTS] == 2.0 and generation == 3


@pytest.mark.parametrize("guides", [False, True])
def test_generations_until_patience_ends(body, guides):
    """The best is the first of equals. Where nothing can be missed, nothing fades and one population is enough."""
    wish = Position("link4", (9.0, 0.0, 0.0), tolerance=None if guides else 1e-3)
    flat = Flat(Problem(body, wish))
    own = allocate(
        evolve.EvolutionRecord, {**flat.compiled.sizes, "population": 3}, patience=4, blocks=not guides,
        breed=address(count_generations, evolve.BREED), by_spread=False, learn=0,
        descents=Descents(no_minimiser(), False, 0),
    )  # fmt: skip
    evolve.evolve(flat.problem, new_run(flat), table_of(own), flat.work)
    generation, best, ease = own.genes[0, :3]
    assert best == 1
    if guides:
        assert (generation, ease, flat.outcome[ATTEMPTS]) == (5, 1.0, 1)  # the first two gained something
    else:
        assert (generation, flat.outcome[ATTEMPTS]) == (3, 2) and ease == pytest.approx(0.9**4)
