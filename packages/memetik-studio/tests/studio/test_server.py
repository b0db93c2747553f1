"""The server: where it listens, what it opens, how it starts and ends."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
import viser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

import memetik as mk
from memetik import bodies, scenes
from memetik.cli import main
from memetik_studio.guard import is_from_here
from memetik_studio.server import Studio, scene_from
from memetik_studio.session import Session
from tests.read.samples import URDF


def test_it_listens_on_this_machine_only(capsys):
    Session(scenes.ready("parallel five-bar"))
    capsys.readouterr()  # a line about kernels that are compiled, on a machine that has none
    with Studio(scenes.ready("parallel five-bar"), port=0) as studio:
        assert studio.url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(studio.url) as page:
            assert page.status == 200
        port = int(studio.url.rpartition(":")[2])
        elsewhere = socket.gethostbyname(socket.gethostname())
        if not elsewhere.startswith("127."):
            with pytest.raises(OSError):
                socket.create_connection((elsewhere, port), timeout=1.0)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), timeout=1.0)


def test_it_warns_when_others_can_reach_it(capsys):
    with Studio(scenes.ready("parallel five-bar"), host="0.0.0.0", port=0) as studio:
        assert studio.url.startswith("http://127.0.0.1:")
    assert "everybody who can reach this machine" in capsys.readouterr().err


def test_pages_of_others_are_refused():
    """A page of another site, open in the same browser, cannot use the studio, nor by a name that means this machine."""
    with Studio(scenes.ready("parallel five-bar"), port=0) as studio:
        address, subprotocol = studio.url.replace("http", "ws"), Subprotocol(f"viser-v{viser.__version__}")
        port = address.rpartition(":")[2]

        def talk(origin):
            with connect(address, origin=origin, subprotocols=[subprotocol], compression=None) as socket:
                try:
                    return socket.recv(timeout=30.0)
                except ConnectionClosed as closed:
                    return closed.rcvd.code

        assert talk(Origin("http://evil.example")) == 1008
        assert talk(Origin(f"http://evil.example:{port}")) == 1008
        assert isinstance(talk(Origin(studio.url)), bytes)


@pytest.mark.parametrize(
    ("origin", "host", "loopback", "fine"),
    [
        (None, "127.0.0.1:8080", True, True),
        ("http://localhost:8080", "localhost:8080", True, True),
        ("http://localhost:9999", "localhost:8080", True, False),
        ("http://evil.example:8080", "evil.example:8080", True, False),  # a name that was made to mean this machine
        ("null", "127.0.0.1:8080", True, False),
        ("http://robot.lab:8080", "robot.lab:8080", False, True),
        ("http://evil.example", "robot.lab:8080", False, False),
    ],
)
def test_only_the_own_page_may_connect(origin, host, loopback, fine):
    assert is_from_here(origin, host, loopback=loopback) is fine


def test_no_client_can_open_a_tunnel():
    with Studio(scenes.ready("parallel five-bar"), port=0) as studio:
        handlers = studio._server._websock_server._incoming_handlers
        assert not [message for message in handlers if message.__name__.startswith("Share")]


def test_a_port_in_use_is_told(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["studio", "--no-open", "--port", str(port)]) == 2
    assert f"cannot listen on 127.0.0.1, port {port}" in capsys.readouterr().err


def test_what_is_named_is_opened(tmp_path):
    assert scene_from(None)[0].title == "humanoid with four tips and gaze"
    assert scene_from("quadruped")[0] == scenes.ready("quadruped")
    assert scene_from("scara")[0].body == scenes.BodySource("bundled", "scara")
    model = tmp_path / "arm.urdf"
    model.write_text(URDF)
    with pytest.warns(mk.MemetikWarning, match="hand.stl"):  # the mesh that it names is not there
        scene, roots = scene_from(str(model))
        assert roots == [tmp_path.resolve()] and scenes.load_body(scene.body, roots).name == "arm"
    saved = tmp_path / "scene.json"
    saved.write_text(scenes.dumps(scene))
    assert scene_from(str(saved)) == (scene, roots)


@pytest.mark.parametrize("source", ["no_such_body", "none.urdf", "none.json"])
def test_what_does_not_exist_is_told(source, capsys):
    assert main(["studio", source, "--no-open"]) == 2
    assert source in capsys.readouterr().err


@pytest.mark.parametrize("name", bodies.names())
def test_every_bundled_body_has_a_first_scene(name):
    source = scenes.BodySource("bundled", name)
    scene = scenes.blank(source, scenes.load_body(source))
    assert mk.solve(scenes.problem(scene, scenes.load_body(source))).success


@pytest.mark.timed
def test_it_starts_soon_and_ends_with_ctrl_c():
    """Nothing it does takes long beside the import of what it is made of."""
    begin = time.monotonic()
    subprocess.run([sys.executable, "-c", "import viser, trimesh, numba, memetik_studio.server"], check=True)
    imports = time.monotonic() - begin
    command = [sys.executable, "-c", "from memetik.cli import main; raise SystemExit(main())"]
    begin = time.monotonic()
    process = subprocess.Popen(
        [*command, "studio", "panda", "--no-open", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # where tests run in the background it is ignored
    )  # fmt: skip
    try:
        line = process.stdout.readline()
        spent = time.monotonic() - begin
        assert line.startswith("memetik studio: http://127.0.0.1:"), process.stderr.read()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0 and "Traceback" not in err
    assert spent < 5.0 * imports, "twice as long on an idle machine with a warm cache"


@pytest.mark.parametrize(
    ("missing", "told"), [("viser", "memetik[studio]"), ("memetik_studio.guard", "memetik_studio.guard")]
)
def test_a_missing_package_is_named_and_a_fault_of_our_own_is_not_taken_for_one(missing, told):
    code = f"import sys; sys.modules[{missing!r}] = None; import memetik_studio.server"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and told in done.stderr
    assert ("MissingExtraError: " in done.stderr) == (missing == "viser")
