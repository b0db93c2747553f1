"""`memetik doctor`: facts, whatever state the installation is in."""

import importlib.metadata
import json
import re
import stat
import sys
import webbrowser
from pathlib import Path

import pytest

import memetik as mk
from memetik import doctor
from memetik.cli import main
from memetik.kernels.compiler.prebuilt import Prebuilt

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.quick


def test_it_says_what_there_is(capsys):
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert f"memetik {mk.__version__}, python {sys.version.split()[0]}, numpy" in said
    headings = [line.split()[0] for line in said.splitlines() if not line.startswith(" ")]
    assert headings == ["versions", "system", "processor", "prebuilt", "cache", "extras", "graphics", "browser"]


def test_json_says_the_same(capsys):
    assert main(["doctor", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert set(facts) == {
        "versions", "system", "processor", "prebuilt", "cache", "extras", "packages", "graphics", "browser",
    }  # fmt: skip
    assert facts["versions"]["memetik"] == mk.__version__
    assert doctor.lines(facts)


def test_every_extra_is_looked_for():
    """But for those of developers, of comparisons with others, and all together."""
    text = (ROOT / "pyproject.toml").read_text()
    table = re.search(r"^\[project.optional-dependencies\]\n(.*?)^\[", text, re.MULTILINE | re.DOTALL)[1]
    assert set(doctor.EXTRAS) == set(re.findall(r"^(\w+) = \[", table, re.MULTILINE)) - {"all", "dev", "peers"}


def test_a_missing_extra(monkeypatch):
    monkeypatch.setitem(doctor.EXTRAS, "xacro", ("no_such_module",))
    said = "\n".join(doctor.lines(doctor.examine()))
    assert (
        'without   xacro: trusted models as .xacro, and YAML in any; no no_such_module (pip install "memetik[xacro]")'
        in said
    )
    for name in doctor.EXTRAS:
        monkeypatch.setitem(doctor.EXTRAS, name, ("no_such_module",) if name in ("docs", "xacro") else ("json",))
    said = doctor.lines(doctor.examine())
    assert '  for all   pip install "memetik[docs,xacro]"' in said


def test_what_works_and_by_which_versions():
    facts = doctor.examine()
    assert set(doctor.PURPOSES) == set(doctor.EXTRAS)
    assert facts["packages"]["matplotlib"] == importlib.metadata.version("matplotlib")
    assert facts["packages"]["sklearn"] == importlib.metadata.version("scikit-learn")
    named = ", ".join(f"{module} {facts['packages'][module]}" for module in ("memetik_lab", "matplotlib"))
    assert f"  here      bench: published experiments and other solvers ({named})" in doctor.lines(facts)


def test_thorough_finds_what_is_there_but_broken(tmp_path, monkeypatch):
    (tmp_path / "torn_module.py").write_text("raise OSError('libtorn.so: cannot open')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(doctor, "EXTRAS", {"xacro": ("torn_module",), "serve": ("json",)})
    assert doctor.examine()["extras"] == {"xacro": [], "serve": []}
    facts = doctor.examine(thorough=True)
    assert facts["broken"] == {"xacro": "torn_module cannot be imported: OSError: libtorn.so: cannot open"}
    said = doctor.lines(facts)
    assert any(line.startswith("  broken    xacro: trusted models as .xacro, and YAML in any; torn") for line in said)
    assert "extras      1 of 2 are here" in said
    assert "  works     serve: answers over HTTP and WebSocket (json)" in said
    assert said[-1].startswith("solving     REACHED, a pose of a panda's hand in ")


@pytest.mark.parametrize(
    ("name", "says"),
    [(None, "none that could be opened here; `memetik studio --no-open`"), ("w3m", "w3m, which shows no 3D;"),
     ("/usr/bin/firefox", "firefox opens pages")],
)  # fmt: skip
def test_the_browser(name, says, monkeypatch):
    def get():
        if name is None:
            raise webbrowser.Error("could not locate runnable browser")
        return webbrowser.GenericBrowser(name)

    monkeypatch.setattr(webbrowser, "get", get)
    assert any(line.startswith(f"browser     {says}") for line in doctor.lines(doctor.examine()))


def test_it_fits_the_terminal(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if " " in line.strip()) <= 60


def test_damaged_files_are_named(tmp_path, monkeypatch):
    (tmp_path / "one.nbi").write_bytes(b"memetik1 but not more")
    (tmp_path / "two.nbc").mkdir()
    monkeypatch.setattr(doctor, "prebuilt", lambda: Prebuilt(tmp_path, {"processor": "x86-64-v3"}))
    monkeypatch.setattr(doctor, "COMPILED", True)
    facts = doctor.examine()["prebuilt"]
    assert facts["used"] and len(facts["damaged"]) == 2
    said = doctor.lines(doctor.examine())
    assert any(line.startswith("  damaged") and "one.nbi" in line for line in said)


@pytest.mark.parametrize("why", ["this package came without any", "they were built for numba 0.1, and this is 0.2"])
def test_why_prebuilt_kernels_are_not_used(why, monkeypatch, tmp_path):
    monkeypatch.setattr(doctor, "prebuilt", lambda: Prebuilt(tmp_path, {}, why))
    monkeypatch.setattr(doctor, "COMPILED", True)
    assert f"prebuilt    not used: {why}" in doctor.lines(doctor.examine())


def test_no_folder_can_be_written(monkeypatch):
    monkeypatch.setattr(doctor, "FOLDERS", set())
    facts = doctor.examine()
    assert not facts["cache"]["writable"]
    assert any("no folder for it can be written" in line for line in doctor.lines(facts))


def test_a_processor_below_the_level_or_of_an_unknown_kind(monkeypatch):
    monkeypatch.setattr(doctor, "lacking", lambda wanted: ["fma"])
    monkeypatch.setattr(doctor, "level", lambda: doctor_level)
    assert any("lacks fma of level imagined" in line for line in doctor.lines(doctor.examine()))
    monkeypatch.setattr(doctor, "level", lambda: None)
    assert any("no kernels are prebuilt" in line for line in doctor.lines(doctor.examine()))


doctor_level = type("Imagined", (), {"name": "imagined", "features": ()})()


# ---- Graphics devices -----------------------------------------------------------------------------------------


def driver(folder, monkeypatch, script):
    """A program `nvidia-smi` that does this."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def unusable():
    raise mk.errors.ProblemError("no usable graphics card: see there.")


@pytest.mark.only_if(sys.platform != "win32", "programs in shell")
def test_a_card_with_its_driver(tmp_path, monkeypatch):
    driver(tmp_path, monkeypatch, "echo 'NVIDIA H200, 570.86.15, 143771 MiB'")
    monkeypatch.setattr(doctor, "require_cuda", lambda: None)
    facts = doctor.examine()
    assert facts["graphics"]["cards"] == [{"name": "NVIDIA H200", "driver": "570.86.15", "memory": "143771 MiB"}]
    assert "graphics    usable: NVIDIA H200, driver 570.86.15, 143771 MiB" in doctor.lines(facts)
    monkeypatch.setattr(doctor, "require_cuda", unusable)
    (line,) = [line for line in doctor.lines(doctor.examine()) if line.startswith("graphics")]
    assert (
        line.startswith("graphics    not usable: no usable graphics card") and "The driver lists: NVIDIA H200" in line
    )


@pytest.mark.only_if(sys.platform != "win32", "programs in shell")
@pytest.mark.parametrize("script", ["exit 9", "echo 'No devices were found'", "echo"])
def test_a_driver_that_fails(script, tmp_path, monkeypatch):
    driver(tmp_path, monkeypatch, script)
    assert doctor.examine()["graphics"]["cards"] == []


def test_whatever_a_driver_raises_is_a_finding(monkeypatch):
    def broken():
        raise OSError("libcuda.so: wrong ELF class")

    monkeypatch.setattr(doctor, "require_cuda", broken)
    assert doctor.examine()["graphics"]["why_not"] == "OSError: libcuda.so: wrong ELF class"
