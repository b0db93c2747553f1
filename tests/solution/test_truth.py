"""What is true in a condition: a solution or a track that succeeded; a status and a batch refuse to say."""

import numpy as np
import pytest

import memetik as mk


@pytest.fixture(scope="module")
def arm():
    body = mk.build.planar_chain(3)
    return body, mk.Position("tip", (0.5, 0.5, 0.0))


@pytest.mark.parametrize("status", mk.Status)
def test_a_status_is_no_condition(status):
    with pytest.raises(
        mk.errors.TruthError, match=r"write `if solution.success:` or `if status == mk.Status.REACHED:`"
    ):
        bool(status)
    with pytest.raises(TypeError, match=status.name):
        assert not status


def test_a_status_is_still_a_number():
    assert mk.Status.REACHED == 0 and mk.Status(1) is mk.Status.CLOSEST
    assert np.array([0, 1, 2, 3]).tolist() == [int(status) for status in mk.Status]
    assert f"{mk.Status.REACHED}" == "REACHED"


def test_a_solution_is_true_if_it_succeeded(arm):
    body, reach = arm
    problem = mk.Problem(body, reach)
    assert mk.solve(problem)
    far = mk.Problem(body, mk.Position("tip", (2.0, 0.0, 0.0)))
    assert not mk.solve(far, budget=mk.Budget(evaluations=50))


def test_a_track_is_true_if_it_succeeded(arm):
    body, reach = arm
    problem = mk.Problem(body, reach)
    path = np.array([[0.5, 0.5, 0.0], [0.5, 0.52, 0.0], [2.0, 0.0, 0.0]])
    assert mk.track(problem, {reach: path[:2]})
    missed = mk.track(problem, {reach: path}, budget=mk.Budget(evaluations=200))
    assert not missed
    assert missed.reached.tolist() == [True, True, False]


def test_a_batch_is_no_condition(arm):
    body, reach = arm
    batch = mk.solve_batch(mk.Problem(body, reach), {reach: [[0.5, 0.5, 0.0], [2.0, 0.0, 0.0]]}, threads=1)
    with pytest.raises(mk.errors.TruthError, match=r"1 of 2 are reached"):
        bool(batch)
    assert batch.reached.tolist() == batch.success.tolist() == [True, False]
    assert len(batch) == 2


def test_a_solution_is_a_dict_of_its_joints(arm):
    body, reach = arm
    solution = mk.solve(mk.Problem(body, reach))
    assert dict(solution) == dict(zip(body.joint_names, solution.q.tolist(), strict=True))
    assert list(solution) == list(body.joint_names)
    assert "joint_2" in solution and "tip" not in solution
    assert np.array_equal(body.vector(dict(solution)), solution.q)
