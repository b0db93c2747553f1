"""`memetik motion`: what it prints, what it writes, and how it ends."""

import numpy as np
import pytest

import memetik as mk
from memetik.cli import main
from tests.read.clips import clip_text


@pytest.fixture
def clip(tmp_path):
    path = tmp_path / "figure.bvh"
    path.write_text(clip_text(7, seed=4, step="0.1", turn=20.0))
    return path


def test_show(clip, tmp_path, capsys):
    out = tmp_path / "a.svg"
    assert main(["motion", "show", str(clip), "--out", str(out), "--feet", "LeftLeg_EndSite", "--scale", "0.1"]) == 0
    said = capsys.readouterr().out
    assert "7 frames in 0.600 s at 10 Hz" in said and "of 7 frames" in said
    assert out.read_text().startswith("<svg")


def test_convert(clip, tmp_path, capsys):
    to = tmp_path / "b.csv"
    assert (
        main(["motion", "convert", str(clip), str(to), "--rate", "20", "--between", "0.1", "0.5", "--scale", "0.1"])
        == 0
    )
    body = mk.load(clip, scale=0.1)
    back = mk.read_motion(to, body=body)
    assert len(back) == 9
    np.testing.assert_allclose(back.q[0], mk.read_motion(clip, scale=0.1).q[1], atol=1e-12)
    again = tmp_path / "c.bvh"
    turn = ["--mirror", "--turn", "90", "--up", "y"]
    assert main(["motion", "convert", str(clip), str(again), *turn]) == 0
    mirrored = mk.read_motion(clip).mirrored().turned(np.pi / 2)
    np.testing.assert_allclose(mk.read_motion(again).poses("Head"), mirrored.poses("Head"), atol=1e-4)
    assert "written:" in capsys.readouterr().out


def test_edit(clip, tmp_path, capsys):
    to = tmp_path / "d.bvh"
    moved = ["--move", "Head_EndSite", "0", "0", "-0.05", "--hold", "LeftLeg_EndSite,RightLeg_EndSite"]
    assert main(["motion", "edit", str(clip), str(to), "--scale", "0.1", *moved]) == 0
    before, after = (mk.read_motion(path, scale=0.1).poses("Head_EndSite") for path in (clip, to))
    np.testing.assert_allclose((after - before)[:, :3, 3], np.tile((0, 0, -0.05), (7, 1)), atol=2e-3)


@pytest.mark.parametrize(
    "wrong",
    [["show", "none.bvh"], ["convert", "CLIP", "x.fbx"], ["edit", "CLIP", "x.bvh"],
     ["edit", "CLIP", "x.bvh", "--look-at", "Head", "a", "b", "c"]],
)  # fmt: skip
def test_mistakes_end_with_a_sentence(clip, wrong, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["motion", *(str(clip) if word == "CLIP" else word for word in wrong)]) == 2
    assert capsys.readouterr().err.startswith("memetik: ")


def test_a_film(clip, tmp_path, capsys):
    out = tmp_path / "a.gif"
    assert main(["motion", "show", str(clip), "-o", str(out), "--scale", "0.1", "--frames", "3"]) == 0
    assert out.read_bytes().startswith(b"GIF89a")
    assert main(["motion", "show", str(clip), "-o", str(out), "--layout", "strip"]) == 2
    assert "written as .svg or .png, not as 'a.gif'" in capsys.readouterr().err


def test_a_part_is_changed(clip, tmp_path):
    to = tmp_path / "e.bvh"
    moved = ["--move", "Head_EndSite", "0", "0", "-0.05", "--between", "0.3", "inf", "--ease", "0.1"]
    assert main(["motion", "edit", str(clip), str(to), "--scale", "0.1", *moved]) == 0
    before, after = (mk.read_motion(path, scale=0.1).poses("Head_EndSite")[:, 2, 3] for path in (clip, to))
    change = after - before
    assert abs(change[:2]).max() < 2e-3 and abs(change[-1] + 0.05) < 2e-3
