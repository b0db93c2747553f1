"""Our half of the node on rclpy: its callbacks with messages of ROS 2.

rclpy itself is no package of pip or Debian, so a record of what is asked of it stands in its place."""

import importlib
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import memetik as mk
from memetik_serve import Core
from memetik_serve.ros.types2 import types
from tests.serve.ros.test_ros2 import SERVICE, pose_request


class Recorded:
    """A node that keeps what it is asked for."""

    def __init__(self):
        self.services, self.heard, self.published, self.warnings, self.timers = {}, {}, [], [], []

    def create_service(self, kind, name, answer):
        self.services[name] = answer

    def create_subscription(self, kind, topic, heard, depth):
        self.heard[topic] = heard

    def create_publisher(self, kind, topic, depth):
        return SimpleNamespace(publish=lambda message: self.published.append((topic, message)))

    def create_timer(self, period, act):
        self.timers.append((period, act))

    def get_name(self):
        return "memetik"

    def get_logger(self):
        return SimpleNamespace(warning=self.warnings.append)

    def get_clock(self):
        now = SimpleNamespace(to_msg=lambda: types("jazzy").blank("builtin_interfaces/msg/Time"))
        return SimpleNamespace(now=lambda: now)


@pytest.fixture
def module(monkeypatch):
    known = types("jazzy")
    names = {
        "rclpy": {}, "moveit_msgs.srv": {"GetPositionIK": object()}, "bio_ik_msgs.srv": {"GetIK": object()},
        "sensor_msgs.msg": {"JointState": lambda: known.blank("sensor_msgs/msg/JointState")},
        "moveit_msgs": {}, "bio_ik_msgs": {}, "sensor_msgs": {},
    }  # fmt: skip
    for name, values in names.items():
        made = ModuleType(name)
        made.__dict__.update(values)
        monkeypatch.setitem(sys.modules, name, made)
    monkeypatch.delitem(sys.modules, "memetik_serve.ros.rclpy_node", raising=False)
    yield importlib.import_module("memetik_serve.ros.rclpy_node")
    sys.modules.pop("memetik_serve.ros.rclpy_node", None)


def test_callbacks(module):
    known, body, node = types("jazzy"), mk.load("panda"), Recorded()
    module.Node(Core(body), node, follow="joint_states", rate=10.0)
    assert set(node.services) == {
        "compute_ik",
        "bio_ik/get_position_ik",
        "bio_ik/get_approximate_ik",
        "bio_ik/get_bio_ik",
    }

    def ask(name, request, kind=SERVICE):
        return node.services[name](request, known.blank(f"{kind}_Response"))

    state = known.blank("sensor_msgs/msg/JointState")
    state.name, state.position = ["panda_finger_joint1"], np.array([0.011])
    node.heard["joint_states"](state)
    found = ask("compute_ik", pose_request(body.forward(body.home, "panda_hand")))
    assert (found.error_code.val, found.error_code.source) == (1, "memetik")
    assert type(found.solution.joint_state.position) is list
    values = dict(zip(found.solution.joint_state.name, found.solution.joint_state.position, strict=True))
    assert values["panda_finger_joint1"] == 0.011
    far = pose_request(mk.translation(3.0, 0.0, 0.0))
    assert (ask("compute_ik", far).error_code.val, ask("bio_ik/get_approximate_ik", far).error_code.val) == (-31, 1)
    assert ask("compute_ik", pose_request(np.eye(4), group_name="legs")).error_code.val == -15
    assert "legs" in node.warnings[0]
    kind = "bio_ik_msgs/srv/GetIK"
    assert ask("bio_ik/get_bio_ik", known.blank(f"{kind}_Request"), kind).ik_response.error_code.val == -16
    ((period, publish),) = node.timers
    publish()
    topic, message = node.published[0]
    assert (period, topic, message.name[0]) == (0.1, "joint_states_ik", "panda_joint1")


def test_without_ros_it_says_what_to_do():
    sys.modules.pop("memetik_serve.ros.rclpy_node", None)
    with pytest.raises(mk.errors.MissingExtraError, match=r"setup\.bash") as error:
        importlib.import_module("memetik_serve.ros.rclpy_node")
    assert "pip install" not in str(error.value), "ROS does not come from there"
