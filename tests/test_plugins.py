"""What other packages add: commands, methods and readers by entry points, and what is said where a package is missing."""

import importlib.metadata
import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

import memetik as mk
from memetik import plugins
from memetik.cli import main
from memetik.cli.main import _parser
from memetik.cli.parser import families

NEW = """
from dataclasses import dataclass
import memetik as mk
from memetik.cli import add_command

@dataclass
class Still:
    seed: int = 0
    def solve(self, problem, start=None, budget=None):
        return mk.Solution.of(problem, problem.start(start), start=start, method="still")

STILL = mk.solvers.Method("still", "none", "memetik_new:Still", "nobody")
SHORT = mk.solvers.Method("short", "none", "memetik_new:Still", "nobody")

def read(path, *, roots):
    return mk.build.planar_chain([float(word) for word in path.read_text().split()])

def read_text(path, *, roots):
    return path.read_text()

def add_commands(commands):
    add_command(commands, "wave", lambda options: print("waving") or 0, "wave")

def refuse(commands):
    raise AssertionError("the library's own command is taken")
"""


@pytest.fixture
def installed(monkeypatch):
    """Lets memetik find these entry points alone."""

    def install(*points):
        found = EntryPoints(EntryPoint(name, value, group) for group, name, value in points)
        monkeypatch.setattr(plugins, "_installed", lambda group: found.select(group=group))

    return install


@pytest.fixture
def new(tmp_path, monkeypatch):
    """The module memetik_new."""
    (tmp_path / "memetik_new.py").write_text(NEW)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("memetik_new", None)


@pytest.mark.parametrize(
    ("arguments", "package", "path"),
    [
        (["bench", "list"], "memetik-lab", "packages/memetik-lab"),
        (["compare", "nao", "--chain", "left_arm"], "memetik-lab", "packages/memetik-lab"),
        (["studio"], "memetik-studio", "packages/memetik-studio"),
        (["studio", "--help"], "memetik-studio", "packages/memetik-studio"),
        (["serve", "panda", "--port", "-5"], "memetik-serve", "packages/memetik-serve"),
        (["ros1", "--ros-path", "/x"], "memetik-serve", "'packages/memetik-serve[ros]'"),
        (["ros2", "panda"], "memetik-serve", "'packages/memetik-serve[ros]'"),
    ],
)
def test_a_command_without_its_package_says_what_to_install(arguments, package, path, installed, monkeypatch, capsys):
    installed()
    monkeypatch.setattr(importlib.metadata, "version", _nothing)  # which says that a package is not installed
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert f"`memetik {arguments[0]}` needs the package {package!r}, which is not installed." in said
    assert f'pip install "memetik[{plugins.PACKAGES[arguments[0]].extra}]"' in said and f"pip install . {path}" in said


def _nothing(name):
    raise importlib.metadata.PackageNotFoundError(name)


def test_the_help_lists_commands_that_are_missing(installed, capsys):
    installed()
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "(needs memetik-studio)" in " ".join(capsys.readouterr().out.split())


def test_a_view_without_its_package_says_what_to_install(installed, monkeypatch):
    installed()
    monkeypatch.setattr(importlib.metadata, "version", _nothing)
    with pytest.raises(
        mk.errors.MissingExtraError, match=r"mk.view needs the package 'memetik-studio'.*memetik\[studio\]"
    ):
        mk.view(mk.build.planar_chain(2))


def test_the_packages_of_this_project_are_found():
    for group, name in ((plugins.COMMANDS, name) for name in plugins.PACKAGES if name != "view"):
        assert name in plugins.added(group)
        assert plugins.added(group)[name].dist.name == plugins.PACKAGES[name].name
    assert plugins.added(plugins.PAGES)["view"].dist.name == plugins.PACKAGES["view"].name


def test_a_command_of_another_package(installed, new, capsys):
    installed((plugins.COMMANDS, "wave", "memetik_new:add_commands"), (plugins.COMMANDS, "solve", "memetik_new:refuse"))
    assert main(["wave"]) == 0
    assert capsys.readouterr().out == "waving\n"
    assert {"wave", "solve", "studio"} <= set(families(_parser()))


def test_a_method_of_another_package(installed, new):
    installed((plugins.METHODS, "still", "memetik_new:STILL"))
    assert mk.methods()[-1].name == "still"
    arm = mk.build.planar_chain(2)
    solution = mk.solve(mk.Problem(arm, mk.Position("tip", (0.1, 0.1, 0.0))), method="still")
    assert solution.method == "still" and not solution.success
    with pytest.raises(mk.errors.UnknownNameError, match="Did you mean 'still'"):
        mk.solver("stil")


@pytest.mark.parametrize("value", ["memetik_new:SHORT", "memetik_new:Still"])
def test_an_entry_point_that_is_no_method_is_refused(value, installed, new):
    installed((plugins.METHODS, "still", value))
    with pytest.raises(
        mk.errors.ProblemError, match=r"'still' of memetik\.methods is .*must be a mk\.solvers\.Method named 'still'"
    ):
        mk.methods()


def test_a_reader_of_another_package(installed, new, tmp_path):
    (tmp_path / "arm.lengths").write_text("0.5 0.4 0.3")
    with pytest.raises(mk.errors.FormatError, match="does not know this format"):
        mk.load(tmp_path / "arm.lengths")
    installed((plugins.READERS, "lengths", "memetik_new:read"))
    assert mk.load(tmp_path / "arm.lengths", base="planar").dof == 6
    with pytest.raises(mk.errors.FormatError, match=r"arm\.lengths: up is for \.bvh.* and would change nothing here"):
        mk.load(tmp_path / "arm.lengths", up="y")
    installed((plugins.READERS, "lengths", "memetik_new:read_text"))
    with pytest.raises(
        mk.errors.FormatError, match=r"the reader of \.lengths returned '0.5 0.4 0.3', which is no mk.Body"
    ):
        mk.load(tmp_path / "arm.lengths")


def test_names_of_memetik_ask_no_other_package():
    code = "import memetik as mk; from memetik import plugins; mk.solver('dls'); print(plugins._installed.cache_info().misses)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
