"""The operators of GA, DE, PSO and HGSA against their twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.kernels.compiler.random import uniform
from memetik.kernels.evolution import de, ga, hgsa, pso
from memetik.kernels.evolution.fitness import OWN
from memetik.kernels.problem.evaluate import place
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


def bounds_of(rng, n):
    lower, upper = -rng.uniform(0.1, 2.0, n), rng.uniform(0.1, 2.0, n)
    return np.array([lower, upper, lower, upper, np.zeros(n)])


@given(seeds)
def test_trials_of_differential_evolution(seed):
    rng, stream = np.random.default_rng(seed), Stream(seed)
    bounds = bounds_of(rng, 6)
    bounds[:4] *= 4.0
    bounds[4] = rng.integers(0, 2, 6)
    parent, base, one, two = rng.uniform(bounds[0], bounds[1], (4, 6))
    trial, factor, crossover = np.empty(6), rng.uniform(0.5, 1.0), rng.choice([0.0, 0.5, 1.0])
    de.propose(parent, base, one, two, factor, crossover, bounds, stream.state, trial)
    expected = naive.differential_trial(parent, base, one, two, factor, crossover, bounds, stream.draw)
    assert_allclose(trial, expected, rtol=1e-13, atol=1e-14)
    assert stream.level()
    assert (trial >= bounds[0]).all() and (trial <= bounds[1]).all()
    assert (trial != parent).sum() >= 1  # one gene is new for certain


@given(seeds, st.integers(4, 9))
def test_three_others_are_three_others(seed, size):
    drawn = de.others(seed % size, size, Stream(seed).state)
    assert len({*drawn, seed % size}) == 4 and all(0 <= i < size for i in drawn)


@given(seeds)
def test_children_of_the_genetic_algorithm(seed):
    rng, stream = np.random.default_rng(seed), Stream(seed)
    bounds = bounds_of(rng, 5)
    bounds[:4] *= 4.0
    bounds[4] = rng.integers(0, 2, 5)
    one, two = rng.uniform(bounds[0], bounds[1], (2, 5))
    child, mutation = np.empty(5), rng.uniform(0.0, 5.0)
    ga.beget(one, two, 0.5, mutation, 0.3, bounds, stream.state, child)
    expected = naive.child(one, two, 0.5, mutation, 0.3, bounds, ga.PRECISION, stream.draw)
    assert_allclose(child, expected, rtol=1e-12, atol=1e-13)
    assert stream.level()
    assert (child >= bounds[0]).all() and (child <= bounds[1]).all()


def test_without_blend_and_mutation_children_lie_between_their_parents():
    one, two, child = np.zeros(4), np.ones(4), np.empty(4)
    ga.beget(one, two, 0.0, 0.0, 0.1, bounds_of(np.random.default_rng(0), 4) * 9.0, Stream(3).state, child)
    assert (child > 0.0).all() and (child < 1.0).all() and len(set(child)) == 4


def test_a_tournament_is_won_by_the_fittest_who_was_drawn():
    fitness = np.array([0.5, 0.1, 0.9, 0.3])
    for seed in range(20):
        stream = Stream(seed)
        chosen = ga.choose(fitness, 3, stream.state)
        assert chosen == min((int(4 * stream.draw()) for _ in range(3)), key=lambda i: fitness[i])
        assert stream.level()


@given(seeds)
def test_particles_fly_as_the_formula_says(seed):
    rng, stream = np.random.default_rng(seed), Stream(seed)
    bounds = bounds_of(rng, 5)
    x, own, led = rng.uniform(bounds[0], bounds[1], (3, 5))
    speed = rng.normal(size=5)
    parameters = np.zeros(OWN + 4)
    parameters[pso.INERTIA], parameters[pso.MEMORY], parameters[pso.COMPANY] = 0.6, 1.7, 1.4
    places, speeds = naive.flight(x, speed, own, led, 0.6, 1.7, 1.4, bounds[0], bounds[1], pso.BOUNCE, stream.draw)
    pso.fly(x, speed, own, led, parameters, bounds, stream.state)
    assert_allclose(x, places, rtol=1e-13, atol=1e-14)
    inside = (x > bounds[0]) & (x < bounds[1])
    assert_allclose(speed[inside], np.array(speeds)[inside], rtol=1e-12, atol=1e-14)
    assert ((x == bounds[0]) <= (speed >= 0.0)).all() and ((x == bounds[1]) <= (speed <= 0.0)).all()
    assert stream.level()


def test_particles_follow_the_best_whom_they_know():
    fitness = np.array([0.5, 0.4, 0.3, 0.9, 0.1, 0.8])
    assert [pso.leader(fitness, i, 0, 4) for i in range(6)] == [4] * 6
    assert [pso.leader(fitness, i, 1, 4) for i in range(6)] == [1, 2, 2, 4, 4, 4]
    assert [pso.leader(fitness, i, 2, 4) for i in range(6)] == [4, 2, 4, 4, 4, 4]


@pytest.mark.parametrize("seed", range(4))
def test_the_bench_places_what_one_gene_moves(seed):
    """On trees of all kinds of joints with mimic joints: one gene changed is the same as the whole body placed anew."""
    rng = np.random.default_rng(seed)
    body = random_body(rng, 8)
    tips = [f"link{k}" for k in (3, 6, 8)]
    c = Problem(body, [Position(tip, rng.normal(size=3), tolerance=None) for tip in tips]).compiled
    n = c.active.size
    motion = np.zeros(n, dtype=np.int64)
    set_up, settle, move_one, move_back = (
        getattr(k, "py_func", k) for k in (hgsa.set_up, hgsa.settle, hgsa.move_one, hgsa.move_back)
    )
    bench = set_up(c.record[:6], np.zeros(hgsa.room_size(0, n, c.nodes.size, c.frames.size)), motion)
    x, poses, world = rng.uniform(c.bounds[2], c.bounds[3]), np.empty((c.nodes.size, 7)), np.empty((c.frames.size, 7))
    settle(c.nodes, c.frames, x, bench)
    for k in range(n):
        for keep in (False, True):
            here, x[k] = x[k], rng.uniform(c.bounds[2, k], c.bounds[3, k])
            move_one(c.nodes, c.frames, k, x, bench)
            place(c.nodes, c.frames, x, poses, world)
            assert_allclose(np.abs(bench.moved), np.abs(world), atol=1e-12)  # a quaternion and its negative are one
            if keep:
                settle(c.nodes, c.frames, x, bench)
            else:
                x[k] = here
                move_back(c.nodes, c.frames, k, x, bench)
            place(c.nodes, c.frames, x, poses, world)
            assert_allclose(np.abs(bench.moved), np.abs(world), atol=1e-12)


def test_slides_move_as_far_as_angles_reach():
    body = random_body(np.random.default_rng(1), 3, kinds=("prismatic", "revolute", "screw"), mimics=0.0)
    c = Problem(body, Position("link3", (1.0, 0.0, 0.0), tolerance=None)).compiled
    motion = np.zeros(c.active.size, dtype=np.int64)
    set_up = getattr(hgsa.set_up, "py_func", hgsa.set_up)
    bench = set_up(c.record[:6], np.zeros(hgsa.room_size(0, 3, c.nodes.size, c.frames.size)), motion)
    slides = [body.joints[body.joint_names[k]].kind == "prismatic" for k in c.active]
    assert any(slides) and not all(slides)
    assert_array_equal(bench.unit, np.where(slides, c.terms["reach"][0] / math.pi, 1.0))
    assert_array_equal(motion, [int(np.flatnonzero(c.nodes["variable"] == k)[0]) for k in range(motion.size)])
