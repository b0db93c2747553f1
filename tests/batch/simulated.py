"""Batches on a card that is plain Python, started by test_cuda.py; prints what is wrong, if anything is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda
from numba.cuda.simulator import kernel

import memetik as mk
from memetik.batch.cuda import General, Poses, solve_on_cuda
from memetik.kernels.cuda import general as general_module
from memetik.kernels.cuda import orders, warp, warp_step
from memetik.kernels.problem.budget import EVALUATIONS, OUTCOME
from memetik.kernels.problem.verify import CLOSEST, REACHED


class Cuda:
    """What device functions know as `cuda`. The simulator would swap it at each call, and back while others still use it."""

    def __getattr__(self, name: str) -> Any:
        context = kernel._kernel_context
        return getattr(cuda if context is None or name == "jit" else context, name)


general_module.cuda = orders.cuda = warp.cuda = warp_step.cuda = Cuda()


def targets_of(objective, compiled, path):
    rows, target = objective.target_rows(path)
    at = target.place(compiled.data)
    return rows, np.arange(at, at + rows.shape[1])


def check(name, right):
    print("ok" if right else "WRONG", name)


def poses():
    """An arm with a finger that no objective reads; the second start lies outside the limits."""
    body, rng = mk.load("panda"), np.random.default_rng(0)
    pose = mk.Pose("panda_link8", np.eye(4), position_tolerance=1e-5, orientation_tolerance=1e-5)
    problem = mk.Problem(body, pose)
    path = np.array([body.forward(body.sample(rng))["panda_link8"] for _ in range(3)])
    starts = np.array([body.sample(rng) for _ in range(3)])
    starts[1, -1] = 99.0
    rows, places = targets_of(pose, problem.compiled, path)
    Poses.threads = Poses.per_block = 2
    Poses.few = Poses.later = 8  # too few for most, so that problems are spread over threads as well
    result = solve_on_cuda(problem, rows, places, starts, 0, 20_000)
    check("poses: statuses", (result.status == REACHED).all())
    check("poses: more than one round", result.numbers[:, EVALUATIONS].max() > Poses.few)
    for q, wanted, errors in zip(result.q, path, result.numbers[:, OUTCOME:], strict=True):
        there = body.forward(q)["panda_link8"]
        check("poses: position", np.linalg.norm(there[:3, 3] - wanted[:3, 3]) <= 1e-5 and errors[0] <= 1e-5)
        check("poses: rotation", np.abs(there[:3, :3] - wanted[:3, :3]).max() <= 2e-5 and errors[1] <= 1e-5)
        check("poses: limits", (q >= body.lower).all() and (q <= body.upper).all())
    check("poses: what nobody reads stays", result.q[0, -1] == starts[0, -1] and result.q[1, -1] == body.upper[-1])
    again = solve_on_cuda(problem, rows, places, starts, 0, 20_000)
    check("poses: the same again", np.array_equal(result.q, again.q))


def out_of_reach():
    body = mk.planar_chain([1.0, 0.5, 0.5])
    pose = mk.Pose("tip", np.eye(4))
    problem = mk.Problem(body, pose)
    rows, places = targets_of(pose, problem.compiled, [mk.transform((4.0, 0.0, 0.0), np.eye(3))])
    result = solve_on_cuda(problem, rows, places, np.zeros((1, 3)), 0, 300)
    check("out of reach: status", result.status[0] == CLOSEST)
    check("out of reach: budget", result.numbers[:, EVALUATIONS][0] <= 300)
    check("out of reach: the best that was seen", abs(result.numbers[0, OUTCOME] - 2.0) < 0.1)


def general():
    """Two terms of different kinds and a spring: the same answer as the processor's, as long as one thread is enough."""
    General.few = General.later = 700
    body, rng = mk.load("iiwa14"), np.random.default_rng(1)
    reach, look = mk.Position("tool0", (0, 0, 0)), mk.LookAt("tool0", (1.0, 0.0, 0.4), tolerance=1e-3)
    problem = mk.Problem(body, [reach, look, mk.Displacement()])
    path = np.array([body.forward(body.sample(rng))["tool0"][:3, 3] for _ in range(2)])
    starts = np.array([body.sample(rng) for _ in range(2)])
    rows, places = targets_of(reach, problem.compiled, path)
    result = solve_on_cuda(problem, rows, places, starts, 0, 20_000)
    for k in range(2):
        reach.target = path[k]
        expected = mk.solve(problem, starts[k])
        check(
            "general: as the processor",
            result.status[k] == expected.status and np.abs(result.q[k] - expected.q).max() < 1e-9,
        )
        check(
            "general: errors",
            np.allclose(result.numbers[k, OUTCOME:][: problem.compiled.terms.size], expected.term_errors),
        )
        check("general: evaluations", result.numbers[:, EVALUATIONS][k] == expected.evaluations)


def batch():
    """solve_batch on the card: one row is reached, the other misses its position but not all axes of its rotation."""
    body = mk.planar_chain([1.0, 0.5, 0.5])
    reach = mk.Position("tip", (0, 0, 0))
    turn = mk.Orientation("tip", np.eye(3), tolerance=(0.1, 0.1, 4.0))
    problem = mk.Problem(body, [reach, turn])
    path = np.array([(1.2, 0.5, 0.0), (4.0, 0.0, 0.0)])
    told = []
    found = mk.solve_batch(
        problem, {reach: path}, [[0.1, 9.0, 0.1], [0.1, 0.2, 0.3]], device="cuda", budget=mk.Budget(evaluations=300),
        progress=lambda *numbers: told.append(numbers),
    )  # fmt: skip
    check("batch: statuses", found.status.tolist() == [REACHED, CLOSEST] and found.device == "a graphics card")
    check("batch: starts", found.start_moved.tolist() == [True, False])
    check("batch: errors", found.errors[reach][0] <= 1e-4 and abs(found.errors[reach][1] - 2.0) < 0.1)
    check("batch: what is satisfied", [row.term_satisfied.tolist() for row in found] == [[True, True], [False, True]])
    check("batch: numbers", (found.evaluations > 0).all() and (found.attempts > 0).all() and not found.timed_out.any())
    check("batch: progress", told == [(2, 2)])
    check("batch: explanation", "Position of tip missed by" in found[1].explain())


def hulls():
    """Hulls beside spheres, apart and in each other: the same answer as the processor's."""
    General.few = General.later = 300
    cube = mk.hull([(x, y, z) for x in (0.9, 1.2) for y in (0.2, 0.5) for z in (-0.1, 0.1)])
    body = mk.planar_chain([0.8, 0.5, 0.5])
    reach, off = (
        mk.Position("tip", (0, 0, 0)),
        mk.Distance(["link_2", "tip"], [cube, (0.5, -0.6, 0.0, 0.1)], radius=0.05),
    )
    problem = mk.Problem(body, [reach, off])
    path, starts = np.array([(1.3, 0.6, 0.0), (0.3, 1.2, 0.0)]), np.array([[0.2, 0.3, 0.1], [1.5, 0.3, 0.2]])
    rows, places = targets_of(reach, problem.compiled, path)
    result = solve_on_cuda(problem, rows, places, starts, 0, 300)
    for k in range(2):
        reach.target = path[k]
        expected = mk.solve(problem, starts[k], budget=mk.Budget(evaluations=300))
        right = result.status[k] == expected.status and np.abs(result.q[k] - expected.q).max() < 1e-9
        check("hulls: as the processor", right)


def refusals():
    body = mk.planar_chain([1.0, 0.5])

    @mk.objective(reads=["tip"], tolerance=1e-3)
    def high(tip):
        return tip.position[1] - 0.5

    try:
        solve_on_cuda(mk.Problem(body, high), np.zeros((1, 0)), [], np.zeros((1, 2)), 0, 10)
        check("a user's function is refused", False)
    except mk.ProblemError as error:
        check("a user's function is refused", "device='cpu'" in str(error))


if __name__ == "__main__":
    poses()
    out_of_reach()
    general()
    batch()
    hulls()
    refusals()
