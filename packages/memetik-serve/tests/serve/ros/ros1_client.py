"""A client of the node in a process of its own, with rospy: `python ros1_client.py ROS_PATH JOB [ARGUMENT]` prints JSON.

codes          the codes of requests of all kinds
time COUNT [SERVICE]  round trips over one persistent connection [s]
bare COUNT [SERVICE]  the same by sockets, without rospy
echo, bare_echo  serve the same reply to whoever asks, with rospy and by sockets
many COUNT     so many requests from each of four clients at once
states         what comes on joint_states_ik
sums           of the messages here and in the packages that are installed
all            all of it, little of each
"""

import io
import json
import socket
import struct
import sys
import threading
import time
from importlib import import_module

sys.path.append(sys.argv[1])

import numpy as np
import rosgraph
import rospy

import memetik as mk
from memetik_serve.ros.definitions import MESSAGES
from memetik_serve.ros.ros1 import message_class, service_class

POSITION, BIO = service_class("moveit_msgs/GetPositionIK"), service_class("bio_ik_msgs/GetIK")
BODY = mk.load("panda")


def proxy(name, kind):
    rospy.wait_for_service(name, timeout=30)
    return rospy.ServiceProxy(name, kind, persistent=True)


def put(message, **values):
    for path, value in values.items():
        *way, last = path.split("__")
        target = message
        for each in way:
            target = getattr(target, each)
        setattr(target, last, value)
    return message


def pose_request(pose, **values):
    request = POSITION._request_class()
    asked = put(request.ik_request, **{"group_name": "arm", "ik_link_name": "panda_hand", **values})
    place(asked.pose_stamped.pose, pose)
    return request


def place(message, pose):
    message.position.x, message.position.y, message.position.z = pose[:3, 3].tolist()
    r = message.orientation
    r.w, r.x, r.y, r.z = mk.geometry.to_quaternion(pose[:3, :3]).tolist()


def poses(count, seed):
    rng = np.random.default_rng(seed)
    return [BODY.forward(BODY.sample(rng), "panda_hand") for _ in range(count)]


def found(answer):
    return dict(zip(answer.solution.joint_state.name, answer.solution.joint_state.position, strict=True))


def reached(answer, pose):
    q = {name: value for name, value in found(answer).items() if name in BODY.joint_names}
    return bool(np.allclose(BODY.forward(BODY.vector(q), "panda_hand"), pose, atol=2e-3))


def codes():
    ask, roughly, bio = (
        proxy("compute_ik", POSITION),
        proxy("bio_ik/get_approximate_ik", POSITION),
        proxy("bio_ik/get_bio_ik", BIO),
    )
    (pose,) = poses(1, 1)
    far = mk.translation(3.0, 0.0, 0.0)
    good = ask(pose_request(pose))
    turned = {"panda_joint1": 0.5}
    in_link = np.linalg.inv(BODY.forward(BODY.vector(turned), "panda_link1")) @ pose
    state = {"robot_state__joint_state__name": ["panda_joint1"], "robot_state__joint_state__position": [0.5]}
    framed = ask(pose_request(in_link, pose_stamped__header__frame_id="panda_link1", **state))
    several = pose_request(pose, ik_link_name="")
    several.ik_request.ik_link_names, several.ik_request.pose_stamped_vector = (
        ["panda_hand"],
        [several.ik_request.pose_stamped],
    )
    tip = pose_request(BODY.forward(BODY.home, "panda_link8"), ik_link_name="")
    constrained = pose_request(BODY.forward(BODY.vector({"panda_joint3": 0.2}), "panda_hand"))
    joint = message_class("moveit_msgs/JointConstraint")(
        joint_name="panda_joint3", position=0.2, tolerance_above=0.01, tolerance_below=0.01, weight=1.0
    )
    constrained.ik_request.constraints.joint_constraints = [joint]
    return {
        "good": good.error_code.val,
        "good_reached": reached(good, pose),
        "names": sorted(found(good)),
        "far": ask(pose_request(far)).error_code.val,
        "far_short": ask(pose_request(far, timeout=rospy.Duration(0.0001))).error_code.val,
        "far_names": list(ask(pose_request(far)).solution.joint_state.name),
        "approximate": roughly(pose_request(far)).error_code.val,
        "group": ask(pose_request(pose, group_name="legs")).error_code.val,
        "link": ask(pose_request(pose, ik_link_name="hnd")).error_code.val,
        "frame": ask(pose_request(pose, pose_stamped__header__frame_id="map")).error_code.val,
        "state": ask(pose_request(pose, robot_state__joint_state__name=["x"])).error_code.val,
        "framed": framed.error_code.val,
        "framed_reached": reached(framed, pose),
        "several": ask(several).error_code.val,
        "tip": ask(tip).error_code.val,
        "constrained": found(ask(constrained)).get("panda_joint3"),
        "apart": ask(pose_request(BODY.forward(BODY.home, "panda_hand"), avoid_collisions=True)).error_code.val,
        "bio": bio_goals(bio, pose, far),
        "sum": POSITION._md5sum,
    }


def bio_goals(bio, pose, far):
    def goal(kind, **values):
        return put(message_class(f"bio_ik_msgs/{kind}Goal")(), **values)

    def ask(goals, **values):
        request = BIO._request_class()
        put(request.ik_request, group_name="arm", **values)
        for kind, each in goals.items():
            setattr(request.ik_request, f"{kind}_goals", each)
        answer = bio(request).ik_response
        return answer.error_code.val, answer.solution_fitness, found(answer)

    whole, distant = goal("Pose", link_name="panda_hand"), goal("Pose", link_name="panda_hand", rotation_scale=0.1)
    place(whole.pose, pose)
    place(distant.pose, far)
    here = BODY.forward(BODY.home, "panda_hand")[:3, 3].tolist()
    hand = {"link_name": "panda_hand"}

    def at(x, y, z):
        return dict(zip("xyz", (x, y, z), strict=True))

    def three(kind, v):
        return message_class(f"geometry_msgs/{kind}")(**at(*v))

    point, z, down = three("Point", here), three("Vector3", (0, 0, 1)), three("Vector3", (0, 0, -1))
    turned = mk.geometry.to_quaternion(BODY.forward(BODY.home, "panda_hand")[:3, :3])
    quaternion = message_class("geometry_msgs/Quaternion")(x=turned[1], y=turned[2], z=turned[3], w=turned[0])
    all_goals = {
        "position": [goal("Position", **hand, position=point)],
        "orientation": [goal("Orientation", **hand, orientation=quaternion)],
        "look_at": [goal("LookAt", link_name="panda_link7", axis=z, target=three("Point", (9, 0, 0)), weight=1e-3)],
        "min_distance": [goal("MinDistance", **hand, target=three("Point", (0, 0, 0)), distance=0.1)],
        "max_distance": [goal("MaxDistance", **hand, target=point, distance=0.1)],
        "line": [goal("Line", **hand, position=point, direction=z)],
        "avoid_joint_limits": [goal("AvoidJointLimits", weight=0.01)],
        "center_joints": [goal("CenterJoints", weight=0.01, primary=True)],
        "minimal_displacement": [goal("MinimalDisplacement", weight=0.01)],
        "joint_variable": [goal("JointVariable", variable_name="panda_joint3", variable_position=0.1, secondary=True)],
        "side": [goal("Side", **hand, axis=z, direction=z)],
        "direction": [goal("Direction", **hand, axis=z, direction=down)],
        "cone": [goal("Cone", **hand, position=point, axis=z, direction=down, angle=0.5)],
    }
    fixed = {"robot_state__joint_state__name": ["panda_joint1"], "robot_state__joint_state__position": [0.3]}
    held = ask({"position": all_goals["position"]}, fixed_joints=["panda_joint1"], **fixed)
    touch = goal("Touch", **hand, position=three("Point", (0, 0, 0.2)), normal=z)
    return {
        "pose": ask({"pose": [whole]})[0],
        "far": ask({"pose": [distant]})[0],
        "approximate": ask({"pose": [distant]}, approximate=True)[:2],
        "each": {kind: ask({kind: goals, "position": all_goals["position"]})[0] for kind, goals in all_goals.items()},
        "together": ask({kind: goals for kind, goals in all_goals.items() if kind != "look_at"})[0],
        "touch": ask({"touch": [touch]})[0],
        "balance_without_mass": ask({"balance": [goal("Balance", target=three("Point", (0, 0, 0)))]})[0],
        "fixed": held[2].get("panda_joint1"),
        "none": ask({})[0],
        "description": ask({"pose": [whole]}, robot_description="other")[0],
        "unknown_joint": ask({"joint_variable": [goal("JointVariable", variable_name="x")]})[0],
    }


def round_trips(count, service="compute_ik"):
    ask = rospy.ServiceProxy(service, POSITION, persistent=True)
    return timed(ask, [pose_request(pose) for pose in poses(100, 2)], count)


def timed(ask, requests, count):
    for request in 2 * requests:
        ask(request)
    took, spent = [], time.process_time()
    for k in range(count):
        begin = time.perf_counter()
        ask(requests[k % len(requests)])
        took.append(time.perf_counter() - begin)
    return {"median": float(np.median(took)), "least": min(took), "own": (time.process_time() - spent) / count}


# ---- Without rospy -------------------------------------------------------------------------------------------------


def with_length(content):
    return struct.pack("<I", len(content)) + content


def in_bytes(message):
    written = io.BytesIO()
    message.serialize(written)
    return with_length(written.getvalue())


def header(**values):
    return with_length(b"".join(with_length(f"{key}={value}".encode()) for key, value in values.items()))


def read(connection, size):
    found = b""
    while len(found) < size:
        found += connection.recv(size - len(found))
    return found


def read_message(connection):
    return read(connection, struct.unpack("<I", read(connection, 4))[0])


def connected(service):
    """A persistent connection to a service, found by the master."""
    host, port = rosgraph.Master("/bare").lookupService(f"/{service}").removeprefix("rosrpc://").split(":")
    connection = socket.create_connection((host, int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(header(service=f"/{service}", md5sum=POSITION._md5sum, callerid="/bare", persistent="1"))
    read_message(connection)
    return connection


def bare_round_trips(count, service="compute_ik"):
    requests = [in_bytes(pose_request(pose)) for pose in poses(100, 2)]
    with connected(service) as connection:

        def ask(request):
            connection.sendall(request)
            found = connection.recv(1 << 16)
            assert found[0] == 1 and len(found) == 5 + struct.unpack_from("<I", found, 1)[0]

        return timed(ask, requests, count)


def bare_codes():
    """The codes of a posture, of the same again from its bytes, of what is out of reach, and what follows nonsense."""
    near, far = (in_bytes(pose_request(pose)) for pose in (poses(1, 1)[0], mk.translation(3.0, 0.0, 0.0)))
    found = []
    with connected("compute_ik") as connection:
        for request in (near, near, far, with_length(b"nonsense"), near):
            connection.sendall(request)
            good, content = read(connection, 1), read_message(connection)
            found.append(POSITION._response_class().deserialize(content).error_code.val if good == b"\x01" else "error")
    return found


def same_reply():
    reply = POSITION._response_class()
    joints = reply.solution.joint_state
    joints.name, joints.position, reply.error_code.val = list(BODY.joint_names), BODY.home.tolist(), 1
    return reply


def echo():
    reply = same_reply()
    rospy.Service("echo", POSITION, lambda request: reply)
    print("echo", flush=True)
    rospy.spin()


def bare_echo():
    reply, server = b"\x01" + in_bytes(same_reply()), socket.create_server(("127.0.0.1", 0))
    address = f"rosrpc://127.0.0.1:{server.getsockname()[1]}"
    rosgraph.Master("/bare").registerService("/bare_echo", address, "http://127.0.0.1:1/")
    print("bare echo", flush=True)
    while True:
        connection, _ = server.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            read_message(connection)
            connection.sendall(
                header(service="/bare_echo", type=POSITION._type, md5sum=POSITION._md5sum, callerid="/bare")
            )
            while connection.recv(1 << 16):
                connection.sendall(reply)


def many(count):
    wrong = []

    def one(seed):
        ask = proxy("compute_ik", POSITION)
        asked = poses(50, seed)
        requests = [pose_request(pose) for pose in asked]
        for k in range(count):
            try:
                answer = ask(requests[k % 50])
                if answer.error_code.val != 1 or not (k >= 50 or reached(answer, asked[k])):
                    wrong.append(answer.error_code.val)
            except rospy.ServiceException as error:
                wrong.append(str(error))

    threads = [threading.Thread(target=one, args=(seed,)) for seed in range(4)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"requests": 4 * count, "wrong": wrong[:5], "seconds": time.perf_counter() - begin}


def states():
    ask = proxy("compute_ik", POSITION)
    (pose,) = poses(1, 3)
    before = rospy.wait_for_message("joint_states_ik", message_class("sensor_msgs/JointState"), timeout=20)
    expected = found(ask(pose_request(pose)))
    deadline, latest = time.monotonic() + 20, {}
    while latest != expected and time.monotonic() < deadline:
        message = rospy.wait_for_message("joint_states_ik", message_class("sensor_msgs/JointState"), timeout=20)
        latest = dict(zip(message.name, message.position, strict=True))
    publisher = rospy.Publisher("joint_states", message_class("sensor_msgs/JointState"), queue_size=1, latch=True)
    publisher.publish(message_class("sensor_msgs/JointState")(name=["panda_finger_joint1"], position=[0.011]))
    while found(ask(pose_request(pose))).get("panda_finger_joint1") != 0.011 and time.monotonic() < deadline:
        time.sleep(0.05)
    return {
        "first": list(before.name),
        "same": latest == expected,
        "stamped": before.header.stamp.to_sec() > 0.0,
        "followed": found(ask(pose_request(pose))).get("panda_finger_joint1"),
    }


def sums():
    found = {}
    for name in MESSAGES:
        package, short = name.split("/")
        try:
            theirs = getattr(import_module(package + ".msg"), short)._md5sum
        except ModuleNotFoundError:
            theirs = None
        found[name] = [message_class(name)._md5sum, theirs]
    return found


def all_jobs():
    return {
        "codes": codes(), "many": many(100), "time": round_trips(500), "bare": bare_round_trips(500), "bare_codes": bare_codes(),
        "states": states(), "sums": sums(),
    }  # fmt: skip


JOBS = {
    "codes": codes, "time": round_trips, "bare": bare_round_trips, "many": many, "states": states, "sums": sums, "all": all_jobs,
    "echo": echo, "bare_echo": bare_echo,
}  # fmt: skip

if __name__ == "__main__":
    if sys.argv[2] != "bare_echo":  # what belongs to no node ends by SIGTERM at once
        rospy.init_node("client", anonymous=True, disable_signals=sys.argv[2] != "echo")
    given = [int(word) if word.isdigit() else word for word in sys.argv[3:]]
    print(json.dumps(JOBS[sys.argv[2]](*given)))
