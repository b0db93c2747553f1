"""L-BFGS-B against SciPy's, with the same memory and tolerances, and where functions and bounds are awkward."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize as scipy_minimize

import memetik as mk
from memetik.kernels.lbfgsb.minimiser import (
    ACCEPT,
    ACCEPTED,
    CONVERGED,
    EVALUATIONS_SPENT,
    GAVE_UP,
    GIVE_UP,
    GO_ON,
    ITERATIONS_SPENT,
    RUNNING,
    SETTLED,
    STUCK,
    UNDEFINED,
    advance,
    begin,
    new_minimiser,
    projected_gradient,
)
from memetik.kernels.runtime.record import table_of
from memetik.objectives import Displacement, LookAt, Pose, Position
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.kernels.lbfgsb import bowls

GRADIENT, GAIN = 1e-6, 1e-13
MANY = 100_000


class Found(NamedTuple):
    x: np.ndarray
    f: float
    iterations: int
    evaluations: int
    reason: int


def minimise(
    function, x, lower, upper, *, iterations=MANY, evaluations=MANY, gradient=GRADIENT, gain=GAIN, memory=5,
    verdict=lambda f: GO_ON,
):  # fmt: skip
    """Drive the kernel; x must be within the bounds at every evaluation, and the scratch may hold anything."""
    minimiser = new_minimiser(len(x), memory)
    table, (line, model, _) = table_of(minimiser), minimiser
    for array in (*line, *model):
        array.view(np.float64)[:] = np.nan
    line.x[:], line.lower[:], line.upper[:] = x, lower, upper
    begin(table, iterations, evaluations, gradient, gain)
    reason, best = RUNNING, math.inf
    while reason == RUNNING:
        assert (line.x >= lower).all() and (line.x <= upper).all()
        f, line.gradient[:] = function(line.x)
        if math.isfinite(f) and np.isfinite(line.gradient).all():
            best = min(best, f)
        reason = advance(table, float(f), verdict(f))
    x, progress = line.x.copy(), line.progress[0]
    f = float(progress.least)
    if reason not in (ACCEPTED, UNDEFINED):
        assert f == best == function(x)[0]  # what is returned is the best that was seen
    assert (x >= lower).all() and (x <= upper).all()
    return Found(x, f, int(progress.iterations), int(progress.evaluations), reason)


def by_scipy(function, x, lower, upper, memory=5):
    options = {"maxcor": memory, "gtol": GRADIENT, "ftol": GAIN, "maxfun": MANY, "maxiter": MANY}
    bounds = list(zip(lower, upper, strict=True))
    return scipy_minimize(function, x, jac=True, method="L-BFGS-B", bounds=bounds, options=options)


def cases(family):
    """(name, function, start, lower, upper) of a family, in several sizes and boxes."""
    rng = np.random.default_rng(7)
    if family == "beale":
        yield "free", bowls.beale, np.array([1.0, 1.0]), np.full(2, -math.inf), np.full(2, math.inf)
        yield "loose", bowls.beale, np.array([1.0, 1.0]), np.full(2, -4.5), np.full(2, 4.5)
        yield "tight", bowls.beale, np.array([1.0, 0.2]), np.full(2, 0.0), np.array([2.0, 2.0])
        return
    for n in (2, 4, 8, 20, 60):
        free = np.full(n, math.inf)
        if family == "rosenbrock":
            start = rng.uniform(-0.5, 0.5, n)
            yield f"free {n}", bowls.rosenbrock, start, -free, free
            yield f"loose {n}", bowls.rosenbrock, start, np.full(n, -2.0), np.full(n, 2.0)
            yield f"tight {n}", bowls.rosenbrock, start, np.full(n, -1.0), np.full(n, 0.7)
            yield f"half {n}", bowls.rosenbrock, start, -free, np.full(n, 0.5)
        elif family == "powell" and n >= 4:
            start = np.tile([3.0, -1.0, 0.0, 1.0], n // 4)
            yield f"free {n}", bowls.powell, start, -free, free
            yield f"above {n}", bowls.powell, start, np.full(n, -1.0), free
            yield f"tight {n}", bowls.powell, start, np.tile([0.5, -1.0, -1.0, 0.1], n // 4), np.full(n, 4.0)
        elif family == "styblinski":
            start = rng.choice([-1.0, 1.0], n) * rng.uniform(2.0, 3.5, n)
            yield f"boxed {n}", bowls.styblinski_tang, start, np.full(n, -5.0), np.full(n, 5.0)
            yield f"tight {n}", bowls.styblinski_tang, start, np.full(n, -2.5), np.full(n, 5.0)
        elif family == "quadratic":
            start = rng.uniform(-1.0, 1.0, n)
            yield f"free {n}", bowls.quadratic(n, 1e2), start, -free, free
            yield f"tight {n}", bowls.quadratic(n, 1e4), start, np.full(n, -1.0), np.full(n, 1.0)
            yield f"half {n}", bowls.quadratic(n, 1e3), start, np.full(n, -1.0), free
        elif family == "exponentials":
            start = rng.uniform(-1.0, 1.0, n)
            yield f"free {n}", bowls.exponentials(n), start, -free, free
            yield f"tight {n}", bowls.exponentials(n), start, np.full(n, -1.0), np.full(n, 0.05)


def assert_as_good_as_scipy(cases, memory=5):
    """The same minimum to 1e-8, or a lower one, by at most 1.5 times the evaluations, each and in sum.

    SciPy's may stop short where a wall is in the way of a quadratic function: its projected steps come to lead nowhere.
    """
    ours = theirs = 0
    for name, function, start, lower, upper in cases:
        found = minimise(function, start, lower, upper, memory=memory)
        expected = by_scipy(function, start, lower, upper, memory)
        assert found.f <= expected.fun + 1e-8 * max(1.0, abs(expected.fun)), (name, found, expected)
        assert found.evaluations <= 1.5 * expected.nfev + 2, (name, found, expected)
        assert found.reason in (CONVERGED, SETTLED), (name, found)
        ours, theirs = ours + found.evaluations, theirs + expected.nfev
    assert 0 < ours <= 1.5 * theirs


@pytest.mark.parametrize("family", ["rosenbrock", "beale", "powell", "styblinski", "quadratic", "exponentials"])
def test_smooth_functions(family):
    assert_as_good_as_scipy(cases(family))


@pytest.mark.parametrize("memory", [1, 2, 3, 8, 10])
def test_memories(memory):
    assert_as_good_as_scipy((case for case in cases("rosenbrock") if len(case[2]) in (4, 20)), memory)


# ---- Inverse kinematics --------------------------------------------------------------------------------------


def half_squares(flat):
    """Half the sum of squared residuals of a problem, guides counting fully."""

    def function(x):
        error = flat.measure(x, 1.0)[0]
        flat.linearise(x, 1.0)
        return 0.5 * error, flat.work.gradient + flat.work.jacobian[:, : flat.work.residual.size] @ flat.work.residual

    return function


def fitness(flat):
    """The loss of the thesis, with a gradient from central differences."""

    def function(x):
        gradient, h = np.empty(x.size), 1e-5
        for k in range(x.size):
            ahead, behind = x.copy(), x.copy()
            ahead[k] += h
            behind[k] -= h
            gradient[k] = (flat.fitness(ahead) - flat.fitness(behind)) / (2.0 * h)
        return flat.fitness(x), gradient

    return function


def postures(body, objectives_of, count, seed=0, near=0.3):
    """Problems, with bounds and starts some tenths of a radian away from a minimum, so that there is none other to end in."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = body.sample(rng)
        flat = Flat(Problem(body, objectives_of(body.forward(q), rng)))
        lower, upper = flat.variables["lower"], flat.variables["upper"]
        least = by_scipy(half_squares(flat), q[flat.active], lower, upper).x
        x = least + rng.uniform(-near, near, lower.size)
        yield flat, np.clip(x, lower, upper), lower, upper


def arm(poses, rng):
    return [Pose("panda_hand", poses["panda_hand"])]


def arm_with_guides(poses, rng):
    return [Pose("panda_hand", poses["panda_hand"]), Displacement(reference=mk.load("panda").home, weight=0.1)]


def arm_out_of_reach(poses, rng):
    target = poses["panda_hand"].copy()
    target[:3, 3] *= 1.5 / np.linalg.norm(target[:3, 3])
    return [Pose("panda_hand", target)]


def humanoid(poses, rng):
    hands = [Pose(link, poses[link]) for link in ("rightPalm", "leftPalm")]
    return [*hands, Position("rightFoot", poses["rightFoot"][:3, 3]), LookAt("head", (2.0, 0.5, 0.5))]


@pytest.mark.parametrize(
    ("name", "objectives"),
    [("panda", arm), ("panda", arm_with_guides), ("panda", arm_out_of_reach), ("valkyrie", humanoid)],
)
def test_squared_residuals(name, objectives):
    assert_as_good_as_scipy(
        (objectives.__name__, half_squares(flat), *start_and_bounds)
        for flat, *start_and_bounds in postures(mk.load(name), objectives, 8)
    )


def test_the_loss_of_the_thesis():
    assert_as_good_as_scipy(
        ("loss", fitness(flat), *start_and_bounds)
        for flat, *start_and_bounds in postures(mk.load("panda"), arm_out_of_reach, 5)
    )


# ---- Awkward functions and bounds ----------------------------------------------------------------------------


@pytest.mark.quick
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 8),
    memory=st.integers(1, 10),
    unbounded=st.floats(0.0, 1.0),
    fixed=st.floats(0.0, 0.5),
)
def test_convex_functions_in_random_boxes(seed, n, memory, unbounded, fixed):
    """At the minimum no component of the gradient points into the box; variables without room stay where they are."""
    rng = np.random.default_rng(seed)
    lower, upper = np.sort(rng.uniform(-1.5, 1.5, (2, n)), axis=0)
    lower[rng.random(n) < unbounded], upper[rng.random(n) < unbounded] = -math.inf, math.inf
    still = rng.random(n) < fixed
    lower[still] = upper[still] = rng.uniform(-1.0, 1.0, n)[still]
    function = bowls.quadratic(n, 1e2, seed) if rng.random() < 0.5 else bowls.exponentials(n, seed)
    found = minimise(function, rng.uniform(-3.0, 3.0, n), lower, upper, memory=memory, gain=0.0)
    assert found.reason in (CONVERGED, SETTLED)
    assert projected_gradient(found.x, lower, upper, function(found.x)[1]) <= 1e-5


@pytest.mark.quick
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 6),
    memory=st.integers(1, 10),
    kink=st.sampled_from([0.0, 1.0]),
    jump=st.sampled_from([0.0, 0.5]),
    holes=st.sampled_from([0.0, 0.3]),
    lie=st.sampled_from([0.0, 1.0]),
    size=st.integers(-300, 300),
)
def test_rough_functions(seed, n, memory, kink, jump, holes, lie, size):
    """Kinks, jumps, holes, wrong gradients, values of any size: it ends, within the bounds, with the best it has seen.

    All of it is checked for each evaluation by `minimise`.
    """
    rng = np.random.default_rng(seed)
    slopes, center, wrong = rng.normal(size=(2 * n, n)), rng.normal(size=n), rng.normal(size=n)

    def function(x):
        pattern = np.random.default_rng(np.abs(x).view(np.int64).sum() % 2**32)  # as wild as can be, the same each time
        bend = x - center
        f = 0.5 * bend @ bend + kink * np.abs(slopes @ x).sum() + jump * np.floor(3.0 * x).sum()
        gradient = bend + kink * slopes.T @ np.sign(slopes @ x) + lie * wrong
        if pattern.random() < holes:
            return (
                (math.nan, gradient)
                if pattern.random() < 0.5
                else (f, np.where(pattern.random(n) < 0.5, math.inf, 0.0))
            )
        return 10.0**size * f, 10.0**size * gradient

    lower, upper = np.sort(rng.normal(size=(2, n)) * 3.0, axis=0)
    lower[rng.random(n) < 0.3], upper[rng.random(n) < 0.3] = -math.inf, math.inf
    with np.errstate(all="ignore"):
        found = minimise(
            function, rng.normal(size=n), lower, upper, memory=memory, evaluations=400, gradient=0.0, gain=0.0
        )
    assert found.evaluations <= 400


@pytest.mark.quick
def test_one_variable():
    free, zero, one = np.array([math.inf]), np.zeros(1), np.ones(1)
    for lower, upper, expected in ((-free, free, 0.5), (one, free, 1.0), (zero, zero, 0.0)):
        found = minimise(lambda x: ((x[0] - 0.5) ** 4 + 1.0, 4.0 * (x - 0.5) ** 3), [3.0], lower, upper, gradient=1e-9)
        assert_allclose(found.x, expected, atol=2e-3)
        assert found.reason == CONVERGED


@pytest.mark.quick
def test_a_start_out_of_bounds_is_moved_in():
    seen = []

    def function(x):
        seen.append(x.copy())
        return x @ x, 2.0 * x

    found = minimise(function, [5.0, -7.0], np.array([1.0, -2.0]), np.array([2.0, -1.0]))
    assert_array_equal(seen[0], [2.0, -2.0])
    assert_array_equal(found.x, [1.0, -1.0])
    assert found.reason == CONVERGED


@pytest.mark.quick
def test_nothing_to_do():
    found = minimise(lambda x: (x @ x, 2.0 * x), [0.0, 0.0], np.full(2, -1.0), np.full(2, 1.0))
    assert found == (found.x, 0.0, 0, 1, CONVERGED)


@pytest.mark.quick
@pytest.mark.parametrize("hole", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("what", ["value", "gradient", "part of the gradient"])
def test_where_the_function_is_not_defined_it_steps_back(hole, what):
    """The logarithm of what is left to walls that are closer than the first step is long."""

    def function(x):
        if (x < 0.1).all() and (x > -0.1).all():
            return float(-np.log(0.1 - x).sum() - 3.0 * np.log(0.1 + x).sum()), 1.0 / (0.1 - x) - 3.0 / (0.1 + x)
        if what == "value":
            return hole, np.zeros(x.size)
        gradient = np.full(x.size, hole)
        gradient[1:] = gradient[1:] if what == "gradient" else 0.0
        return 0.0, gradient

    free, holes = np.full(4, math.inf), []

    def count_holes(x):
        f, gradient = function(x)
        holes.append(not (math.isfinite(f) and np.isfinite(gradient).all()))
        return f, gradient

    found = minimise(
        count_holes, np.full(4, -0.099), -free, free, iterations=100, evaluations=500, gradient=1e-8, gain=0.0
    )
    assert any(holes) and found.reason in (CONVERGED, SETTLED)
    assert_allclose(found.x, 0.05, atol=1e-6)


@pytest.mark.quick
@pytest.mark.parametrize("hole", [math.nan, math.inf])
def test_not_defined_anywhere(hole):
    found = minimise(lambda x: (hole, np.zeros(2)), [1.0, 2.0], np.zeros(2), np.ones(2))
    assert found.reason == UNDEFINED and found.evaluations == 1 and found.f == math.inf
    assert_array_equal(found.x, [1.0, 1.0])
    found = minimise(lambda x: (1.0, np.array([0.0, hole])), [1.0, 2.0], np.zeros(2), np.ones(2))
    assert found.reason == UNDEFINED and found.evaluations == 1


@pytest.mark.quick
def test_defined_at_the_start_alone():
    """Every step fails, however short: the start is the best that was seen."""
    start = np.array([0.25, 0.5])
    found = minimise(
        lambda x: (1.0 if (x == start).all() else math.nan, np.ones(2)), start, np.full(2, -1.0), np.full(2, 1.0)
    )
    assert_array_equal(found.x, start)
    assert found.reason in (STUCK, SETTLED) and found.f == 1.0 and found.evaluations <= 21


@pytest.mark.quick
def test_a_gradient_that_lies():
    """It points uphill, so no step gains: the search ends after its trials and says so."""
    found = minimise(lambda x: (x @ x, -2.0 * x), [0.5, 0.3], np.full(2, -10.0), np.full(2, 10.0))
    assert found.reason == STUCK and found.evaluations <= 21
    assert_array_equal(found.x, [0.5, 0.3])


@pytest.mark.quick
def test_unbounded_below():
    """A slope without end: it goes as far as steps may be long, and stops when told."""
    free = np.full(3, math.inf)
    found = minimise(lambda x: (-x.sum(), -np.ones(3)), np.zeros(3), -free, free, evaluations=60)
    assert found.f < -1e6 and found.evaluations <= 60


# ---- Being told to end ---------------------------------------------------------------------------------------


ROOM = np.full(6, -2.0), np.full(6, 2.0)
START = np.array([-1.0, 1.0, -0.5, 0.3, 1.5, -0.2])


@pytest.mark.quick
@pytest.mark.parametrize("most", [1, 2, 3, 5, 11])
def test_evaluations_are_obeyed(most):
    found = minimise(bowls.rosenbrock, START, *ROOM, evaluations=most)
    assert found.evaluations == most and found.reason == EVALUATIONS_SPENT


@pytest.mark.quick
@pytest.mark.parametrize("most", [0, 1, 2, 5])
def test_iterations_are_obeyed(most):
    found = minimise(bowls.rosenbrock, START, *ROOM, iterations=most)
    assert found.iterations == most and found.reason == ITERATIONS_SPENT


@pytest.mark.quick
def test_giving_up_returns_the_best_seen():
    calls = []

    def give_up(f):
        calls.append(f)
        return GIVE_UP if len(calls) == 9 else GO_ON

    found = minimise(bowls.rosenbrock, START, *ROOM, verdict=give_up)
    assert found.reason == GAVE_UP and found.evaluations == 9
    assert found.f == min(calls)


@pytest.mark.quick
def test_an_accepted_point_is_returned_whatever_was_better():
    points, values = [], []

    def function(x):
        points.append(x.copy())
        return bowls.rosenbrock(x)

    def accept(f):
        values.append(f)
        return ACCEPT if len(values) > 1 and f > min(values) else GO_ON

    found = minimise(function, START, *ROOM, verdict=accept)
    assert found.reason == ACCEPTED
    assert_array_equal(found.x, points[-1])
    assert found.f == values[-1] > min(values)


@pytest.mark.quick
def test_a_small_gain_ends_it():
    found = minimise(bowls.rosenbrock, START, *ROOM, gain=0.5)
    assert found.reason == SETTLED and found.f > 1e-3


@pytest.mark.quick
def test_the_projected_gradient():
    x, lower, upper = np.array([0.0, 0.5, 1.0, 0.9]), np.zeros(4), np.ones(4)
    assert projected_gradient(x, lower, upper, np.array([3.0, 0.2, -3.0, 0.0])) == 0.2
    assert_allclose(projected_gradient(x, lower, upper, np.array([0.0, 0.0, 0.0, -5.0])), 0.1)
    assert projected_gradient(x, -np.full(4, math.inf), upper, np.array([7.0, 0.0, 0.0, 0.0])) == 7.0


def test_the_same_bits_twice():
    first, second = (minimise(bowls.quadratic(20), np.zeros(20), np.full(20, -1.0), np.ones(20)) for _ in range(2))
    assert first.x.tobytes() == second.x.tobytes() and first[1:] == second[1:]
