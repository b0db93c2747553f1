"""What one client may do to the others: each attack, and what becomes of it."""

import asyncio
import contextlib
import gc
import json
import re
import socket
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

import memetik as mk
from memetik import scenes
from memetik.cli.main import _parser
from memetik_serve.core import USUAL
from memetik_serve.store import MB, QuotaError, Store, footprint
from memetik_serve.web import Service
from memetik_serve.web.limits import Limits
from memetik_serve.web.protocols import MOST_HEAD
from memetik_serve.web.rounds import SHARE, Rounds
from memetik_serve.web.workers import BusyError, Turns, Workers
from tests.serve.stress import attacks
from tests.serve.web.test_service import FAR, TARGET, ask, talk


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda")


@pytest.fixture(scope="module")
def service(panda):
    limits = Limits(patience=1.0, timeout=0.5, connections=60, memory=64.0, streams=4, links=50, values=2_000)
    with Service(panda, port=0, limits=limits) as running:
        running.warm()
        yield running


def raw(service, *parts, pause=0.0):
    """What the server says to some bytes, until it hangs up or says nothing for 3 s."""
    client = socket.create_connection(("127.0.0.1", service.port))
    client.settimeout(3.0)
    said, closed = b"", True
    try:
        for part in parts:
            client.sendall(part)
            time.sleep(pause)
        while data := client.recv(2**16):
            said += data
    except TimeoutError:
        closed = False
    except OSError:  # it has hung up while we were sending
        pass
    client.close()
    return said, closed


# ---- Headers and bodies that do not come -----------------------------------------------------------------------------

WHOLE = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "second",
    [
        b"GET /health HTTP/1.1\r\nHost: loc",
        b"POST /solve HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
        b"POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",  # answered before its body comes
    ],
)
@pytest.mark.parametrize("first", [b"", WHOLE])
def test_a_request_that_does_not_end_is_let_go(service, first, second):
    """The first of a connection and each after it."""
    said, closed = raw(service, first, second, pause=0.2)
    assert closed and said.count(b"200 OK") == (1 if first else 0)


def test_a_request_that_drips_is_let_go(service):
    parts = [bytes([byte]) for byte in b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 60]
    begin = time.perf_counter()
    _, closed = raw(service, WHOLE, *parts, pause=0.1)
    assert closed and time.perf_counter() - begin < 6.0


def test_one_address_does_not_take_all_connections(service):
    """Half-sent requests from one address, and another address that asks."""
    held = [socket.create_connection(("127.0.0.1", service.port)) for _ in range(100)]
    try:
        for client in held:
            with contextlib.suppress(OSError):
                client.sendall(WHOLE + b"GET /health HT")
        other = attacks.connected(service.port, address=attacks.ATTACKER)
        other.settimeout(5.0)
        other.sendall(WHOLE)
        assert b"200 OK" in other.recv(4096)
        other.close()
    finally:
        for client in held:
            client.close()


def test_an_address_that_is_none_gets_a_reason(service):
    for head in (b"Host: [", b"Host: a]b[", b"Host: localhost\r\nOrigin: http://["):
        said, _ = raw(service, b"GET /body HTTP/1.1\r\n" + head + b"\r\nConnection: close\r\n\r\n")
        assert said.startswith(b"HTTP/1.1 400"), said


def test_a_forged_address_does_not_defeat_the_rate(panda):
    def statuses(**options):
        with Service(panda, port=0, limits=Limits(rate=10), **options) as running:
            return [ask(running, "/health", **{"X-Forwarded-For": f"10.0.0.{k}"})[0] for k in range(30)]

    assert 429 in statuses()
    assert set(statuses(proxies=["127.0.0.1"])) == {200}  # said by a proxy that is believed


def test_the_page_says_the_limits():
    """docs/server.md, where a limit is a line of a table."""
    text = (Path(__file__).parents[5] / "docs" / "server.md").read_text()
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE))
    own = Limits()

    def numbers(row):
        return [float(each.replace(",", "")) for each in re.findall(r"\d[\d,.]*\d|\d", rows[row])]

    assert numbers("a request")[:2] == [own.message / MB, 8 * own.message / MB]
    assert numbers("values in one")[:2] == [own.values, 10 * own.values]
    assert numbers("from one address")[:1] == [own.rate]
    assert numbers("a search")[:2] == [own.timeout, USUAL]
    assert numbers("searches under way or waiting for a thread")[:2] == [own.waiting, own.waiting // 2]
    assert numbers("compiled problems, scenes and streams that are kept") == [own.memory, own.problems]
    assert numbers("streams at `/servo`") == [own.streams, own.streams // 2]
    assert numbers("the body of a scene") == [own.links]
    late = "a client that does not send the rest of a request, whether the first of its connection or a later one, or does not "
    assert numbers(late + "read what it asked for") == [own.patience]
    assert numbers("connections") == [own.connections, own.connections // 2]
    assert numbers("the head of a request")[:1] == [MOST_HEAD / 1024]
    assert numbers("requests that are on their way or not answered yet")[:2] == [own.unread, own.unread / 2]
    assert numbers("shapes that a problem keeps apart")[:1] == [own.pairs]
    assert numbers("of each round of the event loop")[:1] == [1e3 * SHARE]


def test_the_command_line_has_the_limits():
    options = _parser().parse_args(["serve", "panda", "--memory", "100", "--proxy", "10.0.0.1"])
    assert (options.memory, options.proxy) == (100.0, ["10.0.0.1"])


def test_a_head_without_end_is_let_go(service):
    endless = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"a" * 100_000
    for data in (endless, WHOLE + endless, b"GET /" + b"a" * 100_000, b"GET / HTTP/1.1\r\n" + b"a:\r\n" * 30_000):
        said, closed = raw(service, data)
        assert closed and (b" 431 " in said or not said), said[:100]
    pieces = (
        b"POST /solve HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"a: b\r\n" * 30_000
    )
    assert raw(service, pieces)[1]


def test_lines_without_a_request_do_not_hold_a_connection(service):
    begin = time.perf_counter()
    _, closed = raw(service, WHOLE, *[b"\r\n"] * 60, pause=0.1)
    assert closed and time.perf_counter() - begin < 6.0


def test_what_is_on_its_way_is_bounded(panda):
    """Bodies that never end are kept up to half of the bound for one address; others go on."""
    head = b"PUT /scenes/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
    with Service(panda, port=0, limits=Limits(unread=2.0)) as running:
        held = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(8)]
        gone = 0
        for client in held:
            client.settimeout(2.0)
            with contextlib.suppress(OSError):
                client.sendall(head + b" " * 400_000)
            time.sleep(0.1)
        for client in held:
            try:
                gone += client.recv(100) == b""
            except TimeoutError:
                continue
            except OSError:
                gone += 1
            finally:
                client.close()
        assert gone == 6  # two fit into one megabyte
        time.sleep(0.2)
        assert ask(running, "/health")[0] == 200


def ws_frame(data, opcode=1, last=True):
    return bytes([(0x80 if last else 0) | opcode, 0x80 | len(data), 0, 0, 0, 0]) + data


@pytest.mark.timed
@pytest.mark.parametrize("flood", [ws_frame(b"", 9), ws_frame(b"{}"), ws_frame(b"", 0, last=False)])
def test_frames_without_content_do_not_stop_the_others(service, flood):
    """Hundreds of thousands of the smallest frames: pings, messages, parts of a message."""
    greedy = attacks.connected(service.port, "ws", address=attacks.ATTACKER)
    data = (ws_frame(b"{", 1, last=False) if flood[0] == 0 else b"") + flood * 300_000
    ended = threading.Event()

    def send():
        with contextlib.suppress(OSError):
            greedy.sendall(data)
        ended.set()

    thread = threading.Thread(target=send)
    thread.start()
    took = []
    with connect(f"ws://127.0.0.1:{service.port}/ws") as client:
        while len(took) < 30:
            begin = time.perf_counter()
            talk(client, {"objectives": [TARGET]})
            took.append(time.perf_counter() - begin)
    greedy.close()
    thread.join()
    # Sixty-four kilobytes of such frames, which is what was parsed at once, take 0.1 s on a machine that has nothing else to do.
    assert np.median(took) < 0.1


def test_rounds_give_every_address_its_share():
    async def run():
        rounds, order = Rounds(share=0.002), []
        greedy, other = rounds.account("greedy"), rounds.account("other")
        assert rounds.account("greedy") is greedy
        for k in range(12):
            rounds.run(greedy, lambda k=k: (order.append("greedy"), time.sleep(0.001)))
        rounds.run(other, lambda: order.append("other"))
        assert order.count("greedy") <= 3 and order[-1] == "other"
        waiting = [asyncio.ensure_future(rounds.turn(greedy)) for _ in range(40)]
        await asyncio.sleep(0)
        waiting[3].cancel()
        await rounds.turn(other)
        assert sum(each.done() for each in waiting) < 10
        await asyncio.gather(*waiting, return_exceptions=True)
        assert order.count("greedy") == 12 and not rounds._waiting

    asyncio.run(run())


# ---- Time ------------------------------------------------------------------------------------------------------------


def test_attempts_end_with_the_time_of_the_server(service):
    wish = {"kind": "Pose", "frame": "panda_hand", "position": [3.0, 0.0, 0.0], "wxyz": [1.0, 0.0, 0.0, 0.0]}
    request = {"objectives": [wish], "method": "bioik", "attempts": 100, "timeout": 0.5}
    ask(service, "/solve", request)
    begin = time.perf_counter()
    assert ask(service, "/solve", request)[1]["success"] is False
    assert time.perf_counter() - begin < 1.5  # 100 attempts take 3.6 s


def test_the_time_of_a_scene_is_that_of_the_server(service):
    wish = scenes.KINDS["Position"].new("hand", frame="panda_hand", target=[3.0, 0.0, 0.0])
    scene = scenes.Scene("s", scenes.BodySource("bundled", "panda"), (wish,), solving=scenes.Solving(seconds=9.0))
    assert ask(service, "/scenes/slow", scenes.dumps(scene), "PUT")[0] == 201
    assert service._application.scene_store.get("slow").core.timeout == 0.5
    ask(service, "/scenes/slow", method="DELETE")


@pytest.mark.timed
def test_many_ticks_do_not_stop_the_others(service):
    """The steps of a servo are taken in slices, between which all others are answered."""
    longest, ended = [], threading.Event()

    def look():
        with connect(f"ws://127.0.0.1:{service.port}/ws") as client:
            while not ended.is_set():
                begin = time.perf_counter()
                talk(client, {"objectives": [TARGET]})
                longest.append(time.perf_counter() - begin)

    with connect(f"ws://127.0.0.1:{service.port}/servo") as client:
        talk(client, {"objectives": [{**FAR, "name": "hand"}], "rate": 1000, "avoid_collisions": True})
        other = threading.Thread(target=look)
        other.start()
        took, latest = [], time.monotonic() + 20.0
        while len(longest) < 50 and time.monotonic() < latest:
            begin = time.perf_counter()
            talk(client, {"ticks": 1000})
            took.append(time.perf_counter() - begin)
        ended.set()
        other.join()
    assert len(longest) >= 50
    # A slice of work ends after about 10 ms, which a fast servo needs for all of its ticks.
    assert np.median(longest) < max(0.6 * np.median(took), 0.02), (np.median(longest), np.median(took))


def test_turns_let_others_go_on():
    async def both():
        turns, order = Turns(), []
        work = asyncio.ensure_future(turns.slices(50, lambda: (order.append("step"), time.sleep(0.001))))
        while not work.done():
            await asyncio.sleep(0)
            order.append("other")
        return order

    order = asyncio.run(both())
    assert order.count("step") == 50 and order.count("other") > 10
    assert max(len(run) for run in "".join(name[0] for name in order).split("o")) <= 4


def test_workers_leave_threads_to_others():
    async def run():
        workers, gate = Workers(8, threads=4), threading.Event()
        greedy = [asyncio.ensure_future(workers.run("greedy", gate.wait)) for _ in range(4)]
        await asyncio.sleep(0.05)
        with pytest.raises(BusyError):
            await workers.run("greedy", gate.wait)  # half of all that may wait
        found = await asyncio.wait_for(workers.run("other", lambda: "answer"), 5.0)
        assert found == "answer" and not any(each.done() for each in greedy)
        gone = asyncio.ensure_future(workers.run("third", gate.wait))
        await asyncio.sleep(0)
        gone.cancel()
        gate.set()
        assert await asyncio.gather(*greedy) == [True] * 4
        with pytest.raises(ValueError, match="theirs"):
            await workers.run("other", lambda: (_ for _ in ()).throw(ValueError("theirs")))
        await asyncio.sleep(0.05)
        assert workers.waiting == 0 and not workers._running and not workers._queues
        workers.close()

    asyncio.run(run())


def test_a_refused_request_is_not_kept():
    """Errors hold the frames that they passed, which held the request until garbage was collected: a gigabyte in a minute."""

    class Text(str):
        pass

    async def run():
        workers, kept = Workers(8, threads=1), []
        for _ in range(3):
            data = Text("large")
            kept.append(weakref.ref(data))
            with contextlib.suppress(ValueError):
                await workers.run("client", lambda data=data: (_ for _ in ()).throw(ValueError(data)))
        del data
        await workers.run("client", lambda: None)
        await asyncio.sleep(0.05)
        workers.close()
        return [each() for each in kept]

    gc.collect()
    gc.disable()
    try:
        assert asyncio.run(run()) == [None] * 3
    finally:
        gc.enable()


# ---- Memory ----------------------------------------------------------------------------------------------------------


def test_what_a_client_compiles_is_bounded(panda):
    with Service(panda, port=0, limits=Limits(memory=2.0, problems=10)) as running:
        store = running.core.store
        for k in range(40):
            ask(running, "/solve", {"objectives": [{**TARGET, "weight": 1.0 + k}], "avoid_collisions": k % 4 == 0})
            assert store.size <= 2 * MB and store.held("127.0.0.1") <= MB
        assert len(store._entries) <= 10


def test_streams_are_counted_and_given_back(service):
    store = service.core.store
    before = store.size
    first = {"objectives": [{**TARGET, "name": "hand"}]}
    held = [connect(f"ws://127.0.0.1:{service.port}/servo") for _ in range(3)]
    assert [("q" in talk(client, first)) for client in held] == [True, True, False]  # half of four for one client
    assert store.size > before
    for client in held:
        client.close()
    latest = time.monotonic() + 5.0
    while store.size > before and time.monotonic() < latest:
        time.sleep(0.01)
    assert store.size <= before and not service._application._streams


def test_a_stream_that_holds_too_much_is_refused(panda):
    with (
        Service(panda, port=0, limits=Limits(memory=0.01)) as running,
        connect(f"ws://127.0.0.1:{running.port}/servo") as client,
        pytest.raises(ConnectionClosed),
    ):
        assert "MB" in talk(client, {"objectives": [{**TARGET, "name": "hand"}]})["message"]
        client.recv(timeout=5)


def test_scenes_are_bounded(service):
    wish = scenes.KINDS["Position"].new("tip", frame="l60", target=[1.0, 1.0, 0.0])
    long = scenes.Scene("s", scenes.BodySource("urdf", attacks.chain(60)), (wish,))
    status, found = ask(service, "/scenes/x", scenes.dumps(long), "PUT")
    assert (status, "more than 50 links" in found["message"]) == (400, True)
    panda = scenes.BodySource("bundled", "panda")
    hand = scenes.KINDS["Position"].new("hand", frame="panda_hand", target=[0.4, 0.1, 0.5])
    for solving in (
        scenes.Solving(method="pso", parameters={"population": 10**8}),
        scenes.Solving(method="bioik", parameters={"threads": 1000}),
    ):
        status, found = ask(
            service, "/scenes/x", scenes.dumps(scenes.Scene("s", panda, (hand,), solving=solving)), "PUT"
        )
        assert status == 400 and "parameter" in found["message"]
    store = service.core.store
    before = store.size
    assert ask(service, "/scenes/x", scenes.dumps(scenes.Scene("s", panda, (hand,))), "PUT")[0] == 201
    ask(service, "/scenes/x/solve", {})
    assert store.size > before
    ask(service, "/scenes/x", method="DELETE")
    assert store.size <= before


def test_pairs_of_shapes_are_bounded(panda):
    with Service(panda, port=0, limits=Limits(pairs=100)) as running:
        request = {"objectives": [TARGET], "avoid_collisions": True}
        status, found = ask(running, "/solve", request)
        assert status == 422 and "more than 100" in found["message"]
        wish = {"kind": "SelfDistance", "links": ["panda_link0", "panda_link7"]}
        assert ask(running, "/solve", {"objectives": [TARGET, wish]})[0] == 200


def test_a_large_scene_is_solved_in_a_thread(service, monkeypatch):
    hand = scenes.KINDS["Position"].new("hand", frame="panda_hand", target=[0.4, 0.1, 0.5])
    balls = scenes.KINDS["Distance"].new("balls", obstacles=[[5.0 + k, 5.0, 5.0, 0.1] for k in range(1_900)])
    text = scenes.dumps(scenes.Scene("s", scenes.BodySource("bundled", "panda"), (hand, balls)))
    assert ask(service, "/scenes/balls", text, "PUT")[0] == 201
    solved = []
    work = service._application.workers._work
    monkeypatch.setattr(service._application.workers, "_work", lambda *given: (solved.append(1), work(*given)))
    assert ask(service, "/scenes/balls/solve", {})[1]["success"]
    assert ask(service, "/scenes/balls/solve", "", "POST")[1]["success"]
    with connect(f"ws://127.0.0.1:{service.port}/ws") as client:
        assert talk(client, {"scene": "balls"})["success"]
    assert len(solved) == 3
    assert scenes.loads(json.dumps(ask(service, "/scenes/balls", method="GET")[1])) == scenes.loads(text)
    ask(service, "/scenes/balls", method="DELETE")


def test_messages_of_too_many_values_are_refused(service):
    for text in (b'{"a":[]},' * 10_000, b"1.5," * 100_000, b'"a",' * 100_000, b"[" * 100_000):
        for path in ("/solve", "/track", "/explain", "/forward"):
            status, found = ask(service, path, b'{"objectives": [' + text + b"0]}")
            assert status == 400 and "more than" in found["message"]
    assert ask(service, "/solve", {"objectives": [TARGET], "state": {}})[0] == 200


def test_a_large_message_is_answered_as_a_small_one(service):
    names = {f"panda_joint{k % 7 + 1}": 0.1 for k in range(7)}
    small = {"objectives": [TARGET], "state": names}
    large = json.dumps(small) + " " * 40_000
    assert ask(service, "/solve", large)[1]["q"] == ask(service, "/solve", small)[1]["q"]
    with connect(f"ws://127.0.0.1:{service.port}/ws") as client:
        assert talk(client, json.dumps({**small, "id": 7}) + " " * 40_000)["id"] == 7


def test_the_store_forgets_the_oldest_of_who_keeps_most():
    store, gone = Store(most=100, share=60, many=5), []
    for k in range(5):
        store.keep(k, "a", 10, lambda k=k: gone.append(k))
    store.keep("b", "b", 40, lambda: gone.append("b"))
    store.use(0)
    store.keep(5, "a", 10, lambda: gone.append(5))
    assert gone == [1] and store.held("a") == 50  # the sixth of one client
    store.keep("c", "c", 30, lambda: gone.append("c"))
    assert gone == [1, 2, 3] and store.size == 100
    with pytest.raises(QuotaError, match="one client"):
        store.pin("d", "d", 70)
    store.pin("d", "d", 60)
    assert store.size <= 100 and "d" not in gone
    store.drop("d")
    assert store.held("d") == 0 and footprint(np.zeros(1000)) > 8000


# ---- Other clients meanwhile -----------------------------------------------------------------------------------------


@pytest.mark.timed
@pytest.mark.only_if(sys.platform == "linux", "Linux, which has more addresses of its own than one")
@pytest.mark.parametrize("name", ["structures", "attempts", "ticks", "halves"])
def test_others_are_answered_during_an_attack(name):
    """A few seconds of tests/serve/stress/attacks.py, with room for a busy machine."""
    took, told, peak = attacks.measure(name, 5.0)
    assert told and peak < attacks.MEMORY + attacks.BESIDES
    assert all(np.median(each) < attacks.WORST and len(each) > 10 for each in took.values())
