"""reachability: against workspaces whose shape is known, and saved, loaded and drawn."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.batch import reach
from memetik.errors import FormatError, MissingExtraError, ProblemError
from memetik.geometry import angle_between
from tests.naive import kinematics


def gantry(*last, low=-0.25, high=0.25):
    """Three slides within a cube, then other joints; the tip is the last link."""
    names = ["base", "a", "b", "c", *(f"d{k}" for k in range(len(last) - 1)), "tip"][: 4 + len(last)]
    slides = [
        mk.build.Joint(f"slide_{k}", "prismatic", names[k], names[k + 1], axis=np.eye(3)[k], lower=low, upper=high)
        for k in range(3)
    ]
    others = [mk.build.Joint(f"j{k}", parent=names[3 + k], child=names[4 + k], **joint) for k, joint in enumerate(last)]
    return mk.Body("gantry", [mk.build.Link(name) for name in names], [*slides, *others])


def test_a_gantry_with_a_ball_takes_every_orientation():
    body = gantry({"kind": "spherical"})
    found = mk.batch.reachability(body, "tip", voxel=0.1, orientations=12)
    assert found.fraction.shape == (6, 6, 6)
    assert_allclose(found.corner, -0.3)
    inside = np.ones((6, 6, 6), dtype=bool)  # the outermost centres lie at the limits
    assert_array_equal(found.position, inside)
    assert_array_equal(found.fraction, 1.0)
    assert found.volume == pytest.approx(0.6**3) and found.mean == 1.0


def test_a_gantry_that_only_turns_about_z():
    """Of rotations that are spread evenly it takes those whose axis is z within the tolerance."""
    body = gantry({"kind": "continuous", "axis": (0, 0, 1)}, low=0.0, high=0.2)
    found = mk.batch.reachability(body, "tip", voxel=0.1, orientations=40, orientation_tolerance=0.6)
    turns = reach.even_rotations(40)
    # The best that a turn about z can do is the angle between the two z axes.
    expected = np.mean([math.acos(turn[2, 2]) <= 0.6 for turn in turns])
    assert 0.0 < expected < 0.5
    assert_allclose(found.fraction[found.position], expected)


def test_a_flat_ring():
    body = mk.build.planar_chain([0.5, 0.3])
    found = mk.batch.reachability(body, "tip", voxel=0.1, orientations=1)
    assert found.position.shape == (16, 16, 1)
    assert_allclose(found.centers(2), 0.0, atol=1e-9)
    x, y = np.meshgrid(found.centers(0), found.centers(1), indexing="ij")
    radius = np.hypot(x, y)
    assert_array_equal(found.position[:, :, 0], (radius >= 0.2) & (radius <= 0.8))


def test_an_arm_against_postures_drawn_at_random(rng):
    """Wherever a random posture takes the tip, its voxel or a neighbour is in reach; beyond the box there is nobody."""
    body = mk.load("ur5")
    found = mk.batch.reachability(body, "tool0", voxel=0.25, orientations=4)
    points = np.array([kinematics.pose(body, "tool0", body.sample(rng))[:3, 3] for _ in range(300)])
    places = np.floor((points - found.corner) / found.voxel).astype(int)
    assert (places >= 0).all() and (places < found.position.shape).all()
    grown = np.pad(found.position, 1)
    for x, y, z in places:
        assert grown[x : x + 3, y : y + 3, z : z + 3].any()
    assert 0.3 < found.mean < 1.0
    assert "tool0 of ur5 reaches" in str(found) and "m³" in str(found)


def test_locks_limits_and_more_objectives():
    body = gantry({"kind": "spherical"})
    locked = mk.batch.reachability(body, "tip", orientations=2, lock={"slide_0": 0.05}, limits={"slide_1": (0.0, 0.2)})
    assert locked.position.shape == (1, 2, 6) and locked.position.all()
    assert_allclose(locked.centers(0), 0.05)
    above = mk.Plane("tip", (0, 0, 0.02), (0, 0, 1), side="above")
    half = mk.batch.reachability(body, "tip", orientations=2, also=[above])
    assert_array_equal(half.position.any(axis=(0, 1)), [False, False, False, True, True, True])


def test_threads_do_not_matter_and_progress_is_told():
    body, seen = mk.load("ur5"), []
    one = mk.batch.reachability(body, "tool0", voxel=0.4, orientations=3, threads=1)
    two = mk.batch.reachability(
        body, "tool0", voxel=0.4, orientations=3, threads=2, progress=lambda done, total: seen.append((done, total))
    )
    assert_array_equal(one.fraction, two.fraction)
    poses = 3 * int(two.position.sum())
    assert (two.position.size, two.position.size) in seen and seen[-1] == (poses, poses)


def test_parts_of_a_large_grid_come_together(monkeypatch):
    body = gantry({"kind": "spherical", "lower": -1.0, "upper": 1.0})
    whole = mk.batch.reachability(body, "tip", voxel=0.2, orientations=5)
    seen = []
    monkeypatch.setattr(reach, "AT_A_TIME", 7)
    parts = mk.batch.reachability(body, "tip", voxel=0.2, orientations=5, progress=lambda *told: seen.append(told))
    assert_array_equal(whole.fraction, parts.fraction)
    second = seen[seen.index((64, 64)) + 1 :]
    assert second == sorted(second) and second[-1] == (40, 40)  # the outer centres are beyond the slides


def test_rotations_are_spread_evenly():
    turns = reach.even_rotations(100)
    for turn in turns:
        assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(turn) > 0.0
    assert np.abs(turns.mean(axis=0)).max() < 0.1
    apart = min(angle_between(turns[i], turns[j]) for i in range(100) for j in range(i))
    assert apart > 0.35  # of 100 random ones, some two are within 0.15


# ---- Files and pictures ------------------------------------------------------------------------------------


@pytest.fixture
def small():
    fraction = np.linspace(0.0, 1.0, 24).reshape(2, 3, 4)
    return mk.batch.Reachability("arm", "tip", 0.1, np.array([0.0, -0.1, 0.2]), fraction > 0.2, fraction, 8)


def test_saved_and_loaded(small, tmp_path):
    again = mk.batch.load_reachability(small.save(tmp_path / "r.npz"))
    assert (again.body, again.tip, again.voxel, again.orientations) == ("arm", "tip", 0.1, 8)
    for name in ("corner", "position", "fraction"):
        assert_array_equal(getattr(again, name), getattr(small, name))
    with pytest.raises(FormatError, match="cannot be written"):
        small.save(tmp_path / "no/such/folder.npz")
    (tmp_path / "text.npz").write_text("text")
    np.savez(tmp_path / "other.npz", x=1)
    for name in ("text.npz", "other.npz", "nothing.npz"):
        with pytest.raises(FormatError, match="no saved reachability"):
            mk.batch.load_reachability(tmp_path / name)


def test_drawn(small, tmp_path):
    text = mk.write.draw_reachability(small, tmp_path / "r.svg").read_text()
    assert text.count("slice at") == 3 and "cut open at y" in text
    assert "share of 8 orientations" in text and "x [m]" in text and "tip of arm" in text
    assert mk.write.draw_reachability(small, tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(FormatError, match="cannot be written"):
        mk.write.draw_reachability(small, tmp_path / "r.docx")


def test_drawing_needs_matplotlib(small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"drawing a reachability .*memetik\[plots\]"):
        mk.write.draw_reachability(small, tmp_path / "r.png")


# ---- Mistakes ----------------------------------------------------------------------------------------------


def test_wrong_questions():
    body = mk.load("ur5")
    with pytest.raises(ProblemError, match=r"voxel is 0.0; it must be a finite number above 0"):
        mk.batch.reachability(body, "tool0", voxel=0.0)
    with pytest.raises(ProblemError, match=r"orientations is 0. Give a whole number, at least 1 and at most 100000"):
        mk.batch.reachability(body, "tool0", orientations=0)
    with pytest.raises(ProblemError, match=r"voxels of 0.001 m are more than 4,000,000. Give larger ones"):
        mk.batch.reachability(body, "tool0", voxel=0.001)
    with pytest.raises(ProblemError, match=r"nothing limits how far 'tool0' can go"):
        mk.batch.reachability(mk.load("ur5", base="floating"), "tool0")
