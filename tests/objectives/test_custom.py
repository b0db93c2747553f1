"""Objectives that users write: what their functions see and return, and what happens when they misbehave."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose

from memetik import Body
from memetik.build import Joint, Link, Mimic
from memetik.build.chains import planar_chain, serial_chain
from memetik.errors import MemetikWarning, ProblemError, UnknownNameError
from memetik.geometry import random_rotation, to_quaternion
from memetik.kernels.search import search as memetic
from memetik.kernels.terms.callback import call_guarded
from memetik.kernels.terms.custom import CUSTOM_COMPILED, FrameView, address_at, frame_view
from memetik.kernels.terms.function_pointers import call_residual
from memetik.objectives import Custom, FunctionalRelation, Position
from memetik.objectives.custom import objective
from memetik.problem import Problem
from memetik.solution import Status
from memetik.solvers import Budget, Memetic
from tests.objectives.finite_differences import Evaluated, check_jacobian, posture
from tests.timing import ratio

quick = pytest.mark.quick


def solve(body, objectives, start=None, **conditions):
    return Memetic().solve(Problem(body, objectives, **conditions), start, Budget(evaluations=500))


def residuals(problem, q):
    return Evaluated(problem, posture(problem, q)).residual


@pytest.fixture
def arm():
    return serial_chain([0.3, 0.3, 0.2, 0.1], "zyyx")


# ---- What a function sees and returns ---------------------------------------------------------------------


@quick
def test_three_lines_make_an_objective(arm):
    @objective(reads=["tip"], tolerance=1e-3)
    def above_table(tip):
        return max(0.0, 0.45 - tip.position[2])

    solution = solve(arm, [above_table, Position("tip", (0.4, 0.1, 0.0), mask=(1, 1, 0))])
    assert solution.success
    assert arm.forward(solution.q)["tip"][2, 3] >= 0.45 - 1e-3
    assert above_table.name == "above_table" and "tip" in repr(above_table)
    assert solution.errors[above_table] <= 1e-3


@quick
def test_a_frame_shows_its_pose(arm, rng):
    everything = Custom(lambda f: f.position + f.quaternion + f.axis_x + f.axis_y + f.axis_z, reads=[arm.frame("tip")])
    q = arm.sample(rng)
    T = arm.forward(q)["tip"]
    found = residuals(Problem(arm, everything), q)
    assert_allclose(found[:3], T[:3, 3], atol=1e-12)
    assert_allclose(found[3:7] * np.sign(found[3]), to_quaternion(T[:3, :3]) * np.sign(to_quaternion(T[:3, :3])[0]))
    assert_allclose(found[7:].reshape(3, 3).T, T[:3, :3], atol=1e-12)


@quick
def test_a_view_is_made_of_plain_tuples(rng):
    R = random_rotation(rng)
    view = frame_view(*to_quaternion(R).tolist(), 1.0, 2.0, 3.0)
    assert isinstance(view, FrameView) and view.position == (1.0, 2.0, 3.0)
    assert_allclose(np.array([view.axis_x, view.axis_y, view.axis_z]).T, R, atol=1e-12)


@quick
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda tip, a: a, lambda p, a: [a]),
        (lambda tip, a: 3, lambda p, a: [3.0]),
        (lambda tip, a: (1, a, tip.position[0]), lambda p, a: [1.0, a, p[0]]),
        (lambda tip, a: np.array(tip.position) * a, lambda p, a: p * a),
        (lambda tip, a: np.array([a]), lambda p, a: [a]),
    ],
)
def test_numbers_tuples_and_arrays_are_residuals(arm, rng, function, expected):
    q = arm.sample(rng)
    problem = Problem(arm, Custom(function, reads="tip", joints="joint_2"))
    assert_allclose(residuals(problem, q), expected(arm.forward(q)["tip"][:3, 3], q[1]))


def tied_body():
    return Body(
        "tied",
        [Link(name) for name in "abcd"],
        [
            Joint("lead", "revolute", "a", "b"),
            Joint("follow", "revolute", "b", "c", mimic=Mimic("lead", -2.0, 0.5)),
            Joint("slide", "prismatic", "c", "d", lower=-1.0, upper=1.0),
        ],
    )


@quick
def test_joints_are_read_by_value_whether_free_mimic_or_locked():
    body = tied_body()
    reads = Custom(lambda lead, follow, slide: (lead, follow, slide), joints=["lead", "follow", "slide"])
    assert_allclose(residuals(Problem(body, reads), [0.3, 0.1]), [0.3, -0.1, 0.1])
    assert_allclose(residuals(Problem(body, reads, lock={"slide": 0.7}), [0.3, 0.1]), [0.3, -0.1, 0.7])
    free_slide = Problem(body, reads, lock={"lead": 0.2})
    assert_allclose(residuals(free_slide, [0.3, 0.1]), [0.2, 0.1, 0.1])
    assert free_slide.compiled.active.tolist() == [1]


@quick
def test_what_is_read_twice_is_differentiated_once(arm, rng):
    body = tied_body()
    twice = Custom(lambda a, b, x, y, z: (a.position[0] * b.axis_x[1], x * y + z), reads=["d", "d"],
                   joints=["lead", "lead", "follow"])  # fmt: skip
    check_jacobian(body, [twice], [0.4, 0.2])
    check_jacobian(body, [twice, Position("d", (0.1, 0.2, 0.3))], [0.4, 0.2])


@quick
def test_the_world_is_left_as_it_was_found(arm, rng):
    """The Jacobian nudges frames and joints in place; whoever comes next must not notice."""
    first = Custom(lambda tip, a: tip.position[0] - a, reads=["tip"], joints=["joint_1"])
    alone = check_jacobian(arm, [Position("tip", (0.3, 0.1, 0.2))], q := arm.sample(rng))
    after = check_jacobian(arm, [first, Position("tip", (0.3, 0.1, 0.2))], q)
    assert np.array_equal(after[:, 1:], alone)


@quick
def test_one_objective_serves_several_problems(arm, rng):
    q = arm.sample(rng)
    last = Custom(lambda a: a - 0.3, joints=["joint_4"])
    alone, with_others = Problem(arm, last), Problem(arm, [Position("tip", (0.3, 0.1, 0.2)), last])
    assert_allclose(residuals(alone, q), [q[3] - 0.3])
    assert_allclose(residuals(with_others, q)[3:], [q[3] - 0.3])


@quick
def test_soft_and_weighted(arm):
    """Two wishes that exclude each other: the joint settles at their balance, the weighted mean."""
    low = Custom(lambda a: a + 0.2, joints=["joint_1"], tolerance=None, weight=3.0)
    high = Custom(lambda a: a - 0.2, joints=["joint_1"], tolerance=None, weight=1.0)
    solution = solve(arm, [low, high, Custom(lambda a: a - 0.5, joints=["joint_3"])], start=arm.home)
    assert solution.success
    assert_allclose(solution["joint_1"], -0.1, atol=1e-3)


# ---- Compilation ------------------------------------------------------------------------------------------


def test_no_solver_is_compiled_again(arm):
    problem = Problem(arm, Position("tip", (0.4, 0.1, 0.2)))
    Memetic().solve(problem)
    before = len(memetic.solve.signatures)
    solve(arm, [Custom(lambda tip: tip.position[2] - 0.1, reads=["tip"])])
    assert len(memetic.solve.signatures) == before


@pytest.mark.timed
def test_a_call_costs_little_more_than_the_function():
    """From the call by address to the residual in its place."""
    arm = planar_chain(3)
    table = Custom(lambda tip: max(0.0, 0.75 - tip.position[2]), reads=["tip"])
    c = Problem(arm, table).compiled
    world, x, out = np.array([[1.0, 0, 0, 0, 0.1, 0.2, 0.3]]), np.zeros(3), np.zeros(1)

    @numba.njit
    def by_address(calls, term, data, world, x, out):
        for _ in range(calls):
            call_residual(term.residual, term, data, world, x, out)

    @numba.njit
    def bare(calls, term, data, world, x, out):
        for _ in range(calls):
            call_guarded(address_at(data, term.numbers + CUSTOM_COMPILED), term, data, world, x, out)

    def many(kernel, calls=20_000):
        kernel(calls, c.terms[0], c.data, world, x, out)

    many(by_address), many(bare)  # compiled before the clock runs
    assert ratio(lambda: many(by_address), lambda: many(bare)) < 4.0
    assert_allclose(out, [0.45])


def test_globals_are_frozen_when_it_is_compiled(arm):
    height = 0.2

    def level(tip):
        return tip.position[2] - height

    problem = Problem(arm, Custom(level, reads=["tip"]))
    before = residuals(problem, arm.home)
    height = 0.4
    assert residuals(problem, arm.home) == before
    assert_allclose(residuals(Problem(arm, Custom(level, reads=["tip"])), arm.home), before - 0.2)


@quick
def test_a_function_that_is_compiled_already_is_taken_as_it_is(arm):
    @numba.njit
    def level(tip):
        return tip.position[2] - 0.2

    assert solve(arm, [Custom(level, reads=["tip"])]).success


class Opaque:
    """Something that the compiler knows nothing of."""

    height = 0.2


def plain_python(tip):
    return tip.position[2] - Opaque().height, {"x": tip.position[0]}["x"] - 0.3


def test_what_cannot_be_compiled_works_and_says_why(arm):
    slow = Custom(plain_python, reads=["tip"])
    with pytest.warns(MemetikWarning, match=r"plain_python: Numba cannot compile.*Opaque"):
        problem = Problem(arm, slow)
    quick = Custom(lambda tip: (tip.position[2] - 0.2, tip.position[0] - 0.3), reads=["tip"])
    one, other = Memetic().solve(problem, arm.home), solve(arm, [quick], start=arm.home)
    assert one.success and other.success
    assert_allclose(one.q, other.q, atol=1e-12)
    check_jacobian(arm, [slow], [0.1, 0.2, 0.3, 0.4])  # warned once, no more


def test_python_reads_mimic_and_locked_joints_too():
    body = tied_body()

    def opaquely(f, a, b, c):
        return a, b, c, f.position[0] * Opaque.height

    opaque = Custom(opaquely, reads=["d"], joints=["lead", "follow", "slide"])
    with pytest.warns(MemetikWarning):
        problem = Problem(body, opaque, lock={"slide": 0.7})
    assert_allclose(residuals(problem, [0.3, 0.1])[:3], [0.3, -0.1, 0.7])
    check_jacobian(body, [opaque], [0.3, 0.1], lock={"slide": 0.7})


# ---- Misbehaviour -----------------------------------------------------------------------------------------


def raises_far_out(tip):
    if tip.position[0] > 0.5:
        raise ValueError("too far out")
    return 0.0 * tip.position[2]


def raises_far_out_in_python(tip):
    return raises_far_out(tip) + 0.0 * Opaque.height


@pytest.mark.parametrize("function", [raises_far_out, raises_far_out_in_python])
@pytest.mark.filterwarnings("ignore::memetik.errors.MemetikWarning")
def test_an_exception_surfaces_after_the_solve(arm, function):
    bent = {"joint_1": 0.0, "joint_2": 2.0, "joint_3": 1.0, "joint_4": 0.0}
    body = Body(arm.name, arm.links.values(), arm.joints.values(), home=bent)
    fallible = Custom(function, reads=["tip"])
    reach = Position("tip", (0.7, 0.0, 0.2))
    problem = Problem(body, [fallible, reach])
    with pytest.raises(ProblemError, match=r"raised ValueError during the solve: too far out") as caught:
        Memetic().solve(problem)
    assert isinstance(caught.value.__cause__, ValueError)
    reach.target = body.forward(body.home + 0.01)["tip"][:3, 3]
    assert Memetic().solve(problem).success  # nothing is left of the fault


@pytest.mark.filterwarnings("ignore::memetik.errors.MemetikWarning")
def test_an_interrupt_stays_an_interrupt(arm):
    calls = []

    def interrupted(tip):
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return tip.position[2] - 0.2

    with pytest.raises(KeyboardInterrupt):
        solve(arm, [Custom(interrupted, reads=["tip"])])
    assert len(calls) == 4  # and the function is left alone from then on


@quick
def test_the_number_of_residuals_must_not_change(arm):
    def grows(a):
        return np.ones(2 if a > 0.5 else 1) * (a - 1.0)

    with pytest.raises(ProblemError, match="returned 2 residuals, but 1 at the home posture"):
        solve(arm, [Custom(grows, joints=["joint_1"])])


@quick
def test_nan_everywhere_is_never_a_success(arm):
    undefined = Custom(lambda tip: math.nan if tip.position[0] < 9.0 else 0.0, reads=["tip"])
    solution = solve(arm, [undefined], start=[0.1, 0.2, 0.3, 0.4])
    assert solution.status is Status.INVALID and not solution.success
    assert math.isnan(solution.errors[undefined])
    assert np.array_equal(solution.q, [0.1, 0.2, 0.3, 0.4])


@quick
def test_nan_in_places_is_avoided(arm):
    def root(tip):
        return math.sqrt(tip.position[2]) - 0.5 if tip.position[2] >= 0.0 else math.nan

    solution = solve(arm, [Custom(root, reads=["tip"])], start=[0.0, 0.5, 0.2, 0.0])
    assert solution.success
    assert_allclose(arm.forward(solution.q)["tip"][2, 3], 0.25, atol=2e-3)


@quick
def test_nan_of_a_guide_blocks_nothing(arm):
    guide = Custom(lambda tip: math.nan, reads=["tip"], tolerance=None)
    solution = solve(arm, [guide, reach := Position("tip", (0.3, 0.2, 0.3))])
    assert solution.success and math.isnan(solution.errors[guide]) and solution.errors[reach] <= 1e-4


@quick
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Custom(lambda tip: 0.0), "reads nothing"),
        (lambda: Custom(lambda tip: 0.0, reads=["tip", "base"]), "must take 2 arguments"),
        (lambda: Custom(lambda: 0.0, joints=["joint_1"]), "must take 1 arguments"),
        (lambda: Custom(3.0, reads=["tip"]), "is not a function"),
        (lambda: Custom(lambda tip: 0.0, reads=[3]), "reads must list frames, not 3"),
        (lambda: Custom(lambda tip: 0.0, joints=[None]), "joints must list joint names, not None"),
        (lambda: Custom(lambda tip: 0.0, reads=["tip"], tolerance=-1.0), "tolerance is -1"),
        (lambda: Custom(lambda tip: 0.0, reads=["tip"], weight=0.0), "weight is 0"),
    ],
)
def test_mistakes_are_said_at_the_definition(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


@quick
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda tip: "up", "returned 'up'. Return a number"),
        (lambda tip: None, "returned None"),
        (lambda tip: (), "Return a number"),
        (lambda tip: np.ones((2, 2)), "Return a number"),
        (lambda tip: tip.height, "raised AttributeError at the body's home posture"),
    ],
)
def test_mistakes_are_said_when_the_problem_is_made(arm, function, message):
    with pytest.raises(ProblemError, match=message):
        Problem(arm, Custom(function, reads=["tip"]))


@quick
def test_unknown_names_come_with_the_nearest(arm):
    with pytest.raises(UnknownNameError, match="link_1"):
        Problem(arm, Custom(lambda f: 0.0, reads=["lnk_1"]))
    with pytest.raises(UnknownNameError, match="joint_1"):
        Problem(arm, Custom(lambda a: 0.0, joints=["jont_1"]))


@quick
def test_nothing_to_influence_is_said(arm):
    with pytest.raises(ProblemError, match="no free joint can influence it"):
        Problem(arm, Custom(lambda f, a: a, reads=["base"], joints=["joint_1"]), lock={"joint_1": 0.3})


# ---- Relations between joints -----------------------------------------------------------------------------


@quick
def test_a_functional_relation_couples_joints(arm):
    """Eq. 4.10: a finger whose last joint bends with the others, and not in proportion."""
    relation = FunctionalRelation(
        "joint_3", lambda a, b: 0.5 * a * a + b, sources=["joint_1", "joint_2"], tolerance=1e-6
    )
    bent = arm.forward([0.4, 0.5, 0.5 * 0.16 + 0.5, 0.0])["tip"]
    solution = solve(arm, [relation, Position("tip", bent[:3, 3])])
    assert solution.success
    a, b, c, _ = solution.q
    assert_allclose(c, 0.5 * a * a + b, atol=1e-6)
    assert solution.errors[relation] == pytest.approx(abs(c - 0.5 * a * a - b), abs=1e-12)
    assert relation.name == "FunctionalRelation"


@quick
def test_a_relation_names_the_joint_that_does_not_exist(arm):
    with pytest.raises(UnknownNameError, match="joint_2"):
        Problem(arm, FunctionalRelation("joint_1", lambda a: a, sources=["jint_2"]))
    with pytest.raises(ProblemError, match="must take 2 arguments"):
        FunctionalRelation("joint_1", lambda a: a, sources=["joint_2", "joint_3"])


def test_a_relation_that_cannot_be_compiled_runs_in_python(arm):
    relation = FunctionalRelation("joint_1", lambda a: Opaque.height * a, sources=["joint_2"])
    with pytest.warns(MemetikWarning, match="Opaque"):
        problem = Problem(arm, [relation, Position("tip", (0.4, 0.2, 0.1), tolerance=1.0)])
    solution = Memetic().solve(problem, [0.5, 1.0, 0.0, 0.0])
    assert solution.success
    assert_allclose(solution["joint_1"], 0.2 * solution["joint_2"], atol=1e-3)
