"""Bytes of ROS 1, as rosbags writes and reads them, answered from their numbers alone: as the core answers the messages."""

import math
import socket
import threading

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

import memetik as mk
from memetik_serve import Code, Core
from memetik_serve.ros import convert
from memetik_serve.ros.definitions import MESSAGES
from memetik_serve.ros.tcpros import MOST_LAYOUTS, Postures, Repeater, framed, layout, messages

REQUEST = "moveit_msgs/msg/PositionIKRequest"
ARM = [f"panda_joint{k}" for k in range(1, 8)]


@pytest.fixture(scope="module")
def store():
    found = get_typestore(Stores.ROS1_NOETIC)
    types = {}
    for name, text in MESSAGES.items():
        types.update(get_types_from_msg(text, name.replace("/", "/msg/")))
    found.register({name: fields for name, fields in types.items() if name not in found.types})
    return found


@pytest.fixture(scope="module")
def core():
    return Core(mk.load("panda"))


@pytest.fixture
def ask(store, core):
    """What makes a request of a pose: the message, its bytes and what they mean."""

    def new(kind, /, **values):
        return store.types[kind.replace("/", "/msg/")](**values)

    def request(pose, state=None, **values):
        def header(frame="", seq=0):
            return new(
                "std_msgs/Header", seq=seq, stamp=store.types["builtin_interfaces/msg/Time"](seq, 7), frame_id=frame
            )

        def stamped(frame):
            p, (w, x, y, z) = pose[:3, 3], mk.geometry.to_quaternion(pose[:3, :3]) * values.get("length", 1.0)
            place = new("geometry_msgs/Pose", position=new("geometry_msgs/Point", x=p[0], y=p[1], z=p[2]),
                        orientation=new("geometry_msgs/Quaternion", x=x, y=y, z=z, w=w))  # fmt: skip
            return new("geometry_msgs/PoseStamped", header=header(frame, seq), pose=place)

        seq, state = values.get("seq", 0), state or {}
        joints = new(
            "sensor_msgs/JointState", header=header("other", seq), name=list(state),
            position=np.array(list(state.values()), float), velocity=np.full(values.get("moving", 0), float(seq)),
            effort=np.zeros(0),
        )  # fmt: skip
        several = new(
            "sensor_msgs/MultiDOFJointState", header=header("", seq), joint_names=[], transforms=[], twist=[], wrench=[]
        )
        robot = new(
            "moveit_msgs/RobotState", joint_state=joints, multi_dof_joint_state=several, attached_collision_objects=[],
            is_diff=values.get("is_diff", False),
        )  # fmt: skip
        held = [
            new(
                "moveit_msgs/JointConstraint",
                joint_name=name,
                position=0.1,
                tolerance_above=1.0,
                tolerance_below=1.0,
                weight=1.0,
            )
            for name in values.get("constrained", ())
        ]
        constraints = new("moveit_msgs/Constraints", name="", joint_constraints=held, position_constraints=[],
                          orientation_constraints=[], visibility_constraints=[])  # fmt: skip
        timeout = values.get("timeout", 0.0)
        message = new(
            "moveit_msgs/PositionIKRequest", group_name=values.get("group", "arm"), robot_state=robot, constraints=constraints,
            avoid_collisions=False, ik_link_name=values.get("link", "panda_hand"), pose_stamped=stamped(values.get("frame", "")),
            ik_link_names=values.get("links", []), pose_stamped_vector=[stamped("") for _ in values.get("links", [])],
            timeout=store.types["builtin_interfaces/msg/Duration"](int(timeout), round(timeout % 1 * 1e9)),
        )  # fmt: skip
        return message, bytes(store.serialize_ros1(message, REQUEST)), values.get("current", {})

    return request


def poses(core, count, seed, link="panda_hand"):
    rng = np.random.default_rng(seed)
    return [core.body.forward(core.body.sample(rng), link) for _ in range(count)]


def high(z):
    pose = np.eye(4)
    pose[2, 3] = z
    return pose


def taught(core, message, request, current):
    repeater = Repeater(core)
    repeater.learn(message, request, convert.position_ik(core, message, current))
    return repeater


@pytest.mark.parametrize("values", [
    {}, {"length": 1.7}, {"frame": "/panda_link0"}, {"link": "", "group": "arm"}, {"group": ""}, {"moving": 7},
    {"state": ARM}, {"state": ["panda_joint2", "panda_finger_joint2"]}, {"state": ["panda_joint3"], "is_diff": True},
    {"current": {"panda_joint1": 0.4}}, {"timeout": 0.25}, {"link": "panda_leftfinger", "state": ["panda_finger_joint1"]},
])  # fmt: skip
def test_replies_are_those_of_the_core(core, ask, values, rng):
    """To the last bit, whatever stamps, velocities and timeouts come with the numbers."""
    names = values.get("state", [])
    link = values.get("link", "panda_hand") or core.tip("arm")
    states = [{name: 0.02 if "finger" in name else float(rng.uniform(-0.5, 0.5)) for name in names} for _ in range(13)]
    places = [*poses(core, 12, 5, link), mk.translation(3.0, 0.0, 0.0)]
    repeater = taught(core, *ask(**{**values, "state": dict.fromkeys(names, 0.02)}, pose=places[-2]))
    reached = 0
    for k, (pose, state) in enumerate(zip(places, states, strict=True)):
        message, request, current = ask(**{"timeout": 0.2 * (k % 2), **values, "state": state, "seq": k + 1}, pose=pose)
        found = repeater.answer(request, current)
        expected = convert.answer(core, lambda m=message, c=current: convert.position_ik(core, m, c))
        assert found is not None
        assert found.code == expected.code
        if found.code is Code.SUCCESS:  # what is not reached ends with the time, wherever the search is then
            np.testing.assert_array_equal(found.q, expected.q)
            reached += 1
    assert found.code is Code.NO_IK_SOLUTION and reached >= 6


def test_what_was_not_learnt_is_left_to_the_core(core, ask):
    (pose,) = poses(core, 1, 6)
    state = {"panda_joint1": 0.1}
    repeater = taught(core, *ask(pose, state))
    for other in (
        ask(pose), ask(pose, {"panda_joint2": 0.1}), ask(pose, {"panda_joint1": math.inf}), ask(pose, state, link="panda_link"),
        ask(pose, state, group="leg"), ask(pose, state, frame="x"), ask(pose, state, is_diff=True), ask(pose, state, length=0.0),
        ask(high(math.nan), state), ask(high(1e9), state),
    ):  # fmt: skip
        assert repeater.answer(*other[1:]) is None
    assert repeater.answer(*ask(pose, {"panda_joint1": 0.2})[1:]) is not None


def test_joints_that_are_held_elsewhere_are_left_to_the_core(core, ask):
    """The finger moves what is asked for and is in no group; its value is part of the problem."""
    (pose,) = poses(core, 1, 7, "panda_leftfinger")
    ask_finger = lambda value: ask(pose, {"panda_finger_joint1": value}, link="panda_leftfinger")  # noqa: E731
    repeater = taught(core, *ask_finger(0.02))
    assert repeater.answer(*ask_finger(0.02)[1:]) is not None
    assert repeater.answer(*ask_finger(0.03)[1:]) is None


def test_a_state_that_the_node_follows_counts_where_none_is_given(core, ask):
    (pose,) = poses(core, 1, 8)
    message, request, _ = ask(pose)
    repeater = taught(core, message, request, {})
    for current in ({}, {"panda_finger_joint1": 0.011}, {"panda_finger_joint1": 0.012}):
        assert repeater.answer(request, current).q[7] == current.get("panda_finger_joint1", core.body.home[7])
    assert repeater.answer(request, {"panda_joint1": math.nan}) is None


def test_what_has_more_than_a_pose_has_no_layout(core, ask):
    (pose,) = poses(core, 1, 9)
    for values in ({"constrained": ["panda_joint3"]}, {"links": ["panda_hand"]}):
        message, request, current = ask(pose, **values)
        assert layout(message, request) is None
        assert taught(core, message, request, current).answer(request, current) is None
    message, request, current = ask(
        pose, {"panda_joint1": 0.3}, frame="panda_link1"
    )  # stands elsewhere in another state
    assert taught(core, message, request, current).answer(request, current) is None


def test_a_connection_learns_so_many_layouts_and_no_more(core, ask):
    (pose,) = poses(core, 1, 10)
    repeater, asked = Repeater(core), []
    for count in range(MOST_LAYOUTS + 1):
        message, request, current = ask(pose, moving=count)
        repeater.learn(message, request, convert.position_ik(core, message, current))
        asked.append(request)
    assert [repeater.answer(request, {}) is not None for request in asked] == [True] * MOST_LAYOUTS + [False]


def test_rosbags_reads_postures(store, core):
    new = lambda kind, /, **values: store.types[kind](**values)  # noqa: E731
    header = new("std_msgs/msg/Header", seq=0, stamp=store.types["builtin_interfaces/msg/Time"](0, 0), frame_id="")
    empty = np.zeros(0)

    def state(positions):
        return new(
            "sensor_msgs/msg/JointState", header=header, name=ARM, position=positions, velocity=empty, effort=empty
        )

    whole = bytes(store.serialize_ros1(state(np.zeros(7)), "sensor_msgs/msg/JointState"))
    begin = len(store.serialize_ros1(state(empty), "sensor_msgs/msg/JointState")) - 8
    values = np.linspace(-1.0, 2.0, 7)
    sent = Postures(whole, begin, 7).bytes_of(values.tolist())
    assert sent == framed(bytes(store.serialize_ros1(state(values), "sensor_msgs/msg/JointState")))
    assert (sent[0], int.from_bytes(sent[1:5], "little")) == (1, len(sent) - 5)


def test_messages_come_whole_however_they_are_cut():
    sent = [b"", b"a" * 5, b"b" * 200_000, b"c"]
    stream = b"".join(len(each).to_bytes(4, "little") + each for each in sent)
    here, there = socket.socketpair()

    def send():
        for k in range(0, 30, 3):
            there.sendall(stream[k : k + 3])
        there.sendall(stream[30:])
        there.close()

    sender = threading.Thread(target=send)
    sender.start()
    with here:
        assert list(messages(here)) == sent
    sender.join()


def test_who_announces_more_than_a_request_can_have_is_left():
    here, there = socket.socketpair()
    with here, there:
        there.sendall((5).to_bytes(4, "little") + b"hello" + (1 << 31).to_bytes(4, "little") + b"more")
        assert list(messages(here)) == [b"hello"]  # though the other side has not closed
