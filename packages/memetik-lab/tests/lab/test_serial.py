"""Table 5.2 with tiny sizes: every row beside its published figures, judged, and the verdict right."""

from __future__ import annotations

import json

import pytest

from memetik_lab.thesis import serial
from memetik_lab.thesis.serial import COLUMNS, verdict


def test_every_method_stands_beside_its_published_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(serial, "TASK", serial.TASK._replace(seconds=0.2))
    fast = [column for column in COLUMNS if column.method != "ga"]
    serial.run(tmp_path, count=10, arms=("ur5", "m10ia"), columns=fast)
    rows = json.loads((tmp_path / "serial.json").read_text())["rows"]
    assert [(row["arm"], row["method"]) for row in rows] == [
        (arm, column.name) for arm in ("ur5", "m10ia") for column in fast
    ]
    by_name = {(row["arm"], row["method"]): row for row in rows}
    assert by_name["ur5", "bioik"]["published mean [ms]"] == 0.94
    assert by_name["m10ia", "lbfgsb"]["published solved [%]"] == 49.66
    assert by_name["ur5", "dls, one try"]["published solved in 10 ms [%]"] == ""
    for row in rows:
        assert row["solved in 10 ms [%]"] <= row["solved [%]"]
        assert row["mean to 10 ms [ms]"] <= min(row["mean [ms]"], 10.0) + 1e-9
        if row["method"] in ("memetic", "bioik", "dls", "lbfgsb"):
            assert row["solved [%]"] == 100.0
    assert by_name["ur5", "de"]["queries"] == 5
    assert (tmp_path / "serial.svg").exists() and (tmp_path / "serial.png").exists()


def row(method, published, share, mean, of_solved):
    return {
        "arm": "ur5", "method": method, "queries": 100, "solved [%]": share, "published": published,
        "published solved [%]": 80.0, "published mean [ms]": 2.0, "mean [ms]": mean, "mean of solved [ms]": of_solved,
    }  # fmt: skip


def test_the_verdict_names_the_arms_where_the_published_figures_are_better():
    (good,) = verdict([row("dls", "Jacobian DLS", 75.0, 1.0, 5.0)])  # 75 of 100 may well be 80 %
    assert "no fewer than published on 1 of 1 arms, faster on 1;" in good and "2 to 2" in good
    (bad,) = verdict([row("dls", "Jacobian DLS", 50.0, 4.0, 1.0)])
    assert "on 0 of 1 arms (not ur5), faster on 0 (not ur5)" in bad
    (evolved,) = verdict([row("ga", "GA", 90.0, 4.0, 1.0)])  # these means are of the solved
    assert "faster on 1;" in evolved


@pytest.mark.parametrize("label", serial._TABLE)
def test_every_arm_has_all_columns(label):
    assert set(serial._TABLE[label]) == {column.published for column in COLUMNS} | {"Bio IK, 10 ms"}
