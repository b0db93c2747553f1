"""Every method on six bodies: who claims a problem can take it, keeps limits, and says nothing that is not so."""

from __future__ import annotations

import pytest

from memetik.bench.compare import Question, compare, named
from memetik.bench.peers import Task
from memetik.errors import ProblemError
from memetik.read.chains import planar_chain, snake
from memetik.read.load import load
from memetik.solvers import methods

FINGERS = ("rh_fftip", "rh_mftip", "rh_rftip", "rh_lftip", "rh_thtip")
LIMBS = ("rightPalm", "leftPalm", "rightFoot", "leftFoot")
TASK = Task(position=1e-4, orientation=1e-3, seconds=0.05)
QUESTIONS = {
    "ur5": lambda: Question(load("ur5"), ("tool0",), TASK),
    "nao left arm": lambda: Question(load("nao"), ("l_gripper",), TASK),
    "planar": lambda: Question(planar_chain(2), ("tip",), TASK, position_only=True),
    "chain": lambda: Question(snake(10), ("tip",), TASK),
    "shadow hand": lambda: Question(load("shadow_hand"), FINGERS, TASK, position_only=True),
    "valkyrie": lambda: Question(load("valkyrie"), LIMBS, TASK),
}
CLOSED_FORM = ("ur5", "planar")  # all others have none, and only for that a method may refuse them
EVERY = [method.name for method in methods() if method.name != "learned"]  # which would have to learn each body first


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_method_tells_the_truth(name):
    comparison = compare(QUESTIONS[name](), named(EVERY), count=2)
    assert comparison.complaints == []
    assert list(comparison.refused) == ([] if name in CLOSED_FORM else ["analytic"])
    rows = comparison.report.rows
    assert [row["method"] for row in rows] == [method for method in EVERY if method not in comparison.refused]
    assert "no status contradicted" in comparison.report.remarks[-1]
    ample = compare(QUESTIONS[name]()._replace(task=TASK._replace(seconds=10.0)), named(["memetic"]), count=2)
    assert ample.report.rows[0]["solved [%]"] == 100.0, "with a deadline that no busy machine misses"


def test_there_is_something_to_compare():
    with pytest.raises(ProblemError, match="one of each at least"):
        compare(QUESTIONS["planar"](), {}, count=2)


def test_what_is_not_so_is_said(tmp_path):
    """A method that claims to have arrived, and has not."""

    class Boaster:
        def solve(self, problem, start=None, budget=None):
            solution = named(["dls"])["dls"].solve(problem, start)
            solution.q[0] += 0.5
            return solution

    comparison = compare(QUESTIONS["planar"](), {"boaster": Boaster()}, count=2)
    assert len(comparison.complaints) >= 2
    assert "forward kinematics finds it" in comparison.complaints[0]
    assert comparison.report.rows[0]["contradicted"] == 2 and comparison.report.rows[0]["solved [%]"] == 0.0
    assert {path.suffix for path in comparison.save(tmp_path)} == {".json", ".png", ".svg"}
