"""Batches on a device that is plain Python, started by test_cuda.py; prints what is wrong, if anything is."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
from numba import cuda
from numba.cuda.simulator import kernel

import memetik as mk
from memetik.batch import device_arrays
from memetik.batch.cuda import solve_on_cuda
from memetik.batch.launchers import Bodies, ClosedForms, Contacts, General, Poses
from memetik.kernels.cuda import bodies as bodies_module
from memetik.kernels.cuda import general as general_module
from memetik.kernels.cuda import guided, inputs, rounds, terms, warp, warp_messages, warp_step
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, MOVED, OUTCOME
from memetik.kernels.problem.verify import CLOSEST, REACHED
from memetik.motion.retargeting import many
from tests.kernels.cuda.host import COMPILER, on_processor


class Cuda:
    """What device functions know as `cuda`. The simulator would swap it at each call, and back while others still use it."""

    def __getattr__(self, name: str) -> Any:
        context = kernel._kernel_context
        return getattr(cuda if context is None or name == "jit" else context, name)


bodies_module.cuda = general_module.cuda = guided.cuda = inputs.cuda = warp_messages.cuda = rounds.cuda = terms.cuda = (
    warp.cuda
) = warp_step.cuda = Cuda()


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
    Poses.few_rows = 0  # as in a large batch
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
    body = mk.build.planar_chain([1.0, 0.5, 0.5])
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


def bodies():
    """A thread each in straight-line code: the answers of the processor, those of a second attempt and a missed one as well."""
    if COMPILER is None:
        print("ok bodies: not tried, there is no C++ compiler")
        return
    body, rng = mk.load("shadow_hand"), np.random.default_rng(5)
    tips = [f"rh_{finger}tip" for finger in ("ff", "mf", "th")]
    asked = [*(mk.Position(tip, (0, 0, 0)) for tip in tips), mk.LookAt(tips[2], (1.0, 0.0, 0.0))]
    problem = mk.Problem(body, asked)
    postures = [body.forward(body.sample(rng)) for _ in range(6)]
    points = [[pose[tip][:3, 3] for tip in tips] + [pose[tips[2]][:3, 3] + pose[tips[2]][:3, 0]] for pose in postures]
    points[3][0] = points[3][0] + 1.0  # out of reach
    starts = np.array([body.sample(rng) for _ in points])
    starts[1, -1] = 99.0
    paths = np.array(points).swapaxes(0, 1)
    pairs = [targets_of(one, problem.compiled, path) for one, path in zip(asked, paths, strict=True)]
    rows, places = np.hstack([rows for rows, _ in pairs]), np.hstack([places for _, places in pairs])
    with tempfile.TemporaryDirectory() as folder:
        bodies_module.linked = lambda code: on_processor(code, folder)
        Bodies.many, Bodies.patience, Bodies.again, Bodies.by_threads = 1, 400, False, (2, 2, 1)
        result = solve_on_cuda(problem, rows, places, starts, 0, 400, search=Bodies)
    for k, wanted in enumerate(points):
        for one, point in zip(asked, wanted, strict=True):
            one.target = point
        expected = mk.solve(problem, starts[k], budget=mk.Budget(evaluations=400))
        check(f"bodies: status of row {k}", result.status[k] == expected.status == (CLOSEST if k == 3 else REACHED))
        if expected.success:  # else the processor goes on from the best
            check(f"bodies: posture of row {k}", np.abs(result.q[k] - expected.q).max() < 1e-6)
            check(f"bodies: evaluations of row {k}", result.numbers[k, EVALUATIONS] == expected.evaluations)
            errors = result.numbers[k, OUTCOME:][: problem.compiled.terms.size]
            check(f"bodies: errors of row {k}", np.allclose(errors, expected.term_errors, atol=1e-6))
    check("bodies: several attempts", np.delete(result.numbers[:, ATTEMPTS], 3).max() > 1)
    check(
        "bodies: a start outside the limits", (result.numbers[:, MOVED] != 0.0).tolist() == [k == 1 for k in range(6)]
    )


def batch():
    """solve_batch on the device: one row is reached, the other misses its position but not all axes of its rotation."""
    body = mk.build.planar_chain([1.0, 0.5, 0.5])
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
    cube = mk.collision.hull([(x, y, z) for x in (0.9, 1.2) for y in (0.2, 0.5) for z in (-0.1, 0.1)])
    body = mk.build.planar_chain([0.8, 0.5, 0.5])
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
        # Another posture than the processor's, which looks at contacts last; the distances are the same.
        again = mk.solve(problem, result.q[k], budget=mk.Budget(evaluations=1))
        right = result.status[k] == expected.status == again.status
        check("hulls: as the processor", right)


def contacts():
    """Poses among balls: of the two ways to bend an arm one is free, then the other, both and none."""
    Poses.threads = Poses.per_block = Contacts.threads = 4
    Contacts.few, Contacts.later, Contacts.few_rows = 30, 30, 0
    body = mk.build.planar_chain([0.8, 0.5, 0.3])
    postures = np.array([(0.3, 1.2, 0.4), (0.3, -1.2, 0.2), (2.0, 0.9, 0.1), (-1.2, 0.8, -0.3)])
    path, starts = body.forward(postures, "tip"), postures + 0.05
    balls = np.array([(*body.forward(postures[0])["link_2"][:2, 3], 0.0, 0.1), (1.0, -0.6, 0.0, 0.1)])
    balls[1, :3] = path[3, :3, 3]
    for priority in (0, 1):
        pose, off = mk.Pose("tip", np.eye(4)), mk.Distance(["link_2", "tip"], balls, radius=0.05, priority=priority)
        problem = mk.Problem(body, [off, pose])
        few = mk.Budget(evaluations=200)
        card, processor = (
            mk.solve_batch(problem, {pose: path}, starts, device=device, budget=few) for device in ("cuda", "cpu")
        )
        check("contacts: as the processor", card.status.tolist() == processor.status.tolist() == [0, 0, 0, 1])
        check("contacts: who", card.device.endswith(f", 1 rows {'by priorities ' if priority else ''}on the processor"))
        check("contacts: the posture that is free", np.abs(card.q[2] - postures[2]).max() < 1e-2)
        for q, row in zip(card.q[:3], card, strict=False):
            poses = body.forward(q)
            centers = np.array([poses[link][:3, 3] for link in ("link_2", "tip")])
            apart = np.linalg.norm(centers[:, None] - balls[None, :, :3], axis=2) - balls[:, 3] - 0.05
            check("contacts: apart", apart.min() >= 0.0)
            check("contacts: verdicts", row.term_satisfied.all() and row.term_errors[0] == 0.0 < row.term_errors[1])
        check("contacts: what is missed", card.errors[off][3] > 0.0 or card.errors[pose][3].max() > 1e-4)
        given = mk.solve_batch(problem, {pose: Interface(path)}, Interface(starts), device="cuda", budget=few).numpy()
        check(
            "contacts: on the card", given.status.tolist() == [0, 0, 0, 1] and np.array_equal(given.q[:3], card.q[:3])
        )
    moving = mk.solve_batch(
        problem, {off: np.repeat(balls[None], 2, axis=0)}, postures[2], device="cuda", budget=mk.Budget(evaluations=20)
    )
    check("contacts: obstacles that differ from row to row", len(moving) == 2)


def closed_forms():
    """Arms of six joints with parallel and with meeting axes: the answers of the processor, which does what has none."""
    rng = np.random.default_rng(6)
    for name, tip in (("ur5", "tool0"), ("kr120", "tool0")):
        body = mk.load(name)
        pose = mk.Pose(tip, np.eye(4), position_tolerance=1e-6, orientation_tolerance=1e-6)
        problem = mk.Problem(body, pose)
        path = np.array([body.forward(body.sample(rng))[tip] for _ in range(4)])
        path[3, 0, 3] += 9.0
        starts = np.array([body.sample(rng) for _ in range(4)])
        starts[1, 0] = 99.0
        ClosedForms.threads = ClosedForms.per_block = 3
        card, processor = (
            mk.solve_batch(problem, {pose: path}, starts, method="analytic", device=device)
            for device in ("cuda", "cpu")
        )
        check("closed forms: statuses", card.status.tolist() == processor.status.tolist() == [0, 0, 0, 1])
        check("closed forms: answers", np.abs(card.q - processor.q).max() < 1e-9 and card.method == "analytic")
        check("closed forms: numbers", np.allclose(card.numbers[:3], processor.numbers[:3], atol=1e-9))
        check("closed forms: who", card.device == "a graphics card, 1 rows on the processor")
    body = mk.load("panda")
    pose = mk.Pose("panda_link8", np.eye(4))
    refused(
        "closed forms: seven joints", "arm of six joints",
        lambda: mk.solve_batch(mk.Problem(body, pose), {pose: np.eye(4)[None]}, method="analytic", device="cuda"),
    )  # fmt: skip


def one_target_for_all():
    body = mk.build.planar_chain([1.0, 0.5, 0.5])
    q = np.array([0.4, 0.5, 0.6])
    problem = mk.Problem(body, mk.Pose("tip", body.forward(q)["tip"]))
    found = mk.solve_batch(problem, starts=[q + 0.1, q - 0.1], device="cuda")
    check("one target for all", found.success.all() and np.abs(found.q - q).max() < 0.01)
    card = mk.solve_batch(problem, starts=Interface(np.array([q + 0.1, q - 0.1])), device="cuda")
    check("one target for all on the card", np.array_equal(card.numpy().q, found.q))


def clips():
    """Clips of two lengths in windows: the joint vectors and the verdicts of the processor; wrong calls are refused."""
    links, joints = ["hips"], []
    for side, y in (("left", 0.1), ("right", -0.1)):
        for part, parent, down in (("thigh", "hips", 0.0), ("shin", f"{side}_thigh", -0.4)):
            links.append(f"{side}_{part}")
            origin = mk.translation(0.0, y if down == 0.0 else 0.0, down)
            joints.append(
                mk.build.Joint(
                    f"{side}_{part}_turn",
                    "revolute",
                    parent,
                    links[-1],
                    axis=(0, 1, 0),
                    lower=-2,
                    upper=2,
                    origin=origin,
                )
            )
    body = mk.Body("legs", [mk.build.Link(name) for name in links], joints).with_base("floating")
    lines = [mk.motion.BoneMatch("hips", "hips", "hips", position=5.0, rotation=2.0)]
    for name in links[1:]:
        lines.append(
            mk.motion.BoneMatch(name, name, name, (0.0, 0.0, -0.4), (0.0, 0.0, -0.4), "hips", 1.0, position=2.0)
        )
    plan = mk.motion.RetargetPlan("legs", "legs", lines)
    q = np.zeros((7, body.dof))
    q[:, 0] = 0.02 * np.arange(7)
    q[:, 6:] = 0.1 * np.sin(np.arange(7)[:, None] + np.arange(4))
    walk = mk.Motion(body, 0.02 * np.arange(7), q, name="walk")
    two = [walk, walk[:3].turned(1.0)]
    many.WINDOW, told = 3, []
    card = mk.retarget(two, body, plan=plan, device="cuda", progress=lambda *numbers: told.append(numbers))
    processor = mk.retarget(two, body, plan=plan, threads=1)
    for one, other in zip(card, processor, strict=True):
        check("clips: as the processor", len(one) == len(other) and np.abs(one.q - other.q).max() < 2e-5)
        check("clips: verdicts", np.array_equal(one.report.reached, other.report.reached))
    check("clips: progress", told == [(7, 10), (10, 10)])
    refused("clips: names", "clip 1: 3 is not a motion", lambda: mk.retarget([walk, 3], body, plan=plan, device="cuda"))
    refused(
        "clips: links that keep apart",
        "self_collision",
        lambda: mk.retarget(two, body, device="cuda", self_collision=True),
    )


class Interface:
    """Somebody's array on the device by its interface; the simulator's device has the processor's memory."""

    def __init__(self, array, stream=None):
        self.array, self.stream = array, stream

    @property
    def __cuda_array_interface__(self):
        found = self.array.__array_interface__
        strides = self.array.strides
        return {**found, "strides": strides, "version": 3, "stream": self.stream}


class Exported:
    """Somebody's array on the device by DLPack, from NumPy's own."""

    def __init__(self, array, card=0):
        self.array, self.card, self.streams = array, card, []

    def __dlpack_device__(self):
        return 2, self.card

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.array.__dlpack__()


def same(name, card, processor):
    """Whether a batch on the device is one of NumPy arrays."""
    here = card.numpy()
    check(f"{name}: answers", np.array_equal(here.q, processor.q) and np.array_equal(here.status, processor.status))
    check(f"{name}: numbers", np.array_equal(here.numbers, processor.numbers))
    check(f"{name}: success", np.array_equal(card.success.numpy(), processor.success))
    check(f"{name}: starts", np.array_equal(here.starts, processor.starts))
    check(f"{name}: explanation", [row.explain() for row in here] == [row.explain() for row in processor])
    for objective, errors in processor.errors.items():
        check(f"{name}: errors", np.array_equal(card.errors[objective].numpy(), errors))
    check(f"{name}: evaluations", np.array_equal(card.evaluations.numpy(), processor.evaluations))


def arrays_on_the_device():
    """The same answers as for NumPy arrays, whatever the strides, the precision and the interface."""
    body, rng = mk.build.planar_chain([1.0, 0.5, 0.5]), np.random.default_rng(3)
    postures = np.array([body.sample(rng) for _ in range(3)])
    starts = postures + 0.05
    pose = mk.Pose("tip", np.eye(4))
    problem = mk.Problem(body, pose)
    matrices = np.array([body.forward(q)["tip"] for q in postures])
    usual = mk.solve_batch(problem, {pose: matrices}, starts, device="cuda")
    taken = Exported(np.ascontiguousarray(matrices.transpose(2, 1, 0)).transpose(2, 1, 0))
    card = mk.solve_batch(problem, {pose: taken}, Interface(np.asfortranarray(starts), stream=1), device="cuda")
    check(
        "on card: kind",
        isinstance(card, mk.batch.DeviceBatchSolution) and len(card) == 3 and card.device == usual.device,
    )
    check("on card: stream", taken.streams == [1])
    same("on card", card, usual)
    view = np.from_dlpack(Taken(card.q))
    check("on card: exported", np.array_equal(view, usual.q))
    interface = card.errors[pose].__cuda_array_interface__
    check("on card: strides", interface["strides"] == (8 * usual.numbers.shape[1], 8) and interface["stream"] is None)
    del card
    check("on card: memory lives with who uses it", np.array_equal(view, usual.q))
    angles = postures.sum(axis=1)
    zeros = np.zeros(3)
    seven = np.column_stack((matrices[:, :3, 3], 2.0 * np.cos(angles / 2), zeros, zeros, 2.0 * np.sin(angles / 2)))
    quaternions = mk.solve_batch(problem, {pose: Interface(seven)}, Interface(starts), device="cuda").numpy()
    check("on card: quaternions", np.abs(quaternions.q - usual.q).max() < 1e-9 and quaternions.success.all())
    singles = mk.solve_batch(
        problem, {pose: Interface(matrices.astype(np.float32))}, Exported(starts.astype(np.float32)), device="cuda"
    )  # fmt: skip
    check("on card: single precision", np.abs(singles.numpy().q - usual.q).max() < 1e-4)


class Taken:
    """NumPy takes memory of the processor only, which the simulator's is."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **rest):
        capsule = self.array.__dlpack__()
        device_arrays._Managed.from_address(device_arrays._pointer_of(capsule, b"dltensor")).tensor.device_type = 1
        return capsule


def targets_of_all_kinds():
    """Points, rotations, directions and points to look at; a lock, and one start for all rows."""
    body, rng = mk.build.planar_chain([1.0, 0.5, 0.5, 0.2]), np.random.default_rng(4)
    postures = np.array([body.sample(rng) for _ in range(2)])
    postures[:, 3] = 0.1
    poses = np.array([body.forward(q)["tip"] for q in postures])
    reach, turn = mk.Position("tip", (0, 0, 0)), mk.Orientation("tip", np.eye(3))
    ahead, side = mk.Direction("tip", (0, 1, 0), axis=(1, 0, 0)), mk.Side("tip", (1.0, 0.0, 0.0), axis=(1, 0, 0))
    look = mk.LookAt("tip", (1, 0, 0), axis=(1, 0, 0))
    many = {
        reach: poses[:, :3, 3], turn: poses[:, :3, :3], ahead: 3.0 * poses[:, :3, 0], side: -poses[:, :3, 0],
        look: poses[:, :3, 3] + poses[:, :3, 0],
    }  # fmt: skip
    problem = mk.Problem(body, list(many), lock={"joint_4": 0.1})
    start = postures[0] + 0.02
    usual = mk.solve_batch(problem, many, start, device="cuda", budget=mk.Budget(evaluations=60))
    given = {objective: Interface(rows) for objective, rows in many.items()}
    card = mk.solve_batch(problem, given, start, device="cuda", budget=mk.Budget(evaluations=60))
    same("all kinds", card, usual)
    lone = mk.solve_batch(
        problem, starts=Interface(np.array([start, start])), device="cuda", budget=mk.Budget(evaluations=9)
    )
    check("all kinds: locks", (lone.numpy().q[:, 3] == 0.1).all() and (lone.numpy().starts[:, 3] == 0.1).all())


def refused(name, words, work):
    try:
        work()
        check(name, False)
    except mk.MemetikError as error:
        check(f"{name} {error}", words in str(error))


def wrong_arrays():
    body = mk.build.planar_chain([1.0, 0.5])
    pose = mk.Pose("tip", np.eye(4))
    rest = mk.Displacement()
    problem = mk.Problem(body, [pose, rest])
    good, starts = np.tile(np.eye(4), (2, 1, 1)), np.zeros((2, 2))
    bad = good.copy()
    bad[1, 0, 0] = 2.0
    lost = starts.copy()
    lost[1, 1] = np.nan

    few = mk.Budget(evaluations=20)

    def solve(many, begin=None, **options):
        return lambda: mk.solve_batch(problem, {pose: many}, begin, **{"device": "cuda", "budget": few, **options})

    refused("processor", "device='cuda'", solve(Interface(good), device="cpu"))
    refused("a whole number", "dtype int64", solve(Interface(good.astype(np.int64))))
    refused("a whole number by DLPack", "float64 or float32", solve(Exported(good.astype(np.int64))))
    refused("shape", "rows x 4 x 4 or rows x 7", solve(Interface(good[:, :3, :3])))
    refused("starts in other memory", "not on the card", solve(Interface(good), starts))
    refused("targets in other memory", "not on the card", solve(good, Interface(starts)))
    refused("another card", "card 1", solve(Exported(good, card=1)))
    refused("number of rows", "same number of rows", solve(Interface(good), Interface(starts[:1])))
    refused("width of starts", "2 free joints", solve(Interface(good), Interface(good[0])))
    refused("no rows", "no rows", solve(Interface(good[:0])))
    refused("no rotation", "row 1: the target's 3x3 part", solve(Interface(bad)))
    refused("not finite", "starts: row 1", solve(Interface(good), Interface(lost)))
    refused("method", "only method 'memetic'", solve(Interface(good), method="analytic"))
    refused("time", "no clock", solve(Interface(good), budget=mk.Budget(seconds=1.0)))
    refused("kind", "NumPy array", lambda: mk.solve_batch(problem, {rest: Interface(good)}, device="cuda"))
    refused("stranger", "not an objective", lambda: mk.solve_batch(problem, {1: Interface(good)}, device="cuda"))
    card = solve(Interface(good))()
    refused("rows", ".numpy()[", lambda: card[0])
    refused("iteration", ".numpy()", lambda: list(card))
    refused("truth", "neither", lambda: bool(card.q))
    refused("unasked copy", ".numpy()", lambda: np.asarray(card.q))


def refusals():
    body = mk.build.planar_chain([1.0, 0.5])

    @mk.objective(reads=["tip"], tolerance=1e-3)
    def high(tip):
        return tip.position[1] - 0.5

    try:
        solve_on_cuda(mk.Problem(body, high), np.zeros((1, 0)), [], np.zeros((1, 2)), 0, 10)
        check("a user's function is refused", False)
    except mk.errors.ProblemError as error:
        check("a user's function is refused", "device='cpu'" in str(error))


if __name__ == "__main__":
    poses()
    out_of_reach()
    general()
    bodies()
    batch()
    hulls()
    one_target_for_all()
    clips()
    contacts()
    closed_forms()
    arrays_on_the_device()
    targets_of_all_kinds()
    wrong_arrays()
    refusals()
