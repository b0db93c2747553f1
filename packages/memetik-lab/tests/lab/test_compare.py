"""Every method on six bodies: who claims a problem can take it, keeps limits, and says nothing that is not so."""

from __future__ import annotations

import sys

import pytest

from memetik.build.chains import planar_chain, snake
from memetik.cli import main
from memetik.errors import MissingExtraError, ProblemError
from memetik.read.load import load
from memetik.solvers import methods
from memetik.solvers.analytic import Analytic
from memetik_lab.commands import compare as command
from memetik_lab.compare import Question, compare, named
from memetik_lab.peers import Task

FINGERS = ("rh_fftip", "rh_mftip", "rh_rftip", "rh_lftip", "rh_thtip")
LIMBS = ("rightPalm", "leftPalm", "rightFoot", "leftFoot")
TASK = Task(position=1e-4, orientation=1e-3, seconds=0.05)
QUESTIONS = {
    "ur5": lambda: Question(load("ur5"), ("tool0",), TASK),
    "nao left arm": lambda: Question(load("nao"), ("l_gripper",), TASK),
    "planar": lambda: Question(planar_chain(2), ("tip",), TASK, position_only=True),
    "chain": lambda: Question(snake(10), ("tip",), TASK),
    "shadow hand": lambda: Question(load("shadow_hand"), FINGERS, TASK, position_only=True),
    "valkyrie": lambda: Question(load("valkyrie"), LIMBS, TASK),
}
CLOSED_FORM = ("ur5", "nao left arm", "planar")  # all others have none, and only for that a method may refuse them
EVERY = [method.name for method in methods() if method.name != "learned"]  # which would have to learn each body first


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_method_tells_the_truth(name):
    comparison = compare(QUESTIONS[name](), named(EVERY), count=2)
    assert comparison.complaints == []
    assert list(comparison.refused) == ([] if name in CLOSED_FORM else ["analytic"])
    rows = comparison.report.rows
    assert [row["method"] for row in rows] == [method for method in EVERY if method not in comparison.refused]
    assert "no status contradicted" in comparison.report.remarks[-1]
    ample = compare(QUESTIONS[name]()._replace(task=TASK._replace(seconds=10.0)), named(["memetic"]), count=2)
    assert ample.report.rows[0]["solved [%]"] == 100.0, "with a deadline that no busy machine misses"


def test_there_is_something_to_compare():
    with pytest.raises(ProblemError, match="one of each at least"):
        compare(QUESTIONS["planar"](), {}, count=2)


def test_what_is_not_so_is_said(tmp_path):
    """A method that claims to have arrived, and has not."""

    class Boaster:
        def solve(self, problem, start=None, budget=None):
            solution = named(["dls"])["dls"].solve(problem, start)
            solution.q[0] += 0.5
            return solution

    comparison = compare(QUESTIONS["planar"](), {"boaster": Boaster()}, count=2)
    assert len(comparison.complaints) >= 2
    assert "forward kinematics finds it" in comparison.complaints[0]
    assert comparison.report.rows[0]["contradicted"] == 2 and comparison.report.rows[0]["solved [%]"] == 0.0
    assert {path.suffix for path in comparison.save(tmp_path)} == {".json", ".png", ".svg"}


@pytest.fixture
def package_missing(monkeypatch):
    """As if one of the methods needed a package that is not installed."""

    def check(self, problem):
        raise MissingExtraError("Geometry", "a closed form", "analytic")

    monkeypatch.setattr(Analytic, "check", check)


def test_a_missing_package_is_noticed_before_the_work(package_missing, monkeypatch):
    solved = []

    class Watched:
        def solve(self, problem, start=None, budget=None):
            solved.append(start)
            return named(["dls"])["dls"].solve(problem, start, budget)

    checked = []
    check = Analytic.check
    monkeypatch.setattr(Analytic, "check", lambda self, problem: (checked.append(len(solved)), check(self, problem)))
    solvers = {"watched": Watched(), **named(["analytic"])}
    comparison = compare(QUESTIONS["ur5"](), solvers, count=2)
    assert checked == [0] and len(solved) == 3
    watched, lacking = comparison.report.rows
    assert (watched["method"], lacking["method"]) == ("watched", "analytic")
    assert watched["note"] == "" and 'pip install "memetik[analytic]"' in lacking["note"]
    assert list(watched) == list(lacking) and lacking["solved [%]"] is None
    assert list(comparison.missing) == ["analytic"] and comparison.refused == {}
    table = str(comparison.report)
    assert "memetik[analytic]" in table and "None" not in table


def test_the_command_prints_the_table_without_what_is_missing(package_missing, tmp_path, capsys):
    arguments = ["compare", "ur5", "--tip", "tool0", "--methods", "memetic,analytic,dls", "--count", "2"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if line.split()[:1] in (["memetic"], ["analytic"], ["dls"])]
    assert len(rows) == 3 and 'pip install "memetik[analytic]"' in rows[-1]
    assert (tmp_path / "compare_ur5.json").exists() and (tmp_path / "compare_ur5.svg").exists()


def test_a_method_alone_that_lacks_its_package(package_missing, tmp_path):
    comparison = compare(QUESTIONS["ur5"](), named(["analytic"]), count=2)
    assert [list(row) for row in comparison.report.rows] == [["method", "note"]]
    assert comparison.save(tmp_path)


def test_the_plot_is_given_up_before_the_work(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = []
    monkeypatch.setattr(command, "compare", lambda *given, **named: said.append(capsys.readouterr().err) or made)
    made = compare(QUESTIONS["planar"](), named(["dls"]), count=1)
    assert main(["compare", "planar:2", "--tip", "tip", "--out", str(tmp_path)]) == 0
    assert "there will be no plot" in said[0] and "memetik[plots]" in said[0]
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]


def test_a_folder_that_cannot_be_written_is_told_before_the_work(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(command, "compare", lambda *given, **named: pytest.fail("it works"))
    (tmp_path / "file").write_text("")
    assert main(["compare", "planar:2", "--tip", "tip", "--out", str(tmp_path / "file")]) == 2
    assert "nothing can be written to the folder" in capsys.readouterr().err
