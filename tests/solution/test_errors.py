"""solution.errors: a number for each objective, two for a pose, and types that say so."""

import pytest

import memetik as mk
from memetik.objectives.framed import Posed
from memetik.objectives.objective import Single


@pytest.fixture(scope="module")
def solved():
    body = mk.load("ur5")
    pose = mk.Pose("tool0", body.forward(body.home)["tool0"])
    reach = mk.Position("tool0", body.forward(body.home)["tool0"][:3, 3])
    return pose, reach, mk.solve(mk.Problem(body, [pose, reach]))


def test_a_pose_has_two(solved):
    pose, reach, solution = solved
    error = solution.errors[pose]
    assert isinstance(error, mk.objectives.PoseErrors) and error.position <= 1e-4 and error.orientation <= 1e-3
    assert isinstance(solution.errors[reach], float)
    assert list(solution.errors) == [pose, reach]


def test_an_objective_of_another_problem(solved):
    with pytest.raises(mk.errors.UnknownNameError, match=r"no objective named <Position elbow> in this problem"):
        solved[2].errors[mk.Position("elbow", (0, 0, 0))]


def test_types_know_every_objective():
    names = [name for name in mk.__all__ if isinstance(getattr(mk, name), type)]
    classes = [getattr(mk, name) for name in names if issubclass(getattr(mk, name), mk.Objective)]
    assert len(classes) > 15
    for each in classes:
        if each is not mk.Objective:
            assert issubclass(each, Posed) != issubclass(each, Single), each
