"""The operators of GA, DE, PSO and HGSA against their twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.evolution import generations, hgsa
from memetik.kernels.evolution.evolve import EvolutionRecord
from memetik.kernels.lbfgsb.minimiser import no_minimiser
from memetik.kernels.lbfgsb.search import Descents
from memetik.kernels.problem.evaluate import place
from memetik.kernels.problem.problem_record import VARIABLE
from memetik.kernels.runtime.random import uniform
from memetik.kernels.runtime.record import allocate
from memetik.objectives import Position
from memetik.problem import Problem
from tests.naive import evolution as naive
from tests.naive.bodies import random_body

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**63)


class Stream:
    """The same random numbers for a kernel and for its twin."""

    def __init__(self, seed):
        self.state, self.copy = np.array([seed], np.uint64), np.array([seed], np.uint64)

    def draw(self):
        return uniform(self.copy)

    def level(self):
        """Whether both have drawn as often."""
        return self.state[0] == self.copy[0]


def variables_of(rng, n, scale=1.0, turns=False):
    variables = np.zeros(n, dtype=VARIABLE)
    variables["lower"] = variables["sample_lower"] = -scale * rng.uniform(0.1, 2.0, n)
    variables["upper"] = variables["sample_upper"] = scale * rng.uniform(0.1, 2.0, n)
    variables["whole_turn"] = rng.integers(0, 2, n) if turns else 0
    return variables


def inside(x, variables):
    return (x >= variables["lower"]).all() and (x <= variables["upper"]).all()


def draw_within(rng, variables, rows):
    return rng.uniform(variables["lower"], variables["upper"], (rows, variables.size))


@given(seeds)
def test_trials_of_differential_evolution(seed):
    rng, stream = np.random.default_rng(seed), Stream(seed)
    variables = variables_of(rng, 6, 4.0, turns=True)
    parent, base, one, two = draw_within(rng, variables, 4)
    trial, factor, crossover = np.empty(6), rng.uniform(0.5, 1.0), rng.choice([0.0, 0.5, 1.0])
    generations.propose(parent, base, one, two, factor, crossover, variables, stream.state, trial)
    expected = naive.differential_trial(parent, base, one, two, factor, crossover, variables, stream.draw)
    assert_allclose(trial, expected, rtol=1e-13, atol=1e-14)
    assert stream.level()
    assert inside(trial, variables)
    assert (trial != parent).sum() >= 1  # one gene is new for certain


@given(seeds, st.integers(4, 9))
def test_three_others_are_three_others(seed, size):
    drawn = generations.others(seed % size, size, Stream(seed).state)
    assert len({*drawn, seed % size}) == 4 and all(0 <= i < size for i in drawn)


@given(seeds)
def test_children_of_the_genetic_algorithm(seed):
    rng, stream = np.random.default_rng(seed), Stream(seed)
    variables = variables_of(rng, 5, 4.0, turns=True)
    one, two = draw_within(rng, variables, 2)
    child, mutation = np.empty(5), rng.uniform(0.0, 5.0)
    generations.beget(one, two, 0.5, mutation, 0.3, variables, stream.state, child)
    expected = naive.child(one, two, 0.5, mutation, 0.3, variables, generations.PRECISION, stream.draw)
    assert_allclose(child, expected, rtol=1e-12, atol=1e-13)
    assert stream.level()
    assert inside(child, variables)


def test_without_blend_and_mutation_children_lie_between_their_parents():
    one, two, child = np.zeros(4), np.ones(4), np.empty(4)
    generations.beget(one, two, 0.0, 0.0, 0.1, variables_of(np.random.default_rng(0), 4, 9.0), Stream(3).state, child)
    assert (child > 0.0).all() and (child < 1.0).all() and len(set(child)) == 4


def test_a_tournament_is_won_by_the_fittest_who_was_drawn():
    fitness = np.array([0.5, 0.1, 0.9, 0.3])
    for seed in range(20):
        stream = Stream(seed)
        chosen = generations.choose(fitness, 3, stream.state)
        assert chosen == min((int(4 * stream.draw()) for _ in range(3)), key=lambda i: fitness[i])
        assert stream.level()


@given(seeds)
def test_particles_fly_as_the_formula_says(seed):
    rng, stream = np.random.default_rng(seed), Stream(seed)
    variables, sizes = variables_of(rng, 5), {"variables": 5, "population": 1}
    lower, upper = variables["lower"], variables["upper"]
    x, own, led = draw_within(rng, variables, 3)
    speed = rng.normal(size=5)
    descents = Descents(no_minimiser(), False, 0)
    evolution = allocate(
        EvolutionRecord, sizes, descents=descents, breed=0, patience=1, blocks=True, by_spread=False, learn=0
    )
    swarm = allocate(
        generations.PsoRecord, sizes, evolution=evolution, inertia=0.6, memory=1.7, social=1.4, neighbours=0
    )
    places, speeds = naive.flight(x, speed, own, led, 0.6, 1.7, 1.4, lower, upper, generations.BOUNCE, stream.draw)
    generations.fly(x, speed, own, led, swarm, variables, stream.state)
    assert_allclose(x, places, rtol=1e-13, atol=1e-14)
    free = (x > lower) & (x < upper)
    assert_allclose(speed[free], np.array(speeds)[free], rtol=1e-12, atol=1e-14)
    assert ((x == lower) <= (speed >= 0.0)).all() and ((x == upper) <= (speed <= 0.0)).all()
    assert stream.level()


def test_particles_follow_the_best_whom_they_know():
    fitness = np.array([0.5, 0.4, 0.3, 0.9, 0.1, 0.8])
    assert [generations.leader(fitness, i, 0, 4) for i in range(6)] == [4] * 6
    assert [generations.leader(fitness, i, 1, 4) for i in range(6)] == [1, 2, 2, 4, 4, 4]
    assert [generations.leader(fitness, i, 2, 4) for i in range(6)] == [4, 2, 4, 4, 4, 4]


@pytest.mark.parametrize("seed", range(4))
def test_the_bench_places_what_one_gene_moves(seed):
    """On trees of all kinds of joints with mimic joints: one gene changed is the same as the whole body placed again."""
    rng = np.random.default_rng(seed)
    body = random_body(rng, 8)
    tips = [f"link{k}" for k in (3, 6, 8)]
    c = Problem(body, [Position(tip, rng.normal(size=3), tolerance=None) for tip in tips]).compiled
    n, lower, upper = c.variables.size, c.variables["sample_lower"], c.variables["sample_upper"]
    bench = allocate(hgsa.Bench, c.sizes)
    hgsa.set_up(c.record, bench)
    x, poses, world = rng.uniform(lower, upper), np.empty((c.nodes.size, 7)), np.empty((c.frames.size, 7))
    hgsa.settle(c.record, x, bench)
    for k in range(n):
        for keep in (False, True):
            here, x[k] = x[k], rng.uniform(lower[k], upper[k])
            hgsa.move_one(c.record, k, x, bench)
            place(c.nodes, c.frames, x, poses, world)
            assert_allclose(np.abs(bench.moved), np.abs(world), atol=1e-12)  # a quaternion and its negative are one
            if keep:
                hgsa.settle(c.record, x, bench)
            else:
                x[k] = here
                hgsa.move_back(c.record, k, x, bench)
            place(c.nodes, c.frames, x, poses, world)
            assert_allclose(np.abs(bench.moved), np.abs(world), atol=1e-12)


def test_slides_move_as_far_as_angles_reach():
    body = random_body(np.random.default_rng(1), 3, kinds=("prismatic", "revolute", "screw"), mimics=0.0)
    c = Problem(body, Position("link3", (1.0, 0.0, 0.0), tolerance=None)).compiled
    bench = allocate(hgsa.Bench, c.sizes)
    hgsa.set_up(c.record, bench)
    slides = [body.joints[body.joint_names[k]].kind == "prismatic" for k in c.active]
    assert any(slides) and not all(slides)
    assert_array_equal(bench.unit, np.where(slides, c.terms["reach"][0] / math.pi, 1.0))
    assert_array_equal(bench.motion, [int(np.flatnonzero(c.nodes["variable"] == k)[0]) for k in range(len(slides))])
