"""Joint states over DDS: the bytes against rosbags, and both ways against Fast DDS, another vendor's."""

import shutil
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import memetik as mk
from memetik.serve.ros.dds import Header, JointState, JointStates, Time
from memetik.serve.ros.types2 import joint_state, types

SOURCES = Path(__file__).with_name("fast_dds")
PACKAGES = "g++ fastddsgen libfastrtps-dev libfastcdr-dev"


def exchanged(states, out, into, names, values):
    """What comes on `into` after values were sent on `out`."""
    got, came = [], threading.Event()
    states.follow(into, lambda message: (got.append(message), came.set()))
    deadline = time.monotonic() + 30
    while not came.wait(0.1) and time.monotonic() < deadline:  # discovery takes a moment
        states.publish(out, names, values)
    assert got, "nothing came back"
    return got[0]


def test_bytes_are_those_of_rosbags():
    known, name = types("jazzy"), "sensor_msgs/msg/JointState"
    body = mk.load("panda")
    theirs = known.write(joint_state(known, body.joint_names, body.home, 5_000_000_007), name)
    ours = JointState(Header(Time(5, 7)), list(body.joint_names), body.home.tolist()).serialize()
    found = known.read(ours, name)
    assert (found.header.stamp.sec, found.header.stamp.nanosec, found.name) == (5, 7, list(body.joint_names))
    np.testing.assert_array_equal(found.position, body.home)
    assert ours[: len(theirs)] == theirs


def test_two_participants():
    found = exchanged(JointStates(91), "joint_states_ik", "/joint_states_ik", ["a", "b"], [0.5, 1.5])
    assert (found.name, found.position) == (["a", "b"], [0.5, 1.5])


@pytest.fixture(scope="module")
def echo(tmp_path_factory):
    """The other vendor's program, compiled here."""
    generator, compiler = shutil.which("fastddsgen"), shutil.which("g++")
    header = Path("/usr/include/fastdds/dds/topic/TypeSupport.hpp")
    if generator is None or compiler is None or not header.exists():
        pytest.skip(f"no Fast DDS on this machine; install it with: apt-get install {PACKAGES}")
    folder = tmp_path_factory.mktemp("fast_dds")
    for source in SOURCES.iterdir():
        shutil.copy(source, folder)
    files = ["echo.cpp", "JointState.cxx", "JointStatePubSubTypes.cxx"]
    for command in (
        [generator, "-replace", "JointState.idl"],
        [compiler, "-O0", "-std=c++17", "-o", "echo", *files, "-lfastrtps", "-lfastcdr"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr[-2000:]
    return folder / "echo"


def test_fast_dds_both_ways(echo):
    process = subprocess.Popen([echo, "92"])
    try:
        found = exchanged(JointStates(92), "joint_states_ik", "joint_states", ["a", "b"], [0.5, 1.5])
    finally:
        process.kill()
        process.wait()
    assert (found.name, found.position, found.velocity) == (["a", "b"], [0.5, 1.5], [0.5, 1.5])
