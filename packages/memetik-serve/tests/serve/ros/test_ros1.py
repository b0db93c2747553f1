"""The node of ROS 1 against a real master, with clients in processes of their own."""

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

CLIENT = Path(__file__).with_name("ros1_client.py")
DEBIAN = "/usr/lib/python3/dist-packages"
PACKAGES = "python3-rospy python3-rosmaster python3-genpy python3-{std,geometry,sensor,trajectory,shape}-msgs"


def ros_path():
    """Where rospy is: with this Python, or with Debian's of the same version."""
    if importlib.util.find_spec("rospy") is not None:
        return str(Path(importlib.util.find_spec("rospy").origin).parents[1])
    return DEBIAN if (Path(DEBIAN) / "rospy").is_dir() else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def ros(tmp_path_factory):
    """The environment of a master with the node, and the path of rospy."""
    master, path = shutil.which("rosmaster"), ros_path()
    if master is None or path is None:
        pytest.skip(f"no ROS 1 on this machine; install it with: apt-get install {PACKAGES}")
    address = f"http://127.0.0.1:{free_port()}"
    environment = {
        **os.environ, "ROS_MASTER_URI": address, "ROS_IP": "127.0.0.1",
        "ROS_LOG_DIR": str(tmp_path_factory.mktemp("logs")), "MEMETIK_ROS_PATH": path,
    }  # fmt: skip
    plain = {key: value for key, value in environment.items() if key != "PYTHONPATH"}  # the master is Debian's
    started = [
        subprocess.Popen([master, "--core", "-p", address.rsplit(":", 1)[1]], env=plain, stderr=subprocess.DEVNULL)
    ]
    node = [sys.executable, "-m", "memetik", "ros1", "panda", "--ros-path", path, "--follow", "joint_states"]
    try:
        _wait_for(int(address.rsplit(":", 1)[1]))
        started.append(subprocess.Popen(node, env=environment, stdout=subprocess.PIPE, text=True))
        assert "compute_ik" in started[1].stdout.readline()
        yield environment
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) is not None


def _wait_for(port):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the master did not start")


@pytest.fixture(scope="module")
def found(ros):
    """What a client in a process of its own finds; one for all tests, since it takes seconds to start."""
    command = [sys.executable, CLIENT, ros["MEMETIK_ROS_PATH"], "all"]
    done = subprocess.run(command, env=ros, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_codes_of_position_ik(found):
    found = found["codes"]
    assert found["good"] == 1
    assert found["good_reached"]
    assert found["names"][-1] == "panda_joint7"
    assert {"panda_finger_joint1", "panda_finger_joint2"} < set(found["names"])  # the mimic joint, too
    assert (found["far"], found["far_short"], found["far_names"], found["approximate"]) == (-31, -31, [], 1)
    assert (found["group"], found["link"], found["frame"], found["state"]) == (-15, -18, -21, -17)
    assert (found["framed"], found["framed_reached"], found["several"], found["tip"]) == (1, True, 1, 1)
    assert found["constrained"] == pytest.approx(0.2, abs=0.011)
    assert found["apart"] == 1


def test_codes_of_bio_ik(found):
    bio = found["codes"]["bio"]
    assert (bio["pose"], bio["far"], bio["approximate"][0]) == (1, -31, 1)
    assert bio["approximate"][1] > 1.0  # the fitness
    assert {kind: code for kind, code in bio["each"].items() if code != 1} == {}
    assert len(bio["each"]) == 13
    assert (bio["together"], bio["touch"], bio["fixed"]) == (1, 1, 0.3)
    assert (bio["none"], bio["description"], bio["unknown_joint"], bio["balance_without_mass"]) == (-16, -19, -16, -16)


def test_four_clients_at_once(found):
    """A twenty-fifth of what `python -m tests.serve.stress.ros1` asks for."""
    assert (found["many"]["requests"], found["many"]["wrong"]) == (400, [])


def test_bytes_of_a_persistent_connection(found):
    """The second of two equal requests is answered from its bytes; nonsense is refused, and the connection goes on."""
    assert found["bare_codes"] == [1, 1, -31, "error", 1]


@pytest.mark.timed
def test_round_trips(found):
    """0.2 ms, also on a busy machine: the quickest of 500 has not been interrupted."""
    assert found["bare"]["least"] < 2e-4
    assert found["time"]["least"] < 2e-4


def test_joint_states_are_published_and_followed(found):
    found = found["states"]
    assert found["first"][0] == "panda_joint1"
    assert (found["same"], found["stamped"], found["followed"]) == (True, True, 0.011)


def test_sums_are_those_of_the_installed_packages(found):
    """A client and a server of other builds refuse each other if these differ."""
    compared = {name: pair for name, pair in found["sums"].items() if pair[1] is not None}
    assert len(compared) >= 11
    assert {name: pair for name, pair in compared.items() if pair[0] != pair[1]} == {}
