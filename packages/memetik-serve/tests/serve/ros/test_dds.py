"""DDS: bytes against rosbags, services with a client that knows nothing of memetik, joint states both ways against Fast DDS."""

import json
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import memetik as mk
from memetik_serve import Core
from memetik_serve.ros.convert import compile_ahead
from memetik_serve.ros.dds import HEADER, Dds, Structs, headed
from memetik_serve.ros.ros2 import BIO_IK, POSITION_IK, Node
from memetik_serve.ros.types2 import JOINT_STATE, joint_state, types

SOURCES = Path(__file__).with_name("fast_dds")
CLIENT = Path(__file__).with_name("dds_client.py")
PACKAGES = "g++ fastddsgen libfastrtps-dev libfastcdr-dev"


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda")


def exchanged(wire, out, into, names, values):
    """What comes on `into` after values were sent on `out`."""
    got, came = [], threading.Event()
    wire.follow(into, lambda message: (got.append(message), came.set()))
    publish, deadline = wire.publisher(out), time.monotonic() + 30
    while not came.wait(0.1) and time.monotonic() < deadline:  # discovery takes a moment
        publish(names, values, 5_000_000_007)
    wire.close()
    assert got, "nothing came back"
    return got[0]


# ---- Bytes ---------------------------------------------------------------------------------------------------------


def filled(known, name):
    """A message with something in it, as rosbags writes it."""
    message = known.blank(name)
    if name == JOINT_STATE:
        message = joint_state(known, ["a", "bcd"], np.array([0.5, 1.5]), 5_000_000_007)
    elif name.endswith("Request"):
        message.ik_request.group_name = "arm"
        message.ik_request.robot_state.joint_state = joint_state(known, ["a", "bcd"], np.array([0.5, 1.5]))
    else:
        inner = getattr(message, "ik_response", message)
        inner.solution.joint_state = joint_state(known, ["a", "bcd"], np.array([0.5, 1.5]))
        inner.error_code.val = -31
    return known.write(message, name)


@pytest.mark.parametrize("distribution", ["humble", "jazzy"])
@pytest.mark.parametrize(
    "name", [f"{kind}_{part}" for kind in (POSITION_IK, BIO_IK) for part in ("Request", "Response")]
)
def test_cyclone_reads_and_writes_the_header_and_the_bytes_of_rosbags(distribution, name):
    known = types(distribution)
    data = filled(known, name)
    whole = headed(data, 7, -2)
    assert whole[4:20] == (7).to_bytes(8, "little") + (-2).to_bytes(8, "little", signed=True)
    found = Structs(known).get(name, HEADER).deserialize(whole)
    assert (found.guid, found.seq) == (7, -2)
    again = found.serialize()
    assert again[: len(whole)] == whole
    assert not any(again[len(whole) :])


def test_cyclone_reads_and_writes_joint_states_as_rosbags_does():
    known = types("jazzy")
    data = filled(known, JOINT_STATE)
    found = Structs(known).get(JOINT_STATE).deserialize(data)
    assert (found.name, found.position, found.header.stamp.nanosec) == (["a", "bcd"], [0.5, 1.5], 7)
    assert found.serialize()[: len(data)] == data


# ---- Two participants ----------------------------------------------------------------------------------------------


def test_joint_states_between_two_participants():
    found = exchanged(Dds(types("jazzy"), 91), "/joint_states_ik", "/joint_states_ik", ["a", "b"], np.array([0.5, 1.5]))
    assert (found.name, found.position, found.header.stamp.sec) == (["a", "b"], [0.5, 1.5], 5)


@pytest.fixture(scope="module")
def node(panda):
    """A node in domain 93."""
    core, known = Core(panda), types("jazzy")
    compile_ahead(core)
    made = Node(core, [Dds(known, 93)], known, rate=0.0)
    yield made
    made.close()


def asked(count, pose, clients=1):
    """What clients in other processes print, at the same time."""
    w, x, y, z = mk.geometry.to_quaternion(pose[:3, :3]).tolist()
    words = ",".join(map(repr, (*pose[:3, 3].tolist(), x, y, z, w)))
    command = [sys.executable, CLIENT, "93", str(count), words]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(clients)]
    said = [process.communicate(timeout=60)[0] for process in running]
    assert [process.returncode for process in running] == [0] * clients
    return [json.loads(each) for each in said]


def test_a_hundred_requests_of_another_process(node, panda, rng):
    pose = panda.forward(panda.sample(rng), "panda_hand")
    (found,) = asked(100, pose)
    print(json.dumps({"least": min(found["times"]), "median": float(np.median(found["times"]))}))
    assert (found["codes"], found["words"]) == ([1] * 100, [""])
    found["joints"].pop("panda_finger_joint2")  # a mimic
    np.testing.assert_allclose(panda.forward(panda.vector(found["joints"]), "panda_hand"), pose, atol=2e-3)


def test_what_cannot_be_reached(node):
    (found,) = asked(2, mk.translation(3.0, 0.0, 0.0))
    assert (found["codes"], found["joints"]) == ([-31, -31], {})
    assert "missed pose 1" in found["words"][0]


def test_each_of_three_clients_gets_its_own_replies(node, panda):
    found = asked(50, panda.forward(panda.home, "panda_hand"), clients=3)
    assert [each["codes"] for each in found] == [[1] * 50] * 3


# ---- Fast DDS ------------------------------------------------------------------------------------------------------


def built(folder, sources, generated=()):
    """A program of the other vendor, compiled here."""
    generator, compiler = shutil.which("fastddsgen"), shutil.which("g++")
    header = Path("/usr/include/fastdds/dds/topic/TypeSupport.hpp")
    if generator is None or compiler is None or not header.exists():
        pytest.skip(f"no Fast DDS on this machine; install it with: apt-get install {PACKAGES}")
    for source in SOURCES.iterdir():
        shutil.copy(source, folder)
    commands = [[generator, "-replace", each] for each in generated]
    commands.append([compiler, "-O0", "-std=c++17", "-o", "program", *sources, "-lfastrtps", "-lfastcdr"])
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr[-2000:]
    return folder / "program"


def test_fast_dds_joint_states_both_ways(tmp_path):
    sources = ["echo.cpp", "JointState.cxx", "JointStatePubSubTypes.cxx"]
    process = subprocess.Popen([built(tmp_path, sources, ["JointState.idl"]), "92"])
    try:
        found = exchanged(
            Dds(types("jazzy"), 92), "/joint_states_ik", "/joint_states", ["a", "b"], np.array([0.5, 1.5])
        )
    finally:
        process.kill()
        process.wait()
    assert (found.name, found.position, found.velocity) == (["a", "b"], [0.5, 1.5], [0.5, 1.5])


def test_fast_dds_carries_requests_and_replies(node, panda, tmp_path):
    """The packets of another vendor, with bytes by rosbags; and a request without the header, as rmw_fastrtps sends it, which
    no reply can find the way back to, must not end the service."""
    known, program, file = types("jazzy"), built(tmp_path, ["ask.cpp"]), tmp_path / "request"
    request = known.blank(f"{POSITION_IK}_Request")
    request.ik_request.group_name = "arm"
    pose, where = panda.forward(panda.home, "panda_hand"), request.ik_request.pose_stamped.pose
    where.position.x, where.position.y, where.position.z = pose[:3, 3].tolist()
    r = where.orientation
    r.w, r.x, r.y, r.z = mk.geometry.to_quaternion(pose[:3, :3]).tolist()
    data = known.write(request, f"{POSITION_IK}_Request")
    file.write_bytes(data)
    stranger = subprocess.Popen([program, "93", file], stdout=subprocess.DEVNULL)
    time.sleep(2.0)
    stranger.kill()
    stranger.wait()
    file.write_bytes(headed(data, 0xFEDC_BA98_7654_3210, 42))
    done = subprocess.run([program, "93", file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    reply = bytes.fromhex(done.stdout)
    assert reply[:4] == b"\0\1\0\0"
    assert reply[4:20] == (0xFEDC_BA98_7654_3210).to_bytes(8, "little") + (42).to_bytes(8, "little")
    found = known.read(reply[:4] + reply[20:], f"{POSITION_IK}_Response")
    assert (found.error_code.val, found.solution.joint_state.name[0]) == (1, "panda_joint1")
