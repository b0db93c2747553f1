"""The example clients, run by what runs their languages."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import memetik as mk
from memetik_serve.web import Service

ROOT = Path(__file__).parents[3]  # of the package; in a clone, the clients lie beside all packages
CLIENTS = next(folder for folder in (ROOT / "integrations", ROOT.parents[1] / "integrations") if folder.is_dir())


@pytest.fixture(scope="module")
def service():
    with Service(mk.load("panda"), port=0, token="secret") as running:
        running.warm()
        yield running


def program(name, package):
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} on this machine; install it with: apt-get install {package}")
    return found


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, cwd=cwd)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_javascript(service):
    node = program("node", "nodejs")
    version = int(run(node, "--version").strip("v\n").split(".")[0])
    if version < 20:
        pytest.skip(f"Node.js {version} has no WebSocket; install 20 or later")
    flags = ["--experimental-websocket"] if version < 22 else []
    out = run(node, *flags, CLIENTS / "javascript" / "client.mjs", service.address, service.token)
    assert "HTTP: SUCCESS" in out
    assert "refused: no link named 'no such link'" in out
    assert int(re.search(r"WebSocket: (\d+) of 200", out)[1]) >= 195
    assert "servo: arrived" in out


def test_csharp(service, tmp_path):
    compiler, mono = program("mcs", "mono-mcs"), program("mono", "mono-runtime")
    libraries = ["-r:System.Net.Http.dll", "-r:System.Runtime.Serialization.dll"]
    run(compiler, *libraries, f"-out:{tmp_path}/Client.exe", CLIENTS / "csharp" / "Client.cs")
    out = run(mono, tmp_path / "Client.exe", service.address, service.token)
    assert "HTTP: 1, 8 joints" in out
    assert "refused: -18, no link named 'no such link'" in out
    assert "WebSocket: 200 of 200 reached" in out
