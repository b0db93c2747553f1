"""The contest on chains with tiny sizes, and its two sentences."""

from __future__ import annotations

import json

import pytest

from memetik.errors import UnknownNameError
from memetik_lab.nao_paper import chains


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr(
        chains, "TASK", chains.TASK._replace(seconds=60.0)
    )  # no deadline that a busy machine could miss


def test_chains_are_measured_and_saved(tmp_path):
    report = chains.run(tmp_path, count=5, joints=(3, 10), methods=("fabrik", "ccd"))
    content = json.loads((tmp_path / "chains.json").read_text())
    assert content["name"] == "chains"
    assert [(row["chain"], row["joints"], row["method"]) for row in content["rows"]] == [
        (kind, joints, method)
        for kind in (chains.PLANAR, chains.SPATIAL)
        for joints in (3, 10)
        for method in ("fabrik", "ccd")
    ]
    for row in content["rows"]:
        assert row["solved [%]"] == 100.0
        assert row["wrong [%]"] == 0.0
        assert 0.0 <= row["first try [%]"] <= 100.0
        assert 1.0 <= row["iterations"] < 1000.0
        assert row["us / iteration"] > 0.0
        assert 0.0 < row["median [us]"] <= row["p99 [us]"]
    assert report.remarks == content["remarks"]
    assert len(report.remarks) == 2
    assert (tmp_path / "chains.svg").exists()
    assert (tmp_path / "chains.png").exists()


def test_an_unknown_method_is_named(tmp_path):
    with pytest.raises(UnknownNameError, match=r"'cdd'.*'ccd'"):
        chains.run(tmp_path, count=1, joints=(2,), methods=("cdd",))


def row(chain, joints, method, median, solved=100.0, first=90.0):
    return {
        "chain": chain,
        "joints": joints,
        "method": method,
        "median [us]": median,
        "solved [%]": solved,
        "first try [%]": first,
        "iterations": 0.1 * median,
    }


def test_the_verdict_is_drawn_from_the_rows():
    rows = [
        row(chains.PLANAR, 2, "slow", 30.0, first=70.0),
        row(chains.PLANAR, 2, "sloppy", 1.0, solved=50.0),
        row(chains.PLANAR, 2, "quick", 10.0),
        row(chains.PLANAR, 5, "slow", 8.0),
        row(chains.PLANAR, 5, "sloppy", 1.0, solved=98.9),
        row(chains.PLANAR, 5, "quick", 16.0, first=100.0),
        row(chains.SPATIAL, 2, "slow", 30.0),
        row(chains.SPATIAL, 2, "quick", 20.0),
        row(chains.SPATIAL, 5, "slow", 50.0),
        row(chains.SPATIAL, 5, "quick", 20.0),
    ]
    first, second = chains.verdict(rows)
    assert "planar, free: slow at 5 joints, quick at 2 joints" in first
    assert "in space, limits: quick at 2 and 5 joints." in first
    assert "slow 1 to 3 times (70 to 90 %, 0.8 to 5 iterations)" in second
    assert "quick 1 to 2 times (90 to 100 %, 1 to 2 iterations)" in second


def test_no_winner_where_nobody_solves_enough():
    first, second = chains.verdict([row(chains.PLANAR, 2, "sloppy", 1.0, solved=50.0)])
    assert "sloppy" not in first + second
