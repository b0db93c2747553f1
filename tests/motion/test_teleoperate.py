"""Teleoperation: the newest pose wins, one pose calibrates, streams survive a file, and nothing jolts."""

import json
import math
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.motion import Sample
from tests.stress.servo import broken

FEW = mk.Budget(evaluations=50)
START = np.array([0.2, 0.3, 0.1, -1.6, 0.1, 1.9, 0.8])


@pytest.fixture
def operator():
    body = mk.load("panda").chain("panda_link0", "panda_link8")
    pose = mk.Pose("panda_link8", body.forward(START)["panda_link8"])
    return mk.motion.Teleoperator(mk.Servo(mk.Problem(body, pose), start=START, budget=FEW), {"hand": pose})


def moved(operator, y):
    target = operator.devices["hand"].target.copy()
    target[1, 3] += y
    return target


def test_the_newest_pose_wins(operator):
    pose = operator.devices["hand"]
    operator.post(2.0, {"hand": moved(operator, 0.3)})
    operator.post(2.1, {"hand": moved(operator, -0.1)})
    operator.post(1.0, {"hand": moved(operator, 0.2)})  # came late
    for _ in range(1_000):
        operator.step()
    assert operator.servo.success
    body = operator.servo.problem.body
    assert_allclose(body.forward(operator.servo.q)["panda_link8"], moved(operator, -0.1), atol=1e-6)
    assert operator.servo.errors[pose].position < 1e-6


def test_devices_post_from_threads_of_their_own(operator):
    """Two threads post a thousand poses each, while the loop runs; in the end the latest of all counts."""
    ends = threading.Barrier(3)

    def measure(first):
        ends.wait()
        for k in range(first, 2_000, 2):
            operator.post(k / 1000.0, {"hand": moved(operator, -0.1 * k / 2_000.0)})

    threads = [threading.Thread(target=measure, args=(first,)) for first in (0, 1)]
    for thread in threads:
        thread.start()
    ends.wait()
    path = [operator.servo.q]
    while any(thread.is_alive() for thread in threads):
        path.append(operator.step())
    path += [operator.step() for _ in range(1_000)]
    servo, body = operator.servo, operator.servo.problem.body
    assert not broken(np.array(path), body.lower, body.upper, servo.velocity_limit, servo.acceleration_limit)
    assert_allclose(body.forward(servo.q)["panda_link8"], moved(operator, -0.1 * 1_999 / 2_000.0), atol=1e-6)


def test_what_is_missing_is_held_or_released(operator):
    pose = operator.devices["hand"]
    operator.post(0.0, {"hand": np.full((4, 4), math.nan)})
    assert_array_equal(operator.step(), START)
    assert operator.servo.held == (pose,)
    operator.post(0.1, {"hand": None})
    operator.step()
    assert operator.servo.released == (pose,)


def test_one_pose_gives_scale_turn_and_offset():
    """A similarity that we made up is found again from two hands and a head, and rotations fit exactly."""
    rng = np.random.default_rng(3)
    places = {"head": (0.1, 0.0, 1.6), "left": (0.0, 0.8, 1.4), "right": (0.0, -0.8, 1.4)}
    measured = {name: mk.transform(place, mk.geometry.random_rotation(rng)) for name, place in places.items()}
    turn, offset = mk.axis_angle((0, 0, 1), 0.7), np.array([0.3, -0.2, -0.9])
    wanted = {
        name: mk.transform(1.2 * turn @ pose[:3, 3] + offset, mk.geometry.random_rotation(rng))
        for name, pose in measured.items()
    }
    found = mk.motion.Calibration.of(measured, wanted)
    assert found.scale == pytest.approx(1.2) and found.yaw == pytest.approx(0.7)
    assert_allclose(found.offset, offset, atol=1e-12)
    for name, pose in measured.items():
        assert_allclose(found.apply(name, pose), wanted[name], atol=1e-12)
    ahead = measured["left"].copy()
    ahead[:3, 3] += (0.1, 0.0, 0.0)
    assert_allclose(found.apply("left", ahead)[:3, 3], wanted["left"][:3, 3] + 0.12 * turn[:, 0], atol=1e-12)


def test_calibrations_that_are_none():
    hands = {"left": mk.translation(0.0, 0.8, 1.4), "right": mk.translation(0.0, -0.8, 1.4)}
    with pytest.raises(mk.errors.ProblemError, match="same two or more names"):
        mk.motion.Calibration.of(hands, {"left": np.eye(4)})
    with pytest.raises(mk.errors.ProblemError, match="arranged alike"):
        mk.motion.Calibration.of({name: np.eye(4) for name in hands}, hands)
    upside_down = {"left": mk.translation(0.0, 0.0, 1.4), "right": mk.translation(0.0, 0.0, -1.4)}
    with pytest.raises(mk.errors.ProblemError, match="arranged alike"):
        mk.motion.Calibration.of(upside_down, {"left": upside_down["right"], "right": upside_down["left"]})
    with pytest.raises(mk.errors.UnknownNameError, match="foot"):
        mk.motion.Calibration.of(hands, hands).apply("foot", np.eye(4))


def test_a_stream_survives_a_file(tmp_path):
    rng = np.random.default_rng(0)
    samples = [
        (k / 90.0, {"left": mk.transform(rng.normal(size=3), mk.geometry.random_rotation(rng))}) for k in range(20)
    ]
    samples.append((1.0, {"left": None}))
    read = mk.motion.read_stream(mk.motion.write_stream(tmp_path / "stream.jsonl", samples))
    assert [sample.time for sample in read] == [time for time, _ in samples]
    for (_, poses), sample in zip(samples[:-1], read, strict=False):
        assert_allclose(sample.poses["left"], poses["left"], atol=1e-12)
    assert read[-1].poses == {"left": None}
    assert set(json.loads((tmp_path / "stream.jsonl").read_text().splitlines()[0])) == {"time", "poses"}


GOOD = '{"time": 1.0, "poses": {"left": [0, 0, 0, 1, 0, 0, 0]}}'


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("no", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1.0]", "Write"),
        ('{"time": 2.0}', "Write"),
        ('{"time": "late", "poses": {}}', "not a number"),
        ('{"time": 0.5, "poses": {}}', "never go back"),
        ('{"time": NaN, "poses": {}}', "never go back"),
        ('{"time": 2.0, "poses": {"left": [0, 0, 0]}}', "seven numbers"),
        ('{"time": 2.0, "poses": {"left": [0, 0, 0, 2, 0, 0, 0]}}', "quaternion"),
        ('{"time": 2.0, "poses": {"left": [0, 0, "x", 1, 0, 0, 0]}}', "not a number"),
        ('{"time": 2.0, "poses": {"left": [0, 0, Infinity, 1, 0, 0, 0]}}', "left"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path, line, complaint):
    path = tmp_path / "stream.jsonl"
    path.write_text(f"{GOOD}\n\n{line}\n")
    with pytest.raises(mk.errors.FormatError, match=complaint) as raised:
        mk.motion.read_stream(path)
    assert "line 3" in str(raised.value)


def test_files_that_cannot_be(tmp_path):
    with pytest.raises(mk.errors.FormatError, match="cannot be read"):
        mk.motion.read_stream(tmp_path / "none.jsonl")
    (tmp_path / "bytes.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(mk.errors.FormatError, match="cannot be read"):
        mk.motion.read_stream(tmp_path / "bytes.jsonl")
    with pytest.raises(mk.errors.ProblemError, match="cannot be written"):
        mk.motion.write_stream(tmp_path / "no" / "folder.jsonl", [])
    with pytest.raises(mk.errors.ProblemError, match="never go back"):
        mk.motion.write_stream(tmp_path / "back.jsonl", [(1.0, {}), (0.5, {})])
    with pytest.raises(mk.errors.ProblemError, match="sample 0"):
        mk.motion.write_stream(tmp_path / "nan.jsonl", [(1.0, {"left": np.full((4, 4), math.nan)})])


def test_a_replay_is_the_stream_tick_by_tick(operator):
    samples = [Sample(5.0 + k / 90.0, {"hand": moved(operator, -0.1 * k / 90.0)}) for k in range(90)]
    path = operator.replay(samples)
    assert path.shape == (math.floor(89 / 90 * 1000) + 1, 7)
    servo, body = operator.servo, operator.servo.problem.body
    assert not broken(np.vstack([START, path]), body.lower, body.upper, servo.velocity_limit, servo.acceleration_limit)
    hand = body.forward(path[-1])["panda_link8"]
    assert np.linalg.norm(hand[:3, 3] - samples[-1].poses["hand"][:3, 3]) < 0.01
    assert operator.replay([]).shape == (0, 7)


def test_what_makes_no_sense_is_refused(operator):
    servo, pose = operator.servo, operator.devices["hand"]
    other = mk.Pose("panda_link8", np.eye(4))
    for wrong in ({"hand": other}, {"hand": "pose"}, ["hand"]):
        with pytest.raises(mk.errors.ProblemError):
            mk.motion.Teleoperator(servo, wrong)
    hands = {"left": mk.translation(0.0, 0.8, 1.4), "right": mk.translation(0.0, -0.8, 1.4)}
    with pytest.raises(mk.errors.UnknownNameError, match="hand"):
        mk.motion.Teleoperator(servo, {"hand": pose}, mk.motion.Calibration.of(hands, hands))
    with pytest.raises(mk.errors.ProblemError, match="not a servo"):
        mk.motion.Teleoperator(pose, {"hand": pose})
    for time, poses in ((math.nan, {}), ("now", {}), (0.0, {"hand": np.eye(3)}), (0.0, {"hand": "there"})):
        with pytest.raises(mk.errors.ProblemError):
            operator.post(time, poses)
    with pytest.raises(mk.errors.UnknownNameError, match="foot"):
        operator.post(0.0, {"foot": np.eye(4)})
