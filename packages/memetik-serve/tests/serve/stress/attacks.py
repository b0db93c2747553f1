"""What one client can do to the others of `memetik serve`, by hand:

    python -m tests.serve.stress.attacks                    # each attack for 60 s, one after the other
    python -m tests.serve.stress.attacks chains 20          # one of them, for 20 s
    python -m tests.serve.stress.attacks chains 20 same     # from the address of the other clients, so that they share its quotas
    nice -n -10 python -m tests.serve.stress.attacks        # where the machine has other work; the attacker is preferred less

An attack comes from an address of its own (127.0.0.2) and a process of its own, several connections at a time. Meanwhile other
clients ask for poses over a WebSocket and over HTTP, and for /health, 50 times a second each. It prints their latencies, what
the attacker was told, and the largest memory of the server; it fails where a 99th percentile is 100 ms or more, an answer is
missing, or the server grows beyond its bound.
"""

from __future__ import annotations

import json
import os
import re
import selectors
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import memetik as mk
from tests.serve.stress.load import connected, frame, http_answer, http_request, ws_answer

ATTACKER = "127.0.0.2"
MEMORY = 512  # MB that the server keeps of problems, scenes and streams
BESIDES = 900  # MB that it may need besides: itself, kernels, and what is in work
PING = 9  # of the frames of a WebSocket
HAND = {
    "kind": "Pose", "name": "hand", "frame": "panda_hand", "position": [0.4, 0.1, 0.5], "wxyz": [0.0, 1.0, 0.0, 0.0],
}  # fmt: skip
WORST = 0.1  # s, of 99 in 100 answers to others


class Server:
    """`memetik serve BODY` in a process of its own, and how much memory it took at most."""

    def __init__(self, body: str, *options: str) -> None:
        self._command = [
            sys.executable,
            "-m",
            "memetik",
            "serve",
            body,
            "--port",
            "0",
            "--memory",
            str(MEMORY),
            *options,
        ]

    def __enter__(self) -> Server:
        self.process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        line = ""
        while "http://" not in line:
            line = self.process.stdout.readline()
            assert line, "the server did not start"
        self.port = int(re.search(r":(\d+) ", line)[1])
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(20)

    def peak(self) -> float:
        """The largest resident memory [MB]."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1e3


# ---- Attacks: each yields what one connection sends, again and again -----------------------------------------------


def chain(joints: int) -> str:
    parts = [
        f'<link name="l{k + 1}"/><joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1"/></joint>'
        for k in range(joints)
    ]
    return f'<robot name="c"><link name="l0"/>{"".join(parts)}</robot>'


def put(name: str, text: bytes) -> bytes:
    return http_request(text, f"/scenes/{name}").replace(b"POST", b"PUT", 1)


def nothing(number: int) -> Iterator[bytes]:
    """No attack, to see what else the machine does."""
    while True:
        yield b""


def chains(number: int) -> Iterator[bytes]:
    """Scenes with bodies of 20,000 joints, and of as many as are taken, a different one each time."""
    from memetik import scenes

    texts = {joints: chain(joints) for joints in (20_000, 1_999)}
    for k in range(10**9):
        joints = (20_000, 1_999)[k % 2]
        wish = scenes.KINDS["Position"].new("tip", frame=f"l{joints}", target=[1.0, 1.0, 0.0])
        body = scenes.BodySource("urdf", texts[joints].replace('"c"', f'"c{number}_{k}"', 1))
        yield put(f"x{number}_{k % 20}", scenes.dumps(scenes.Scene("c", body, (wish,))).encode())


def structures(number: int) -> Iterator[bytes]:
    """Small requests, each of which has to be compiled: other weights and other joints that are held."""
    rng = np.random.default_rng(number)
    body = mk.load("valkyrie")
    pose = body.forward(body.home, "leftFoot")
    place = {"position": (pose[:3, 3] + 0.3).tolist(), "wxyz": mk.geometry.to_quaternion(pose[:3, :3]).tolist()}
    while True:
        held = [str(name) for name in rng.choice(body.joint_names, 3)]
        wish = {"kind": "Pose", "frame": "leftFoot", "weight": rng.uniform(0.5, 2.0), **place}
        state = {name: body.home[body.index(name)] + 1e-3 * rng.random() for name in held}
        request = {
            "objectives": [wish],
            "fixed_joints": held,
            "state": state,
            "avoid_collisions": True,
            "timeout": 0.05,
        }
        yield http_request(json.dumps(request).encode())


def attempts(number: int) -> Iterator[bytes]:
    """Searches that find nothing, as often and as long as one may ask."""
    wish = {"kind": "Pose", "frame": "panda_hand", "position": [3.0, 0.0, 0.0], "wxyz": [1.0, 0.0, 0.0, 0.0]}
    request = {"objectives": [wish], "attempts": 60, "timeout": 2.0, "method": "bioik", "avoid_collisions": True}
    while True:
        yield http_request(json.dumps(request).encode())


def flood(number: int) -> Iterator[bytes]:
    """As many requests as fit, each in another's name."""
    for k in range(10**9):
        head = (
            f"GET /body HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.{number}.{k // 250 % 250}.{k % 250}\r\n\r\n"
        )
        yield head.encode()


def hosts(number: int) -> Iterator[bytes]:
    """Headers that are no addresses."""
    for bad in iter(lambda: 0, 1):
        yield (
            b"GET /body HTTP/1.1\r\nHost: [\r\n\r\n"
            if bad % 2
            else b"GET / HTTP/1.1\r\nHost: a\r\nOrigin: http://[\r\n\r\n"
        )


def large(number: int) -> Iterator[bytes]:
    """Messages as large as they may be, of as many values as fit."""
    texts = (b'{"a":[]},' * 110_000, b"1.2345," * 140_000, b'"a",' * 240_000, b"[" * 900_000)
    while True:
        for text in texts:
            yield http_request(b'{"objectives": [' + text + b"0]}")


def scenes_of_values(number: int) -> Iterator[bytes]:
    """Scenes of 8 MB."""
    texts = (b'{"a":[]},' * 880_000, b"1.2345," * 1_100_000, b'"a",' * 1_900_000)
    while True:
        for text in texts:
            yield put(f"v{number}", b'{"body": [' + text + b"0]}")


def ticks(number: int) -> Iterator[bytes]:
    """A thousand steps of a servo at once."""
    yield frame(json.dumps({"objectives": [HAND], "rate": 1000.0, "avoid_collisions": True}).encode())
    while True:
        yield frame(b'{"ticks": 1000}')


def pushed(number: int) -> Iterator[bytes]:
    """Streams that push a thousand postures a second, more of them than there may be."""
    yield frame(json.dumps({"objectives": [HAND], "rate": 1000.0, "push": True}).encode())
    while True:
        yield b""


def halves(number: int) -> Iterator[bytes]:
    """A whole request, and a part of a second one."""
    yield b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    yield b"GET /health HTTP/1.1\r\nHost: loc"
    while True:
        yield b""


def quick(number: int) -> Iterator[bytes]:
    """Poses over hundreds of WebSockets, each of which asks again as soon as it is answered."""
    yield from iter(lambda: frame(json.dumps({"objectives": [HAND]}).encode()), b"")


def bodies(number: int) -> Iterator[bytes]:
    """Scenes of 8 MB, but for their last bytes."""
    size = 8 * 2**20 - 10
    yield put(f"b{number}", b" " * size)[:-5]
    while True:
        yield b""


def heads(number: int) -> Iterator[bytes]:
    """Headers without an end."""
    yield b"GET / HTTP/1.1\r\nHost: localhost\r\n" + (b"X-A: " if number % 2 else b"")
    while True:
        yield b"a" * 65_536 if number % 2 else b"a:\r\n" * 16_384


def pings(number: int) -> Iterator[bytes]:
    """The smallest frames: pings, messages, and parts of a message that has no end."""
    parts = (b"\x89\x80\0\0\0\0", b"\x81\x82\0\0\0\0{}", b"\x00\x80\0\0\0\0")
    if number % 3 == 2:
        yield b"\x01\x81\0\0\0\0{"
    while True:
        yield parts[number % 3] * 10_000


def tracks(number: int) -> Iterator[bytes]:
    """Ten thousand targets at once, and as many postures to write."""
    rows = [[0.4, 0.1 * np.sin(1e-3 * k), 0.5] for k in range(10_000)]
    wish = {"kind": "Position", "name": "tip", "frame": "leftPalm", "target": rows[0]}
    request = {"objectives": [wish], "targets": {"tip": {"target": rows}}}
    while True:
        yield http_request(json.dumps(request).encode(), "/track")


def relations(number: int) -> Iterator[bytes]:
    """Functions of joints with other numbers each time."""
    for k in range(10**9):
        wish = {
            "kind": "FunctionalRelation",
            "joint": "panda_joint1",
            "of": "panda_joint2",
            "ratio": 1 + number + 1e-3 * k,
        }
        yield http_request(json.dumps({"objectives": [wish]}).encode())


def pairs(number: int) -> Iterator[bytes]:
    """Bodies of hundreds of shapes, each of which is to keep apart from all others."""
    from memetik import scenes

    ball = '<collision><geometry><sphere radius="0.01"/></geometry></collision></link>'
    for k in range(10**9):
        joints = (1_500, 620)[k % 2]
        text = re.sub(r'(<link name="l\d+")/>', rf"\1>{ball}", chain(joints))
        body = scenes.BodySource("urdf", text.replace('"c"', f'"c{number}_{k}"', 1))
        wish = scenes.KINDS["SelfDistance"].new("apart")
        yield put(f"p{number}", scenes.dumps(scenes.Scene("c", body, (wish,))).encode())
        yield http_request(b"{}", f"/scenes/p{number}/solve")


def large_scenes(number: int) -> Iterator[bytes]:
    """Small requests about a scene of megabytes, and the scene itself."""
    from memetik import scenes

    rng = np.random.default_rng(number)
    balls = [
        scenes.KINDS["Distance"].new(
            f"d{k}", links=["panda_hand"], obstacles=rng.normal(10.0, 1.0, (5_000, 4)).tolist()
        )
        for k in range(6)
    ]
    hand = scenes.KINDS["Position"].new("hand", frame="panda_hand", target=[0.4, 0.1, 0.5])
    scene = scenes.Scene("s", scenes.BodySource("bundled", "panda"), (hand, *balls))
    yield put(f"big{number}", scenes.dumps(scene).encode())
    while True:
        yield http_request(b"{}", f"/scenes/big{number}/solve")
        yield f"GET /scenes/big{number} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


# name: attack, body of the server, connections, path of a WebSocket, options of the server
ATTACKS: dict[str, tuple[Callable[[int], Iterator[bytes]], str, int, str, tuple[str, ...]]] = {
    "nothing": (nothing, "panda", 1, "", ()),
    "chains": (chains, "panda", 4, "", ()),
    "structures": (structures, "valkyrie", 8, "", ()),
    "attempts": (attempts, "panda", 64, "", ("--seconds", "2")),
    "flood": (flood, "panda", 16, "", ("--rate", "500")),
    "hosts": (hosts, "panda", 4, "", ("--rate", "500")),
    "large": (large, "panda", 16, "", ()),
    "scenes": (scenes_of_values, "panda", 8, "", ()),
    "ticks": (ticks, "panda", 16, "/servo", ()),
    "pushed": (pushed, "panda", 200, "/servo", ()),
    "halves": (halves, "panda", 1_005, "", ()),
    "quick": (quick, "panda", 480, "/ws", ()),
    "bodies": (bodies, "panda", 480, "", ()),
    "heads": (heads, "panda", 100, "", ()),
    "pings": (pings, "panda", 96, "/ws", ()),
    "tracks": (tracks, "valkyrie", 16, "", ()),
    "relations": (relations, "panda", 8, "", ()),
    "pairs": (pairs, "panda", 4, "", ()),
    "large_scenes": (large_scenes, "panda", 8, "", ()),
}
WITHOUT_WAITING = ("bodies", "heads", "pings")  # for answers


def attack(name: str, port: int, seconds: float, address: str) -> None:
    """Attack for some seconds, in this process; a connection that is closed is made again."""
    make, _, count, path, _ = ATTACKS[name]
    selector, told = selectors.DefaultSelector(), Counter[str]()
    kept: dict[int, Iterator[bytes]] = {}

    def begin(number: int) -> None:
        try:
            client = connected(port, "ws" if path else "http", path, address)
        except (OSError, AssertionError):
            told["refused"] += 1
            return
        client.setblocking(False)
        kept.setdefault(number, make(number))
        if path or name in ("halves", *WITHOUT_WAITING):
            kept[number] = make(number)
        selector.register(client, selectors.EVENT_READ | selectors.EVENT_WRITE, [number, b"", True, b""])

    for number in range(count):
        begin(number)
    pause, end = 0.0, time.monotonic() + seconds  # from here on: to connect a thousand clients takes seconds
    while time.monotonic() < end:
        events = selector.select(0.1)
        time.sleep(pause)
        pause = 0.001
        for key, mask in events:
            client, state = key.fileobj, key.data
            try:
                if mask & selectors.EVENT_READ:
                    data = client.recv(2**18)
                    if not data:
                        raise ConnectionError
                    state[1] = (state[1] + data)[-(2**25) :]
                    answer = (ws_answer if path else http_answer)(state[1])
                    while answer is not None:
                        told[(state[1][9:12] if not path else b"answer").decode(errors="replace")] += 1
                        state[1], state[2], pause = answer[1], True, 0.0
                        answer = (ws_answer if path else http_answer)(state[1])
                if mask & selectors.EVENT_WRITE and (state[0] or state[2]):
                    if not state[3] and state[2]:
                        state[3], state[2] = next(kept[state[0]]), False
                    if state[3]:
                        state[3] = state[3][client.send(state[3]) :]
                        state[2] = state[2] or (not state[3] and name in WITHOUT_WAITING)
                        pause = 0.0
            except BlockingIOError:
                continue
            except OSError:
                told["closed"] += 1
                selector.unregister(client)
                client.close()
                begin(state[0])
    print(json.dumps(told))


# ---- The others ----------------------------------------------------------------------------------------------------


def others(port: int, body: str, seconds: float, rate: float = 50.0) -> dict[str, np.ndarray]:
    """Latencies of other clients [s]: poses over a WebSocket and over HTTP, and /health."""
    model = mk.load(body)
    link = next(tip for each in model.chains.values() for tip in each.tips)
    rng = np.random.default_rng(0)
    texts = []
    for _ in range(100):
        pose = model.forward(np.clip(model.home + 0.1 * rng.normal(size=model.dof), model.lower, model.upper), link)
        place = {"position": pose[:3, 3].tolist(), "wxyz": mk.geometry.to_quaternion(pose[:3, :3]).tolist()}
        texts.append(json.dumps({"objectives": [{"kind": "Pose", "frame": link, **place}]}).encode())
    health = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    asks = {
        "websocket": ("ws", [frame(text) for text in texts], ws_answer),
        "http": ("http", [http_request(text) for text in texts], http_answer),
        "health": ("http", [health], http_answer),
    }
    took: dict[str, list[float]] = {name: [] for name in asks}

    def ask(name: str) -> None:
        kind, messages, answer = asks[name]
        client = connected(port, kind)
        client.settimeout(30.0)
        end = time.monotonic() + seconds
        k, data = 0, b""
        while (begin := time.monotonic()) < end:
            client.sendall(messages[k % len(messages)])
            while (found := answer(data)) is None or (kind == "ws" and data[0] & 15 == PING):
                if found is not None:
                    client.sendall(bytes([0x8A, 0x80 | len(found[0])]) + b"\0\0\0\0" + found[0])
                    data = found[1]
                    continue
                more = client.recv(2**16)
                assert more, f"{name}: the server has hung up"
                data += more
            text, data = found
            took[name].append(time.monotonic() - begin)
            assert b'"success": true' in text or b'"ok": true' in text, (name, text[:300])
            k += 1
            time.sleep(max(0.0, begin + 1.0 / rate - time.monotonic()))
        client.close()

    threads = [threading.Thread(target=_kept(ask), args=(name,)) for name in asks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if FAULTS:
        raise FAULTS.pop()
    return {name: np.array(each) for name, each in took.items()}


FAULTS: list[Exception] = []


def _kept(work: Callable[[str], None]) -> Callable[[str], None]:
    """A function for a thread that keeps what goes wrong."""

    def run(name: str) -> None:
        try:
            work(name)
        except (OSError, AssertionError) as error:
            FAULTS.append(error)

    return run


def measure(name: str, seconds: float, address: str = ATTACKER) -> tuple[dict[str, np.ndarray], dict[str, int], float]:
    """Latencies of the others [s], what the attacker was told, and the largest memory of the server [MB]."""
    _, body, _, _, options = ATTACKS[name]
    with Server(body, *options) as server:
        others(server.port, body, 1.0)  # everybody's problem is compiled
        command = [
            sys.executable,
            "-m",
            "tests.serve.stress.attacks",
            "--attack",
            name,
            str(server.port),
            str(seconds),
            address,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            time.sleep(2.0)  # it is at work
            took = others(server.port, body, seconds - 2.0)
            told = json.loads(process.communicate(timeout=60)[0].splitlines()[-1])
        after = others(server.port, body, 1.0)
        assert all(each.size for each in after.values())
        return took, told, server.peak()


def main() -> int:
    words = sys.argv[1:]
    if words[:1] == ["--attack"]:
        if os.getpriority(os.PRIO_PROCESS, 0) < 0:
            # `nice` is for the server and its other clients; the attacker gets less, but more than other work.
            os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) // 4)
        attack(words[1], int(words[2]), float(words[3]), words[4])
        return 0
    names = [word for word in words if word in ATTACKS] or list(ATTACKS)
    seconds = next((float(word) for word in words if word.replace(".", "").isdigit()), 60.0)
    failed = 0
    for name in names:
        took, told, peak = measure(name, seconds, "127.0.0.1" if "same" in words else ATTACKER)
        worst = max(np.quantile(each, 0.99) for each in took.values())
        well = worst < WORST and peak < MEMORY + BESIDES
        failed += not well
        shown = ", ".join(
            f"{who} {1e3 * np.median(each):.1f} / {1e3 * np.quantile(each, 0.99):.1f} / {1e3 * each.max():.0f} ms"
            for who, each in took.items()
        )
        print(f"{name}: {'well' if well else 'FAILED'}; p50 / p99 / longest: {shown}; {peak:.0f} MB; the attacker: {told}; "
              f"load average {os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
