"""Bags, written and read, with rosbags' own reader as the judge."""

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

import memetik as mk
from memetik_serve.ros import bags


@pytest.fixture
def body():
    return mk.load("panda")


def test_joint_states(tmp_path, body, rng):
    times, q = np.arange(20) / 10.0 + 1e9, np.array([body.sample(rng) for _ in range(20)])
    bags.write_joint_states(tmp_path / "bag", body, times, q)
    when, rows = bags.read_joint_states(tmp_path / "bag", body)
    np.testing.assert_allclose(when, times, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(rows, q)
    with AnyReader([tmp_path / "bag"]) as reader:
        assert [(each.topic, each.msgtype, each.msgcount) for each in reader.connections] == [
            ("/joint_states", "sensor_msgs/msg/JointState", 20)
        ]
        connection, _, data = next(reader.messages())
        first = reader.deserialize(data, connection.msgtype)
    assert (first.name, first.header.stamp.sec) == (list(body.joint_names), 1_000_000_000)


def test_poses(tmp_path, body, rng):
    poses = np.array([body.forward(body.sample(rng), "panda_hand") for _ in range(5)])
    bags.write_poses(tmp_path / "bag", np.arange(5.0), poses, topic="/hand")
    _, rows = bags.read_poses(tmp_path / "bag", topic="/hand")
    np.testing.assert_allclose(rows, poses, rtol=0, atol=1e-12)


def test_what_is_wrong_is_said(tmp_path, body):
    with pytest.raises(mk.errors.ProblemError, match="one row of 8"):
        bags.write_joint_states(tmp_path / "bag", body, [0.0], np.zeros((1, 3)))
    bags.write_joint_states(tmp_path / "bag", body, [0.0], body.home)
    with pytest.raises(mk.errors.ProblemError, match="cannot be written"):
        bags.write_joint_states(tmp_path / "bag", body, [0.0], body.home)
    with pytest.raises(mk.errors.UnknownNameError, match="no topic"):
        bags.read_joint_states(tmp_path / "bag", body, topic="/other")
    with pytest.raises(mk.errors.FormatError, match=r"no geometry_msgs"):
        bags.read_poses(tmp_path / "bag")
    with pytest.raises(mk.errors.FormatError, match="cannot be read"):
        bags.read_poses(tmp_path / "nothing")
