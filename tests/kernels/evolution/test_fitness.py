"""Fitness against its twin, and what the evolutionary methods share: populations, patience, the best that was seen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from memetik.kernels.compiler.cancel import cancel
from memetik.kernels.evolution import fitness as kernel
from memetik.kernels.problem.budget import ATTEMPTS, ERROR, EVALUATIONS
from memetik.kernels.problem.evaluate import term_error
from memetik.kernels.problem.losses import measured_loss
from memetik.kernels.terms.projection import PROJECTION
from memetik.objectives import Custom, Displacement, Ground, JointValue, Orientation, Pose, Position, Projection
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.naive import evolution as naive
from tests.naive.bodies import serial_arm

pytestmark = pytest.mark.quick

# Compiled kernels cannot return arrays, so the plain functions are called where a Setting goes in.
appraise, populate = (getattr(k, "py_func", k) for k in (kernel.appraise, kernel.populate))


@pytest.fixture
def body():
    return serial_arm(4)


def setting(flat, most=1000):
    flat.outcome[:] = 0.0
    flat.outcome[ERROR] = math.inf
    return kernel.Setting(flat.problem, most, 0.0, flat.clock, np.zeros(1, dtype=np.uint64), flat.outcome, flat.work)


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
    appraise(setting(flat), np.ones(4), 1.0)
    assert flat.outcome[ERROR] == math.inf  # and is never the best


def test_an_appraisal_counts_remembers_and_ends(body, rng):
    q, flat = body.sample(rng), None
    flat = Flat(Problem(body, Position("link4", body.forward(q)["link4"][:3, 3])))
    here = setting(flat, most=3)
    far = appraise(here, q + 0.5, 1.0)
    near = appraise(here, q + 0.1, 1.0)
    assert far[0] > near[0] > 0.0 and not far[1] and not near[1]
    assert_array_equal(flat.work.best, q + 0.1)
    assert appraise(here, q + 0.6, 1.0)[1]  # the budget is spent
    assert flat.outcome[EVALUATIONS] == 3
    here = setting(flat)
    assert appraise(here, q, 1.0)[1]  # it is satisfied
    appraise(here, q + 1e-9, 1.0)
    assert_array_equal(flat.work.best, q)
    cancel(flat.clock)
    assert appraise(here, q + 0.6, 1.0)[1]  # another thread cancelled it


def test_populations_are_drawn_within_the_limits_and_differ(body, rng):
    flat = Flat(Problem(body, Position("link4", (5.0, 0.0, 0.0)), limits={"joint2": (0.1, 0.2)}))
    here, x = setting(flat), flat.sample(rng)
    genes, fitness = np.empty((6, 4)), np.empty(6)
    assert not populate(here, x, 3, genes, fitness)
    first = genes.copy()
    assert_array_equal(first[0], x)
    assert (first >= flat.bounds[0]).all() and (first <= flat.bounds[1]).all()
    assert len(np.unique(first[:, 0])) == 6
    assert_array_equal(fitness, [weigh(flat, row, 1.0)[0] for row in first])
    assert not populate(here, x, 3, genes, fitness)  # the next of the same search: another stream, and x no more
    assert not np.isin(genes, first).any()
    assert flat.outcome[ATTEMPTS] == 2 and flat.outcome[EVALUATIONS] == 12
    assert not populate(setting(flat), x, 3, genes, fitness)
    assert_array_equal(genes, first)
    assert populate(setting(flat, most=4), x, 3, genes, fitness)
    assert flat.outcome[EVALUATIONS] == 4


def test_patience():
    assert kernel.wait(0.5, math.inf, 7) == (0.5, 0)
    assert kernel.wait(0.49, 0.5, 3) == (0.5, 4)  # a twentieth is not gained
    assert kernel.wait(0.47, 0.5, 3) == (0.47, 0)
    assert kernel.wait(math.inf, math.inf, 3) == (math.inf, 4)


def test_the_fittest():
    assert kernel.fittest(np.array([0.5, 0.2, 0.9, 0.2])) == 1
    assert kernel.fittest(np.array([math.inf, math.inf])) == 0


def test_whether_anything_blocks(body):
    guide = Position("link4", (1.0, 0.0, 0.0), tolerance=None)
    assert not kernel.anything_blocks(Problem(body, [guide, Displacement()]).compiled.terms)
    assert kernel.anything_blocks(Problem(body, [guide, Position("link3", (1.0, 0.0, 0.0))]).compiled.terms)
