"""The comparisons with MuJoCo and Pinocchio that run by hand over all packages, over few files."""

import shutil

import pytest

from memetik import bodies
from tests.body.test_conversion import MJCF
from tests.stress import mjcf, urdfs


def test_mujoco_models(tmp_path, capsys):
    (tmp_path / "animal.xml").write_text(MJCF)
    (tmp_path / "part.xml").write_text("<mujoco><worldbody><geom type='mesh' mesh='lost'/></worldbody></mujoco>")
    (tmp_path / "coupled.xml").write_text(
        """<mujoco><worldbody><body name="a"><joint name="one" axis="0 1 0" ref="0.3" pos="0.1 0 0"/><geom size="0.1"/><site/>
        <body name="b" pos="0 0 1"><joint name="two" axis="1 0 0"/><geom size="0.1"/><site name="a"/></body></body></worldbody>
        <equality><joint joint1="two" joint2="one" polycoef="0.1 -0.5 0 0 0"/></equality></mujoco>"""
    )
    (tmp_path / "other.xml").write_text("<robot/>")
    assert mjcf.main(["50", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "3 files, 1 of which MuJoCo does not compile" in said and "2 models equal to MuJoCo at 50" in said
    assert mjcf.compare(tmp_path / "coupled.xml", 5).frames == 4


def test_urdf_files(tmp_path, capsys):
    for name in ("panda", "nao"):
        shutil.copy(bodies.path(name), tmp_path)
    (tmp_path / "empty.urdf").write_text("<robot name='empty'/>")
    (tmp_path / "follower.urdf").write_text(
        """<robot name="f"><link name="a"/><link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/>
        <limit lower="0" upper="1" effort="1" velocity="1"/><mimic joint="lost"/></joint></robot>"""
    )
    assert urdfs.main([str(tmp_path)]) == 0
    assert "4 files: 2 loaded by both" in capsys.readouterr().out


def test_a_difference_is_told(tmp_path, capsys, monkeypatch):
    shutil.copy(bodies.path("ur5"), tmp_path)
    monkeypatch.setattr(urdfs, "difference", lambda body, model: 1e-3)
    assert urdfs.main([str(tmp_path)]) == 1 and "differs by 1.0e-03" in capsys.readouterr().out
    assert urdfs.installed()[0] == bodies.path("ur5").parent


@pytest.mark.parametrize("text", ["<robot name='a'><link name='a'/><link name='b'/></robot>"])
def test_two_roots_are_refused_here_and_there(tmp_path, text):
    (tmp_path / "two.urdf").write_text(text)
    finding = urdfs.compare(tmp_path / "two.urdf")
    assert "links have no parent" in finding.refused
