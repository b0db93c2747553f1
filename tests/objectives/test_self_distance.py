"""SelfDistance: which pairs of links can collide, and bodies that keep apart."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from memetik import Body, Shape, load, transform, translation
from memetik.build import Joint, Link
from memetik.errors import ProblemError, UnknownNameError
from memetik.objectives import Pose, SelfDistance
from memetik.problem import Problem
from memetik.solvers import Memetic
from tests.naive.kinematics import forward
from tests.objectives.distances import error_at, link_distance, residuals


def chain_of_solids(kinds=("revolute", "revolute", "fixed", "revolute")):
    """Links a to e in a row, each with a small sphere."""
    links = [Link(name, shapes=(Shape("sphere", (0.05,)),)) for name in "abcde"]
    joints = [
        Joint(f"{one}{two}", kind, one, two, transform((0.0, 0.0, 0.2)), np.array([0.0, 1.0, 0.0]))
        for one, two, kind in zip("abcd", "bcde", kinds, strict=True)
    ]
    return Body("chain", links, joints, touching=[("a", "e")])


def test_pairs_of_links():
    """Not neighbours, not what is welded to a neighbour, not what may touch."""
    body = chain_of_solids()  # c and d are one part
    assert SelfDistance(body).pairs == (("a", "c"), ("a", "d"), ("b", "e"))
    assert SelfDistance(body, ["a", "b", "d", "e"]).pairs == (("a", "d"), ("b", "e"))
    assert SelfDistance(body, ignore=[("c", "a")]).pairs == (("a", "d"), ("b", "e"))


def test_locked_joints_weld():
    """Two links that a lock ties together do not move each other; the rest is still looked at."""
    body = chain_of_solids()
    objective = SelfDistance(body, margin=5.0)
    free = residuals(Problem(body, [objective]), body.home)
    locked = residuals(Problem(body, [SelfDistance(body, margin=5.0)], lock={"ab": 0.0, "bc": 0.0}), body.home)
    assert_allclose(free, [5.0 - 0.3, 5.0 - 0.5, 5.0 - 0.5])
    assert_allclose(locked, [5.0 - 0.5])


def test_self_distance_folds_no_link_into_another():
    body, rng = load("panda"), np.random.default_rng(0)
    objective = SelfDistance(body)
    postures = (body.sample(rng) for _ in range(100))
    folded = next(q for q in postures if error_at(SelfDistance(body), body, q) > 0.02)
    problem = Problem(body, [objective, Pose("panda_hand", body.forward(body.home)["panda_hand"])])
    solution = Memetic().solve(problem, folded)
    assert solution.success
    assert solution.errors[objective] == 0.0
    poses = forward(body, solution.q)
    assert min(link_distance(body, poses, a, b) for a, b in objective.pairs) >= -1e-9


@pytest.mark.parametrize("name", ["panda", "ur5", "iiwa14", "h1", "shadow_hand", "go2", "baxter", "pr2"])
def test_bundled_bodies_do_not_collide_at_home(name):
    body = load(name)
    assert error_at(SelfDistance(body), body, body.home) == 0.0


def overlapping():
    """Six balls in a row, each of which always reaches into the one after the next."""
    names = ["root", "a", "b", "c", "d", "e"]
    links = [Link(name, shapes=(Shape("sphere", (0.12,)),)) for name in names]
    joints = [
        Joint(
            f"j{k}", "revolute", names[k], names[k + 1], translation(0.0, 0.0, 0.1), axis=(0, 1, 0), lower=-1, upper=1
        )
        for k in range(5)
    ]
    return Body("row", links, joints)


def test_pairs_that_always_touch_can_be_left_out():
    body = overlapping()
    apart = SelfDistance(body, ignore="always")
    assert set(apart.ignored) == {("root", "b"), ("a", "c"), ("b", "d"), ("c", "e")}
    assert not set(apart.ignored) & set(apart.pairs)
    assert set(apart.ignored) | set(apart.pairs) == set(SelfDistance(body).pairs)
    touching = body.with_touching()
    assert {frozenset(pair) for pair in apart.ignored} <= touching.touching
    assert SelfDistance(touching).pairs == apart.pairs
    with pytest.raises(ProblemError, match="'always'"):
        SelfDistance(body, ignore="sometimes")


@pytest.mark.parametrize(("links", "message"), [(["a", "b"], "a, b can collide"), ([], "none has shapes")])
def test_links_that_cannot_collide(links, message):
    with pytest.raises(ProblemError, match=message):
        SelfDistance(chain_of_solids(), links)


def test_links_that_are_not_there():
    with pytest.raises(UnknownNameError, match="hnad"):
        SelfDistance(chain_of_solids(), ["hnad", "a"])
