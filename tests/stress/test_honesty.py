"""The stress test of honesty in small, and proof that it would notice a lie."""

import copy
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik.objectives
from memetik.objectives import HeightField, Objective, TriangleMesh
from memetik.problem import Problem
from tests.naive import errors as naive
from tests.naive import kinematics, surfaces
from tests.naive.bodies import random_body, serial_arm
from tests.stress import honesty
from tests.stress.batch import Postures, Setting
from tests.stress.wishes import FACTORIES, position


def test_three_hundred_problems():
    count, wrong, seen = honesty.run(300)
    assert count == 300 and wrong == []
    assert seen["REACHED"] > 50 and seen["CLOSEST"] > 50


def test_every_objective_takes_part():
    classes = {
        thing for thing in vars(memetik.objectives).values() if isinstance(thing, type) and issubclass(thing, Objective)
    }
    assert set(FACTORIES) == classes - {Objective}


def test_the_command_line(capsys):
    assert honesty.main(["1", "--seed", "5", "--block", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{honesty.EACH} problems, 0 mismatches"


# ---- Lies ---------------------------------------------------------------------------------------------------


class Tampered:
    """A solution with something changed after the fact."""

    def __init__(self, solution, **changes):
        for name in ("q", "status", "errors", "evaluations", "start_moved"):
            setattr(self, name, changes.get(name, getattr(solution, name)))


@pytest.fixture(scope="module")
def solved():
    """A block of which some solutions are reached and some are not."""
    rng = np.random.default_rng(3)
    body = serial_arm(6)
    setting = Setting(body, {"joint2": 0.1}, {"joint1": (-0.05, 0.05)})
    drawn = (position(setting, np.random.default_rng(seed)) for seed in range(100))
    wish = next(w for w in drawn if w.objective.tolerance == 1e-4 and w.objective.relative_to is None)
    problem = Problem(body, wish.objective, lock=setting.lock, limits=setting.limits)
    block = honesty.Block(setting, [wish], problem)
    return block, honesty.solve_block(block, rng)


def complaints(solved, change):
    """What is said when `change` has tampered with every solution."""
    block, (targets, starts, solutions, budgets) = solved
    return " ".join(honesty.check_block(block, targets, starts, [change(s) for s in solutions], budgets)[0])


def test_the_truth_is_believed(solved):
    assert complaints(solved, Tampered) == ""
    assert {int(solution.status) for solution in solved[1][2]} == {0, 1}


def nudged(solution, joint, by):
    q = solution.q.copy()
    q[solution.problem.body.index(joint)] += by
    return Tampered(solution, q=q)


@pytest.mark.parametrize(("change", "what"), [
    (lambda s: nudged(s, "joint1", 0.2), "a limit is broken"),
    (lambda s: nudged(s, "joint2", 1e-15), "a locked one, has moved"),
    (lambda s: nudged(s, "joint0", 1e-5), "is not the one reported"),
    (lambda s: Tampered(s, errors={o: e + 1e-7 for o, e in s.errors.items()}), "is not the one reported"),
    (lambda s: Tampered(s, errors=dict.fromkeys(s.errors, math.nan)), "is not the one reported"),
    (lambda s: Tampered(s, status=memetik.solution.Status.REACHED), "REACHED is said, but a tolerance is missed"),
    (lambda s: Tampered(s, status=memetik.solution.Status.CLOSEST), "all is within tolerance, but not said so"),
    (lambda s: Tampered(s, status=memetik.solution.Status.INVALID), "INVALID must be said exactly"),
    (lambda s: Tampered(s, evaluations=s.evaluations + 1000), "the budget is exceeded"),
    (lambda s: Tampered(s, start_moved=not s.start_moved), "start_moved is not true"),
])  # fmt: skip
def test_lies_are_noticed(solved, change, what):
    assert what in complaints(solved, change)


def test_a_joint_that_nothing_reads_must_stay(solved):
    block, answers = solved
    away = block._replace(wishes=[copy.copy(block.wishes[0])._replace(reads=frozenset())])
    assert "a joint that nothing reads" in complaints((away, answers), Tampered)


# ---- Twins --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_many_postures_at_once_are_each_of_them_alone(seed):
    rng = np.random.default_rng(seed)
    body = random_body(rng, 7)
    q = Setting(body, {}, {}).sample(rng, 4)
    postures = Postures(Setting(body, {}, {}), q)
    offset = kinematics.slide((0, 0, 1), 0.3)
    for k in range(4):
        for link in body.links:
            assert_allclose(postures.link(link)[k], kinematics.pose(body, link, q[:, k]), atol=1e-12)
        tip = kinematics.pose(body, "link7", q[:, k]) @ offset
        assert_allclose(postures.frame(body.frame("link7", offset))[k], tip, atol=1e-12)
        assert_allclose(postures.center_of_mass()[k], kinematics.center_of_mass(body, q[:, k])[:2], atol=1e-12)


def test_shrunk_polygons():
    square = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (0.0, 1.0)])
    assert_allclose(
        np.sort(naive.shrunk(square, 0.25), axis=0), [(0.25, 0.25), (0.25, 0.25), (1.75, 0.75), (1.75, 0.75)]
    )
    assert_allclose(naive.outside(square, np.array([(1.0, 0.5), (1.0, -0.5), (5.0, 5.0)])), [0.0, 0.5, 5.0])


def test_points_beside_surfaces(rng):
    """The twin against the surface itself; a triangle is met in all its regions."""
    mesh = TriangleMesh(rng.normal(size=(9, 3)), np.arange(9).reshape(3, 3))
    field = HeightField(rng.uniform(-0.3, 0.3, (3, 4)), spacing=0.5)
    for surface in (mesh, field):
        facets = surfaces.facets_of(surface)
        for place in rng.uniform(-2.0, 2.5, (60, 3)):
            point, normal = surface.beside(place)
            twin, twin_normal = surfaces.beside(surface, facets, place)
            assert_allclose(twin, point, atol=1e-9)
            assert_allclose(twin_normal, normal, atol=1e-9)
