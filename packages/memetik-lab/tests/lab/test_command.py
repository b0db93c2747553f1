"""`memetik bench`: what it lists, and how it goes on."""

import pytest

import memetik as mk
import memetik_lab as lab
from memetik.cli import main


@pytest.fixture
def run(capsys):
    """Call main; exit code, stdout and stderr."""

    def call(*arguments):
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def test_bench_lists_experiments(run):
    code, out, _ = run("bench", "list")
    assert code == 0 and "ofkt" in out


def test_bench_all_goes_on_past_what_is_missing(run, tmp_path, monkeypatch):
    asked = []

    def measure(name, folder, **options):
        asked.append((name, folder, options))
        if name == "lonely":
            raise mk.errors.MissingExtraError("friend", "company", "bench")
        if name == "carded":
            raise lab.UnavailableError("no usable graphics card.")

    names = ("lonely", "carded", "fine")
    monkeypatch.setattr(lab, "experiments", lambda: dict.fromkeys(names, "nothing"))
    monkeypatch.setattr(lab, "run", measure)
    code, out, err = run("bench", "all", "--quick", "--no-peers", "--out", tmp_path)
    assert code == 0 and err == ""
    assert asked == [(name, tmp_path, {"quick": True, "peers": False}) for name in names]
    assert "[2/3] carded" in out and "1 of 3 experiments in " in out
    assert "not run: lonely. company needs the package 'friend'" in out and "not run: carded. no usable" in out


def test_bench_all_tells_of_a_failure(run, monkeypatch, tmp_path):
    def measure(name, folder, **options):
        if name == "broken":
            raise ZeroDivisionError("of the experiment")

    monkeypatch.setattr(lab, "experiments", lambda: {"broken": "", "fine": ""})
    monkeypatch.setattr(lab, "run", measure)
    code, out, err = run("bench", "all", "--out", tmp_path)
    assert code == 1
    assert "1 of 2 experiments" in out and "memetik: broken failed. ZeroDivisionError: of the experiment" in err


def test_bench_refuses_data_that_nobody_reads(run, tmp_path):
    code, _, err = run("bench", "snakes", "--data", tmp_path / "grasps.csv")
    assert code == 2 and "'snakes' takes no data" in err
