"""One's own robot in a real browser: from a file to a posed robot with its meshes, what is missing, and what a reload keeps."""

import importlib.util
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from memetik_studio.meshes import missing_meshes
from memetik_studio.server import Studio
from tests.browser import chromium, until
from tests.studio.patience import patient
from tests.studio.test_upload import ARM, MJCF, STL, zipped
from tests.studio.visit import visit

ROBOTS = {  # a model of example-robot-data, the folder that a person would zip, and how many meshes it has at least
    "panda": ("panda_description/urdf/panda.urdf", "panda_description", 10),
    "talos": ("talos_data/robots/talos_full_v2.urdf", "talos_data", 30),
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "g1_description", 25),
}


def robots():
    """The folder of example-robot-data, whose hundreds of megabytes nothing else here needs; None where it is not installed."""
    cmeel = importlib.util.find_spec("cmeel")
    if cmeel is None:
        return None
    folder = Path(next(iter(cmeel.submodule_search_locations))).parent / "cmeel.prefix/share/example-robot-data/robots"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="module")
def studio():
    with Studio(patient("parallel five-bar"), port=0) as running:
        yield running


@pytest.fixture(scope="module")
def new_tab():
    with chromium(1000, 600) as open_tab:
        yield open_tab


@pytest.fixture
def visited(studio, new_tab):
    studio._kept.close()  # what other tests left behind
    tab, page = visit(studio, new_tab)
    yield tab, page
    tab.close()
    until(lambda: page not in studio.pages.values(), what="the end of the page")


def upload(tab, page, name, content):
    before = page.session.scene
    with tab.expect_file_chooser() as chooser:
        tab.get_by_role("button", name="upload").click()
    chooser.value.set_files({"name": name, "mimeType": "application/zip", "buffer": content})
    until(lambda: page.session.scene is not before or page.trouble, what=name)
    with page.session.lock:  # until it is shown, too
        return


def test_a_zip_becomes_a_robot_with_meshes_in_one_action(visited):
    tab, page = visited
    pytest.importorskip("mujoco")
    files = {"r/m.xml": MJCF.format(folder="meshes", file="part.stl"), "r/meshes/part.stl": STL}
    upload(tab, page, "m.zip", zipped(files))
    assert page.trouble == "" and page.session.body.joint_names == ("joint0", "joint1")
    assert list(page.gizmos._targets) == ["hand"] and not page._missing.visible
    assert [name for name in page.stage._figure._copies if name.startswith("mesh")]
    upload(tab, page, "bad.zip", b"PK nonsense")
    tab.get_by_text("cannot be unpacked").first.wait_for()


def test_missing_meshes_are_named_in_the_page(visited):
    tab, page = visited
    with pytest.warns(match="not found"):
        upload(tab, page, "arm.zip", zipped({"arm.urdf": ARM.format(mesh="package://my_robot/meshes/part.stl")}))
        assert page.session.body.name == "arm"
        tab.get_by_text("1 of 1 meshes are not drawn").wait_for()
        tab.get_by_text("package://my_robot/meshes/part.stl: not found").wait_for()
        tab.get_by_text("--root DIR, the folder that holds my_robot").wait_for()
    page.act(page.session.undo)
    until(lambda: not page._missing.visible)


@pytest.mark.only_if(robots() is not None, "machines with example-robot-data")
@pytest.mark.parametrize("name", ROBOTS)
def test_robots_of_others_are_posed_with_their_meshes(visited, name, tmp_path):
    """The folder is zipped and uploaded; then a target is dragged: two actions."""
    tab, page = visited
    folder, (model, zipped_folder, count) = robots(), ROBOTS[name]
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted((folder / zipped_folder).rglob("*")):
            if path.is_file() and (path.suffix != ".urdf" or path == folder / model):
                archive.write(path, path.relative_to(folder))
    upload(tab, page, f"{name}.zip", stream.getvalue())
    session = page.session
    assert page.trouble == "" and missing_meshes(session.body, session.roots) == {}
    meshes = [unit for unit in page.stage._figure._copies if unit.startswith("mesh")]
    assert len(meshes) >= count and session.reached
    target = session.scene.wishes[0].name
    at, wxyz = session.gizmo(target)
    with session.lock:
        root = session.poses(session.q)[session.body.root][:3, 3]
        session.move(target, at + 0.05 * (root - at) / np.linalg.norm(root - at), wxyz)  # a limb may be stretched out
        page._frame()
    until(
        lambda: session.reached, what="the dragged target"
    )  # by the worker's search where a busy machine cut the frame's
    until(lambda: tab.get_by_text("Opening").count() == 0, what="the end of the notice")
    tab.screenshot(path=tmp_path / f"{name}.png", timeout=120_000)


def test_a_miss_is_explained_on_the_stage(visited):
    _, page = visited
    page.act(lambda: page.session.open(patient("arm reach")))
    page.act(lambda: page.session.set("hand", position=[3.0, 0.0, 0.4]))
    until(lambda: any("reaches at most" in label.text for label in page.stage._reasons.values()), what="a reason")
    page.act(page.session.undo)
    until(lambda: not page.stage._reasons, what="the end of the reason")


def test_keys_undo_and_redo(visited):
    tab, page = visited
    page.act(lambda: page.session.open(patient("arm reach")))
    page.act(lambda: page.session.set("hand", position=[0.45, -0.1, 0.5]))
    before = page.session.scene
    tab.mouse.click(20, 300)
    tab.keyboard.press("Control+z")
    until(lambda: page.session.scene.wish("hand").values["position"] == [0.5, 0.1, 0.4], what="undo")
    tab.keyboard.press("Control+y")
    until(lambda: page.session.scene is before, what="redo")
    tab.keyboard.press("Control+z")
    until(lambda: page.session.scene is not before, what="undo")
    tab.keyboard.press("Control+Shift+Z")
    until(lambda: page.session.scene is before, what="redo")


def test_the_objective_of_a_gizmo_in_the_hand_is_shown(visited):
    _tab, page = visited
    page.act(lambda: page.session.open(patient("humanoid")))
    panel = page._objectives
    assert panel._chosen.value != "leftPalm"
    page.gizmos.taken = "leftPalm"
    page.wake()
    until(lambda: panel._chosen.value == "leftPalm")


def test_a_page_that_is_loaded_anew_goes_on(studio, visited):
    tab, page = visited
    upload(tab, page, "arm.zip", zipped({"arm.urdf": ARM.format(mesh="part.stl"), "part.stl": STL}))
    session = page.session
    known = set(studio.pages)
    tab.reload()
    until(lambda: set(studio.pages) - known, what="the page anew")
    (again,) = (studio.pages[number] for number in set(studio.pages) - known)
    assert again.session is session and not missing_meshes(session.body, session.roots)
    assert again.session.undo() and again.session.body.name == "five_bar"
    tab.get_by_role("tab", name="Compare").wait_for()
