"""Proofs in lanes against check_motion, which looks at one posture at a time and shares none of their code."""

import numpy as np
import pytest

import memetik as mk
from memetik.kernels.planning.planning_record import CONNECTED, GOALS_BLOCKED, SPHERES, START_BLOCKED, SearchLimits
from memetik.kernels.planning.trees import begin_planning
from memetik.motion.plan_arrays import PlanArrays
from memetik.motion.swept_pairs import plan_of
from tests.naive.motions import crowded

FINE = 1e-4  # m


def proofs(problem, ways):
    """What the straight way between each two postures is: CONNECTED if it is free."""
    pairs = plan_of(problem)
    arrays = PlanArrays(pairs, pairs.keep)
    body = problem.body
    record = arrays.record
    pairs.place_world(record.solids, 0.0)
    record.lower[:], record.upper[:] = (np.clip(each[pairs.keep], -7.0, 7.0) for each in (body.lower, body.upper))
    limits = SearchLimits(0, 10**6, 1.0, 1.0, FINE, 1000)
    found = [
        int(begin_planning(arrays.table, limits, one[pairs.keep].copy(), two[pairs.keep][None].copy()))
        for one, two in ways
    ]
    return np.array(found), record


def covered(name):
    """A body whose links are spheres, in the place of the shapes that it has."""
    body = mk.load(name)
    links = []
    for link in body.links.values():
        balls = []
        for shape in link.shapes:
            ends = (0.0,) if shape.kind == "sphere" else (-0.4, 0.0, 0.4)
            length = shape.size[1] if shape.kind in ("capsule", "cylinder") else 0.0
            balls += [
                mk.Shape("sphere", (0.8 * shape.size[0] if shape.kind != "box" else 0.4 * min(shape.size),),
                         shape.link_from_shape @ mk.translation(0, 0, end * length))
                for end in ends
            ]  # fmt: skip
        links.append(mk.build.Link(link.name, shapes=balls))
    return mk.Body(name, links, list(body.joints.values())).with_touching()


def some_world(rng):
    """Obstacles of all kinds that are measured in lanes, turned any way."""
    world, sizes = (
        mk.World(),
        {"sphere": (0.08,), "capsule": (0.05, 0.3), "cylinder": (0.06, 0.2), "box": (0.1, 0.2, 0.3)},
    )
    for k in range(8):
        kind = list(sizes)[k % 4]
        angle, away = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(0.45, 0.75)
        place = mk.transform(
            (away * np.cos(angle), away * np.sin(angle), rng.uniform(0.0, 0.9)), mk.geometry.random_rotation(rng)
        )
        world[f"{kind}{k}"] = mk.Shape(kind, sizes[kind], place)
    return world


@pytest.mark.parametrize(("name", "spheres"), [("panda", True), ("ur5", True), ("panda", False), ("ur5", False)])
def test_what_is_proved_in_lanes_is_proved_by_check_motion(name, spheres):
    rng = np.random.default_rng(1)
    if spheres:
        body, world = covered(name), some_world(rng)
    else:
        body, world = crowded(name)
    problem = mk.Problem(body, [mk.SelfDistance(body), mk.Distance(body, world)])
    ways = []
    for k in range(150):
        one = body.sample(rng)
        ways.append((one, one + (0.5, 0.1, 0.02)[k % 3] * (body.sample(rng) - one)))
    found, record = proofs(problem, ways)
    assert (record.checks["how"] == SPHERES).all() == spheres
    free = lost = met = 0
    for verdict, (one, two) in zip(found, ways, strict=True):
        check = mk.motion.check_motion(problem, [one, two], resolution=FINE)
        if verdict == CONNECTED:
            free += 1
            assert check, (check, verdict)
        elif check:
            lost += check.distance > 2.0 * FINE
        else:
            met += 1
        if verdict == START_BLOCKED:
            assert mk.motion.check_motion(problem, [one, one], clearance=FINE).contact.any()
    assert free >= 10
    assert met >= 10
    assert lost == 0
    assert GOALS_BLOCKED in found
