"""The cover of a body's meshes: made by the worker, seen as glass around the body."""

import numpy as np
import pytest
import trimesh

import memetik as mk
from memetik import scenes
from memetik_studio.jobs import cover
from memetik_studio.solids import shape_copies
from tests.collision.samples import write_robot


@pytest.fixture
def robot(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return write_robot(tmp_path, [trimesh.creation.box((0.1, 0.06, 0.3)), trimesh.creation.icosphere(1, 0.1)])


def asked(path, roots):
    source = scenes.BodySource("file", str(path))
    return scenes.dumps(scenes.blank(source, scenes.load_body(source, roots)))


def test_meshes_in_the_folders_of_the_studio_are_covered(robot, tmp_path):
    roots = (str(tmp_path),)
    covered = cover(asked(robot, roots), [], roots)
    assert covered.remark == ""
    body = mk.load(robot)
    kinds = {link.name: [shape.kind for shape in link.shapes] for link in covered.links}
    assert kinds["base"] == [] and kinds["link0"] == ["box"] and "mesh" not in kinds["link1"] and kinds["link1"]
    parts = shape_copies(body, covered.links)
    positions, _ = parts["box"].place(body.forward(body.home).array)
    np.testing.assert_allclose(positions[0], body.forward(body.home)["link0"][:3, 3] + (0.0, 0.0, 0.1), atol=1e-5)
    assert sorted(parts["box"].scales[0]) == pytest.approx([0.06, 0.1, 0.3], abs=1e-4)


def test_meshes_elsewhere_are_not_read(robot, tmp_path):
    roots = (str(robot.parent),)
    covered = cover(asked(robot, roots), [], roots)
    assert "link0, link1 are not in the folders of the studio" in covered.remark
    assert [shape.kind for link in covered.links for shape in link.shapes] == ["mesh", "mesh"]
    assert not robot.with_name("robot.shapes.json").exists()


def test_what_cannot_be_covered_is_an_answer_too(robot, tmp_path):
    assert "this version reads" in cover("{}", [], ()).remark
    (tmp_path / "robot" / "meshes" / "link0.stl").write_bytes(b"")
    roots = (str(tmp_path),)
    assert "link 'link0'" in cover(asked(robot, roots), [], roots).remark


def test_simple_shapes_are_a_cover_already():
    covered = cover(scenes.dumps(scenes.ready("arm reach")), [], ())
    assert covered.remark == "" and shape_copies(mk.load("panda"), covered.links)
