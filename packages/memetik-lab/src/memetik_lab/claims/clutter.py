"""Poses free of collisions: an arm among 20 obstacles beside pink with barriers, and a humanoid that keeps off itself.

Targets are those of random postures that are free, starts are random postures that are free. Answers of the arm are judged
by coal, from the same shapes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik.batch import require_cuda
from memetik.errors import MissingExtraError
from memetik.geometry import random_rotation
from memetik.types import Array
from memetik_lab.coal_judge import Coal, shaped
from memetik_lab.contest import Tally, race
from memetik_lab.harness import BLOCK, Report, Row, percent, solved, spread
from memetik_lab.judge import Judge, right, within
from memetik_lab.peers import serial_chain
from memetik_lab.queries import Query, Task, Wanted, ask, pose_of, target_of, wish
from memetik_lab.thesis.valkyrie import SETUPS, TASK, body_of, objectives_of

TIP = "panda_hand"
PANDA_TASK = Task(position=1e-5, orientation=1e-5, seconds=1.0)
OBSTACLES = 20
TOUCHING = 1e-6  # m; coal's own tolerance
G1_TIPS = ("left_wrist_yaw_link", "right_wrist_yaw_link", "left_ankle_roll_link", "right_ankle_roll_link")
SLOW = 40  # pink gets one in so many of the queries


def run(
    folder: Path, *, quick: bool = False, count: int | None = None, judged: int | None = None,
    peers: Sequence[str] = ("pink",),
) -> Report:  # fmt: skip
    """Measure, print and save."""
    count, judged = count or (200 if quick else 2_000), judged or (1_000 if quick else 100_000)
    report = Report(
        "clutter",
        f"{count} targets of random free postures, starts drawn the same way. panda: the hand among {OBSTACLES} spheres, "
        f"boxes and capsules, {PANDA_TASK.position:g} m and rad, its links apart from each other and from all obstacles. "
        f"valkyrie: five objectives of Table 5.4; g1: poses of hands and feet, a pelvis that moves by up to a metre; both "
        f"{TASK.position:g} m and {TASK.orientation:g} rad, all links apart. Solved: "
        "within limits and tolerances by forward kinematics, and free; by coal for the panda. Times as a Python user sees "
        f"them, processor time, setting the targets included, in blocks of {BLOCK}.",
    )
    report.rows += _panda_rows(count, judged, peers, report.remarks) + _humanoid_rows(count)
    report.remarks += [
        "Not measured: PyRoki, which is not in the package registry, and cuRobo, which needs a graphics card.",
    ]
    try:
        report.remarks.append(_on_device(1_000 if quick else 1_000_000))
    except (mk.errors.ProblemError, MissingExtraError) as missing:
        report.remarks.append(f"No graphics card: {missing}")
    return report.publish(folder)


# ---- The arm -------------------------------------------------------------------------------------------------------


def arm() -> mk.Body:
    """The Panda without its fingers."""
    return mk.load("panda").chain("panda_link0", TIP)


def scene(body: mk.Body, count: int = OBSTACLES, seed: int = 0) -> list[mk.Shape]:
    """Spheres, boxes and capsules in turn around the arm, apart from it as it stands at home."""
    rng, found = np.random.default_rng(seed), list[mk.Shape]()
    links = shaped(body)[2:]
    while len(found) < count:
        angle, away, high = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.35, 0.85), rng.uniform(0.05, 1.0)
        kind = ("sphere", "box", "capsule")[len(found) % 3]
        sizes = {
            "sphere": (rng.uniform(0.04, 0.1),), "box": tuple(rng.uniform(0.06, 0.24, 3)),
            "capsule": (rng.uniform(0.03, 0.06), rng.uniform(0.1, 0.4)),
        }  # fmt: skip
        place = mk.transform((away * np.cos(angle), away * np.sin(angle), high), random_rotation(rng))
        shape = mk.Shape(kind, sizes[kind], place)
        if touches(mk.Problem(body, mk.Distance(links, [shape])), body.home) == 0.0:
            found.append(shape)
    return found


def touches(problem: mk.Problem, q: Array) -> float:
    """How deep a posture is in what it shall keep off [m]."""
    errors = mk.solve(problem, q, budget=mk.Budget(evaluations=1)).errors
    return max(float(error) for error in errors.values())  # type: ignore[arg-type]


def keep_off(body: mk.Body, obstacles: Sequence[mk.Shape]) -> list[mk.Objective]:
    """What makes a posture free."""
    return [mk.Distance(shaped(body)[1:], obstacles), mk.SelfDistance(body)]


def free_queries(
    body: mk.Body, objectives: Sequence[Wanted], off: Sequence[mk.Objective], count: int, seed: int = 1
) -> list[Query]:
    """Targets that a free posture reaches, and another free posture to start from."""
    rng, problem = np.random.default_rng(seed), mk.Problem(body, off)

    def draw() -> Array:
        while touches(problem, q := body.sample(rng)) > 0.0:
            pass
        return q

    queries = []
    for _ in range(count):
        poses = body.forward(draw())
        queries.append(Query([target_of(wanted, poses[str(wanted.frame)]) for wanted in objectives], draw()))
    return queries


def _panda_rows(count: int, judged: int, peers: Sequence[str], remarks: list[str]) -> list[Row]:
    body = arm()
    obstacles = scene(body)
    pose, off = pose_of(TIP, PANDA_TASK), keep_off(body, obstacles)
    queries = free_queries(body, [pose], off, BLOCK + count)
    coal = Coal(body, obstacles, mk.SelfDistance(body).pairs)
    judge = Judge(body, TIP, PANDA_TASK)
    budget = mk.Budget(seconds=PANDA_TASK.seconds)
    ways: dict[str, Callable[[Query], Any]] = {
        "memetik, obstacles unknown": _q(ask(mk.Problem(body, pose_of(TIP, PANDA_TASK)), "memetic", budget)),
        "memetik": _q(ask(mk.Problem(body, [pose, *off]), "memetic", budget)),
    }
    slow = [1, 1]
    if "pink" in peers:
        try:
            from memetik_lab.peers.pink_barriers import Adapter

            peer = Adapter(serial_chain(body), PANDA_TASK, _carried(body), obstacles, mk.SelfDistance(body).pairs)
            ways[f"{peer.name}, restarted"] = lambda query: peer.solve(query.targets[0], query.start)  # type: ignore[arg-type]
            slow.append(SLOW)
        except ImportError as missing:
            remarks.append(f'Not importable, so not measured: {missing}. Install with: pip install "memetik[peers]"')

    def examine(q: Array | None, query: Query) -> tuple[bool, bool]:
        free = q is not None and coal.depth(q) <= TOUCHING
        return free and judge.right(q, query.targets[0]), free

    tallies = race(
        list(ways.values()), queries[BLOCK:], "panda", judge=examine, warm_up=queries[:BLOCK], slow=slow,
        clock=time.process_time,
    )  # fmt: skip
    rows = [_row("panda, 20 obstacles", name, tally) for name, tally in zip(ways, tallies, strict=True)]
    remarks.append(_judge_many(mk.Problem(body, [pose, *off]), pose, queries, coal, judged))
    return rows


def _q(way: Callable[[Query], mk.Solution]) -> Callable[[Query], Array | None]:
    def answer(query: Query) -> Array | None:
        solution = way(query)
        return solution.q if solution.success else None

    return answer


def _row(problem: str, name: str, tally: Tally) -> Row:
    hits, free = zip(*tally.verdicts, strict=True)
    return {
        "problem": problem,
        "method": name,
        "queries": len(hits),
        **solved(sum(hits), len(hits)),
        "free [%]": percent(free),
        **spread(tally.seconds),
    }


def _judge_many(problem: mk.Problem, pose: mk.Pose, queries: list[Query], coal: Coal, count: int) -> str:
    """As many answers of a batch, from other random starts for the same targets."""
    rng = np.random.default_rng(2)
    targets = np.array([queries[k % len(queries)].targets[0] for k in range(count)])
    starts = np.array([problem.body.sample(rng) for _ in range(count)])
    found = mk.solve_batch(problem, {pose: targets}, starts)
    depths = np.array([coal.depth(q) for q in found.q[found.success]])
    return (
        f"Of {count} answers for random starts, free or not, {int(found.success.sum())} say that they are reached; of these "
        f"{int((depths > TOUCHING).sum())} are in collision by coal, the nearest pair {-depths.max() * 1e3:.3g} mm apart."
    )


def _on_device(count: int) -> str:
    """Many collision-free poses in the same scene on a graphics card."""
    require_cuda()
    body = arm()
    obstacles = scene(body)
    pose, off = pose_of(TIP, PANDA_TASK), keep_off(body, obstacles)
    some = free_queries(body, [pose], off, min(count, 10_000))
    targets = np.array([some[k % len(some)].targets[0] for k in range(count)])
    rng = np.random.default_rng(3)
    starts = np.array([body.sample(rng) for _ in range(count)])
    problem = mk.Problem(body, [pose, *off])
    mk.solve_batch(problem, {pose: targets[:2]}, starts[:2], device="cuda")  # compiles
    begin = time.perf_counter()
    found = mk.solve_batch(problem, {pose: targets}, starts, device="cuda")
    took = time.perf_counter() - begin
    coal = Coal(body, obstacles, mk.SelfDistance(body).pairs)
    sample = np.flatnonzero(found.success)[:10_000]
    hit = sum(coal.depth(found.q[k]) > TOUCHING for k in sample)
    return (
        f"On the card: {count} poses in {took:.2f} s, {percent(found.success):.4g} % solved; of {len(sample)} looked at by "
        f"coal, {hit} are in collision."
    )


def _carried(body: mk.Body) -> list[Any]:
    """The shapes of the arm on the joints that carry them."""
    from memetik_lab.peers.pink_barriers import Carried

    poses, found, joint, carrier = body.forward(body.home), [], 0, body.root
    for link in body.links.values():
        above = next((each for each in body.joints.values() if each.child == link.name), None)
        if above is not None and above.kind != "fixed":
            joint, carrier = joint + 1, link.name
        seen = np.linalg.inv(poses[carrier]) @ poses[link.name]
        found += [Carried(joint, link.name, seen @ shape.link_from_shape, shape) for shape in link.shapes]
    return found


# ---- The humanoid --------------------------------------------------------------------------------------------------


def _humanoid_rows(count: int) -> list[Row]:
    setup = SETUPS[-1]
    g1 = mk.load("g1").with_base("xyz", lower=-1.0, upper=1.0)
    rows = _self_rows("valkyrie, five objectives", body_of(setup), lambda: objectives_of(setup), count)
    return rows + _self_rows("g1, hands and feet", g1, lambda: [wish("pose", link, TASK) for link in G1_TIPS], count)


def _self_rows(problem: str, body: mk.Body, wanted: Callable[[], list[Wanted]], count: int) -> list[Row]:
    """With and without keeping off itself, the same targets and starts, in turn."""
    objectives = wanted()
    queries = free_queries(body, objectives, [mk.SelfDistance(body)], BLOCK + count)
    alone, good = mk.Problem(body, mk.SelfDistance(body)), right(body, objectives, TASK)
    problems = {
        "memetik, may touch itself": mk.Problem(body, objectives),
        "memetik": mk.Problem(body, [*wanted(), mk.SelfDistance(body)]),
    }

    def examine(solution: mk.Solution, query: Query) -> tuple[bool, bool]:
        free = touches(alone, solution.q) == 0.0
        return within(body, solution.q) and good(solution, query), free

    tallies = race(
        [ask(each, "memetic", mk.Budget()) for each in problems.values()], queries[BLOCK:], body.name, judge=examine,
        warm_up=queries[:BLOCK], clock=time.process_time,
    )  # fmt: skip
    return [_row(problem, name, tally) for name, tally in zip(problems, tallies, strict=True)]
