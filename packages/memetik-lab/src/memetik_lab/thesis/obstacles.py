"""Reaching around a ball and into a box: Fig. 5.16 and 5.17 of the thesis.

Ball: the arm of the iiwa, a target and a ball that the nearest solution would hit, though another posture reaches the
target without. Box: the arm of the PR2 as six balls, an open box as 32, so 192 distances for every posture that is looked
at, with targets in its free space and in its walls. Passing: a ball passes through where the arm is, which holds its hand
still. Collisions are judged by distances that are computed apart from the library's (bench/thesis/clearance.py).

The thesis makes the iiwa of spheres, too, and does not say how many; it gives distances a weight of 1e-4, no time for the box,
and no rates of success. So Bio IK is also measured that way, with more and more evaluations, and with the position of the
gripper alone, which tells what it lacks where it does not arrive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.types import Array
from memetik_lab.contest import race
from memetik_lab.harness import Report, Row, percent, solved, spread, subplots
from memetik_lab.judge import SLACK, Judge
from memetik_lab.queries import Query, Task, ask, pose_of
from memetik_lab.thesis.clearance import ball_clearance, clearance

TASK = Task(position=1e-4, orientation=1e-3, seconds=0.005)  # the thesis allows 5 ms for the ball
BOX_TASK = TASK._replace(seconds=0.01)
RADIUS = 0.05  # m, of the arm's balls
CENTER, SPACING, WALL = np.array([0.95, -0.2, -0.1]), 0.18, 0.09  # m: back of the box seen from the torso; its balls
BALL, SPHERES, FREE, SOLID = "ball", "ball, arm of spheres", "box, free space", "box, in the wall"
WEIGHT = 1e-4  # of distances in the thesis
EFFORTS = (3_000, 10_000, 30_000, 100_000)  # evaluations of Bio IK
SPHERE = 0.075  # m, the radius of the spheres of the iiwa


class Scene(NamedTuple):
    """An arm among obstacles."""

    label: str
    body: mk.Body
    tip: str
    task: Task
    keep_off: Callable[[Array], mk.Distance]  # the objective for balls
    clearance: Callable[[Array, Array], float]  # of a posture from balls [m]
    published: str
    spheres: int  # or other shapes of the arm, each of which is compared with each ball


def run(folder: Path, *, quick: bool = False, count: int | None = None) -> Report:
    """Measure, print, save and plot."""
    efforts = max((count or (60 if quick else 1_000)) // 5, 3)
    count = count or (60 if quick else 1_000)
    report = Report(
        "obstacles",
        f"{count} queries a scene, {TASK.position:g} m and {TASK.orientation:g} rad. Ball: iiwa, {TASK.seconds * 1e3:g} ms, "
        "poses of random postures, and a ball of 5 to 15 cm in the middle of the arm as it would reach there from its random "
        "start; the posture that the target was made from is 1 cm clear of it. Box: right arm of the PR2, "
        f"{BOX_TASK.seconds * 1e3:g} ms, six balls of {RADIUS * 100:g} cm from elbow to gripper against 32 of "
        f"{WALL * 100:g} cm, gripper straight ahead at any roll, random starts outside the walls. Free: no collision, by "
        "distances computed apart from the library. Solved: free, and within tolerance and limits; in the wall, where no "
        "target can be reached, free alone. Left: distance from tip to target. Clearance: of free answers. Distances: for each "
        "posture that is looked at, all of them one term. Rows with a number of evaluations have no limit of time, "
        f"{efforts} queries and processor time.",
        remarks=[
            "Published: the ball in real time at 5 ms (Fig. 5.16), box without numbers (Fig. 5.17); 6 x 32 = 192 distances.",
            "In the wall nothing satisfies both wishes, with equal weights. Distances have a higher priority: memetic comes as "
            "near as it can without touching; bioik takes a collision for infinitely bad, as the thesis does. "
            "memetic, all of one priority: it weighs them against each other, and goes into the wall.",
        ],
    )
    ball, spheres, box, wall = ball_scene(), sphere_scene(), box_scene(FREE), box_scene(SOLID)
    queries = {scene.label: list(_ball_queries(scene, count)) for scene in (ball, spheres)}
    queries[FREE] = list(_box_queries(box, count, in_wall=False))
    queries[SOLID] = list(_box_queries(box, count, in_wall=True))
    for scene in (ball, spheres, box, wall):
        report.rows += _measure(scene, queries[scene.label])
    for scene in (spheres, box, wall):
        report.rows += _with_effort(scene, queries[scene.label][:efforts])
    passing = _passing(60 if quick else 400)
    report.remarks.append(passing.remark)
    return report.publish(folder, lambda: _plot(passing, box, queries))


def ball_scene() -> Scene:
    """The iiwa by its collision shapes, from the second link on: the first two cannot get out of the way."""
    body = mk.load("iiwa14").chain("base_link", "tool0")
    links = [f"link_{k}" for k in range(2, 8)]
    return Scene(
        BALL, body, "tool0", TASK,
        lambda balls: mk.Distance(links, balls),
        lambda q, balls: clearance(body, q, links, balls),
        "real time, 5 ms",
        sum(len(body.links[link].shapes) for link in links),
    )  # fmt: skip


def sphere_scene() -> Scene:
    """The iiwa as spheres, evenly along its segments, as the thesis has it."""
    body = mk.load("iiwa14").chain("base_link", "tool0")
    frames = arm_spheres(body)
    return Scene(
        SPHERES, body, "tool0", TASK,
        lambda balls: mk.Distance(frames, balls, radius=SPHERE),
        lambda q, balls: ball_clearance(body, q, frames, SPHERE, balls),
        "real time, 5 ms",
        len(frames),
    )  # fmt: skip


def arm_spheres(body: mk.Body) -> list[mk.Frame]:
    """Two spheres for each long segment of the iiwa, at its joint and halfway to the next, and one for the hand."""
    at = body.forward(body.home)
    names = [f"link_{k}" for k in range(2, 8)] + ["tool0"]
    points = [(link, at[link][:3, 3]) for link in names]
    for link, following in pairwise(names):
        gap = at[following][:3, 3] - at[link][:3, 3]
        if np.linalg.norm(gap) > 2.0 * SPHERE:
            points.append((link, at[link][:3, 3] + 0.5 * gap))
    return [body.frame(link, np.linalg.inv(at[link])[:3] @ [*point, 1.0]) for link, point in points]


def box_scene(label: str) -> Scene:
    """The PR2's arm as six balls."""
    body = mk.load("pr2").chain("torso_lift_link", "r_gripper_tool_frame")
    frames = arm_balls(body)
    return Scene(
        label, body, "r_gripper_tool_frame", BOX_TASK,
        lambda balls: mk.Distance(frames, balls, radius=RADIUS),
        lambda q, balls: ball_clearance(body, q, frames, RADIUS, balls),
        "as close as it gets" if label == SOLID else "converges",
        len(frames),
    )  # fmt: skip


def arm_balls(body: mk.Body) -> list[mk.Frame]:
    """Elbow, two on the forearm, wrist, palm and gripper."""
    forearm = [body.frame("r_forearm_link", (x, 0.0, 0.0)) for x in (0.12, 0.22)]
    rest = [body.frame("r_wrist_roll_link"), body.frame("r_gripper_palm_link", (0.08, 0.0, 0.0))]
    return [body.frame("r_elbow_flex_link"), *forearm, *rest, body.frame("r_gripper_tool_frame")]


def box_balls() -> Array:
    """The box (32, 4), open towards the robot: a back of 4 x 3 balls and two rings of ten before it."""
    back = [(y, z) for y in (-1.5, -0.5, 0.5, 1.5) for z in (-1.0, 0.0, 1.0)]
    ring = [(y, z) for y, z in back if abs(y) == 1.5 or z != 0.0]
    places = np.array([(0.0, *place) for place in back] + [(-k, *place) for k in (1.0, 2.0) for place in ring])
    return np.hstack([CENTER + SPACING * places, np.full((len(places), 1), WALL)])


def _ball_queries(scene: Scene, count: int) -> Iterator[Query]:
    rng = np.random.default_rng(1)
    pose = pose_of(scene.tip, scene.task)
    careless = mk.Problem(scene.body, pose)
    found = 0
    while found < count:
        posture, start = scene.body.sample(rng), scene.body.sample(rng)
        pose.target = scene.body.forward(posture)[scene.tip]
        near = mk.solve(careless, start).q
        link = f"link_{rng.integers(3, 7)}"
        center = scene.body.forward(near)[link][:3, 3] + rng.normal(scale=0.03, size=3)
        balls = np.array([[*center, rng.uniform(0.05, 0.15)]])
        hit = scene.clearance(near, balls) < 0.0 < scene.clearance(start, balls)
        if hit and scene.clearance(posture, balls) > 0.01:
            found += 1
            yield Query([scene.body.forward(posture)[scene.tip], balls], start)


def _box_queries(scene: Scene, count: int, *, in_wall: bool) -> Iterator[Query]:
    rng = np.random.default_rng(2)
    balls = box_balls()
    for _ in range(count):
        start = scene.body.sample(rng)
        while scene.clearance(start, balls) < 0.0:
            start = scene.body.sample(rng)
        place = CENTER + rng.uniform((-0.30, -0.12, -0.03), (-0.15, 0.12, 0.03))
        if in_wall:
            place = balls[rng.integers(len(balls)), :3] + rng.normal(scale=0.02, size=3)
        turned = mk.axis_angle((1.0, 0.0, 0.0), rng.uniform(-np.pi, np.pi))
        yield Query([mk.transform(place, turned), balls], start)


def _measure(scene: Scene, queries: Sequence[Query]) -> list[Row]:
    """The methods with the obstacle, and as a control one that does not know of it."""
    pose = pose_of(scene.tip, scene.task)
    keep_off = scene.keep_off(queries[0].targets[1])
    problem = mk.Problem(scene.body, [pose, keep_off])
    rows = [_row(scene, queries, problem, method, method) for method in ("memetic", "bioik")]
    if scene.label == SOLID:
        keep_off.priority = pose.priority
        rows.append(_row(scene, queries, problem, "memetic", "memetic, all of one priority"))
    return [*rows, _row(scene, queries, mk.Problem(scene.body, pose), "memetic", "memetic, obstacle unknown")]


def _with_effort(scene: Scene, queries: Sequence[Query]) -> list[Row]:
    """Bio IK as the thesis has it, with more and more evaluations; and with the position of the tip alone."""
    pose = pose_of(scene.tip, scene.task)
    keep_off = scene.keep_off(queries[0].targets[1])
    both = mk.Problem(scene.body, [pose, keep_off])
    rows = [_row(scene, queries, both, "bioik", f"bioik, {effort:,} evaluations", effort) for effort in EFFORTS]
    keep_off.weight = WEIGHT
    rows.append(
        _row(
            scene, queries, both, "bioik", f"bioik, distances weigh {WEIGHT:g}, {EFFORTS[1]:,} evaluations", EFFORTS[1]
        )
    )
    keep_off.weight = 1.0
    place = mk.Position(scene.tip, queries[0].targets[0][:3, 3], tolerance=scene.task.position)
    alone = mk.Problem(scene.body, [place, keep_off])
    points = [Query([query.targets[0][:3, 3], query.targets[1]], query.start) for query in queries]
    rows.append(_row(scene, points, alone, "bioik", f"bioik, position alone, {EFFORTS[1]:,} evaluations", EFFORTS[1]))
    return rows


def _row(
    scene: Scene, queries: Sequence[Query], problem: mk.Problem, method: str, label: str, effort: int | None = None
) -> Row:  # fmt: skip
    """One method on one scene, within the time of the scene, or within so many evaluations, then by processor time."""
    judge = Judge(scene.body, scene.tip, scene.task)
    budget = (
        mk.Budget(evaluations=1_000_000, seconds=scene.task.seconds)
        if effort is None
        else mk.Budget(evaluations=effort)
    )
    way = ask(problem, method, budget)

    def examine(solution: mk.Solution, query: Query) -> tuple[bool, float, float]:
        target, balls = query.targets
        between = scene.clearance(solution.q, balls)
        place = target[:3, 3] if target.ndim == 2 else target
        left = float(np.linalg.norm(scene.body.forward(solution.q)[scene.tip][:3, 3] - place))
        arrived = judge.right(solution.q, target) if target.ndim == 2 else left <= scene.task.position
        return between >= -SLACK and (scene.label == SOLID or arrived), between, left

    clock = time.perf_counter if effort is None else time.thread_time
    (tally,) = race([way], queries, f"{scene.label}, {label}", judge=examine, clock=clock)
    hits, between, left = zip(*tally.verdicts, strict=True)
    free = np.array(between) >= -SLACK
    knows = len(problem.objectives) > 1
    return {
        "scene": scene.label,
        "method": label,
        "distances": scene.spheres * len(queries[0].targets[1]) if knows else 0,
        **solved(sum(hits), len(queries)),
        "free [%]": percent(free),
        "median left [mm]": float(np.median(left)) * 1e3,
        "clearance [mm]": float(np.median(np.array(between)[free])) * 1e3 if free.any() else None,
        **spread(tally.seconds),
        "published": scene.published if knows else "",
    }


class Passing(NamedTuple):
    """A ball that passes through the arm: what is between them, and what came of it."""

    times: Array  # s
    careful: Array  # m
    careless: Array  # m
    remark: str


def _passing(steps: int) -> Passing:
    scene = ball_scene()
    body = scene.body
    pose = pose_of(scene.tip, scene.task)
    at = body.forward(body.home)
    pose.target = at[scene.tip]
    times = np.linspace(0.0, 4.0, steps)
    way = at["link_4"][:3, 3] + np.outer(np.cos(np.pi * times / 4.0), (0.0, 0.45, 0.0)) + (0.05, 0.0, 0.0)
    balls = np.hstack([way, np.full((steps, 1), 0.1)])[:, None]
    keep_off = scene.keep_off(balls[0])
    problem = mk.Problem(body, [pose, keep_off])
    mk.track(problem, {keep_off: balls[:2]}, start=body.home)  # compiles
    found = mk.track(problem, {keep_off: balls}, start=body.home, rate=(steps - 1) / 4.0)
    careful = np.array([scene.clearance(q, ball) for q, ball in zip(found.q, balls, strict=True)])
    careless = np.array([scene.clearance(body.home, ball) for ball in balls])
    tips = np.array([body.forward(q)[scene.tip][:3, 3] for q in found.q])
    held = np.linalg.norm(tips - at[scene.tip][:3, 3], axis=1)
    remark = (
        f"A ball of 10 cm passes through the elbow of the iiwa in {steps} steps: the arm that follows by track "
        f"keeps {careful.min() * 1e3:.1f} mm clear (without: {-careless.min() * 1e3:.0f} mm deep), its tip stays "
        f"within {held.max() * 1e3:.2g} mm, no joint changes by more than {found.largest_step:.3f} rad a step, "
        f"{found.seconds / steps * 1e6:.0f} us a step."
    )
    return Passing(times, careful, careless, remark)


def _plot(passing: Passing, box: Scene, queries: dict[str, list[Query]]) -> Any:
    figure, (left, *views) = subplots(1, 3, figsize=(12, 4), width_ratios=(1.1, 1, 1), layout="constrained")
    left.plot(passing.times, passing.careful * 1e3, label="with the distance objective")
    left.plot(passing.times, passing.careless * 1e3, "--", label="without")
    left.axhline(0.0, color="black", lw=0.8)
    left.set(xlabel="time [s]", ylabel="clearance [mm]", title="a ball passes through the iiwa")
    left.legend(fontsize=8)
    for axis, label in zip(views, (FREE, SOLID), strict=True):
        pose = pose_of(box.tip, box.task)
        keep_off = box.keep_off(box_balls())
        query = queries[label][0]
        solution = ask(mk.Problem(box.body, [pose, keep_off]), "memetic", mk.Budget())(query)
        _draw_box(axis, box.body, solution.q, query.targets[0])
        axis.set(title=f"PR2, target: {label}", xlabel="x [m]", aspect="equal")
    views[0].set_ylabel("y [m], from above")
    views[0].legend(fontsize=8, loc="upper left")
    return figure


def _draw_box(axis: Any, body: mk.Body, q: Array, target: Array) -> None:
    """From above: the box's balls, the arm's balls and the target."""
    from matplotlib.patches import Circle

    for x, y, _, radius in box_balls():
        axis.add_patch(Circle((x, y), radius, color="C1", alpha=0.15, lw=0.0))
    at = body.forward(q)
    centers = np.array([(at[frame.link] @ frame.link_from_frame)[:2, 3] for frame in arm_balls(body)])
    for center in centers:
        axis.add_patch(Circle(center, RADIUS, color="C0", alpha=0.35, lw=0.0))
    shoulder = at["r_shoulder_lift_link"][:2, 3]
    axis.plot(*np.vstack([shoulder, centers]).T, color="C0", marker="o", ms=3, label="arm")
    axis.plot(*target[:2, 3], "X", color="C2", ms=9, label="target")
    axis.autoscale_view()
