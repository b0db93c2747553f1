"""The step of every Jacobian method against numpy, on models with springs, limits, many residuals and few."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik import planar_chain
from memetik.kernels.problem.least_squares import curvature, steepest_descent, step_from
from memetik.kernels.stepping import gauss_newton as step_gauss_newton
from memetik.kernels.stepping import levenberg_marquardt as step_levenberg_marquardt
from memetik.kernels.stepping import pseudoinverse as step_pseudoinverse
from memetik.kernels.stepping.directions import size
from memetik.kernels.stepping.dls import dls_step
from memetik.kernels.stepping.gauss_newton import gauss_newton_step
from memetik.kernels.stepping.iterate import LAST, MEMORY
from memetik.kernels.stepping.levenberg_marquardt import levenberg_marquardt_step
from memetik.kernels.stepping.pseudoinverse import pseudoinverse_step
from memetik.kernels.stepping.sdls import sdls_step
from memetik.kernels.stepping.svd_dls import svd_dls_step
from memetik.kernels.stepping.transpose import BEST, transpose_step
from memetik.objectives import JointValue, Pose, Position
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.naive import steps as naive
from tests.naive.bodies import random_body, random_origin

pytestmark = pytest.mark.quick

seeds, joints, targets = st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(1, 3)
FAR = 1e9  # a longest step that is never reached


class Case:
    """A random body at a posture, some joints at their limits, with positions, a pose and a spring or two as objectives."""

    def __init__(self, seed, joints, targets, springs=None):
        rng = np.random.default_rng(seed)
        body = random_body(rng, joints, ["revolute", "prismatic"], mimics=0.2)
        objectives = [
            Position(body.frame(f"link{joints - k}", random_origin(rng)), rng.normal(size=3))
            for k in range(min(targets, joints))
        ]
        if targets == 2:
            objectives[0] = Pose(body.frame(f"link{joints}", random_origin(rng)), random_origin(rng))
        if rng.random() < 0.5 if springs is None else springs:
            objectives.append(JointValue(body.joint_names[-1], 0.3, weight=0.3))
        self.flat = flat = Flat(Problem(body, objectives))
        at = rng.random(flat.active.size)
        x = np.where(at < 0.2, flat.bounds[0], np.where(at > 0.8, flat.bounds[1], flat.sample(rng)))
        self.x = np.where(np.isfinite(x), x, 0.2)
        flat.linearise(self.x)
        w = flat.work
        J, self.residual, self.gradient, self.diagonal = (
            a.copy() for a in (w.jacobian[:, : w.residual.size], w.residual, w.gradient, w.diagonal)
        )
        self.jacobian = J
        self.uphill = J @ self.residual + self.gradient
        self.free = ~naive.held(self.x, flat.bounds[0], flat.bounds[1], self.uphill)
        self.A, self.b = naive.as_residuals(J, self.residual, self.gradient, self.diagonal, self.free)
        self.rows = [slice(t["row"], t["row"] + t["rows"]) for t in flat.terms if t["rows"]]
        self.rows += [slice(k, k + 1) for k in range(self.residual.size, len(self.b))]  # each spring is a target
        n, m = self.x.size, self.residual.size
        self.room = np.zeros(step_levenberg_marquardt.ORIGIN + n + m + size(n, m, True))
        self.room[LAST] = math.inf
        self.parameters = np.array([0.0, 1.0, 0.0, FAR, 0.0, 0.0])

    def take(self, kernel, *own, longest=FAR):
        """Where one step of a method leads, and whether it says that it leads somewhere."""
        x = self.x.copy()
        self.parameters[3 : 4 + len(own)] = longest, *own
        error = self.flat.measure(x)[0]
        moved = kernel(self.flat.problem, x, 0.0, error, self.parameters, self.room, self.flat.work)
        return x, moved

    def assert_steps(self, kernel, own, expected, atol=1e-9, longest=FAR):
        """The kernel moves by the expected step, up to the limits."""
        x, moved = self.take(kernel, *own, longest=longest)
        step = naive.clamp(expected, longest)
        wanted = np.clip(self.x + step, self.flat.bounds[0], self.flat.bounds[1])
        assert_allclose(x, wanted, rtol=0.0, atol=atol * max(1.0, np.abs(step).max()))
        assert_array_equal(x[~self.free], self.x[~self.free])
        assert moved == (x != self.x).any()


def well_conditioned(A):
    """Whether no singular value is so near to zero that rounding decides what becomes of it."""
    sigma = np.linalg.svd(A, compute_uv=False)
    return sigma[0] > 1e-3 and not ((sigma > 1e-12 * sigma[0]) & (sigma < 1e-3 * sigma[0])).any()


@given(seed=seeds, joints=joints, targets=targets)
def test_transpose(seed, joints, targets):
    case = Case(seed, joints, targets)
    if np.abs(case.A.T @ case.b).max() > 1e-9:
        case.assert_steps(transpose_step, [0.0, 0.0], naive.transpose_step(case.A, case.b))
    case.assert_steps(transpose_step, [0.02, 0.0], -0.02 * case.A.T @ case.b)


def test_the_transpose_takes_the_length_that_was_best_a_step_before():
    case = Case(3, 6, 1)
    case.flat.bounds[0], case.flat.bounds[1] = -np.inf, np.inf
    first, _ = case.take(transpose_step, 0.0, 1.0)
    best = np.linalg.norm(naive.transpose_step(case.A, case.b)) / np.linalg.norm(case.A.T @ case.b)
    assert_allclose(first - case.x, -best * case.A.T @ case.b, atol=1e-9)
    case.room[BEST], case.room[LAST] = 0.125 * best, 1.0
    second, _ = case.take(transpose_step, 0.0, 1.0)
    assert_allclose(second - case.x, -0.125 * best * case.A.T @ case.b, atol=1e-9)
    assert case.room[BEST] == pytest.approx(best)


def test_the_length_of_the_transpose_minimises_the_linear_error():
    case = Case(3, 6, 1)
    best = naive.transpose_step(case.A, case.b)
    errors = [np.linalg.norm(case.b + case.A @ (share * best)) for share in (0.99, 1.0, 1.01)]
    assert errors[1] < min(errors[0], errors[2])


@given(seed=seeds, joints=joints, targets=targets)
def test_pseudoinverse(seed, joints, targets):
    case = Case(seed, joints, targets)
    if well_conditioned(case.A):
        case.assert_steps(pseudoinverse_step, [1e-6, 1.0], -np.linalg.pinv(case.A, rcond=1e-6) @ case.b)


def test_pseudoinverse_by_either_formula():
    """J^T (J J^T)^-1 with more joints than residuals, (J^T J)^-1 J^T with fewer."""
    wide, tall = Case(1, 7, 1, springs=False), Case(10, 3, 2, springs=False)
    for case in (wide, tall):
        J = case.A[: case.residual.size][:, case.free]
        assert np.linalg.matrix_rank(J) == min(J.shape) and (J.shape[0] > J.shape[1]) == (case is tall)
        inverse = J.T @ np.linalg.inv(J @ J.T) if case is wide else np.linalg.inv(J.T @ J) @ J.T
        expected = np.zeros(case.x.size)
        expected[case.free] = -inverse @ case.residual
        case.assert_steps(pseudoinverse_step, [1e-6, 1.0], expected, atol=1e-8)


def test_waypoints_share_the_way():
    """Of four waypoints the first step goes a quarter of the way, the next a third of the rest, the last all of it."""
    case = Case(1, 7, 1, springs=False)
    whole = -np.linalg.pinv(case.A) @ case.b
    for ahead in (4, 3, 2, 1, 1):
        case.assert_steps(pseudoinverse_step, [1e-6, 4.0], whole / ahead, atol=1e-8)
    case.room[LAST] = math.inf  # a new attempt
    case.assert_steps(pseudoinverse_step, [1e-6, 4.0], whole / 4, atol=1e-8)


@given(seed=seeds, joints=joints, targets=targets, damping=st.sampled_from([0.03, 0.5]))
def test_dls(seed, joints, targets, damping):
    case = Case(seed, joints, targets)
    expected = naive.damped_step(
        case.jacobian, case.residual, case.gradient, case.diagonal, case.free, damping * damping
    )
    case.assert_steps(dls_step, [damping], expected)


@given(seed=seeds, joints=joints, targets=targets, singular=st.sampled_from([0.01, 0.5]))
def test_svd_dls(seed, joints, targets, singular):
    case = Case(seed, joints, targets)
    case.assert_steps(svd_dls_step, [0.3, singular], naive.svd_dls_step(case.A, case.b, 0.3, singular), atol=1e-8)


def test_svd_dls_is_the_pseudoinverse_away_from_singular_postures():
    case = Case(1, 7, 1, springs=False)
    least = np.linalg.svd(case.A, compute_uv=False)[:3].min()
    case.assert_steps(svd_dls_step, [9.0, 0.9 * least], -np.linalg.pinv(case.A) @ case.b, atol=1e-8)


@given(seed=seeds, joints=joints, targets=targets, gamma=st.sampled_from([0.2, 0.8]))
def test_sdls(seed, joints, targets, gamma):
    case = Case(seed, joints, targets)
    if well_conditioned(case.A):
        case.assert_steps(sdls_step, [gamma], naive.sdls_step(case.A, case.b, case.rows, gamma), atol=1e-8)


@given(seed=seeds, joints=joints, targets=targets)
def test_gauss_newton(seed, joints, targets):
    case = Case(seed, joints, targets)
    if well_conditioned(case.A):
        expected = np.linalg.lstsq(case.A, -case.b, rcond=1e-9)[0]
        case.assert_steps(gauss_newton_step, [1.0], expected, atol=1e-4)


STEPS = [
    (transpose_step, [0.0, 1.0]),
    (pseudoinverse_step, [1e-6, 1.0]),
    (dls_step, [0.03]),
    (svd_dls_step, [0.1, 0.1]),
    (sdls_step, [0.8]),
    (gauss_newton_step, [1.0]),
    (levenberg_marquardt_step, [1e-3]),
]
ids = [kernel.__name__ for kernel, _ in STEPS]


@pytest.mark.parametrize(("kernel", "own"), STEPS, ids=ids)
def test_no_step_is_longer_than_allowed(kernel, own):
    for seed in range(5):
        case = Case(seed, 6, 1)
        x, moved = case.take(kernel, *own, longest=0.01)
        assert moved and 0.0 < np.abs(x - case.x).max() <= 0.01 + 1e-12


@pytest.mark.parametrize(("kernel", "own"), STEPS, ids=ids)
def test_every_step_is_downhill(kernel, own):
    """From the straight arm of a singular posture too, with a joint at its limit."""
    flat = Flat(Problem(planar_chain(3, limits=(0.0, 2.0)), Position("tip", (0.5, 0.2, 0.0))))
    x = np.zeros(3)
    flat.linearise(x)
    uphill = flat.work.jacobian[:, : flat.work.residual.size] @ flat.work.residual
    room = np.zeros(100)
    room[LAST] = math.inf
    error = flat.measure(x)[0]
    before = x.copy()
    assert kernel(flat.problem, x, 0.0, error, np.array([0.0, 1.0, 0.0, 0.1, *own]), room, flat.work)
    assert (x - before) @ uphill < 0.0
    assert (x >= 0.0).all() and (x <= 2.0).all()


@pytest.mark.parametrize(("kernel", "own"), STEPS, ids=ids)
def test_a_body_that_limits_hold_in_every_joint_stalls(kernel, own):
    flat = Flat(Problem(planar_chain(2, limits=(0.0, 1.0)), Position("tip", (0.5, -0.8, 0.0))))
    x = np.zeros(2)
    room = np.zeros(100)
    room[LAST] = math.inf
    error = flat.measure(x)[0]
    assert not kernel(flat.problem, x, 0.0, error, np.array([0.0, 1.0, 0.0, 1.0, *own]), room, flat.work)
    assert_array_equal(x, 0.0)


# ---- What they are made of ----------------------------------------------------------------------------------


@given(seed=seeds, joints=joints, targets=targets)
def test_steepest_descent_and_curvature(seed, joints, targets):
    case = Case(seed, joints, targets)
    w = case.flat.work
    w.free[:] = case.free
    steepest_descent(case.flat.problem, w)
    assert_allclose(w.step, -case.uphill * case.free, rtol=0.0, atol=1e-12)
    step = np.random.default_rng(seed).normal(size=case.x.size) * case.free
    assert curvature(case.flat.problem, step, w) == pytest.approx(((case.A @ step) ** 2).sum(), rel=1e-9)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_step_that_is_not_a_number_is_not_taken(bad):
    case = Case(1, 4, 1)
    case.flat.work.step[:] = 0.1
    case.flat.work.step[2] = bad
    x = case.x.copy()
    assert not step_from(x, 1.0, x, case.flat.bounds, case.flat.work)
    assert_array_equal(x, case.x)


# ---- Steps that remember ------------------------------------------------------------------------------------


def test_gauss_newton_halves_a_step_that_gains_nothing():
    case = Case(1, 7, 1, springs=False)
    whole, _ = case.take(gauss_newton_step, 1.0, longest=0.3)
    room, error = case.room, case.room[LAST]
    for share in (0.5, 0.25, 0.125):
        x = whole.copy()
        assert gauss_newton_step(case.flat.problem, x, 0.0, 2.0 * error, case.parameters, room, case.flat.work)
        assert_allclose(x, case.x + share * (whole - case.x), rtol=0.0, atol=1e-12)
    room[step_gauss_newton.SHARE] = step_gauss_newton.LEAST_SHARE
    assert not gauss_newton_step(case.flat.problem, x, 0.0, 2.0 * error, case.parameters, room, case.flat.work)


def test_gauss_newton_without_line_search_goes_on():
    case = Case(1, 7, 1, springs=False)
    case.room[LAST] = 0.0  # whatever was there before was better
    case.assert_steps(gauss_newton_step, [0.0], np.linalg.lstsq(case.A, -case.b, rcond=None)[0], atol=1e-6)


class Marquardt(Case):
    """Levenberg-Marquardt from a posture, one call after the other."""

    DAMPING, GROWTH = step_levenberg_marquardt.DAMPING, step_levenberg_marquardt.GROWTH

    def call(self, x, error=None):
        """One step from x as if its error were this."""
        measured = self.flat.measure(x)[0]
        error = measured if error is None else error
        return levenberg_marquardt_step(self.flat.problem, x, 0.0, error, self.parameters, self.room, self.flat.work)

    def damped(self, damping):
        step = naive.damped_step(self.jacobian, self.residual, self.gradient, self.diagonal, self.free, damping)
        return np.clip(self.x + step, self.flat.bounds[0], self.flat.bounds[1])


@given(seed=seeds, joints=joints, targets=targets)
def test_levenberg_marquardt(seed, joints, targets):
    """The first step, then two that are taken back and tried again with more and more damping."""
    case = Marquardt(seed, joints, targets)
    case.parameters[4] = 0.1
    first = 0.1 * ((case.jacobian**2).sum(axis=1) + case.diagonal).max()
    x = case.x.copy()
    if not case.call(x) or case.room[case.GROWTH] > 2.0:
        return  # nothing to gain, or a limit bent the step
    assert case.room[case.DAMPING] == pytest.approx(first)
    assert_allclose(x, case.damped(first), rtol=0.0, atol=1e-8)
    worse = 2.0 * case.room[LAST]
    for damping in (2.0 * first, 8.0 * first):
        if case.call(x, worse) and case.room[case.GROWTH] <= 8.0:
            assert case.room[case.DAMPING] == pytest.approx(damping)
            assert_allclose(x, case.damped(damping), rtol=0.0, atol=1e-8)


@pytest.mark.parametrize(("kept", "factor"), [(1.0, 1 / 3), (0.5, 1.0), (0.75, 1 - 0.5**3), (0.1, 1 + 0.8**3)])
def test_the_damping_follows_the_gain_ratio(kept, factor):
    """A step that keeps its promise makes the next one bolder, one that keeps a tenth of it warier."""
    case = Marquardt(1, 7, 1, springs=False)
    case.parameters[4] = 0.1
    x = case.x.copy()
    assert case.call(x)
    damping, promised = case.room[case.DAMPING], case.room[step_levenberg_marquardt.PROMISED]
    step = x - case.x
    assert promised == pytest.approx(case.b @ case.b - ((case.b + case.A @ step) ** 2).sum(), rel=1e-6)
    assert case.call(x, case.room[LAST] - kept * promised)
    assert case.room[case.DAMPING] == pytest.approx(factor * damping)
    assert case.room[case.GROWTH] == 2.0


def test_levenberg_marquardt_is_warier_where_a_limit_bends_the_step():
    """Cut off at the limits the first step would lead uphill; the damping grows until it does not."""
    case = Marquardt(13, 2, 1, springs=False)
    case.parameters[4] = 1e-3
    x = case.x.copy()
    assert case.call(x)
    first = 1e-3 * (case.jacobian**2).sum(axis=1).max()
    bent = case.damped(first) - case.x
    assert ((case.b + case.A @ bent) ** 2).sum() > case.b @ case.b
    assert case.room[case.DAMPING] > 100.0 * first
    assert_allclose(x, case.damped(case.room[case.DAMPING]), rtol=0.0, atol=1e-9)
    assert ((case.b + case.A @ (x - case.x)) ** 2).sum() < case.b @ case.b


def test_levenberg_marquardt_gives_up_when_damping_does_not_help():
    case = Marquardt(1, 7, 1, springs=False)
    case.parameters[4] = 0.1
    x = case.x.copy()
    assert case.call(x)
    worse, calls = 2.0 * case.room[LAST], 0
    while case.call(x, worse):
        calls += 1
    assert 5 < calls < 20
    assert_allclose(x, case.x, atol=1e-6)


def test_room_is_all_that_they_use():
    """Behind the numbers that the decomposition needs, nothing is written."""
    for springs in (False, True):
        for joints, targets in ((7, 1), (3, 2)):
            case = Case(1, joints, targets, springs=springs)
            used = step_pseudoinverse.SCRATCH + size(case.x.size, case.residual.size, springs)
            case.room[used:] = 7.0
            case.take(pseudoinverse_step, 1e-6, 1.0)
            assert_array_equal(case.room[used:], 7.0)
            assert (case.room[MEMORY + 1 : used] != 7.0).all()
