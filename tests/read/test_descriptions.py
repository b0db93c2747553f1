"""Names of robot_descriptions, by a package that stands in for it and clones nothing."""

import sys

import pytest

import memetik as mk
from memetik.errors import FormatError, MissingExtraError, UnknownNameError
from memetik.read.descriptions import cache
from tests.read.samples import SRDF, URDF

MODULES = {
    "arm_description": """
from pathlib import Path
REPOSITORY_PATH = str(Path(__file__).parent / "cache")
PACKAGE_PATH = REPOSITORY_PATH + "/models/arm"
URDF_PATH = PACKAGE_PATH + "/urdf/arm.urdf"
SRDF_PATH = PACKAGE_PATH + "/srdf/arm.srdf"
""",
    "ball_mj_description": """
from pathlib import Path
PACKAGE_PATH = REPOSITORY_PATH = str(Path(__file__).parent / "cache")
MJCF_PATH = PACKAGE_PATH + "/ball.xml"
""",
    "far_description": "raise OSError('Could not resolve host: github.com')",
    "gone_description": "URDF_PATH = '/nowhere/robot.urdf'",
    "written_description": "XACRO_PATH = '/nowhere/robot.xacro'",
    "empty_description": "PACKAGE_PATH = '/nowhere'",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package robot_descriptions with a robot of each kind."""
    folder = tmp_path / "robot_descriptions"
    model = folder / "cache" / "models" / "arm"
    for name in ("urdf", "srdf", "meshes"):
        (model / name).mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "_descriptions.py").write_text(f"DESCRIPTIONS = dict.fromkeys({list(MODULES)})")
    (folder / "_xacro.py").write_text("def get_urdf_path(module):\n    import xacrodoc_that_is_not_there")
    for name, text in MODULES.items():
        (folder / f"{name}.py").write_text(text)
    (model / "urdf" / "arm.urdf").write_text(URDF)
    (model / "srdf" / "arm.srdf").write_text(SRDF)
    (model / "meshes" / "hand.stl").touch()
    (folder / "cache" / "ball.xml").write_text(
        "<mujoco><worldbody><body name='ball'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"
    )
    for name in [name for name in sys.modules if name.partition(".")[0] == "robot_descriptions"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "robot_descriptions"]:
        del sys.modules[name]


def test_a_urdf_with_its_srdf_and_meshes(package):
    body = mk.load("robot_descriptions:arm_description")
    assert body.joint_names == ("shoulder", "elbow", "slide", "finger")
    assert "reach" in body.chains
    assert body.links["hand"].visuals[0].mesh == str(package / "cache" / "models" / "arm" / "meshes" / "hand.stl")


def test_the_ending_may_be_left_out(package):
    assert mk.load("robot_descriptions:arm", base="floating").dof == 10
    assert set(mk.load("robot_descriptions:ball_mj").links) == {"world", "ball"}


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (
            "arn",
            UnknownNameError,
            r"no description named 'arn_description' in .*'arm_description'",
        ),
        ("far", FormatError, r"cannot be fetched: Could not resolve host.*ROBOT_DESCRIPTIONS_CACHE"),
        ("gone", FormatError, "is not there. Clear the cache"),
        ("written", FormatError, "pip install xacrodoc"),
        ("empty", FormatError, "neither a URDF nor an MJCF"),
    ],
)
def test_what_goes_wrong_is_said(package, name, error, message):
    with pytest.raises(error, match=message):
        mk.load(f"robot_descriptions:{name}")


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "robot_descriptions", None)
    with pytest.raises(MissingExtraError, match=r'pip install "memetik\[descriptions\]"'):
        mk.load("robot_descriptions:panda_description")


@pytest.mark.parametrize("place", ["arm", "repository/arm", "repository/robots/arm"])
def test_meshes_in_its_cache_are_found_for_any_file(tmp_path, monkeypatch, place):
    monkeypatch.setenv("ROBOT_DESCRIPTIONS_CACHE", str(tmp_path / "cache"))
    assert cache() == tmp_path / "cache"
    mesh = tmp_path / "cache" / place / "meshes" / "hand.stl"
    mesh.parent.mkdir(parents=True)
    mesh.touch()
    (tmp_path / "mine").mkdir()
    path = tmp_path / "mine" / "arm.urdf"
    path.write_text(URDF)
    assert mk.load(path).links["hand"].visuals[0].mesh == str(mesh)
