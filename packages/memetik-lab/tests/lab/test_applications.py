"""Feet on terrain, a welder and chords: what is asked can be done, and is judged by forward kinematics."""

import json

import numpy as np

from memetik.geometry import pose_distance
from memetik.solvers import Budget
from memetik_lab.thesis import applications, terrain


def test_feet_are_put_on_the_ground(tmp_path, monkeypatch):
    monkeypatch.setattr(terrain, "LIMIT", 0.1)  # a hundred times what is published: a busy machine shall not miss it
    monkeypatch.setattr(terrain, "COUNTS", (1_000,))
    terrain.run(tmp_path, cycles=1)
    rows = {row["way"]: row for row in json.loads((tmp_path / "terrain.json").read_text())["rows"]}
    assert list(rows)[:4] == ["clip", "foot placer", "bioik", "bioik, mean"] and len(rows) == 10 + 4
    assert rows["clip"]["deepest [mm]"] > 20.0 and rows["clip"]["differs [deg]"] == 0.0
    for way in ("foot placer", "memetic", "memetic, calm", "bioik, 1,000 evaluations"):
        assert rows[way]["sunk [%]"] == 0.0 and rows[way]["differs [deg]"] > 1.0
    assert rows["bioik, mean, 1,000 evaluations"]["evaluations"] > rows["bioik, 1,000 evaluations"]["evaluations"]
    assert (tmp_path / "terrain.png").exists()


def test_a_seam_is_followed_and_chords_are_pressed(tmp_path, monkeypatch):
    monkeypatch.setattr(applications, "BUDGET", Budget(seconds=1.0))
    monkeypatch.setattr(applications, "CHORD_BUDGET", Budget(seconds=5.0))
    applications.run(tmp_path, steps=60)
    rows = json.loads((tmp_path / "applications.json").read_text())["rows"]
    assert [row["tasks"] for row in rows] == [60, 60, 6, 6]
    assert all(row["solved [%]"] == 100.0 for row in rows)
    assert rows[0]["worst [mm]"] <= 0.1 and rows[2]["worst [mm]"] <= 1.0
    assert (tmp_path / "applications.png").exists() and (tmp_path / "chords.png").exists()


def test_the_welder_stands_square_to_the_plate():
    seam = applications.weld(40)
    for k in range(1, 40):
        along = seam.poses[k, :3, 3] - seam.poses[k - 1, :3, 3]
        into = seam.poses[k, :3, 2]
        assert abs(along @ into) < 0.1 * np.linalg.norm(along) and into[2] < 0.0
        assert abs(np.linalg.det(seam.poses[k, :3, :3]) - 1.0) < 1e-12
    assert pose_distance(seam.poses[0], seam.poses[-1])[0] < 1e-9


def test_chords_differ_by_frets_and_strings():
    places = {name: applications._places(chord) for name, chord in applications.CHORDS.items()}
    assert all(len(place) == len(applications.CHORDS[name]) + 1 for name, place in places.items())
    am, c = places["Am"], places["C"]
    np.testing.assert_allclose(am["rh_fftip"], c["rh_fftip"])
    np.testing.assert_allclose(
        am["rh_rftip"] - c["rh_rftip"], [applications.FRET, 2.0 * applications.STRINGS, 0.0], atol=1e-12
    )


def test_a_hand_in_the_wood_is_no_chord():
    body, _, _ = applications.press(applications.CHORDS["C"])
    assert body.joint_names[:3] == ("base.x", "base.y", "base.z")
    q = body.home.copy()
    q[:3] = 0.0, 0.021, -0.021  # the forearm stands in the middle of the neck, ...
    assert applications.above_wood(body, q) < -0.01
    q[0] = 0.9  # ... or far beyond its end
    assert applications.above_wood(body, q) > 0.3
