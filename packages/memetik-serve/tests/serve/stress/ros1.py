"""10,000 requests from four clients at the node of ROS 1, and the time of a round trip:

    python -m tests.serve.stress.ros1

The round trip is that of a client of sockets alone, whose time is the node's and the system's, and that of rospy, which makes
messages of bytes and bytes of messages. Beside them stand the same clients at an echo, which answers every request with the same
reply: one of rospy, and one of sockets. What an echo takes, no node could save.
"""

import json
import os
import signal
import subprocess
import sys

from tests.serve.ros.test_ros1 import CLIENT, _wait_for, free_port, ros_path

JOBS = (
    ("bare", "5000", "compute_ik"), ("time", "5000", "compute_ik"),
    ("bare", "5000", "echo"), ("time", "5000", "echo"), ("bare", "5000", "bare_echo"), ("time", "5000", "bare_echo"),
    ("many", "2500"),
)  # fmt: skip


def main():
    port, path = free_port(), ros_path()
    environment = {
        **os.environ, "ROS_MASTER_URI": f"http://127.0.0.1:{port}", "ROS_IP": "127.0.0.1",
    }  # fmt: skip
    plain = {key: value for key, value in environment.items() if key != "PYTHONPATH"}
    started = [subprocess.Popen(["rosmaster", "--core", "-p", str(port)], env=plain, stderr=subprocess.DEVNULL)]
    _wait_for(port)
    try:
        for command in (
            [sys.executable, "-m", "memetik", "ros1", "panda", "--ros-path", path], [sys.executable, CLIENT, path, "echo"],
            [sys.executable, CLIENT, path, "bare_echo"],
        ):  # fmt: skip
            started.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
            print(started[-1].stdout.readline().strip())
        for job in JOBS:
            done = subprocess.run(
                [sys.executable, CLIENT, path, *job], env=environment, capture_output=True, text=True, check=True
            )
            print(*job, json.loads(done.stdout.splitlines()[-1]), f"load average {os.getloadavg()[0]:.1f}", flush=True)
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
            process.wait(30)


if __name__ == "__main__":
    main()
