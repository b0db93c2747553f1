"""The arm of the NAO with tiny sizes: the arm is the paper's, the tables are complete, and what is claimed is checked."""

from __future__ import annotations

import json

import numpy as np
import pytest

from memetik_lab import harness
from memetik_lab.nao_paper import nao, nao_networks


def test_the_arm_is_as_long_as_the_paper_says():
    body, hand = nao.arm()
    assert body.dof == 4
    elbow = body.joints["LElbowYaw"].origin[0, 3]
    assert elbow + hand.link_from_frame[0, 3] == pytest.approx(0.2187)
    free, _ = nao.arm(limits=False)
    assert not np.isfinite(free.lower).any()
    assert free.home.tolist() == body.home.tolist()
    points = nao.targets(20)
    shoulder = body.joints["LShoulderPitch"].origin[:3, 3]
    assert (np.linalg.norm(points - shoulder, axis=1) < 0.2187 + 0.015).all()


def test_tables_are_saved_with_the_published_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(nao, "TOLERANCES", (1e-3, 1e-5))
    monkeypatch.setattr(nao_networks, "STEPS", 4)
    nao.run(tmp_path, quick=True, count=20, hidden=(5, 40))
    tables = {
        name: json.loads((tmp_path / f"{name}.json").read_text()) for name in ("nao", "nao_tolerance", "nao_networks")
    }
    for content in tables.values():
        assert len(content["protocol"]) > 100
        assert all(list(row) == list(content["rows"][0]) for row in content["rows"])
    first = tables["nao"]["rows"]
    assert {row["setting"] for row in first} == set(nao.SETTINGS)
    memetic = [row for row in first if row["method"] == "memetic"]
    assert len(memetic) == 3 and all(row["solved [%]"] == 100.0 for row in memetic)
    assert first[-1]["method"] == "network" and first[-1]["published [us]"] == pytest.approx(2.771)
    second = [row for row in tables["nao_networks"]["rows"] if row["network"] == "feed-forward"]
    assert [(row["units"], row["published validation [%]"]) for row in second] == [(5, 2.73), (40, 2.38)]
    kinds = [row["network"] for row in tables["nao_networks"]["rows"]]
    assert kinds[2:] == [
        "feed-forward, taught", "extreme learning", "support vectors", "elman, paths",
        "elman by a genetic algorithm, the same paths", "feed-forward that hears the posture, the same paths",
        "feed-forward, the same paths",
    ]  # fmt: skip
    assert {row["tolerance [m]"] for row in tables["nao_tolerance"]["rows"]} == {1e-3, 1e-5}
    assert (tmp_path / "nao.svg").exists()


def test_the_order_of_the_methods_is_compared_with_the_published_one():
    def row(setting, method, iterations):
        published = {each.method: each.iterations for each in nao.CONTESTANTS}[method]
        return {"setting": setting, "method": method, "iterations": iterations, "published iterations": published}

    report = harness.Report("nao", "")
    for setting, fabrik in (("textbook", 5.0), ("textbook, limits", 6.0), ("library", 11.0)):
        report.rows += [row(setting, "pseudoinverse", 9.0), row(setting, "fabrik", fabrik), row(setting, "dls", 1.0)]
    first, second, third = nao._order(report)
    assert "fabrik < pseudoinverse (as published)" in first
    assert "as published" in second
    assert "pseudoinverse < fabrik (published: fabrik < pseudoinverse)" in third
