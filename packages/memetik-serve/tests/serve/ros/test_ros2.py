"""ROS 2 on the wire: hashes, keys and CDR, and the node over a real Zenoh router, with a client that asks as rmw_zenoh does."""

import json
import struct
import threading
import time

import numpy as np
import pytest
import zenoh

import memetik as mk
from memetik_serve import Core
from memetik_serve.ros import ros2, zenoh_wire
from memetik_serve.ros.convert import compile_ahead
from memetik_serve.ros.types2 import NO_HASH, Types, types
from tests.serve.ros.test_ros1 import free_port

SERVICE = "moveit_msgs/srv/GetPositionIK"


# ---- Types ---------------------------------------------------------------------------------------------------------


def test_hashes_are_those_that_ros_publishes():
    """From rmw_zenoh's design document, and from code that rosidl generated."""
    known = Types("jazzy")
    known.add_service("example_interfaces/AddTwoInts", "int64 a\nint64 b\n", "int64 sum\n")
    published = {
        "std_msgs/msg/String": "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
        "example_interfaces/srv/AddTwoInts": "e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a",
        "service_msgs/msg/ServiceEventInfo": "41bcbbe07a75c9b52bc96bfd5c24d7f0fc0a08c0cb7921b3373c5732345a6f45",
        "builtin_interfaces/msg/Time": "b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197",
    }
    assert {name: known.hash(name) for name in published} == {
        name: f"RIHS01_{sum_}" for name, sum_ in published.items()
    }
    assert types("humble").hash(SERVICE) == NO_HASH


@pytest.mark.parametrize("distribution", ["humble", "jazzy", "kilted"])
def test_blank_messages_come_back_from_cdr(distribution):
    known = types(distribution)
    for name in (
        f"{SERVICE}_Request",
        f"{SERVICE}_Response",
        "bio_ik_msgs/srv/GetIK_Request",
        "bio_ik_msgs/srv/GetIK_Response",
    ):
        data = known.write(known.blank(name), name)
        assert data[:4] == b"\0\1\0\0"
        assert known.write(known.read(data, name), name) == data
    assert hasattr(known.blank("moveit_msgs/msg/MoveItErrorCodes"), "message") == (distribution != "humble")
    with pytest.raises(mk.errors.FormatError, match="are no"):
        known.read(b"\0\1\0\0\xff\xff\xff\xff", f"{SERVICE}_Request")


def test_an_unknown_distribution_is_said():
    with pytest.raises(mk.errors.UnknownNameError, match="There are: humble"):
        Types("dashing")


def test_keys_and_attachments():
    where = zenoh_wire.key(2, "/add_two_ints", "example_interfaces/srv/AddTwoInts", "RIHS01_e118")
    assert where == "2/add_two_ints/example_interfaces::srv::dds_::AddTwoInts_/RIHS01_e118"
    data = zenoh_wire.attachment(5, bytes(range(16)), 7)
    assert data == struct.pack("<qq", 5, 7) + b"\x10" + bytes(range(16))
    assert zenoh_wire.read_attachment(data) == (5, 7, bytes(range(16)))
    # The same by Zenoh's own serializer.
    theirs = zenoh.ext.z_serialize((zenoh.ext.Int64(5), zenoh.ext.Int64(7), bytes(range(16))))
    assert bytes(theirs) == data
    with pytest.raises(mk.errors.FormatError, match="33"):
        zenoh_wire.read_attachment(data[:-1])


# ---- The node ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda")


@pytest.fixture(scope="module")
def wire(panda):
    """A router, the node on a session of its own, and a session for the client."""
    port = free_port()
    endpoint = f"tcp/127.0.0.1:{port}"
    with (
        zenoh_wire.session("", listen=endpoint, mode="router"),
        zenoh_wire.session(endpoint) as own,
        zenoh_wire.session(endpoint) as other,
    ):
        core = Core(panda)
        compile_ahead(core)
        known = types("jazzy")
        node = ros2.Node(core, [zenoh_wire.Zenoh(own, known)], known, follow="joint_states", rate=50.0)
        yield other
        node.close()


def client(wire, service="compute_ik", kind=SERVICE):
    """A function that asks as rmw_zenoh's clients do: to complete queryables, all answers, with an attachment."""
    known = types("jazzy")
    where = f"0/{service}/{kind.replace('/', '::', 1).replace('/', '::dds_::', 1)}_/{known.hash(kind)}"
    count = iter(range(1, 1_000_000))
    gid = b"0123456789abcdef"

    def ask(request):
        number = next(count)
        extra = struct.pack("<qqB", number, time.time_ns(), 16) + gid
        for answer in wire.get(
            where, payload=known.write(request, f"{kind}_Request"), target=zenoh.QueryTarget.ALL_COMPLETE,
            consolidation=zenoh.ConsolidationMode.NONE, attachment=extra, timeout=20.0,
        ):  # fmt: skip
            assert answer.ok is not None, bytes(answer.err.payload)
            back = bytes(answer.ok.attachment)
            assert (struct.unpack_from("<q", back)[0], back[17:]) == (number, gid)
            return known.read(bytes(answer.ok.payload), f"{kind}_Response")
        raise AssertionError("nobody answered")

    return ask


def pose_request(pose, **values):
    request = types("jazzy").blank(f"{SERVICE}_Request")
    asked = request.ik_request
    asked.group_name, asked.ik_link_name = "arm", "panda_hand"
    for name, value in values.items():
        setattr(asked, name, value)
    p, r = asked.pose_stamped.pose.position, asked.pose_stamped.pose.orientation
    p.x, p.y, p.z = pose[:3, 3].tolist()
    r.w, r.x, r.y, r.z = mk.geometry.to_quaternion(pose[:3, :3]).tolist()
    return request


@pytest.fixture(scope="module")
def ask(wire):
    return client(wire)


def test_position_ik(ask, panda, rng):
    for _ in range(5):
        pose = panda.forward(panda.sample(rng), "panda_hand")
        found = ask(pose_request(pose))
        assert (found.error_code.val, found.error_code.message, found.error_code.source) == (1, "", "memetik")
        q = dict(zip(found.solution.joint_state.name, found.solution.joint_state.position, strict=True))
        q.pop("panda_finger_joint2")  # a mimic
        np.testing.assert_allclose(panda.forward(panda.vector(q), "panda_hand"), pose, atol=2e-3)


def test_codes(ask, wire, panda):
    here, far = panda.forward(panda.home, "panda_hand"), mk.translation(3.0, 0.0, 0.0)
    found = ask(pose_request(far))
    assert (found.error_code.val, len(found.solution.joint_state.name)) == (-31, 0)
    assert "missed pose 1" in found.error_code.message
    assert client(wire, "bio_ik/get_approximate_ik")(pose_request(far)).error_code.val == 1
    assert ask(pose_request(here, group_name="legs")).error_code.val == -15
    assert ask(pose_request(here, ik_link_name="hnd")).error_code.val == -18


def test_bio_ik(wire, panda):
    known = types("jazzy")
    request = known.blank("bio_ik_msgs/srv/GetIK_Request")
    goal = known.blank("bio_ik_msgs/msg/PositionGoal")
    goal.link_name = "panda_hand"
    goal.position.x, goal.position.y, goal.position.z = 0.4, 0.1, 0.5
    request.ik_request.group_name, request.ik_request.position_goals = "arm", [goal]
    found = client(wire, "bio_ik/get_bio_ik", "bio_ik_msgs/srv/GetIK")(request).ik_response
    assert (found.error_code.val, found.solution_fitness) == (1, 0.0)


def test_bytes_that_are_no_request_get_an_error(wire):
    where = f"0/compute_ik/moveit_msgs::srv::dds_::GetPositionIK_/{types('jazzy').hash(SERVICE)}"
    for data, extra in (
        (b"", b""),
        (b"garbage", b"x" * 33),
        (types("jazzy").write(pose_request(np.eye(4)), f"{SERVICE}_Request"), b""),
    ):
        (answer,) = wire.get(where, payload=data, attachment=extra, target=zenoh.QueryTarget.ALL_COMPLETE, timeout=20.0)
        assert answer.err is not None


def test_the_node_is_seen(wire):
    """By the tokens that `ros2 node list` and `ros2 service list` are made of."""
    seen, deadline = set(), time.monotonic() + 20
    while len(seen) < 7 and time.monotonic() < deadline:  # they take a moment to travel
        answers = list(wire.liveliness().get("@ros2_lv/0/**", timeout=5.0))
        seen = {str(answer.ok.key_expr).split("/", 3)[3] for answer in answers if answer.ok is not None}
    assert any(token.endswith("/NN/%/%/memetik") for token in seen)
    services = [token for token in seen if "/SS/" in token]
    assert len(services) == 4
    assert any(
        "/%compute_ik/moveit_msgs::srv::dds_::GetPositionIK_/RIHS01_" in token and token.endswith("/::,10:,:,:,,")
        for token in services
    )


def test_joint_states_both_ways(wire, ask, panda):
    known = types("jazzy")
    kind = "sensor_msgs/msg/JointState"
    tail = f"sensor_msgs::msg::dds_::JointState_/{known.hash(kind)}"
    got, came = [], threading.Event()

    def heard(sample):
        got.append((known.read(bytes(sample.payload), kind), bytes(sample.attachment)))
        came.set()

    listener = wire.declare_subscriber(f"0/joint_states_ik/{tail}", heard)
    assert came.wait(20)
    message, extra = got[0]
    assert message.name[0] == "panda_joint1"
    assert len(extra) == 33
    listener.undeclare()
    state = known.blank(kind)
    state.name, state.position = ["panda_finger_joint1"], np.array([0.011])
    here = panda.forward(panda.home, "panda_hand")
    deadline, value = time.monotonic() + 20, None
    while value != 0.011 and time.monotonic() < deadline:
        wire.put(f"0/joint_states/{tail}", known.write(state, kind), attachment=zenoh_wire.attachment(1, bytes(16)))
        found = ask(pose_request(here)).solution.joint_state
        value = dict(zip(found.name, found.position, strict=True))["panda_finger_joint1"]
    assert value == 0.011


@pytest.mark.timed
def test_a_round_trip_takes_a_millisecond(ask, panda):
    """Processor time of both sides, which share the process here; most of it is CDR."""
    requests = [pose_request(panda.forward(panda.home, "panda_hand")) for _ in range(50)]
    ask(requests[0])
    took, begin = [], time.process_time()
    for request in requests * 4:
        before = time.perf_counter()
        ask(request)
        took.append(time.perf_counter() - before)
    spent = (time.process_time() - begin) / 200
    print(json.dumps({"least": min(took), "median": float(np.median(took)), "processor": spent}))
    assert spent < 3e-3
    assert min(took) < 3e-3


def test_without_a_router_it_says_so():
    with pytest.raises(mk.errors.ProblemError, match="rmw_zenohd"):
        zenoh_wire.session(f"tcp/127.0.0.1:{free_port()}")
