"""Smooth paths around what is in the way: nothing is hit, no step is long, what cannot be met is said."""

import coal
import numpy as np
import pytest

import memetik as mk
from memetik.errors import ProblemError
from memetik.motion.smooth import _stretches, _Window
from memetik.solution import Status
from memetik_lab.thesis.clearance import ball_clearance, clearance

RADIUS = 0.02


def steps_of(points):
    return np.linalg.norm(np.diff(points, axis=0), axis=1)


@pytest.fixture(scope="module")
def arm():
    return mk.load("iiwa14")


def past_a_ball(arm, ball, steps=150, weight=1.0):
    """The tip along a line that a ball is on; tip and wrist keep clear of it."""
    tool = arm.frame("tool0")
    careful = mk.Distance([tool, arm.frame("link_6")], [ball], radius=RADIUS, weight=weight)
    reach = mk.Position("tool0", (0.5, -0.4, 0.5), tolerance=1e-3)
    problem = mk.Problem(arm, [reach, careful, mk.Displacement(weight=0.1)])
    line = np.linspace((0.5, -0.4, 0.5), (0.5, 0.4, 0.5), steps)
    reach.target = line[0]
    return problem, reach, line, mk.solve(problem).q


@pytest.mark.parametrize("ball", [(0.5, 0.0, 0.5, 0.1), (0.5, 0.05, 0.52, 0.08), (0.48, -0.05, 0.46, 0.12)])
def test_a_ball_on_the_line_is_passed_smoothly(arm, ball):
    problem, reach, line, start = past_a_ball(arm, ball)
    found = mk.track(problem, {reach: line}, start=start, smooth=True)
    frames = [arm.frame("tool0"), arm.frame("link_6")]
    clear = [ball_clearance(arm, q, frames, RADIUS, np.array([ball])) for q in found.q]
    assert min(clear) > -1.1e-4, "no collision beyond the tolerance of the distance"
    tips = arm.forward(found.q, "tool0")[:, :3, 3]
    walked = steps_of(tips)
    assert walked.max() <= 2.0 * walked.mean()
    assert not found.jumped.any() and found.largest_step < 0.2
    assert (found.q >= arm.lower).all() and (found.q <= arm.upper).all()
    # Steps say by themselves whether they are where they should be.
    off = np.linalg.norm(tips - line, axis=1)
    assert ((off <= 1e-3 + 1e-9) == found.reached).all()
    assert (found.status[~found.reached] == Status.CLOSEST).all()
    np.testing.assert_allclose(found.errors[reach], off, atol=1e-9)
    assert found.reached[:15].all() and found.reached[-15:].all(), "far from the ball it stays on the line"
    # Of the steps that can be met at all, it gives up few: those just before and behind the ball.
    met = mk.track(problem, {reach: line}, start=start).reached
    assert found.reached.sum() >= met.sum() - 0.15 * len(line)
    # In time, every joint is below its velocity limit.
    timed = found.retime(acceleration=10.0).sample(250)
    assert (np.abs(np.diff(timed.q, axis=0)) * 250 <= arm.variables.velocity * (1 + 1e-6)).all()


def test_without_it_the_hand_jumps(arm):
    """What the option is for: a step of many times the mean."""
    problem, reach, line, start = past_a_ball(arm, (0.5, 0.0, 0.5, 0.1))
    found = mk.track(problem, {reach: line}, start=start)
    walked = steps_of(arm.forward(found.q, "tool0")[:, :3, 3])
    assert walked.max() > 5.0 * walked.mean()


def test_a_path_that_is_smooth_already_stays(arm):
    problem, reach, line, start = past_a_ball(arm, (5.0, 5.0, 5.0, 0.1))
    plain, smooth = (mk.track(problem, {reach: line}, start=start, smooth=flag) for flag in (False, True))
    np.testing.assert_array_equal(plain.q, smooth.q)
    assert smooth.success


def test_out_of_reach_but_calm_stays(arm):
    """Targets beyond reach give closest postures, which need no smoothing."""
    reach = mk.Position("tool0", (0.5, 0.0, 0.5))
    problem = mk.Problem(arm, [reach, mk.Displacement(weight=0.1)])
    line = np.linspace((0.5, 0.0, 0.5), (1.5, 0.0, 0.5), 50)
    plain, smooth = (mk.track(problem, {reach: line}, start=arm.home, smooth=flag, jump=3.0) for flag in (False, True))
    walked = steps_of(arm.forward(plain.q, "tool0")[:, :3, 3])
    assert walked.max() > 2.0 * walked.mean(), "on the way it moves as its targets do, at the end it creeps"
    np.testing.assert_array_equal(plain.q, smooth.q)
    assert smooth.status[-1] == Status.CLOSEST


def test_the_same_call_gives_the_same_path(arm):
    problem, reach, line, start = past_a_ball(arm, (0.5, 0.0, 0.5, 0.1), steps=60)
    first, second = (mk.track(problem, {reach: line}, start=start, smooth=True) for _ in range(2))
    np.testing.assert_array_equal(first.q, second.q)


def test_every_link_of_a_humanoid_keeps_clear():
    from memetik_lab.thesis import trajectories

    scene = trajectories._valkyrie(80, trajectories.THROUGH, trajectories.MIDDLE)
    found = mk.track(scene.problem, dict(scene.poses), start=scene.start, smooth=True)
    body = scene.problem.body
    assert min(clearance(body, q, scene.links, scene.ball) for q in found.q) >= -1e-9
    assert min(coal_clearance(body, q, scene.links, scene.ball[0]) for q in found.q) >= -1e-6
    walked = steps_of(body.forward(found.q, trajectories.PALM)[:, :3, 3])
    assert walked.max() <= 2.0 * walked.mean()
    timed = found.retime(acceleration=10.0).sample(250)
    assert (np.abs(np.diff(timed.q, axis=0)) * 250 <= body.variables.velocity * (1 + 1e-6)).all()
    assert min(coal_clearance(body, q, scene.links, scene.ball[0]) for q in timed.q[::5]) >= -1e-3, "and between steps"


def coal_clearance(body, q, links, ball):
    """How far links are from a ball by coal, on the same shapes."""
    at, least = body.forward(q), np.inf
    sphere, there = coal.Sphere(ball[3]), coal.Transform3s(np.eye(3), ball[:3])
    for link in links:
        for shape in body.links[link].shapes:
            make = {"box": coal.Box, "sphere": coal.Sphere, "cylinder": coal.Cylinder, "capsule": coal.Capsule}[
                shape.kind
            ]
            T = at[link] @ shape.link_from_shape
            here = coal.Transform3s(T[:3, :3], T[:3, 3])
            request, result = coal.DistanceRequest(), coal.DistanceResult()
            least = min(least, coal.distance(make(*shape.size), here, sphere, there, request, result))
    return least


@pytest.mark.quick
def test_stretches_of_bad_steps():
    bad = np.zeros(40, dtype=bool)
    assert _stretches(bad) == []
    bad[[5, 6, 7, 10, 30]] = True
    assert _stretches(bad) == [(5, 10), (30, 30)]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("low", "high", "steps"), [(0, 10, 100), (20, 60, 100), (3, 199, 200), (10, 900, 1000), (0, 2, 3)]
)
@pytest.mark.parametrize("open_end", [False, True])
def test_windows_stay_on_the_path(low, high, steps, open_end):
    window = _Window.around(low, high, steps, open_end)
    assert 0 <= window.low < window.high <= steps - 1
    assert window.low <= low or window.low == 0
    inside = np.arange(steps)[window.inside]
    assert set(window.nodes) <= set(inside)
    before, after = window.fixed(window.stride, steps)
    assert not set(before + after) & set(inside.tolist())


@pytest.mark.quick
def test_what_is_wrong_is_said(arm):
    reach = mk.Position("tool0", (0.5, 0.0, 0.5))
    with pytest.raises(ProblemError, match="smooth"):
        mk.track(mk.Problem(arm, reach), {reach: [(0.5, 0.0, 0.5)]}, smooth="yes")
