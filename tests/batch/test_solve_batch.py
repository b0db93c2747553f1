"""solve_batch: the same answers as one solve after another, for any objective, joint and number of threads."""

from __future__ import annotations

import io
import re
import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik import progress
from memetik.batch import cuda, solve
from memetik.errors import MemetikWarning, ProblemError
from memetik.solution import Status
from tests.naive import kinematics

FEW = mk.Budget(evaluations=400)


def poses_of(body, tip, rng, count):
    """Reachable poses, and starts that have nothing to do with them."""
    poses = np.array([body.forward(body.sample(rng))[tip] for _ in range(count)])
    return poses, np.array([body.sample(rng) for _ in range(count)])


def hold_equal(problem, targets, starts, **options):
    """The batch on three threads, each row held against mk.solve."""
    batch = mk.solve_batch(problem, targets, starts, threads=3, **options)
    for k in range(len(batch)):
        for objective, many in targets.items():
            assign(objective, many[k])
        start = starts if starts is None or np.ndim(starts) == 1 else starts[k]
        expected = mk.solve(problem, start, **options)
        found = batch[k]
        assert_array_equal(found.q, expected.q)
        assert_array_equal(found._numbers, expected._numbers)
        assert found.status == expected.status == batch.status[k]
        assert found.errors == expected.errors
    return batch


def assign(objective, value):
    setattr(objective, "point" if isinstance(objective, (mk.Line, mk.Plane)) else "target", value)


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda")


@pytest.fixture
def reach(panda):
    """A pose problem of the panda."""
    pose = mk.Pose("panda_hand", np.eye(4), position_tolerance=1e-5, orientation_tolerance=1e-5)
    return mk.Problem(panda, pose), pose


# ---- The same answers --------------------------------------------------------------------------------------


def test_a_pose(reach, panda, rng):
    problem, pose = reach
    targets, starts = poses_of(panda, "panda_hand", rng, 60)
    targets[7, 0, 3] += 3.0
    batch = hold_equal(problem, {pose: targets}, starts, seed=3)
    assert batch.success.sum() == 59 and batch.status[7] == Status.CLOSEST
    for k in range(0, 60, 9):
        found = kinematics.pose(panda, "panda_hand", batch.q[k])
        error = np.linalg.norm((found - targets[k])[:3, 3])
        assert batch.errors[pose][k, 0] == pytest.approx(error, abs=1e-12)


def test_several_objectives_and_a_lock(panda, rng):
    place, gaze = mk.Position("panda_hand", (0, 0, 0)), mk.LookAt("panda_link5", (1, 0, 0), tolerance=0.2)
    calm = mk.Displacement(weight=0.01)
    problem = mk.Problem(panda, [place, gaze, calm], lock={"panda_joint3": 0.1})
    targets, starts = poses_of(panda, "panda_hand", rng, 12)
    many = {place: targets[:, :3, 3], gaze: rng.normal(size=(12, 3))}
    batch = hold_equal(problem, many, starts, budget=FEW)
    assert (batch.q[:, 2] == 0.1).all()
    assert batch.errors[place].shape == batch.errors[calm].shape == (12,)


@pytest.mark.parametrize(
    ("objective", "many"),
    [
        (
            lambda: mk.Orientation("tip", np.eye(3)),
            lambda rng: np.array([mk.geometry.random_rotation(rng) for _ in range(6)]),
        ),
        (lambda: mk.Direction("tip", (0, 0, 1)), lambda rng: rng.normal(size=(6, 3))),
        (lambda: mk.MaxDistance("tip", (0, 0, 0), 0.1), lambda rng: rng.uniform(-0.5, 0.5, (6, 3))),
        (lambda: mk.MinDistance("tip", (0, 0, 0), 0.4), lambda rng: rng.uniform(-0.5, 0.5, (6, 3))),
        (lambda: mk.Line("tip", (0, 0, 0), (1, 0, 0)), lambda rng: rng.uniform(-0.5, 0.5, (6, 3))),
        (lambda: mk.Plane("tip", (0, 0, 0), (0, 0, 1)), lambda rng: rng.uniform(-0.5, 0.5, (6, 3))),
        (lambda: mk.Position("tip", (0, 0, 0), tolerance=None), lambda rng: rng.uniform(-0.9, 0.9, (6, 3))),
    ],
    ids=["orientation", "direction", "distance", "least distance", "line", "plane", "guide"],
)
def test_kinds_of_targets(objective, many, rng):
    wanted = objective()
    body = mk.build.snake(6)
    hold_equal(mk.Problem(body, wanted), {wanted: many(rng)}, None, budget=FEW)


def test_a_rotation_that_is_not_quite_one(rng):
    turn = mk.Orientation("tip", np.eye(3))
    slanted = np.array([mk.geometry.random_rotation(rng) for _ in range(4)]) + rng.normal(size=(4, 3, 3)) * 1e-8
    hold_equal(mk.Problem(mk.build.snake(6), turn), {turn: slanted}, None, budget=FEW)


def test_every_kind_of_joint(rng):
    joints = [
        mk.build.Joint("lift", "prismatic", "base", "a", axis=(0, 0, 1), lower=-0.5, upper=0.5),
        mk.build.Joint("spin", "continuous", "a", "b", origin=mk.translation(0.2, 0, 0)),
        mk.build.Joint("drill", "screw", "b", "c", axis=(1, 0, 0), lower=-3, upper=3, screw_pitch=0.05),
        mk.build.Joint("ball", "spherical", "c", "d", origin=mk.translation(0.2, 0, 0)),
        mk.build.Joint("table", "planar", "d", "e", lower=-0.3, upper=0.3),
        mk.build.Joint("pipe", "cylindrical", "e", "f", axis=(0, 1, 0), lower=-0.3, upper=0.3),
        mk.build.Joint("copy", "revolute", "f", "tip", origin=mk.translation(0.2, 0, 0), lower=-2, upper=2,
                 mimic=mk.build.Mimic("spin", 0.5, 0.1)),
    ]  # fmt: skip
    body = mk.Body("all", [mk.build.Link(name) for name in ("base", "a", "b", "c", "d", "e", "f", "tip")], joints)
    pose = mk.Pose("tip", np.eye(4))
    targets, starts = poses_of(body, "tip", rng, 8)
    batch = hold_equal(mk.Problem(body, pose), {pose: targets}, starts)
    assert batch.success.all()


def test_a_floating_body(rng):
    body = mk.load("valkyrie", base="floating")
    hands = [mk.Pose(link, np.eye(4)) for link in ("leftPalm", "rightPalm")]
    q = [body.sample(rng) for _ in range(4)]
    many = {hand: np.array([body.forward(x)[hand.frame] for x in q]) for hand in hands}
    batch = hold_equal(mk.Problem(body, hands), many, None)
    assert batch.success.all()


def rough(frame):
    return frame.position[2] - 0.3


def test_a_function_that_numba_compiles(rng):
    body, place = mk.build.snake(6), mk.Position("tip", (0, 0, 0))
    height = mk.objective(reads=["link_3"], tolerance=None)(rough)
    problem = mk.Problem(body, [place, height])
    hold_equal(problem, {place: rng.uniform(-0.4, 0.4, (6, 3))}, None, budget=FEW)


def plain(frame):
    return {"height": frame.position[2]}["height"] * sum(x for x in (0.5, 0.5)) if isinstance(frame, tuple) else None


def test_a_function_that_stays_python_runs_on_one_thread(rng):
    body, place = mk.build.snake(6), mk.Position("tip", (0, 0, 0))
    height = mk.objective(reads=["link_3"], tolerance=None)(plain)
    with pytest.warns(MemetikWarning, match="cannot compile"):
        problem = mk.Problem(body, [place, height])
    targets = {place: rng.uniform(-0.4, 0.4, (3, 3))}
    with pytest.warns(MemetikWarning, match="plain: .* on one thread"):
        batch = hold_equal(problem, targets, None, budget=mk.Budget(evaluations=100))
    assert batch.device == "1 thread"


def fails(frame):
    if frame.position[1] > 0.1:
        raise ValueError("too far left")
    return 0.0


def test_what_a_function_raises_ends_the_batch(rng):
    body, place = mk.build.planar_chain([0.5, 0.5]), mk.Position("tip", (0, 0, 0))
    problem = mk.Problem(body, [place, mk.objective(reads=["tip"])(fails)])
    targets = np.full((50, 3), (0.5, -0.3, 0.0))
    targets[31] = 0.5, 0.3, 0.0
    with pytest.raises(ProblemError, match="too far left"):
        mk.solve_batch(problem, {place: targets}, [-0.5, 0.0], threads=2)


def test_the_number_of_threads_does_not_matter(reach, panda, rng):
    problem, pose = reach
    targets, starts = poses_of(panda, "panda_hand", rng, 500)
    targets[::50, 0, 3] += 3.0  # slow rows among quick ones
    one, two, five = (
        mk.solve_batch(problem, {pose: targets}, starts, threads=n, budget=mk.Budget(evaluations=2000))
        for n in (1, 2, 5)
    )
    assert (one.device, two.device, five.device) == ("1 thread", "2 threads", "5 threads")
    for other in (two, five):
        assert_array_equal(one.q, other.q)
        assert_array_equal(one.numbers, other.numbers)
        assert_array_equal(one.status, other.status)


def test_only_starts_differ(reach, panda, rng):
    problem, pose = reach
    pose.target = panda.forward(panda.sample(rng))["panda_hand"]
    starts = np.array([panda.sample(rng) for _ in range(5)])
    batch = hold_equal(problem, {}, starts)
    assert batch.success.all() and len(np.unique(batch.q.round(3), axis=0)) > 1


def test_one_start_for_all_and_the_default(reach, panda, rng):
    problem, pose = reach
    targets, starts = poses_of(panda, "panda_hand", rng, 3)
    one = mk.solve_batch(problem, {pose: targets}, starts[0])
    assert_array_equal(one.q, mk.solve_batch(problem, {pose: targets}, [starts[0]] * 3).q)
    home = mk.solve_batch(problem, {pose: targets})
    assert_array_equal(home.q, mk.solve_batch(problem, {pose: targets}, panda.home).q)


def test_the_problem_keeps_its_targets(reach, panda, rng):
    problem, pose = reach
    pose.target = kept = panda.forward(panda.home)["panda_hand"]
    targets, starts = poses_of(panda, "panda_hand", rng, 4)
    given = starts.copy()
    mk.solve_batch(problem, {pose: targets}, starts)
    assert_allclose(pose.target, kept, atol=1e-12)
    assert mk.solve(problem, panda.home).evaluations == 1
    assert_array_equal(starts, given)


def test_nothing_to_do(reach):
    problem, pose = reach
    batch = mk.solve_batch(problem, {pose: np.empty((0, 4, 4))})
    assert len(batch) == 0 and list(batch) == [] and str(batch) == "no problems"
    assert batch.q.shape == (0, problem.body.dof) and batch.errors[pose].shape == (0, 2)


# ---- What comes out ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mixed():
    """Eight rows, of which 2 and 5 cannot be reached and 3 has a start outside the limits."""
    panda = mk.load("panda")
    pose = mk.Pose("panda_hand", np.eye(4))
    targets, starts = poses_of(panda, "panda_hand", np.random.default_rng(2), 8)
    targets[[2, 5], 2, 3] += (2.0, 4.0)
    starts[3, 1] = -9.0
    return pose, mk.solve_batch(mk.Problem(panda, pose), {pose: targets}, starts, budget=FEW), targets


def test_arrays(mixed):
    pose, batch, _ = mixed
    assert len(batch) == 8 and batch.q.shape == (8, 8)
    assert batch.success.tolist() == [True, True, False, True, True, False, True, True]
    assert batch.start_moved.tolist() == [False, False, False, True, False, False, False, False]
    assert not batch.timed_out.any()
    assert (batch.evaluations[[2, 5]] > 300).all() and (batch.attempts >= 1).all()
    assert batch.evaluations.dtype == batch.attempts.dtype == np.int64
    assert (batch.errors[pose][batch.success] <= (1e-4, 1e-3)).all()
    assert batch.errors[pose][5, 0] > 2.0
    assert batch.rate == pytest.approx(8 / batch.seconds)


def test_a_row_is_a_solution(mixed):
    pose, batch, _ = mixed
    row = batch[0]
    assert isinstance(row, mk.Solution) and row.success and row["panda_joint2"] == batch.q[0, 1]
    assert row.errors[pose].position == batch.errors[pose][0, 0]
    assert row.seconds == batch.row_seconds[0] > 0.0
    assert str(row).startswith("REACHED by memetic") and batch[-1].q.tolist() == batch.q[7].tolist()
    row.q[:] = 0.0  # a copy of its own
    assert batch.q[0].any()
    assert [solution.status for solution in batch] == batch.status.tolist()
    with pytest.raises(IndexError, match="row 8 of a batch of 8"):
        batch[8]


def test_an_explanation_speaks_of_its_row(mixed):
    pose, batch, targets = mixed
    pose.target = targets[0]
    low, high = batch[2].explain(), batch[5].explain()
    assert "cannot be told" not in low + high
    for text, row in ((low, 2), (high, 5)):
        distance = np.linalg.norm(targets[row, :3, 3] - (0.0, 0.0, 0.333))
        assert f"the target is {distance:.3g} m from panda_joint1" in text
    assert_allclose(pose.target, targets[0], atol=1e-12)
    assert "within tolerance" in batch[0].explain()


def test_an_explanation_is_that_of_the_single_solve():
    """A wish about the start, in rows with starts of their own."""
    body = mk.build.planar_chain([0.5, 0.4, 0.3])
    place, still = mk.Position("tip", (0.9, 0, 0)), mk.Displacement(tolerance=0.01, weight=1.0)
    problem = mk.Problem(body, [place, still], limits={"joint_1": (-0.4, 0.4)})
    starts = np.array([[0.4, 0.0, 0.1], [-0.4, 0.5, 0.2]])
    targets = np.array([[0.2, 0.7, 0.0], [0.1, -0.6, 0.0]])
    batch = mk.solve_batch(problem, {place: targets}, starts, budget=FEW)
    expected = []
    for k in range(2):
        place.target = targets[k]
        expected.append(mk.solve(problem, starts[k], budget=FEW).explain())
    data = problem.compiled.data.copy()
    assert [untimed(row.explain()) for row in batch] == [untimed(text) for text in expected]
    assert all("missed by" in text and "would come closer" in text for text in expected)
    assert_array_equal(problem.compiled.data, data)


def untimed(text):
    return re.sub(r"after [\d.]+ \w+,", "after a while,", text)


def test_parts(mixed):
    pose, batch, _ = mixed
    part = batch[1:4]
    assert isinstance(part, mk.batch.BatchSolution) and len(part) == 3
    assert_array_equal(part.q, batch.q[1:4])
    assert_array_equal(part.errors[pose], batch.errors[pose][1:4])
    failures = batch[~batch.success]
    assert failures.status.tolist() == [Status.CLOSEST] * 2
    assert failures[1].explain() == batch[5].explain()
    assert batch[[5, 0]].success.tolist() == [False, True]
    assert batch[:4].seconds + batch[4:].seconds == pytest.approx(batch.seconds)
    assert len(batch[[]]) == 0


def test_print(mixed):
    _, batch, _ = mixed
    text = str(batch)
    assert "8 problems on" in text and "a second" in text
    assert "REACHED             6   75.000 %" in text and "CLOSEST             2   25.000 %" in text
    assert "1 starts were outside the limits" in text
    assert repr(batch).startswith("<BatchSolution: 6 of 8 reached")


def test_time_is_for_each_row(reach, panda):
    problem, pose = reach
    far = np.tile(mk.transform((3, 0, 0), np.eye(3)), (3, 1, 1))
    batch = mk.solve_batch(problem, {pose: far}, budget=mk.Budget(evaluations=10**9, seconds=0.01))
    assert batch.timed_out.all() and "the time ran out for 3" in str(batch)


# ---- Progress ----------------------------------------------------------------------------------------------


def test_progress_is_told(reach, panda, rng):
    problem, pose = reach
    targets, starts = poses_of(panda, "panda_hand", rng, 50)
    seen = []
    mk.solve_batch(problem, {pose: targets}, starts, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen) and seen[-1] == (50, 50) and len(seen) > 1


def test_a_line_on_a_terminal(reach, panda, rng, monkeypatch):
    problem, pose = reach
    targets, starts = poses_of(panda, "panda_hand", rng, 50)
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    mk.solve_batch(problem, {pose: targets}, starts)
    assert terminal.getvalue() == ""  # it was quick
    monkeypatch.setattr(solve, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    mk.solve_batch(problem, {pose: targets}, starts, progress=False)
    assert terminal.getvalue() == ""
    mk.solve_batch(problem, {pose: targets}, starts)
    assert "100 % of 50" in terminal.getvalue() and "a second, 0:00 left" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\033[K")


def test_an_error_ends_all_threads(reach, panda, rng):
    problem, pose = reach
    targets, starts = poses_of(panda, "panda_hand", rng, 400)

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mk.solve_batch(problem, {pose: targets}, starts, threads=3, progress=interrupt)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("memetik batch")]


# ---- Mistakes ----------------------------------------------------------------------------------------------


def test_wrong_targets(reach, panda):
    problem, pose = reach
    good = np.tile(np.eye(4), (3, 1, 1))
    with pytest.raises(ProblemError, match="nothing differs from row to row"):
        mk.solve_batch(problem)
    with pytest.raises(ProblemError, match="is not an objective of this problem, which has <Pose panda_hand>"):
        mk.solve_batch(problem, {mk.Position("panda_hand", (0, 0, 0)): np.zeros((3, 3))})
    with pytest.raises(ProblemError, match=r"rows x 4 x 4, not \(3, 3\)"):
        mk.solve_batch(problem, {pose: np.zeros((3, 3))})
    for number in (np.nan, np.inf):
        bad = good.copy()
        bad[2, 1, 3] = number
        with pytest.raises(ProblemError, match="row 2: the target has an entry that is NaN or infinite"):
            mk.solve_batch(problem, {pose: bad})
    bad = good.copy()
    bad[1, 0, 0] = 2.0
    with pytest.raises(ProblemError, match=r"row 1: .* not a rotation"):
        mk.solve_batch(problem, {pose: bad})
    still = mk.Displacement()
    with pytest.raises(ProblemError, match="no target that could move"):
        mk.solve_batch(mk.Problem(panda, [pose, still]), {still: good})
    place = mk.Position("panda_hand", (0, 0, 0))
    with pytest.raises(ProblemError, match=r"same number of targets; got \[2, 3\]"):
        mk.solve_batch(mk.Problem(panda, [pose, place]), {pose: good, place: np.zeros((2, 3))})


def test_wrong_starts(reach):
    problem, pose = reach
    good = np.tile(np.eye(4), (3, 1, 1))
    with pytest.raises(ProblemError, match=r"shape \(2, 8\), but there are 3 rows .* give \(3, 8\)"):
        mk.solve_batch(problem, {pose: good}, np.zeros((2, 8)))
    with pytest.raises(ProblemError, match=r"the start has shape \(7,\)"):
        mk.solve_batch(problem, {pose: good}, np.zeros(7))
    starts = np.zeros((3, 8))
    starts[1:, 4] = np.nan, np.inf
    with pytest.raises(ProblemError, match="the start of row 1, and 1 more has an entry that is NaN"):
        mk.solve_batch(problem, {pose: good}, starts)
    with pytest.raises(ProblemError, match="not joint vectors"):
        mk.solve_batch(problem, {pose: good}, [["a"] * 8] * 3)


def test_wrong_options(reach):
    problem, pose = reach
    good = np.tile(np.eye(4), (3, 1, 1))
    with pytest.raises(ProblemError, match=r"unknown device 'gpu'. There are: cpu, cuda, auto"):
        mk.solve_batch(problem, {pose: good}, device="gpu")
    with pytest.raises(ProblemError, match="threads is 0"):
        mk.solve_batch(problem, {pose: good}, threads=0)


# ---- Graphics devices ----------------------------------------------------------------------------------------


def test_without_a_card(reach, monkeypatch):
    def none():
        raise ProblemError("no usable graphics card")

    for module in (solve, cuda):
        monkeypatch.setattr(module, "require_cuda", none)
    problem, pose = reach
    good = np.tile(np.eye(4), (3, 1, 1))
    with pytest.raises(ProblemError, match="no usable graphics card"):
        mk.solve_batch(problem, {pose: good}, device="cuda")
    assert mk.solve_batch(problem, {pose: good}, device="auto", budget=FEW).device.endswith(("thread", "threads"))
    with pytest.raises(ProblemError, match="no clock on a graphics card"):
        mk.solve_batch(problem, {pose: good}, device="cuda", budget=mk.Budget(seconds=1.0))


def test_auto_takes_a_card_that_can_take_the_problem(panda, reach, monkeypatch):
    monkeypatch.setattr(solve, "require_cuda", lambda: None)
    problem, pose = reach
    assert solve.device_for("auto", problem, FEW) == "cuda"
    assert solve.device_for("auto", problem, mk.Budget(seconds=1.0)) == "cpu"
    function = mk.Problem(panda, [pose, mk.objective(reads=["panda_link5"])(rough)])
    assert solve.device_for("auto", function, FEW) == "cpu"
