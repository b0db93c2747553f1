"""The step of every Jacobian method against numpy, on models with springs, limits, many residuals and few."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from memetik.build import planar_chain
from memetik.kernels.problem.least_squares import curvature, steepest_descent, step_from
from memetik.kernels.runtime.record import allocate, table_of
from memetik.kernels.stepping.iterate import SteppingRecord
from memetik.kernels.stepping.normal_equations import (
    LEAST_SHARE,
    GaussNewtonRecord,
    LevenbergMarquardtRecord,
    TransposeRecord,
    gauss_newton_step,
    levenberg_marquardt_step,
    transpose_step,
)
from memetik.kernels.stepping.singular_values import (
    PseudoinverseRecord,
    SdlsRecord,
    SvdDlsRecord,
    pseudoinverse_step,
    sdls_step,
    svd_dls_step,
)
from memetik.objectives import JointValue, Pose, Position
from memetik.problem import Problem
from tests.kernels.flat import Flat
from tests.naive import steps as naive
from tests.naive.bodies import random_body, random_origin

pytestmark = pytest.mark.quick

seeds, joints, targets = st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(1, 3)
FAR = 1e9  # a longest step that is never reached
DLS, NEWTON = {"damping": 0.03, "line_search": False}, {"damping": 1e-6, "line_search": True}
RECORDS = {
    transpose_step: TransposeRecord, pseudoinverse_step: PseudoinverseRecord, svd_dls_step: SvdDlsRecord,
    sdls_step: SdlsRecord, gauss_newton_step: GaussNewtonRecord, levenberg_marquardt_step: LevenbergMarquardtRecord,
}  # fmt: skip


class Method:
    """A step kernel with its record, at the beginning of an attempt."""

    def __init__(self, flat, kernel, *, longest=FAR, **numbers):
        self.flat, self.kernel = flat, kernel
        sizes = {**flat.compiled.sizes, "height": flat.work.residual.size + flat.work.step.size}
        self.stepping = allocate(
            SteppingRecord, sizes, step=0, restarts=False, patience=1, progress=0.0, longest_step=longest
        )
        self.last = self.stepping.last
        self.last[0] = math.inf
        self.own = allocate(RECORDS[kernel], sizes, stepping=self.stepping, **numbers)

    def __call__(self, x, error=None):
        """One step from x, in place, as if its error were this; whether it leads somewhere."""
        measured = self.flat.measure(x)[0]
        error = measured if error is None else error
        return self.kernel(self.flat.problem, x, 0.0, error, table_of(self.own), self.flat.work)


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
        at, (self.lower, self.upper) = rng.random(flat.variables.size), (flat.variables[k] for k in ("lower", "upper"))
        x = np.where(at < 0.2, self.lower, np.where(at > 0.8, self.upper, flat.sample(rng)))
        self.x = np.where(np.isfinite(x), x, 0.2)
        flat.linearise(self.x)
        w = flat.work
        J, self.residual, self.gradient, self.diagonal = (
            a.copy() for a in (w.jacobian[:, : w.residual.size], w.residual, w.gradient, w.diagonal)
        )
        self.jacobian = J
        self.uphill = J @ self.residual + self.gradient
        self.free = ~naive.held(self.x, self.lower, self.upper, self.uphill)
        self.A, self.b = naive.as_residuals(J, self.residual, self.gradient, self.diagonal, self.free)
        self.rows = [slice(t["row"], t["row"] + t["rows"]) for t in flat.terms if t["rows"]]
        self.rows += [slice(k, k + 1) for k in range(self.residual.size, len(self.b))]  # each spring is a target

    def method(self, kernel, **numbers):
        """A method on this problem."""
        return Method(self.flat, kernel, **numbers)

    def assert_steps(self, method, expected, atol=1e-9):
        """The method moves by the expected step, up to the limits."""
        x = self.x.copy()
        moved = method(x)
        step = naive.clamp(expected, method.stepping.longest_step)
        wanted = np.clip(self.x + step, self.lower, self.upper)
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
        case.assert_steps(case.method(transpose_step, length=0.0, lag=False), naive.transpose_step(case.A, case.b))
    case.assert_steps(case.method(transpose_step, length=0.02, lag=False), -0.02 * case.A.T @ case.b)


def test_the_transpose_takes_the_length_that_was_best_a_step_before():
    case = Case(3, 6, 1)
    case.flat.variables["lower"], case.flat.variables["upper"] = -np.inf, np.inf
    method = case.method(transpose_step, length=0.0, lag=True)
    first, second = case.x.copy(), case.x.copy()
    method(first)
    best = np.linalg.norm(naive.transpose_step(case.A, case.b)) / np.linalg.norm(case.A.T @ case.b)
    assert_allclose(first - case.x, -best * case.A.T @ case.b, atol=1e-9)
    method.own.best[0], method.last[0] = 0.125 * best, 1.0
    method(second)
    assert_allclose(second - case.x, -0.125 * best * case.A.T @ case.b, atol=1e-9)
    assert method.own.best[0] == pytest.approx(best)


def test_the_length_of_the_transpose_minimises_the_linear_error():
    case = Case(3, 6, 1)
    best = naive.transpose_step(case.A, case.b)
    errors = [np.linalg.norm(case.b + case.A @ (share * best)) for share in (0.99, 1.0, 1.01)]
    assert errors[1] < min(errors[0], errors[2])


@given(seed=seeds, joints=joints, targets=targets)
def test_pseudoinverse(seed, joints, targets):
    case = Case(seed, joints, targets)
    if well_conditioned(case.A):
        method = case.method(pseudoinverse_step, cutoff=1e-6, waypoints=1)
        case.assert_steps(method, -np.linalg.pinv(case.A, rcond=1e-6) @ case.b)


def test_pseudoinverse_by_either_formula():
    """J^T (J J^T)^-1 with more joints than residuals, (J^T J)^-1 J^T with fewer."""
    wide, tall = Case(1, 7, 1, springs=False), Case(10, 3, 2, springs=False)
    for case in (wide, tall):
        J = case.A[: case.residual.size][:, case.free]
        assert np.linalg.matrix_rank(J) == min(J.shape) and (J.shape[0] > J.shape[1]) == (case is tall)
        inverse = J.T @ np.linalg.inv(J @ J.T) if case is wide else np.linalg.inv(J.T @ J) @ J.T
        expected = np.zeros(case.x.size)
        expected[case.free] = -inverse @ case.residual
        case.assert_steps(case.method(pseudoinverse_step, cutoff=1e-6, waypoints=1), expected, atol=1e-8)


def test_waypoints_share_the_way():
    """Of four waypoints the first step goes a quarter of the way, the next a third of the rest, the last all of it."""
    case = Case(1, 7, 1, springs=False)
    whole = -np.linalg.pinv(case.A) @ case.b
    method = case.method(pseudoinverse_step, cutoff=1e-6, waypoints=4)
    for ahead in (4, 3, 2, 1, 1):
        case.assert_steps(method, whole / ahead, atol=1e-8)
    method.last[0] = math.inf  # a new attempt
    case.assert_steps(method, whole / 4, atol=1e-8)


@given(seed=seeds, joints=joints, targets=targets, damping=st.sampled_from([0.03, 0.5]))
def test_dls(seed, joints, targets, damping):
    case = Case(seed, joints, targets)
    expected = naive.damped_step(
        case.jacobian, case.residual, case.gradient, case.diagonal, case.free, damping * damping
    )
    case.assert_steps(case.method(gauss_newton_step, damping=damping, line_search=False), expected)


@given(seed=seeds, joints=joints, targets=targets, singular=st.sampled_from([0.01, 0.5]))
def test_svd_dls(seed, joints, targets, singular):
    case = Case(seed, joints, targets)
    method = case.method(svd_dls_step, damping=0.3, singular=singular)
    case.assert_steps(method, naive.svd_dls_step(case.A, case.b, 0.3, singular), atol=1e-8)


def test_svd_dls_is_the_pseudoinverse_away_from_singular_postures():
    case = Case(1, 7, 1, springs=False)
    least = np.linalg.svd(case.A, compute_uv=False)[:3].min()
    method = case.method(svd_dls_step, damping=9.0, singular=0.9 * least)
    case.assert_steps(method, -np.linalg.pinv(case.A) @ case.b, atol=1e-8)


@given(seed=seeds, joints=joints, targets=targets, gamma=st.sampled_from([0.2, 0.8]))
def test_sdls(seed, joints, targets, gamma):
    case = Case(seed, joints, targets)
    if well_conditioned(case.A):
        expected = naive.sdls_step(case.A, case.b, case.rows, gamma)
        case.assert_steps(case.method(sdls_step, gamma=gamma), expected, atol=1e-8)


@given(seed=seeds, joints=joints, targets=targets, springs=st.booleans())
def test_gauss_newton(seed, joints, targets, springs):
    """Rounding over a damping of 1e-12 blurs a step along what no target decides, or no spring: by 2.4 % in 16,000 cases."""
    case = Case(seed, joints, targets, springs=springs)
    if well_conditioned(case.A):
        expected = np.linalg.lstsq(case.A, -case.b, rcond=1e-9)[0]
        sharp = not springs and np.linalg.matrix_rank(case.A) == min(case.A.shape)
        case.assert_steps(case.method(gauss_newton_step, **NEWTON), expected, atol=1e-4 if sharp else 0.1)


STEPS = {
    "transpose": (transpose_step, {"length": 0.0, "lag": True}),
    "pseudoinverse": (pseudoinverse_step, {"cutoff": 1e-6, "waypoints": 1}),
    "dls": (gauss_newton_step, DLS),
    "svd_dls": (svd_dls_step, {"damping": 0.1, "singular": 0.1}),
    "sdls": (sdls_step, {"gamma": 0.8}),
    "gauss_newton": (gauss_newton_step, NEWTON),
    "levenberg_marquardt": (levenberg_marquardt_step, {"first_damping": 1e-3}),
}
every_step = pytest.mark.parametrize(("kernel", "numbers"), STEPS.values(), ids=STEPS)


@every_step
def test_no_step_is_longer_than_allowed(kernel, numbers):
    for seed in range(5):
        case = Case(seed, 6, 1)
        x = case.x.copy()
        assert case.method(kernel, longest=0.01, **numbers)(x)
        assert 0.0 < np.abs(x - case.x).max() <= 0.01 + 1e-12


@every_step
def test_every_step_is_downhill(kernel, numbers):
    """From the straight arm of a singular posture too, with a joint at its limit."""
    flat = Flat(Problem(planar_chain(3, limits=(0.0, 2.0)), Position("tip", (0.5, 0.2, 0.0))))
    x = np.zeros(3)
    flat.linearise(x)
    uphill = flat.work.jacobian[:, : flat.work.residual.size] @ flat.work.residual
    before = x.copy()
    assert Method(flat, kernel, longest=0.1, **numbers)(x)
    assert (x - before) @ uphill < 0.0
    assert (x >= 0.0).all() and (x <= 2.0).all()


@every_step
def test_a_body_that_limits_hold_in_every_joint_stalls(kernel, numbers):
    flat = Flat(Problem(planar_chain(2, limits=(0.0, 1.0)), Position("tip", (0.5, -0.8, 0.0))))
    x = np.zeros(2)
    assert not Method(flat, kernel, longest=1.0, **numbers)(x)
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
    assert not step_from(x, 1.0, x, case.flat.problem, case.flat.work)
    assert_array_equal(x, case.x)


# ---- Steps that remember ------------------------------------------------------------------------------------


def test_gauss_newton_halves_a_step_that_gains_nothing():
    case = Case(1, 7, 1, springs=False)
    method, whole = case.method(gauss_newton_step, longest=0.3, **NEWTON), case.x.copy()
    method(whole)
    error = method.last[0]
    for share in (0.5, 0.25, 0.125):
        x = whole.copy()
        assert method(x, 2.0 * error)
        assert_allclose(x, case.x + share * (whole - case.x), rtol=0.0, atol=1e-12)
    method.own.share[0] = LEAST_SHARE
    assert not method(x, 2.0 * error)


def test_gauss_newton_without_line_search_goes_on():
    case = Case(1, 7, 1, springs=False)
    method = case.method(gauss_newton_step, damping=1e-6, line_search=False)
    method.last[0] = 0.0  # whatever was there before was better
    case.assert_steps(method, np.linalg.lstsq(case.A, -case.b, rcond=None)[0], atol=1e-6)


class Marquardt(Case):
    """Levenberg-Marquardt from a posture, one call after the other."""

    def __init__(self, seed, joints, targets, springs=None, first_damping=0.1):
        super().__init__(seed, joints, targets, springs)
        self.call = self.method(levenberg_marquardt_step, first_damping=first_damping)
        self.own, self.last = self.call.own, self.call.last

    def damped(self, damping):
        step = naive.damped_step(self.jacobian, self.residual, self.gradient, self.diagonal, self.free, damping)
        return np.clip(self.x + step, self.lower, self.upper)


@given(seed=seeds, joints=joints, targets=targets)
def test_levenberg_marquardt(seed, joints, targets):
    """The first step, then two that are taken back and tried again with more and more damping."""
    case = Marquardt(seed, joints, targets)
    first = 0.1 * ((case.jacobian**2).sum(axis=1) + case.diagonal).max()
    x = case.x.copy()
    if not case.call(x) or case.own.growth[0] > 2.0:
        return  # nothing to gain, or a limit bent the step
    assert case.own.damping[0] == pytest.approx(first)
    assert_allclose(x, case.damped(first), rtol=0.0, atol=1e-8)
    worse = 2.0 * case.last[0]
    for damping in (2.0 * first, 8.0 * first):
        if case.call(x, worse) and case.own.growth[0] <= 8.0:
            assert case.own.damping[0] == pytest.approx(damping)
            assert_allclose(x, case.damped(damping), rtol=0.0, atol=1e-8)


@pytest.mark.parametrize(("kept", "factor"), [(1.0, 1 / 3), (0.5, 1.0), (0.75, 1 - 0.5**3), (0.1, 1 + 0.8**3)])
def test_the_damping_follows_the_gain_ratio(kept, factor):
    """A step that keeps its promise makes the next one bolder, one that keeps a tenth of it warier."""
    case = Marquardt(1, 7, 1, springs=False)
    x = case.x.copy()
    assert case.call(x)
    damping, promised = case.own.damping[0], case.own.promised[0]
    step = x - case.x
    assert promised == pytest.approx(case.b @ case.b - ((case.b + case.A @ step) ** 2).sum(), rel=1e-6)
    assert case.call(x, case.last[0] - kept * promised)
    assert case.own.damping[0] == pytest.approx(factor * damping)
    assert case.own.growth[0] == 2.0


def test_levenberg_marquardt_is_warier_where_a_limit_bends_the_step():
    """Cut off at the limits the first step would lead uphill; the damping grows until it does not."""
    case = Marquardt(13, 2, 1, springs=False, first_damping=1e-3)
    x = case.x.copy()
    assert case.call(x)
    first = 1e-3 * (case.jacobian**2).sum(axis=1).max()
    bent = case.damped(first) - case.x
    assert ((case.b + case.A @ bent) ** 2).sum() > case.b @ case.b
    assert case.own.damping[0] > 100.0 * first
    assert_allclose(x, case.damped(case.own.damping[0]), rtol=0.0, atol=1e-9)
    assert ((case.b + case.A @ (x - case.x)) ** 2).sum() < case.b @ case.b


def test_levenberg_marquardt_gives_up_when_damping_does_not_help():
    case = Marquardt(1, 7, 1, springs=False)
    x = case.x.copy()
    assert case.call(x)
    worse, calls = 2.0 * case.last[0], 0
    while case.call(x, worse):
        calls += 1
    assert 5 < calls < 20
    assert_allclose(x, case.x, atol=1e-6)


def test_directions_are_as_many_as_the_rank_may_be():
    """What the decomposition of a model needs is written, and nothing behind it."""
    for springs in (False, True):
        for joints, targets in ((7, 1), (3, 2)):
            case = Case(1, joints, targets, springs=springs)
            method = case.method(pseudoinverse_step, cutoff=1e-6, waypoints=1)
            n, m = case.x.size, case.residual.size
            height = m + n if springs else m
            count = min(n, height)
            used = {"sigma": count, "wrong": count, "left": count * height, "right": count * n}
            for array in method.own.directions:
                array[...] = 7.0
            method(case.x.copy())
            for name, size in used.items():
                numbers = getattr(method.own.directions, name).ravel()
                assert (numbers[:size] != 7.0).all()
                assert_array_equal(numbers[size:], 7.0)
