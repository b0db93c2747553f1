"""The bench of covers, on a small robot of our own."""

import pytest
import trimesh

from memetik_lab.claims import covers
from tests.collision.samples import bent_tube, ell, write_robot


@pytest.fixture
def small(tmp_path, monkeypatch):
    path = write_robot(tmp_path, [ell(), bent_tube(), trimesh.creation.box((0.1, 0.1, 0.4))])
    monkeypatch.setattr(covers, "model_path", lambda robot: path)
    return path


def test_covers_are_measured_and_judged(small, tmp_path):
    pytest.importorskip("coal", reason="pip install pin")
    (row,) = covers.run(tmp_path / "out", robots=["ur5"], postures=200).rows
    assert row["links"] == 3 and row["pairs"] == 1 and row["postures"] == 200
    assert row["hits"] > 0 and row["missed"] == 0 and row["outside [um]"] <= 0.0
    assert row["median"] < 1.1 and row["seconds"] > 0.0
    assert row["shapes free [%]"] <= row["free [%]"] < 100.0
    assert (tmp_path / "out" / "covers.json").is_file()


def test_without_coal_nothing_is_judged(small, tmp_path):
    (row,) = covers.run(tmp_path / "out", robots=["ur5"], postures=10, peers=()).rows
    assert row["missed"] is None and row["median"] < 1.1


def test_what_is_not_installed_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(covers, "ROBOTS", {"ur5": covers.Robot("no-such-package", "ur5.urdf")})
    with pytest.raises(covers.UnavailableError, match="pip install no-such-package"):
        covers.run(tmp_path, robots=["ur5"])


def test_an_uncovered_point_would_be_seen(small, tmp_path):
    import memetik as mk

    body = mk.load(small)
    cover = mk.collision.cover(body, save=False, progress=False)
    judge = covers.Judge(body, cover)
    for name, link in cover.links.items():
        assert covers._outside(judge.corners[name], link.shapes) <= 0.0
        smaller = [mk.Shape(s.kind, tuple(0.97 * x for x in s.size), s.link_from_shape) for s in link.shapes]
        assert covers._outside(judge.corners[name], smaller) > 0.0
