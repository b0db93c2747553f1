"""10,000 requests from four clients at the node of ROS 1, and the time of a round trip, by hand: python -m tests.stress.ros1"""

import json
import os
import signal
import subprocess
import sys

from tests.serve.ros.test_ros1 import CLIENT, ROOT, _wait_for, free_port, ros_path


def main():
    port, path = free_port(), ros_path()
    environment = {
        **os.environ, "ROS_MASTER_URI": f"http://127.0.0.1:{port}", "ROS_IP": "127.0.0.1", "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}",
    }  # fmt: skip
    plain = {key: value for key, value in environment.items() if key != "PYTHONPATH"}
    master = subprocess.Popen(["rosmaster", "--core", "-p", str(port)], env=plain, stderr=subprocess.DEVNULL)
    _wait_for(port)
    command = [sys.executable, "-m", "memetik", "ros1", "panda", "--ros-path", path]
    node = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    print(node.stdout.readline().strip())
    try:
        for job in (["time", "5000"], ["many", "2500"]):
            done = subprocess.run(
                [sys.executable, CLIENT, path, *job], env=environment, capture_output=True, text=True, check=True
            )
            print(*job, json.loads(done.stdout.splitlines()[-1]), f"load average {os.getloadavg()[0]:.1f}")
    finally:
        for process in (node, master):
            process.send_signal(signal.SIGTERM)
            process.wait(30)


if __name__ == "__main__":
    main()
