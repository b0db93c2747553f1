"""The phases of Bio IK against their twins, on the same random numbers; then whole generations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.bio_ik import reproduce
from memetik.kernels.bio_ik.select import niche, select, select_elites, sort_by_fitness
from memetik.kernels.bio_ik.weights import YIELDING, given_weights, interpolate_weights, let_yield
from memetik.kernels.runtime.random import seed_stream
from memetik.objectives import Cone, Displacement, Pose, Position
from memetik.problem import Problem
from memetik.solvers import Budget
from memetik.solvers.bio_ik import BioIK
from tests.kernels.bio_ik.evolution import Evolution
from tests.kernels.flat import variables_of
from tests.naive import bio_ik as naive
from tests.naive import kinematics, losses
from tests.naive.bodies import serial_arm

pytestmark = pytest.mark.quick

SEEDS = st.integers(0, 2**32)


def stream(seed):
    """The same stream of random numbers for a kernel and for its twin."""
    state = np.zeros(1, dtype=np.uint64)
    seed_stream(state, seed, 3)
    return state, naive.Stream(seed, 3)


def people(rng, count, n=5):
    """Individuals with genes, momentum, fitness and extinction, and limits for them."""
    made = [naive.Individual(rng.uniform(-2, 2, n), rng.normal(size=n), fitness=rng.uniform(), extinction=rng.uniform())
            for _ in range(count)]  # fmt: skip
    limits = np.array([rng.uniform(-3, -1, n), rng.uniform(1, 3, n)])
    return made, limits


@given(SEEDS, st.integers(1, 40))
def test_select_follows_the_table_of_equation_4_14(seed, size):
    state, draw = stream(seed)
    assert [select(size, state) for _ in range(20)] == [naive.select(size, draw) for _ in range(20)]


def test_select_reaches_every_rank_as_often_as_it_should():
    state, _ = stream(1)
    counts = np.bincount([select(4, state) for _ in range(4000)], minlength=4)
    assert_allclose(counts / 4000, [0.4, 0.3, 0.2, 0.1], atol=0.03)
    state[0] = 0
    assert 0 <= select(3, state) < 3


@given(SEEDS, st.integers(2, 30))
def test_elites_are_the_fittest_and_others_by_rank(seed, size):
    state, draw = stream(seed)
    order = np.random.default_rng(seed).permutation(size)
    count = 1 + seed % size
    elites = np.zeros(count, dtype=np.int64)
    select_elites(order, np.zeros(size, dtype=np.int64), state, elites)
    assert_array_equal(elites, naive.select_elites(list(order), count, draw))
    assert len(set(elites)) == count
    assert elites[0] == order[0]


@given(SEEDS)
def test_sorting_is_stable(seed):
    rng = np.random.default_rng(seed)
    fitness = rng.choice([0.1, 0.5, 0.7, math.inf], 20)
    order = np.arange(20)
    sort_by_fitness(fitness, order)
    assert_array_equal(order, np.argsort(fitness, kind="stable"))


@given(SEEDS)
def test_initialise_follows_equations_4_12_and_4_13(seed):
    state, draw = stream(seed)
    _, limits = people(np.random.default_rng(seed), 0)
    x, g = np.full(5, 9.0), np.full(5, 9.0)
    reproduce.initialise(variables_of(*limits), state, x, g)
    twin = naive.random_individual(*limits, draw)
    assert_allclose(x, twin.x, rtol=1e-15, atol=1e-15)  # product and sum may be rounded once
    assert_array_equal(g, 0.0)


@given(SEEDS)
def test_recombine_follows_equation_4_16(seed):
    state, draw = stream(seed)
    (first, second), _ = people(np.random.default_rng(seed), 2)
    x, g = np.zeros(5), np.zeros(5)
    reproduce.recombine(first.x, second.x, first.g, second.g, True, state, x, g)
    twin = naive.recombine(first, second, draw)
    assert_allclose(x, twin.x, atol=1e-14)
    assert_allclose(g, twin.g, atol=1e-14)


def test_recombine_without_momentum_stays_between_the_parents():
    state, _ = stream(5)
    (first, second), _ = people(np.random.default_rng(5), 2)
    x, g = np.zeros(5), np.ones(5)
    reproduce.recombine(first.x, second.x, first.g, second.g, False, state, x, g)
    assert ((np.minimum(first.x, second.x) <= x) & (x <= np.maximum(first.x, second.x))).all()
    assert_array_equal(g, 0.0)


@given(SEEDS)
def test_extinction_follows_equation_4_17(seed):
    fitness = np.random.default_rng(seed).uniform(0.1, 2.0, 12)
    order, extinction = np.argsort(fitness), np.zeros(12)
    reproduce.extinguish(order, fitness, extinction)
    assert_allclose(extinction[order], naive.extinctions(fitness[order]), atol=1e-15)
    assert extinction[order[0]] == 0.0
    assert_allclose(extinction[order[-1]], 1.0)


def test_extinction_of_equals_of_the_perfect_and_of_the_infinite():
    extinction = np.full(3, 9.0)
    reproduce.extinguish(np.arange(3), np.zeros(3), extinction)
    assert_array_equal(extinction, 0.0)
    reproduce.extinguish(np.arange(3), np.array([1.0, 2.0, math.inf]), extinction)
    assert_allclose(extinction, [0.0, 0.75, 1.0])
    reproduce.extinguish(np.arange(3), np.full(3, math.inf), extinction)
    assert_array_equal(extinction, 1.0)
    reproduce.extinguish(np.arange(1), np.ones(1), extinction)
    assert extinction[0] == 0.0


@given(SEEDS)
def test_mutate_follows_equation_4_18(seed):
    state, draw = stream(seed)
    (child, first, second), limits = people(np.random.default_rng(seed), 3)
    x, g = child.x.copy(), child.g.copy()
    reproduce.mutate(0.5 * (first.extinction + second.extinction), variables_of(*limits), state, x, g)
    naive.mutate(child, first, second, *limits, draw)
    assert_allclose(x, child.x, atol=1e-14)
    assert_allclose(g, child.g, atol=1e-14)


@given(SEEDS)
def test_adopt_follows_equation_4_19(seed):
    state, draw = stream(seed)
    (child, first, second, prototype), _ = people(np.random.default_rng(seed), 4)
    x, g = child.x.copy(), child.g.copy()
    reproduce.adopt(first.x, second.x, prototype.x, state, x, g)
    naive.adopt(child, first, second, prototype, draw)
    assert_allclose(x, child.x, atol=1e-14)
    assert_allclose(g, child.g, atol=1e-14)


@given(SEEDS)
def test_constrain_follows_equation_4_2(seed):
    rng = np.random.default_rng(seed)
    (child,), limits = people(rng, 1)
    x = child.x = rng.normal(scale=4.0, size=5)
    naive.constrain(child, *limits)
    x = x.copy()
    reproduce.constrain(variables_of(*limits), x)
    assert_array_equal(x, child.x)


@given(SEEDS, st.integers(0, 9), st.integers(0, 9))
def test_niche_follows_equation_4_20(seed, first, second):
    made, _ = people(np.random.default_rng(seed), 10)
    child = naive.Individual(np.zeros(5), np.zeros(5), fitness=0.5)
    pool = np.random.default_rng(seed).permutation(10)
    expected = naive.niche([made[k] for k in pool], child, made[first], made[second])
    size = niche(pool, 10, child.fitness, first, second, np.array([one.fitness for one in made]))
    assert [made[k] for k in pool[:size]] == expected


# ---- Weights -------------------------------------------------------------------------------------------------


@pytest.fixture
def guided(rng):
    body = serial_arm(5, rng)
    wanted = [Position("link5", (0.2, 0.1, 0.3), weight=2.0), Cone("link5", (0, 0, 1), 3.0), Displacement(weight=0.1)]
    return body, Evolution(Problem(body, wanted))


def test_interpolated_weights_lie_between_nothing_and_all_and_guides_keep_theirs(guided):
    evolution = guided[1]
    state, draw = stream(0)
    weights, ease = np.zeros(3), np.array([1.0, 0.1, 1.0])
    given_weights(evolution.terms, ease, weights)
    assert_allclose(weights, [2.0, 0.1, 0.1])
    drawn = np.zeros(3)
    interpolate_weights(evolution.terms, weights, False, state, drawn)
    assert_array_equal(drawn, weights)
    interpolate_weights(evolution.terms, weights, True, state, drawn)
    assert_allclose(drawn, [2.0 * draw(), 0.1 * draw(), 0.1])


def test_what_may_yield_and_is_satisfied_yields(guided):
    body, evolution = guided
    x, ease = body.home[evolution.active].copy(), np.ones(3)
    evolution.measure(x, 1.0)
    let_yield(evolution.terms, evolution.data, x, evolution.work.residual, np.array([1, 1, 1], dtype=np.uint8), ease)
    assert_allclose(ease, [1.0, YIELDING, YIELDING])
    let_yield(evolution.terms, evolution.data, x, evolution.work.residual, np.array([1, 0, 1], dtype=np.uint8), ease)
    assert_allclose(ease, [1.0, YIELDING, YIELDING**2])


# ---- Whole generations ---------------------------------------------------------------------------------------


def test_evolution_without_exploitation_is_that_of_its_twin(rng):
    """Seven generations of twelve: the same genes, parents and fitness, individual by individual."""
    body = serial_arm(5, rng)
    T, q = kinematics.pose(body, "link5", body.sample(rng)), body.sample(rng)
    length = losses.chain_length(body, "link5")

    def loss(x):
        there = kinematics.pose(body, "link5", x)
        return losses.position(there, T[:3, 3], length), losses.orientation(there[:3, :3], T[:3, :3])

    size, elites, generations = 12, 3, 7
    solver = BioIK(population=size, elites=elites, exploitation=False, wipe_out=False, seed=11)
    limits = {"joint1": (-1.0, 2.0), "joint3": (0.0, 0.5)}
    problem = Problem(body, Pose("link5", T, weight=1.5), limits=limits)
    q = np.clip(q, problem.lower, problem.upper)
    _, history = solver.evolve(problem, q, Budget(evaluations=size + generations * (size - elites)))
    variables = problem.compiled.variables
    bounds, drawn = ([variables[ends + "lower"], variables[ends + "upper"]] for ends in ("", "sample_"))
    twin = naive.Evolution(loss, [1.5, 1.5], bounds, drawn, size, elites, 11)
    population = twin.begin(q)
    assert history.generations == generations + 1
    for generation in range(generations + 1):
        if generation > 0:
            population = twin.evolve(population, generation)
        rows = np.flatnonzero(history.generation == generation)
        assert_allclose(history.genes[rows], [one.x for one in population], atol=1e-9)
        assert_allclose(history.fitness[rows], [twin.fitness(one, twin.weights) for one in population], atol=1e-7)
        parents = np.array([one.parents for one in population])
        assert_array_equal(history.parents[rows], np.where(parents >= 0, parents + rows[0] - size, -1))
        assert_array_equal(history.elite[rows], np.arange(size) < (elites if generation else 0))
    assert np.isin(history.genes, bounds).any()  # some were clipped, eq. 4.2
