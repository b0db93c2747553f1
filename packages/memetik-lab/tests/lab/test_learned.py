"""What a learned guess is worth, with tiny sizes."""

from __future__ import annotations

import json

from memetik_lab.claims import learned


def test_all_starts_are_measured(tmp_path):
    learned.run(tmp_path, count=5, arms=("ur5",), epochs=2)
    rows = json.loads((tmp_path / "learned.json").read_text())["rows"]
    assert [row["start"] for row in rows] == ["drawn", "home", "network", "taught"]
    assert all(row["solved [%]"] == 100.0 and row["attempts"] >= 1.0 for row in rows)
    assert [row["error [%]"] is None for row in rows] == [True, True, False, False]
