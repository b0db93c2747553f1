"""Bodies with meshes get simple shapes, which are kept in a file; what is missing or broken is said."""

import sys
from contextlib import nullcontext

import numpy as np
import pytest
import trimesh

import memetik as mk
from memetik.cli import main
from memetik.collision import body_cover, meshes
from tests.collision.samples import MESHES, bent_tube, ell, points_on, write_robot
from tests.naive import covers as naive


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A user's cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache" / "memetik"


def box():
    return trimesh.creation.box((0.1, 0.06, 0.3))


def quick(body, **options):
    return mk.collision.cover(body, **{"most": 1, "progress": False, **options})


def plain(body):
    return {
        name: [(shape.kind, shape.size, shape.link_from_shape.tolist()) for shape in link.shapes]
        for name, link in body.links.items()
    }


@pytest.mark.parametrize("suffix", [".stl", ".obj", ".dae", ".glb", ".ply"])
def test_every_format_gives_the_same_shapes(tmp_path, suffix):
    path = write_robot(tmp_path, [box()], suffix=suffix, at="0.1 0 0.2", scale="1 2 -1")
    (shape,) = mk.load(path).with_shapes(most=1, save=False, progress=False).links["link0"].shapes
    assert shape.kind == "box"
    assert sorted(shape.size) == pytest.approx([0.1, 0.12, 0.3], abs=1e-4)
    np.testing.assert_allclose(shape.link_from_shape[:3, 3], (0.1, 0.0, 0.2), atol=1e-5)


def test_gltf_with_its_numbers_in_another_file(tmp_path):
    path = write_robot(tmp_path, [box()])
    folder = tmp_path / "robot" / "meshes"
    for name, data in trimesh.exchange.gltf.export_gltf(trimesh.Scene(box())).items():
        (folder / name).write_bytes(data)
    (folder / "model.gltf").rename(folder / "link0.gltf")
    path.write_text(path.read_text().replace("link0.stl", "link0.gltf"))
    (shape,) = quick(mk.load(path), save=False).body.links["link0"].shapes
    assert sorted(shape.size) == pytest.approx([0.06, 0.1, 0.3], abs=1e-4)


def test_shapes_are_kept_beside_the_model_and_used_again(tmp_path):
    path = write_robot(tmp_path, [box(), bent_tube()])
    first = mk.collision.cover(mk.load(path), progress=False)
    file = path.with_name("robot.shapes.json")
    assert first.file == file and first.made == ("link0", "link1") and file.is_file()
    again = mk.collision.cover(mk.load(path), progress=False)
    assert again.made == () and plain(again.body) == plain(first.body)
    assert again.links["link1"].volume == first.links["link1"].volume
    loaded = mk.load(path, shape_file=file)
    assert plain(loaded) == plain(first.body)
    part = mk.collision.cover(mk.load(path).subtree("link1"), progress=False)
    assert part.made == () and set(part.links) == {"link1"}
    assert "link0" in file.read_text()
    other = trimesh.creation.box((0.1, 0.06, 0.31))
    (tmp_path / "robot" / "meshes" / "link0.stl").write_bytes(trimesh.exchange.stl.export_stl(other))
    assert mk.collision.cover(mk.load(path), progress=False).made == ("link0",), "the mesh is another"
    assert quick(mk.load(path), links=["link0"]).made == ("link0",), "the options are others"
    assert quick(mk.load(path)).made == ("link1",)


def test_where_shapes_are_kept(tmp_path, cache, monkeypatch, capsys):
    path = write_robot(tmp_path, [box()])
    beside = path.with_name("robot.shapes.json")
    assert quick(mk.load(path), save=False).file is None and not beside.exists()
    named = tmp_path / "other" / "mine.json"
    assert quick(mk.load(path), save=named).file == named and named.is_file() and not beside.exists()
    assert quick(mk.load(path), save=named).made == ()
    monkeypatch.setattr(body_cover, "is_writable", lambda file: False)
    kept = quick(mk.load(path)).file
    assert kept is not None and kept.parent == cache and kept.is_file() and not beside.exists()
    told = capsys.readouterr().err
    assert "cannot be written to" in told and str(kept) in told and told.count("\n") == 1
    assert quick(mk.load(path)).made == ()


def test_simple_shapes_stay_and_meshes_remain_for_drawing(tmp_path):
    sphere = '<collision><geometry><sphere radius="0.02"/></geometry></collision>'
    body = mk.load(write_robot(tmp_path, [box()], more=sphere))
    link = quick(body, save=False).body.links["link0"]
    assert [shape.kind for shape in link.shapes] == ["sphere", "box"] and link.shapes[0].size == (0.02,)
    assert [shape.kind for shape in link.visuals] == ["sphere", "mesh"]


def test_visual_meshes_stand_in_or_are_asked_for(tmp_path):
    path = write_robot(tmp_path, [box()])
    path.write_text(path.read_text().replace("collision>", "visual>"))
    assert quick(mk.load(path), save=False).links["link0"].of == "visual"
    sphere = '<collision><geometry><sphere radius="0.02"/></geometry></collision></link><joint'
    path.write_text(path.read_text().replace("</link><joint", sphere))
    assert quick(mk.load(path), save=False).links == {}
    assert [s.kind for s in quick(mk.load(path), save=False, of="visual").body.links["link0"].shapes] == ["box"]


def test_a_body_without_meshes_is_as_it_was():
    body = mk.load("panda")
    cover = mk.collision.cover(body)
    assert cover.body is body and cover.file is None and "no link has a mesh" in str(cover)


def test_links_keep_apart_as_coal_says(tmp_path, rng):
    coal = pytest.importorskip("coal", reason="pip install pin")
    made = [ell(), bent_tube(), trimesh.creation.capsule(0.3, 0.04, count=(8, 8))]
    body = mk.load(write_robot(tmp_path, made))
    covered, up = body.with_shapes(progress=False), (0.0, 0.0, 0.1)  # where the meshes stand in their links
    for k, mesh in enumerate(made):
        triangles = np.add(mesh.triangles, up)
        assert naive.outside(covered.links[f"link{k}"].shapes, points_on(triangles, 3, rng)).max() <= 1e-6
    problem = mk.Problem(covered, mk.SelfDistance(covered, ["link0", "link2"]))
    models = {}
    for k in (0, 2):
        models[k] = coal.BVHModelOBBRSS()
        models[k].beginModel(len(made[k].faces), len(made[k].vertices))
        corners, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        corners.extend(np.add(made[k].vertices, up))
        faces.extend(coal.Triangle(*map(int, face)) for face in made[k].faces)
        models[k].addSubModel(corners, faces)
        models[k].endModel()
    hits = free = 0
    for _ in range(400):
        q = body.sample(rng)
        poses = [body.forward(q)[f"link{k}"] for k in (0, 2)]
        places = [coal.Transform3s(pose[:3, :3], pose[:3, 3]) for pose in poses]
        result = coal.CollisionResult()
        coal.collide(models[0], places[0], models[2], places[1], coal.CollisionRequest(), result)
        apart = mk.Solution.of(problem, q).success
        hits += result.isCollision()
        free += apart
        assert not (result.isCollision() and apart)
    assert hits > 10 and free > 10


# ---- Where meshes are ----------------------------------------------------------------------------------------


def test_packages_are_found_around_the_file_and_by_ros(tmp_path, monkeypatch):
    path = write_robot(tmp_path / "home", [box()])
    mesh = tmp_path / "home" / "robot" / "meshes" / "link0.stl"
    assert mk.load(path).links["link0"].shapes[0].mesh == str(mesh), "the package is above the file"
    copy = tmp_path / "model" / "robot.urdf"
    copy.parent.mkdir()
    copy.write_text(path.read_text())
    with pytest.warns(mk.MemetikWarning, match="1 meshes were not found"):
        assert mk.load(copy).links["link0"].shapes[0].mesh == "package://robot/meshes/link0.stl"
    assert mk.load(copy, roots=[tmp_path / "home"]).links["link0"].shapes[0].mesh == str(mesh)
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path / 'home'}")
    assert mk.load(copy).links["link0"].shapes[0].mesh == str(mesh)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path))
    assert mk.load(copy).links["link0"].shapes[0].mesh == str(mesh), "in a repository of packages"
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    share = tmp_path / "install" / "share"
    share.mkdir(parents=True)
    (tmp_path / "home" / "robot").rename(share / "robot")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "install"))
    assert mk.load(copy).links["link0"].shapes[0].mesh == str(share / "robot" / "meshes" / "link0.stl")


@pytest.mark.parametrize(
    ("prefix", "is_found"),
    [
        ("package:///robot/meshes/", True),
        ("package://renamed/meshes/", True),
        ("../meshes/", True),
        ("../../robot/meshes/", True),
        ("../../secret/", False),
        ("package://../secret/", False),
        ("package://robot/../secret/", False),
        ("http://robot/meshes/", False),
    ],
)
def test_names_of_meshes(tmp_path, prefix, is_found):
    path = write_robot(tmp_path, [box()], prefix=prefix)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "link0.stl").write_bytes(b"")
    with nullcontext() if is_found else pytest.warns(mk.MemetikWarning, match="were not found"):
        mesh = mk.load(path).links["link0"].shapes[0].mesh
    assert mesh == (str(tmp_path / "robot" / "meshes" / "link0.stl") if is_found else f"{prefix}link0.stl")


def test_all_missing_meshes_are_named_with_where_they_were_looked_for(tmp_path):
    path = write_robot(tmp_path, [box(), box(), box()], prefix="package://gone/meshes/of/")
    with pytest.warns(mk.MemetikWarning, match="3 meshes were not found"):
        body = mk.load(path)
    with pytest.raises(mk.errors.FormatError, match="3 of its meshes are not there") as caught:
        body.with_shapes(roots=[tmp_path / "more"])
    text = str(caught.value)
    for k in range(3):
        assert f"package://gone/meshes/of/link{k}.stl of link link{k}" in text
    assert str(tmp_path / "more" / "gone" / "meshes" / "of" / "link0.stl") in text
    assert "roots=" in text and "ROS_PACKAGE_PATH" in text
    built = mk.build.BodyBuilder("built").add(
        "base", "a", "revolute", "arm", shapes=[mk.Shape("mesh", (1, 1, 1), mesh="x.stl")]
    )
    with pytest.raises(mk.errors.FormatError, match=r"x.stl of link arm; there is no place to look"):
        built.build().with_shapes()


# ---- What is wrong -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "content", "message"),
    [
        (".stl", b"solid nothing\nendsolid nothing\n", "has no triangles|cannot be read as STL"),
        (".stl", b"\x00\x01", "has no triangles|cannot be read as STL"),
        (".obj", b"v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n", "not finite"),
        (".obj", b"v 0 0 0\nv 1e9 0 0\nv 0 1 0\nf 1 2 3\n", "not finite or further away"),
        (".obj", b"v 0 0 0\n", "has no triangles|cannot be read as OBJ"),
        (".dae", b"<COLLADA>", "cannot be read as DAE"),
        (".glb", b"glTF", "cannot be read as GLB"),
        (".step", b"ISO-10303-21;", "is no mesh that memetik reads. Convert it to one of .stl"),
    ],
)
def test_a_broken_mesh_is_told(tmp_path, suffix, content, message):
    path = write_robot(tmp_path, [box()])
    path.write_text(path.read_text().replace(".stl", suffix))
    mesh = tmp_path / "robot" / "meshes" / f"link0{suffix}"
    mesh.write_bytes(content)
    with pytest.raises(mk.errors.FormatError, match=f"link 'link0'.*({message})") as caught:
        quick(mk.load(path), save=False)
    assert mesh.name in str(caught.value)


def test_huge_meshes_are_told(tmp_path, monkeypatch):
    body = mk.load(write_robot(tmp_path, [box()]))
    monkeypatch.setattr(meshes, "MOST_TRIANGLES", 11)
    with pytest.raises(mk.errors.FormatError, match=r"12 triangles, more than 11\. Give the link a coarser mesh"):
        quick(body, save=False)
    monkeypatch.setattr(meshes, "MOST_BYTES", 2**20 // 2**11)
    with pytest.raises(mk.errors.FormatError, match=r"MB, more than .* simplify this one"):
        quick(body, save=False)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    body = mk.load(write_robot(tmp_path, [box()]))
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(mk.errors.MissingExtraError, match=r"memetik\[meshes\]"):
        body.with_shapes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"most": 0}, "most"),
        ({"most": 9}, "most"),
        ({"kinds": ()}, "kinds is empty"),
        ({"kinds": ("mesh",)}, "no kind of shape that covers named 'mesh'"),
        ({"gain": 1.0}, "gain is 1"),
        ({"gain": float("nan")}, "gain is nan"),
        ({"of": "both"}, "of is 'both'"),
        ({"links": ["nobody"]}, "no link named 'nobody'"),
        ({"save": 3.0}, "save is 3.0"),
    ],
)
def test_options_that_make_no_sense(tmp_path, options, message):
    body = mk.load(write_robot(tmp_path, [box()]))
    with pytest.raises(mk.MemetikError, match=message):
        body.with_shapes(**options)
    with pytest.raises(mk.errors.BodyError, match="cover takes a body"):
        mk.collision.cover("panda")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not JSON"),
        ("[1]", "not an object"),
        ("{}", "format"),
        ('{"format": "memetik shapes 1", "links": 3}', "links"),
        ('{"format": "memetik shapes 1", "links": {"link0": {"shapes": []}}}', "at least one shape"),
        ('{"format": "memetik shapes 1", "links": {"link0": {"of": "x", "shapes": []}}}', '"of" is'),
        ('{"format": "memetik shapes 1", "links": {"link0": {"shapes": [{"kind": "cone"}]}}}', "unknown shape 'cone'"),
        ('{"format": "memetik shapes 1", "links": {"link0": {"shapes": [{"kind": "mesh"}]}}}', "cannot stand for a mesh"),
        ('{"format": "memetik shapes 1", "links": {"link0": {"shapes": [{"kind": "sphere", "size": [-1]}]}}}', "negative"),
        ('{"format": "memetik shapes 1", "links": {"link0": {"volume": "x", "shapes": [{"kind": "sphere", "size": [1]}]}}}',
         "volume is 'x'"),
        ('{"format": "memetik shapes 1", "links": {"gone": {"shapes": [{"kind": "sphere", "size": [1]}]}}}', "no link named"),
    ],
)  # fmt: skip
def test_a_broken_file_of_shapes_is_told(tmp_path, text, message):
    path = write_robot(tmp_path, [box()])
    file = path.with_name("mine.json")
    file.write_text(text)
    with pytest.raises(mk.MemetikError, match=message):
        mk.load(path, shape_file=file)


def test_a_file_of_shapes_that_is_not_there(tmp_path):
    with pytest.raises(mk.errors.FormatError, match="cannot be read"):
        mk.load(write_robot(tmp_path, [box()]), shape_file=tmp_path / "none.json")


# ---- Seen ----------------------------------------------------------------------------------------------------


def test_the_table(tmp_path):
    told = []
    cover = mk.collision.cover(
        mk.load(write_robot(tmp_path, [box(), MESHES["plate"]()])), progress=lambda *done: told.append(done)
    )
    lines = str(cover).splitlines()
    assert lines[0].split() == ["link", "shapes", "volume", "[l]", "hull", "[l]", "ratio"]
    assert lines[1].split()[:3] == ["link0", "1", "box"] and lines[2].split()[-1] == "-", "flat meshes have no ratio"
    assert lines[-1].startswith("2 links, 2 shapes") and "median 1.0" in lines[-1]
    assert told == [(0, 2), (1, 2)]


def test_the_picture(tmp_path):
    cover = quick(mk.load(write_robot(tmp_path, [box(), ell()])))
    path = tmp_path / "cover.svg"
    picture = mk.write.draw_cover(cover, path=path, title="both")
    assert (
        path.read_text() == picture
        and picture.count("<polygon") > 20
        and 'opacity="0.38"' in picture
        and "both" in picture
    )
    alone = mk.write.draw_cover(cover, links=["link1"])
    assert 0 < alone.count("<polygon") < picture.count("<polygon")
    with pytest.raises(mk.errors.FormatError, match="nothing to draw"):
        mk.write.draw_cover(cover, links=["base"])
    with pytest.raises(mk.MemetikError, match="a cover"):
        mk.write.draw_cover(cover.body)


def test_the_command(tmp_path, capsys):
    path = write_robot(tmp_path, [box()])
    out, picture = tmp_path / "shapes.json", tmp_path / "seen.svg"
    command = ["cover", str(path), "-o", str(out), "--draw", str(picture), "--kinds", "box", "--most", "1"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "link0  1 box" in printed and str(out) in printed and picture.is_file() and out.is_file()
    assert main(command) == 0 and "(unchanged)" in capsys.readouterr().out
    assert main(["cover", str(path), "--kinds", "ball"]) == 2
    assert "no kind of shape" in capsys.readouterr().err


def test_the_file_goes_with_parts_of_a_body(tmp_path):
    path = write_robot(tmp_path, [box()])
    body = mk.load(path, base="floating")
    assert body.file == path and body.fix({"turn0": 0.1}).file == path
    assert mk.load(path).subtree("link0").file == path
    with pytest.raises(mk.errors.BodyError, match="the file of a body"):
        mk.Body("x", [mk.build.Link("one")], [], file=3)
