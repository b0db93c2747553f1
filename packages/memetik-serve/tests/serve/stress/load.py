"""Load and hostility against `memetik serve`, by hand.

    python -m tests.serve.stress.load load ws 32 10     # 32 clients on WebSockets for 10 s, each asks again when it is answered
    python -m tests.serve.stress.load load http 32 10   # the same over HTTP, connections kept
    python -m tests.serve.stress.load hostile           # killed clients, garbage, 100 MB bodies, slow readers: it keeps answering
    python -m tests.serve.stress.load quick             # how many of 2,000 poses the first look finds

The clients run in one process on the same machine, with a select loop and prepared requests: what is left of the processors is
the server's. Besides the rate it prints the processor time of the server for each request, which other work on the machine
changes less.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import selectors
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

import numpy as np

import memetik as mk
from memetik.scenes import Wish
from memetik_serve import Core, Request

TICKS = os.sysconf("SC_CLK_TCK")


def poses(count):
    body, rng = mk.load("panda"), np.random.default_rng(0)
    return [body.forward(body.sample(rng), "panda_hand") for _ in range(count)]


def request_text(pose):
    place = {"position": pose[:3, 3].tolist(), "wxyz": mk.geometry.to_quaternion(pose[:3, :3]).tolist()}
    return json.dumps({"objectives": [{"kind": "Pose", "frame": "panda_hand", **place}]}).encode()


def http_request(text, path="/solve"):
    return b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (path.encode(), len(text), text)


def frame(text):
    """A WebSocket frame of a client; the mask of zeros is a valid one."""
    size = bytes([0x80 | len(text)]) if len(text) < 126 else bytes([0x80 | 126]) + len(text).to_bytes(2, "big")
    return b"\x81" + size + b"\0\0\0\0" + text


def http_answer(data):
    """The body of a whole answer and the rest, or None."""
    end = data.find(b"\r\n\r\n")
    if end < 0:
        return None
    size = int(re.search(rb"content-length: *(\d+)", data[:end].lower())[1])
    whole = end + 4 + size
    return (data[end + 4 : whole], data[whole:]) if len(data) >= whole else None


def ws_answer(data):
    if len(data) < 4:
        return None
    size, begin = data[1] & 127, 2
    if size == 126:
        size, begin = int.from_bytes(data[2:4], "big"), 4
    return (data[begin : begin + size], data[begin + size :]) if len(data) >= begin + size else None


def connected(port, kind="http", path="/ws", address="127.0.0.1"):
    client = socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(address, 0))
    client.settimeout(None)
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if kind == "ws":
        key = base64.b64encode(os.urandom(16)).decode()
        client.sendall(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(4096)
        assert b" 101 " in head, head
    return client


class Server:
    """`memetik serve panda` in a process of its own."""

    def __enter__(self):
        command = [sys.executable, "-m", "memetik", "serve", "panda", "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = ""
        while "http://" not in line:
            line = self.process.stdout.readline()
            assert line, "the server did not start"
        self.port = int(re.search(r":(\d+) ", line)[1])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)

    def processor_time(self):
        numbers = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(numbers[11]) + int(numbers[12])) / TICKS

    def memory(self):
        """Resident [MB]."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def load(kind, clients, seconds, port, spent):
    """Requests a second, latencies [s], what was not a success, server's processor time for each [s]."""
    wrap, answer = (http_request, http_answer) if kind == "http" else (frame, ws_answer)
    requests = [wrap(request_text(pose)) for pose in poses(500)]
    selector, state, sent = selectors.DefaultSelector(), {}, 0
    for _ in range(clients):
        client = connected(port, kind)
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ)
        state[client] = [b"", 0.0]
    took, bad = [], []
    begin, before = time.perf_counter(), spent()
    for client, mine in state.items():
        client.send(requests[sent % 500])
        mine[1], sent = time.perf_counter(), sent + 1
    while (now := time.perf_counter()) < begin + seconds:
        for key, _ in selector.select(1.0):
            client, mine = key.fileobj, state[key.fileobj]
            mine[0] += client.recv(65536)
            found = answer(mine[0])
            if found is not None:
                body, mine[0] = found
                now = time.perf_counter()
                took.append(now - mine[1])
                bad += [] if b'"success": true' in body else [body[:300]]
                client.send(requests[sent % 500])
                mine[1], sent = now, sent + 1
    used = (spent() - before) / len(took)
    for client in state:
        client.close()
    return len(took) / (now - begin), np.array(took), bad, used


def hostile(port, scale=1):
    """Everything that clients may do to a server, or a part of it; afterwards it must answer as before."""
    garbage = np.random.default_rng(1).bytes(100_000)
    good = request_text(poses(1)[0])

    def answers():
        with urlopen(f"http://127.0.0.1:{port}/health", timeout=20) as found:
            return json.load(found)["ok"]

    for k in range(300 // scale):  # killed in the middle of a request, of an answer, of a frame
        client = connected(port, "ws" if k % 2 else "http")
        client.sendall((frame(good) if k % 2 else http_request(good))[: 20 + 7 * k % 300])
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
    print("killed clients:", answers())
    for k in range(200 // scale):
        client = connected(port, "ws" if k % 2 else "http")
        with contextlib.suppress(OSError):  # it has hung up, as it may
            client.sendall(garbage[k * 100 : k * 100 + 5_000])
        client.close()
    print("garbage:", answers())
    for text in (
        b"{",
        b"[]",
        b"null",
        b'{"objectives": 3}',
        b"[" * 100_000,
        b'{"objectives": [{"kind": "Pose"}]}',
        b"\xff" * 500,
    ):
        client = connected(port)
        client.sendall(http_request(text))
        status = client.recv(4096).split()[1]
        assert status in (b"400", b"422"), (text[:40], status)
        client.close()
    print("bad requests get 4xx:", answers())
    chunk = b"x" * 2**20
    for head in (b"Content-Length: 104857600", b"Transfer-Encoding: chunked"):
        client = connected(port)
        client.sendall(b"POST /solve HTTP/1.1\r\nHost: localhost\r\n" + head + b"\r\n\r\n")
        try:
            for _ in range(100):
                client.sendall(b"100000\r\n" + chunk + b"\r\n" if b"chunked" in head else chunk)
        except OSError:
            pass
        client.close()
    client = connected(port, "ws")
    try:
        client.sendall(b"\x81\xff" + (100 * 2**20).to_bytes(8, "big") + b"\0\0\0\0" + chunk)
        client.sendall(chunk * 20)
    except OSError:
        pass
    client.close()
    print("100 MB bodies:", answers())
    slow = []
    for _ in range(50 // scale):  # ask without ever reading
        client = connected(port, "ws")
        client.setblocking(False)
        try:
            for _ in range(20_000 // scale):
                client.send(frame(good))
        except OSError:
            pass
        slow.append(client)
    slow += [connected(port) for _ in range(200 // scale)]  # and connections that never say anything
    begin = time.perf_counter()
    print("slow readers and silent connections:", answers(), f"after {time.perf_counter() - begin:.2f} s")
    rate, took, bad, _ = load("ws", 4, 2.0, port, lambda: 0.0)
    print(f"beside them: {rate:.0f} a second, p99 {1e3 * np.quantile(took, 0.99):.0f} ms, {len(bad)} bad")
    for client in slow:
        client.close()


def quick():
    core = Core(mk.load("panda"))
    requests = []
    for pose in poses(2_000):
        values = {"position": pose[:3, 3].tolist(), "wxyz": mk.geometry.to_quaternion(pose[:3, :3]).tolist()}
        requests.append(Request((Wish("Pose", "hand", {"frame": "panda_hand", **values}),)))
    core.answer(requests[0])
    found = [core.quick(request) for request in requests]
    spent = [reply.evaluations for reply in found if reply is not None]
    print(
        f"{len(spent)} of {len(found)}, evaluations: median {np.median(spent):.0f}, of 99 in 100 {np.quantile(spent, 0.99):.0f}"
    )


def main():
    what, *rest = sys.argv[1:]
    if what == "quick":
        quick()
        return
    with Server() as server:
        print(f"{server.memory():.0f} MB at first")
        if what == "load":
            rate, took, bad, used = load(rest[0], int(rest[1]), float(rest[2]), server.port, server.processor_time)
            middle, worst = 1e3 * np.quantile(took, [0.5, 0.99])
            print(
                f"{rest[0]}, {rest[1]} clients: {rate:.0f} solves a second, p50 {middle:.1f} ms, p99 {worst:.1f} ms, "
                f"{len(bad)} bad, {1e6 * used:.0f} us of the server's processor time each; load average {os.getloadavg()[0]:.1f}"
            )
        else:
            hostile(server.port)
        print(f"{server.memory():.0f} MB at last")


if __name__ == "__main__":
    main()
