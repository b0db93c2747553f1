"""The server over real sockets: what it answers, whom it refuses, and what it survives."""

import http.client
import json
import socket
import threading
import time

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import memetik as mk
from memetik import scenes
from memetik_serve.web import Service
from memetik_serve.web.limits import Limits
from tests.serve.stress import load as stress

TARGET = {"kind": "Position", "frame": "panda_hand", "target": [0.4, 0.1, 0.5]}
FAR = {**TARGET, "target": [3.0, 0.0, 0.0]}


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda")


@pytest.fixture(scope="module")
def service(panda):
    with Service(panda, port=0, limits=Limits(patience=1.0, scenes=3)) as running:
        running.warm()
        yield running


def ask(service, path, data=None, method=None, **headers):
    """The status and the object that comes back."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=20)
    body = data if data is None or isinstance(data, (str, bytes)) else json.dumps(data)
    connection.request(method or ("GET" if body is None else "POST"), path, body, headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text) if text else None


def ws(service, path="/ws", **options):
    return connect(f"ws://127.0.0.1:{service.port}{path}", **options)


def talk(client, message):
    client.send(message if isinstance(message, (str, bytes)) else json.dumps(message))
    return json.loads(client.recv(timeout=20))


# ---- Answers -------------------------------------------------------------------------------------------------------


def test_solve(service, panda):
    status, found = ask(service, "/solve", {"objectives": [TARGET], "state": {"panda_joint1": 0.3}})
    assert (status, found["code"], found["success"], found["reached"]) == (200, 1, True, True)
    place = panda.forward(panda.vector(found["q"]), "panda_hand")[:3, 3]
    np.testing.assert_allclose(place, TARGET["target"], atol=1e-4)


def test_what_cannot_be_reached_is_an_answer(service):
    status, found = ask(service, "/solve", {"objectives": [FAR]})
    assert (status, found["code"], found["success"]) == (200, -31, False)
    assert found["objectives"][0]["verdict"] == "missed"
    status, found = ask(service, "/explain", {"objectives": [FAR]})
    assert "reaches at most" in found["explanation"]


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        ("", 400, "not JSON"), ("{", 400, "not JSON"), ("[1]", 400, "write an object"), ("NaN", 400, "not a number"),
        (b"\xff\xfe", 400, "not JSON"), ({"objectives": []}, 400, "list of 1"), ({"goal": 1}, 400, "'goal' is unknown"),
        ({"objectives": [{**TARGET, "frame": "hnd"}]}, 422, "no link named 'hnd'"),
        ({"objectives": [{**TARGET, "target": "x"}]}, 422, "list of 3 numbers"),
        ({"objectives": [{**TARGET, "colour": 1}]}, 422, "'colour' is unknown"),
        ({"objectives": [TARGET], "group": "legs"}, 422, "no group named 'legs'"),
        ({"objectives": [TARGET], "state": {"elbow": 1}}, 422, "no joint named 'elbow'"),
        ({"objectives": [TARGET], "timeout": 100}, 400, "from 0 to 10"),
    ],
)  # fmt: skip
def test_bad_input_gets_4xx_and_our_message(service, data, status, words):
    found, answer = ask(service, "/solve", data)
    assert (found, answer["success"]) == (status, False)
    assert words in answer["message"]


def test_paths_and_methods_that_are_none(service):
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=20)
    for method, path, status in (("GET", "/nothing", 404), ("GET", "/solve", 405), ("DELETE", "/track", 405)):
        connection.request(method, path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == status


def test_forward_and_body(service, panda):
    _, about = ask(service, "/body")
    assert [joint["name"] for joint in about["joints"]] == list(panda.joint_names)
    assert about["groups"]["arm"]["tips"] == ["panda_link8"]
    status, found = ask(service, "/forward", {"state": {"panda_joint2": 0.4}, "links": ["panda_hand"]})
    pose = panda.forward(panda.vector({"panda_joint2": 0.4}), "panda_hand")
    assert status == 200
    np.testing.assert_allclose(found["panda_hand"]["position"], pose[:3, 3])
    assert ask(service, "/forward", {"links": ["hnd"]})[0] == 422
    assert ask(service, "/forward", {"q": []})[0] == 400


def test_track(service, panda):
    begin = panda.forward(panda.home, "panda_hand")
    rows = (begin[:3, 3] + np.linspace(0, 0.1, 21)[:, None] * [0.0, 1.0, 0.0]).tolist()
    wxyz = mk.geometry.to_quaternion(begin[:3, :3]).tolist()
    hand = {"kind": "Pose", "name": "hand", "frame": "panda_hand", "wxyz": wxyz}
    given = {"objectives": [hand], "targets": {"hand": {"position": rows}}, "rate": 50}
    status, found = ask(service, "/track", given)
    assert (status, found["success"], len(found["q"]), found["times"][1]) == (200, True, 21, 0.02)
    for q, place in zip(found["q"], rows, strict=True):
        pose = panda.forward(q, "panda_hand")
        np.testing.assert_allclose(pose[:3, 3], place, atol=1e-4)
        np.testing.assert_allclose(pose[:3, :3], begin[:3, :3], atol=2e-3)
    faster = ask(service, "/track", {**given, "velocity": 0.5})[1]
    assert faster["times"] != found["times"]
    for wrong in (
        {"targets": {}},
        {"targets": {"foot": {}}},
        {"targets": {"hand": {"position": [[0, 1]]}}},
        {"rate": -1},
    ):
        assert ask(service, "/track", {**given, **wrong})[0] in (400, 422)
    calm = {"kind": "CenterJoints", "name": "calm"}
    status, found = ask(service, "/track", {"objectives": [hand, calm], "targets": {"calm": {"target": [[0, 0, 0]]}}})
    assert (status, "cannot follow" in found["message"]) == (400, True)


def test_scenes_are_problem_files(service):
    scene = scenes.dumps(scenes.ready("arm reach"))
    status, found = ask(service, "/scenes/reach", scene, "PUT")
    assert (status, found["joint_names"][0]) == (201, "panda_joint1")
    assert ask(service, "/scenes")[1] == {"scenes": ["reach"]}
    assert scenes.loads(json.dumps(ask(service, "/scenes/reach")[1])) == scenes.ready("arm reach")
    _, first = ask(service, "/scenes/reach/solve", {})
    _, other = ask(service, "/scenes/reach/solve", {"targets": {"hand": {"position": [0.4, -0.2, 0.5]}}})
    assert first["reached"]
    assert other["reached"]
    assert first["q"]["panda_finger_joint1"] == other["q"]["panda_finger_joint1"] == 0.04  # locked by the scene
    body = mk.load("panda")
    tip = body.frame("panda_hand", (0, 0, 0.10))
    np.testing.assert_allclose(body.forward(body.vector(other["q"]), tip)[:3, 3], [0.4, -0.2, 0.5], atol=1e-4)
    assert ask(service, "/scenes/reach/solve", {"targets": {"foot": {}}})[0] == 400
    assert ask(service, "/scenes/nothing/solve", {})[0] == 404
    assert ask(service, "/scenes/bad", "{}", "PUT")[0] == 400
    assert ask(service, "/scenes/file", scene.replace('"bundled": "panda"', '"file": "/etc/passwd"'), "PUT")[0] == 400
    for name in "ab":
        assert ask(service, f"/scenes/{name}", scene, "PUT")[0] == 201
    assert ask(service, "/scenes/c", scene, "PUT")[0] == 422  # as many as there may be
    with ws(service) as client:
        assert talk(client, {"scene": "reach", "id": 4})["id"] == 4
        assert "no scene" in talk(client, {"scene": "none"})["message"]
    for name in ("reach", "a", "b"):
        assert ask(service, f"/scenes/{name}", method="DELETE")[0] == 200
    assert ask(service, "/scenes/reach")[0] == 404


def test_websocket(service):
    with ws(service) as client:
        found = talk(client, {"objectives": [TARGET], "id": "first"})
        assert (found["code"], found["id"]) == (1, "first")
        assert talk(client, b'{"objectives": []}')["success"] is False
        assert "not JSON" in talk(client, "{")["message"]
        assert talk(client, {"objectives": [FAR], "id": [1]})["code"] == -31
        assert talk(client, {"objectives": [TARGET]})["code"] == 1


def test_servo_answers_each_message(service, panda):
    start = panda.forward(panda.home, "panda_hand")
    hand = {"kind": "Position", "name": "hand", "frame": "panda_hand", "target": start[:3, 3].tolist()}
    with ws(service, "/servo") as client:
        first = talk(client, {"objectives": [hand], "rate": 100})
        assert panda.vector(first["q"]).tolist() == panda.home.tolist()
        goal = (start[:3, 3] + [0.0, 0.1, 0.0]).tolist()
        q, speeds = panda.home, []
        for _ in range(150):
            found = talk(client, {"targets": {"hand": {"target": goal}}})
            after = panda.vector(found["q"])
            speeds.append(np.abs(after - q).max() * 100)
            q = after
        assert found["reached"]
        np.testing.assert_allclose(panda.forward(q, "panda_hand")[:3, 3], goal, atol=1e-3)
        assert 0.0 < max(speeds) < 3.0  # the joints' own limits of velocity
        assert "no numbers" not in talk(client, {"targets": {"hand": {"target": "x"}}})["message"]
        assert talk(client, {"targets": {"hand": None}, "ticks": 20})["q"] == pytest.approx(found["q"], abs=1e-2)
    with ws(service, "/servo") as client:
        assert "list of 1" in talk(client, {"rate": 100})["message"]
        with pytest.raises(ConnectionClosed):
            client.recv(timeout=5)


def test_servo_pushes_at_its_rate(service):
    hand = {"kind": "Position", "name": "hand", "frame": "panda_hand", "target": [0.4, 0.0, 0.5]}
    with ws(service, "/servo") as client:
        talk(client, {"objectives": [hand], "rate": 50, "push": True})
        begin = time.perf_counter()
        for _ in range(20):
            client.recv(timeout=10)
        assert time.perf_counter() - begin > 0.25  # 0.4 s, less what had been missed
        client.send(json.dumps({"targets": {"hand": {"target": [0.4, 0.2, 0.5]}}}))
        found = [json.loads(client.recv(timeout=10)) for _ in range(20)]
        assert found[0]["q"] != found[-1]["q"]


def test_openapi_describes_all_routes(service):
    _, found = ask(service, "/openapi.json")
    assert found["openapi"].startswith("3.1")
    assert set(scenes.KINDS) <= set(found["components"]["schemas"])
    texts = json.dumps(found)
    for name in set(_references(texts)):
        assert name in found["components"]["schemas"]
    described = set(found["paths"])
    routes = {route.path for route in service._application.starlette().routes}
    assert described == routes - {"/", "/openapi.json"}
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    connection.request("GET", "/")
    assert b"openapi.json" in connection.getresponse().read()


def _references(text):
    return [part.split('"')[0] for part in text.split("#/components/schemas/")[1:]]


# ---- Who may ask ---------------------------------------------------------------------------------------------------


def test_only_this_machine_by_default(service):
    assert service._socket.getsockname()[0] == "127.0.0.1"
    assert service.token is None


def test_strangers_pages_are_refused(service):
    assert ask(service, "/solve", {"objectives": [TARGET]}, Origin="https://evil.example")[0] == 403
    assert ask(service, "/solve", {"objectives": [TARGET]}, Origin="null")[0] == 403
    assert ask(service, "/body", Host="evil.example")[0] == 403  # a name that was made to mean this machine
    assert ask(service, "/solve", {"objectives": [TARGET]}, Origin="http://localhost:3000")[0] == 200
    with pytest.raises(InvalidStatus):
        ws(service, origin="https://evil.example")
    with ws(service, origin="http://127.0.0.1:3000") as client:
        assert talk(client, {"objectives": [TARGET]})["code"] == 1


def test_pages_of_this_machine_may_read_answers(service):
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    connection.request("OPTIONS", "/solve", headers={"Origin": "http://localhost:3000"})
    answer = connection.getresponse()
    answer.read()
    assert (answer.status, answer.getheader("Access-Control-Allow-Origin")) == (204, "http://localhost:3000")


def test_a_token_is_needed_where_others_can_connect(panda):
    with Service(panda, host="0.0.0.0", port=0) as service:
        assert len(service.token) >= 32
        assert ask(service, "/health")[0] == 200
        assert ask(service, "/body")[0] == 401
        assert ask(service, "/body", Authorization="Bearer wrong")[0] == 401
        assert ask(service, "/body", Authorization=f"Bearer {service.token}")[0] == 200
        assert ask(service, f"/body?token={service.token}")[0] == 200
        with pytest.raises(InvalidStatus):
            ws(service)
        with ws(service, f"/ws?token={service.token}") as client:
            assert talk(client, {})["success"] is False


# ---- How much ------------------------------------------------------------------------------------------------------


def test_large_bodies_are_refused_before_they_are_read(service):
    client = socket.create_connection(("127.0.0.1", service.port))
    client.sendall(b"POST /solve HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n")
    assert client.recv(12) == b"HTTP/1.1 413"
    client = socket.create_connection(("127.0.0.1", service.port))
    client.sendall(b"POST /solve HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    client.sendall(
        b"100000\r\n" + b"x" * 2**20 + b"\r\n1\r\nx\r\n"
    )  # all of it is read, so nothing resets the connection
    assert client.recv(12) == b"HTTP/1.1 413"
    with pytest.raises(OSError):  # it hangs up
        for _ in range(200):
            client.sendall(b"100000\r\n" + b"x" * 2**20 + b"\r\n")
    with ws(service) as client, pytest.raises(ConnectionClosed):
        client.send("x" * (2**20 + 1))
        client.recv(timeout=10)
    assert ask(service, "/health")[0] == 200


def test_a_rate_is_kept(panda):
    with Service(panda, port=0, limits=Limits(rate=20)) as service:
        found = [ask(service, "/health")[0] for _ in range(40)]
        assert found[:10] == [200] * 10
        assert 429 in found


def test_too_many_searches_are_refused(panda):
    with Service(panda, port=0, limits=Limits(waiting=1)) as service:
        service.warm()
        service._application.workers.waiting = 1
        status, found = ask(service, "/solve", {"objectives": [FAR]})
        assert (status, "waiting already" in found["message"]) == (503, True)
        assert ask(service, "/solve", {"objectives": [TARGET]})[0] == 503  # a structure that is not compiled yet
        service._application.workers.waiting = 0
        assert ask(service, "/solve", {"objectives": [TARGET]})[0] == 200


def test_slow_and_silent_clients_are_let_go(service):
    silent = socket.create_connection(("127.0.0.1", service.port))
    slow = socket.create_connection(("127.0.0.1", service.port))
    slow.sendall(b"POST /solve HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    for client, answer in ((silent, b""), (slow, b"HTTP/1.1 408")):
        client.settimeout(10)
        assert client.recv(12) == answer


def test_a_reader_that_does_not_read_is_let_go(service):
    connections = service._server.server_state.connections
    client = stress.connected(service.port, "ws")
    before = set(connections)
    client.settimeout(0.3)
    message = stress.frame(json.dumps({"objectives": [TARGET], "id": "x" * 60_000}).encode())
    with pytest.raises(OSError):  # the buffers of both are full
        for _ in range(1000):
            client.sendall(message)
    deadline = time.monotonic() + 20
    while before <= connections and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not before <= connections
    assert ask(service, "/health")[0] == 200


def test_hostile_clients_do_not_end_it(panda, capsys):
    with Service(panda, port=0, limits=Limits(patience=2.0)) as service:
        service.warm()
        stress.hostile(service.port, scale=10)
        assert capsys.readouterr().out.count("True") == 5
        status, found = ask(service, "/solve", {"objectives": [TARGET]})
        assert (status, found["code"]) == (200, 1)


def test_many_clients_at_once(service):
    _, took, bad, _ = stress.load("ws", 16, 1.0, service.port, lambda: 0.0)
    assert (bad, len(took) > 16) == ([], True)
    _, took, bad, _ = stress.load("http", 16, 1.0, service.port, lambda: 0.0)
    assert (bad, len(took) > 16) == ([], True)


def test_a_long_search_does_not_hold_up_others(service):
    """Half a second of an objective out of reach in the threads, quick ones beside it."""
    long = {"objectives": [FAR], "timeout": 5.0, "attempts": 60}
    thread = threading.Thread(target=ask, args=(service, "/solve", long))
    thread.start()
    took = []
    while thread.is_alive():
        begin = time.perf_counter()
        assert ask(service, "/solve", {"objectives": [TARGET]})[1]["code"] == 1
        took.append(time.perf_counter() - begin)
    thread.join()
    assert len(took) >= 3


def test_a_port_that_is_taken_is_said(service, panda):
    with pytest.raises(mk.errors.ProblemError, match="Choose another with --port"):
        Service(panda, port=service.port)
    with pytest.raises(mk.errors.ProblemError, match="port is 70000"):
        Service(panda, port=70_000)


def test_stopping_leaves_no_thread(panda):
    before = set(threading.enumerate())
    service = Service(panda, port=0).start()
    client = ws(service)
    talk(client, {"objectives": [TARGET]})
    service.stop()
    client.close()
    deadline = time.monotonic() + 10
    while set(threading.enumerate()) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not {thread.name for thread in set(threading.enumerate()) - before if "memetik" in thread.name}
