"""explain: the right cause for every way to fail, and a plain sentence for success."""

import math

import numpy as np
import pytest

import memetik as mk
from memetik.build.chains import planar_chain
from memetik.kernels.problem.budget import OUTCOME
from memetik.objectives import Displacement, JointValue, Pose, Position
from memetik.objectives.custom import objective
from memetik.problem import Problem
from memetik.solution import Solution, Status
from memetik.solution import explain as explanation
from memetik.solvers import Budget, solve

quick = pytest.mark.quick


@pytest.fixture
def arm():
    """Three links of 1.2 m in all, in the plane."""
    return planar_chain([0.5, 0.4, 0.3])


def explain(body, objectives, start=None, budget=None, **conditions):
    return solve(Problem(body, objectives, **conditions), start, budget=budget or Budget(evaluations=2000)).explain()


@quick
def test_success_is_one_sentence(arm):
    text = explain(arm, Position("tip", (0.7, 0.5, 0.0)))
    assert text.startswith("The objective is within tolerance: solved by memetic in ")
    assert text.endswith("in 1 attempt.") and "\n" not in text


@quick
def test_success_counts_objectives_and_names_guides(arm):
    wishes = [Position("tip", (0.7, 0.5, 0.0)), JointValue("joint_1", 0.5, tolerance=9.0), Displacement()]
    first, guide = explain(arm, wishes).splitlines()
    assert first.startswith("All 2 objectives are within tolerance")
    assert guide.startswith("Displacement, a guide, remains at ")
    assert explain(arm, Displacement(reference=[0.1, 0.2, 0.3])).startswith("The problem has guides only: cost 0;")


@quick
def test_success_needs_no_second_look(arm):
    solution = solve(Problem(arm, [Position("tip", (0.7, 0.5, 0.0)), Displacement()]))

    def look(*_):
        raise AssertionError("nothing is solved again")

    assert solution.success and explanation.explain(solution, look) == solution.explain()


def test_out_of_reach(arm):
    text = explain(arm, Position("tip", (2.0, 0.0, 0.0)))
    assert text.splitlines()[0] == (
        "Position of tip missed by 800 mm (tolerance 0.1 mm): the target is 2 m from joint_1, "
        "the chain from there reaches at most 1.2 m."
    )
    assert "conflict" not in text and "budget" not in text


def test_limits_that_bind():
    """The elbow may not bend the way the target lies."""
    arm = planar_chain([0.5, 0.5], limits=[(-0.1, 0.1), (-1.0, 0.0)])
    text = explain(arm, Position("tip", (0.5, 0.4, 0.0)))
    assert "No posture that reaches it was found in 60000 more evaluations." in text
    assert text.splitlines()[-1] == (
        "joint_1 (upper limit) and joint_2 (upper limit) stand at limits beyond which they would come closer."
    )


def test_a_limit_that_does_not_bind_is_not_blamed():
    """joint_2 rests at its limit, but nothing pulls it outwards: the target is straight ahead and too far."""
    arm = planar_chain([0.5, 0.5], limits=[(-1.0, 1.0), (-1.0, 0.0)])
    solution = solve(Problem(arm, Position("tip", (2.0, 0.0, 0.0))))
    assert "at upper limit" in str(solution)
    assert "limit" not in solution.explain()


def test_objectives_that_conflict(arm):
    """One point cannot be in two places; the third objective has nothing to do with it."""
    here, there = Position("tip", (0.7, 0.5, 0.0), name="here"), Position("tip", (0.7, -0.5, 0.0), name="there")
    text = explain(arm, [here, JointValue("joint_1", 0.0, tolerance=0.1), there])
    assert "here missed by" in text and "there missed by" in text
    assert "here and there conflict: each can be reached alone, but no posture was found that reaches both." in text


def test_one_objective_that_spoils_the_others():
    """The tip cannot be reached even alone, and pulls the elbow off a place that it could have."""
    arm = planar_chain([0.5, 0.4, 0.3], limits=[(-0.5, 0.5), (-0.5, 0.5), (-0.5, 0.5)])
    elbow = Position("link_2", (0.5 * math.cos(0.4), 0.5 * math.sin(0.4), 0.0), name="elbow")
    text = explain(arm, [Position("tip", (-0.5, 0.0, 0.0)), elbow])
    assert "Position of tip cannot be reached even alone: the nearest posture found misses it by" in text
    assert "All others can be reached together without Position of tip." in text


def test_a_pose_whose_halves_are_possible(arm):
    text = explain(arm, Pose("tip", mk.transform((1.19, 0.0, 0.0), mk.rpy(0.0, 0.0, math.pi))))
    assert text.splitlines()[0].startswith("Pose of tip missed by ")
    assert " mm and " in text and " degrees (tolerance 0.1 mm and 0.0573 degrees)." in text
    assert "Its position and its orientation can each be reached, but not both at once." in text


def test_a_pose_of_which_half_is_possible(arm):
    tilted = Pose("tip", mk.transform((0.7, 0.5, 0.0), mk.rpy(0.5, 0.0, 0.0)))
    assert "Only its position can be reached." in explain(arm, tilted)


LOCKS = "Position of tip can be reached if the locked joints are free."


@pytest.mark.parametrize("held", [0.0, 0.75])
@pytest.mark.parametrize("others", [[], [JointValue("joint_3", 0.2, tolerance=9.0)]])
def test_locked_joints(arm, held, others):
    """Where the chain below the lock is too short, and where it is long enough but cannot turn there."""
    target = Position("tip", (0.7, 0.5, 0.0))
    text = explain(arm, [target, *others], lock={"joint_1": held, "joint_2": 0.0})
    assert LOCKS in text.splitlines()


@pytest.mark.parametrize(
    ("budget", "ended", "advice"),
    [
        (Budget(evaluations=1), "The search ended after ", "Allow more evaluations"),
        (Budget(seconds=1e-9), "The time ran out after ", "Allow more time"),
    ],
)
def test_too_small_a_budget(arm, budget, ended, advice):
    text = explain(arm, Position("tip", (0.3, 0.5, 0.0)), budget=budget)
    assert ended in text
    assert "Everything can be reached: a second look did so with" in text and advice in text


def test_another_method_may_be_the_remedy(arm):
    problem = Problem(arm, Position("tip", (0.3, 0.5, 0.0)))
    numbers = np.zeros(OUTCOME + 2)
    numbers[OUTCOME] = math.dist((1.2, 0.0), (0.3, 0.5))
    weak = Solution(problem, np.zeros(3), Status.CLOSEST, numbers, 1e-3, "weak")
    assert "The method 'memetic' reaches everything from here with" in weak.explain()


def test_a_start_outside_the_limits(arm):
    assert "The start was outside the limits and was moved into them." in explain(
        arm, Position("tip", (0.7, 0.5, 0.0)), start=[9.0, 0.0, 0.0]
    )


def test_targets_that_have_changed_since(arm):
    reach = Position("tip", (2.0, 0.0, 0.0))
    solution = solve(Problem(arm, reach))
    reach.target = (0.5, 0.0, 0.0)
    text = solution.explain()
    assert text.startswith("Position of tip missed by 800 mm (tolerance 0.1 mm).\nThe targets have changed since")
    reach.target = (2.0, 0.0, 0.0)
    assert "reaches at most 1.2 m" in solution.explain()


def test_solving_on_does_not_look_like_a_change(arm):
    """Displacement rests where each solve starts, so its error at the first answer is another one afterwards."""
    problem = Problem(arm, [Position("tip", (2.0, 0.0, 0.0)), Displacement()])
    solution = solve(problem)
    solve(problem, [0.5, 0.5, 0.5])
    assert "reaches at most 1.2 m" in solution.explain()


def test_no_usable_posture(arm):
    @objective(joints=["joint_1"])
    def nonsense(angle):
        return math.nan * angle

    solution = solve(Problem(arm, nonsense), budget=Budget(evaluations=10))
    assert solution.status is Status.INVALID
    assert solution.explain().startswith("No usable posture came out: nonsense is not a finite number there.")


def test_a_wish_about_the_start_is_no_obstacle(arm):
    """Displacement with a tolerance can block, but by itself it asks for nothing."""
    calm = Displacement(tolerance=1e-3)
    text = explain(arm, [Position("tip", (0.3, 0.5, 0.0)), calm])
    assert "Position of tip and Displacement conflict" in text


def test_what_gave_way_to_what_is_named(arm):
    wall = mk.Plane("tip", (0.6, 0.0, 0.0), (-1.0, 0.0, 0.0), side="above", priority=2, name="wall")
    text = explain(arm, [Position("tip", (0.9, 0.2, 0.0)), wall])
    assert "Position of tip (priority 0) gave way to wall (priority 2)." in text
    wall.priority = 0
    assert "gave way" not in explain(arm, [Position("tip", (0.9, 0.2, 0.0)), wall])
