"""print(solution): every objective with its verdict, every joint with its remark."""

import dataclasses

import numpy as np
import pytest

from memetik.build.chains import planar_chain
from memetik.kernels.problem.budget import OUTCOME
from memetik.objectives import Displacement, JointValue, LookAt, Orientation, Pose, Position
from memetik.problem import Problem
from memetik.solution import Solution, Status
from memetik.solution.measures import measures, title
from memetik.solvers import Budget, solve
from tests.timing import ratio

quick = pytest.mark.quick


@pytest.fixture
def arm():
    return planar_chain([0.5, 0.4, 0.3], limits=(-1.5, 1.5))


def row(text, name):
    """The cells of the line that starts with a name."""
    (line,) = [line for line in text.splitlines() if line.startswith(name)]
    return line.removeprefix(name).split()


@quick
def test_a_status_prints_its_name():
    assert [str(status) for status in Status] == ["REACHED", "CLOSEST", "INVALID", "MINIMUM"]
    assert f"{Status.CLOSEST}" == "CLOSEST" and Status.CLOSEST == 1


@quick
def test_the_status_line_and_the_objectives(arm):
    problem = Problem(arm, [Position("tip", (0.7, 0.5, 0.0)), Displacement()])
    text = str(solve(problem))
    assert text.startswith("REACHED by memetic in ")
    assert "1 attempt)" in text.splitlines()[0]
    error, unit, tolerance, tolerance_unit, verdict = row(text, "Position of tip")
    assert float(error) <= 1e-4 == float(tolerance)
    assert (unit, tolerance_unit, verdict) == ("m", "m", "ok")
    assert row(text, "Displacement")[1:] == ["guide"]


@quick
def test_a_pose_has_two_rows():
    arm = planar_chain([0.5, 0.4, 0.3])
    q = [0.3, 0.4, 0.5]
    text = str(solve(Problem(arm, Pose("tip", arm.forward(q)["tip"])), q))
    assert row(text, "Pose of tip, position")[1::2] == ["m", "m"]
    assert row(text, "Pose of tip, orientation")[1::2] == ["rad", "rad"]


@quick
def test_remarks_on_joints(arm):
    """joint_1 is locked, joint_2 stops at a limit of the problem, joint_3 is not read."""
    problem = Problem(arm, JointValue("joint_2", 1.2), lock={"joint_1": 0.25}, limits={"joint_2": (-1.0, 1.0)})
    solution = solve(problem, budget=Budget(evaluations=50))
    text = str(solution)
    assert row(text, "joint_1") == ["0.2500", "rad", "-1.5000", "rad", "1.5000", "rad", "locked"]
    assert row(text, "joint_2") == ["1.0000", "rad", "-1.0000", "rad", "1.0000", "rad", "at", "upper", "limit"]
    assert row(text, "joint_3")[-1] == "unread"
    assert row(text, "JointValue of joint_2")[-1] == "missed"


@quick
def test_joints_without_limits_are_free_and_zeros_have_no_sign():
    body = planar_chain([0.5, 0.4], limits=None)
    problem = Problem(body, Position("tip", (0.5, 0.0, 0.0), tolerance=None))
    numbers = np.zeros(OUTCOME + 2)
    text = str(Solution(problem, np.array([-1e-9, -0.5]), Status.REACHED, numbers, 1e-6, "hand"))
    assert row(text, "joint_1") == ["0.0000", "rad", "free", "free"]
    assert row(text, "joint_2") == ["-0.5000", "rad", "free", "free"]


@quick
def test_time_and_start_are_said(arm):
    problem = Problem(arm, Position("tip", (0.7, 0.5, 0.0)))
    solution = solve(problem, [9.0, 0.0, 0.0], budget=Budget(seconds=1e-9))
    lines = str(solution).splitlines()
    assert lines[1:3] == ["the time ran out", "the start was outside the limits and was moved into them"]
    assert (solution.timed_out, solution.start_moved) == (True, True)


@quick
def test_each_axis_has_its_tolerance(arm):
    """Missed along y although the length of the error is within the tolerance along x."""
    problem = Problem(arm, Position("tip", (1.0, 0.0, 0.0), tolerance=(1.0, 1e-3, 1.0)), lock={"joint_2": 0.0})
    q = problem.start([0.1, 0.0, 0.0])
    numbers = np.zeros(OUTCOME + 2)
    numbers[OUTCOME] = 0.23  # satisfied stays 0
    (only,) = measures(Solution(problem, q, Status.CLOSEST, numbers, 1e-6, "hand"))
    assert (only.tolerance, only.verdict) == ((1.0, 1e-3, 1.0), "missed")
    assert row(str(Solution(problem, q, Status.CLOSEST, numbers, 1e-6, "hand")), "Position of tip") == [
        "0.23", "m", "1", "0.001", "1", "m", "missed",
    ]  # fmt: skip


@quick
def test_titles():
    assert title(Position("hand", (0, 0, 0))) == "Position of hand"
    assert title(Position("hand", (0, 0, 0), name="reach")) == "reach"
    assert title(Orientation("hand", np.eye(3), relative_to="foot")) == "Orientation of hand against foot"
    assert title(JointValue("knee", 0.0)) == "JointValue of knee"
    assert title(Displacement()) == "Displacement"


@quick
def test_units(arm):
    wishes = [LookAt("tip", (1.0, 1.0, 0.0)), JointValue("joint_1", 0.2), Displacement(), Position("tip", (1, 0, 0))]
    solution = solve(Problem(arm, wishes), budget=Budget(evaluations=20))
    assert [found.unit for found in measures(solution)] == ["rad", "rad", "", "m"]


@quick
def test_what_a_solution_says_of_itself(arm):
    problem = Problem(arm, Position("tip", (0.7, 0.5, 0.0)))
    solution = solve(problem)
    assert solution.success and solution.status is Status.REACHED
    assert solution["joint_2"] == solution.q[1]
    assert solution.errors == {problem.objectives[0]: solution.term_errors[0]}
    assert solution.term_satisfied.tolist() == [True]
    assert repr(solution).startswith("<Solution REACHED by memetic in")
    assert solution.evaluations >= 1 == solution.attempts
    assert not solution.timed_out and not solution.start_moved


@pytest.mark.timed
def test_a_solution_is_made_as_soon_as_any_record(arm):
    problem = Problem(arm, Position("tip", (0.7, 0.5, 0.0)))
    values = problem, np.zeros(3), 0, np.zeros(OUTCOME + 2), 1e-6, "memetic"
    Record = dataclasses.make_dataclass("Record", ["problem", "q", "status", "numbers", "seconds", "method"])

    def thousand(kind):
        for _ in range(1000):
            kind(*values)

    assert ratio(lambda: thousand(Solution), lambda: thousand(Record)) < 4.0
