"""Solution.draw: a picture of the posture with its targets, wherever the body stands."""

import numpy as np
import pytest

import memetik as mk


def test_a_solution_draws_itself(tmp_path):
    body = mk.load("ur5")
    reach = mk.Position("tool0", (0.4, 0.2, 0.3))
    solution = mk.solve(mk.Problem(body, reach))
    assert str(solution.draw(tmp_path / "arm.svg")) == str(mk.draw(body, solution.q, targets=[reach.target]))
    assert (tmp_path / "arm.svg").read_text() == str(solution.draw())
    assert "An arm" in str(solution.draw(title="An arm", size=(300, 300), view=(0.0, 90.0)))
    with pytest.raises(mk.errors.FormatError):
        solution.draw(tmp_path / "arm.txt")


def test_targets_are_drawn_in_the_frame_of_the_root():
    body = mk.load("ur5")
    root = mk.transform((3.0, 1.0, 0.5), mk.rpy(0.0, 0.0, 1.0))
    target = body.forward(np.array([0.3, -1.0, 1.2, 0.1, 0.4, 0.0]), "tool0")
    here = mk.solve(mk.Problem(body, mk.Pose("tool0", target)))
    there = mk.solve(mk.Problem(body, mk.Pose("tool0", root @ target), root=root))
    drawn = mk.draw(body, there.q, targets=[np.linalg.inv(root) @ (root @ target)])
    assert here.success and there.success and str(there.draw()) == str(drawn)
