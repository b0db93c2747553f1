"""Meshes are found inside the roots, and never outside."""

import pytest

from memetik.read import parse_urdf, resolve_mesh
from tests.read.samples import URDF


@pytest.fixture
def share(tmp_path):
    """share/arm/meshes/hand.stl and share/arm/meshes/long name.stl inside, secret.stl outside."""
    meshes = tmp_path / "share" / "arm" / "meshes"
    meshes.mkdir(parents=True)
    (meshes / "hand.stl").write_text("solid")
    (meshes / "long name.stl").write_text("solid")
    (tmp_path / "secret.stl").write_text("secret")
    (meshes / "link.stl").symlink_to(tmp_path / "secret.stl")
    (meshes / "inner.stl").symlink_to(meshes / "hand.stl")
    (meshes / "loop.stl").symlink_to(meshes / "loop.stl")
    return tmp_path / "share"


def test_found(share):
    hand = share / "arm" / "meshes" / "hand.stl"
    assert resolve_mesh("package://arm/meshes/hand.stl", [share]) == hand
    assert resolve_mesh("package://arm/meshes/hand.stl", [share / "arm"]) == hand, "the root is the package"
    assert resolve_mesh("package://arm/meshes/hand.stl", str(share)) == hand, "one root needs no list"
    assert resolve_mesh("arm/meshes/hand.stl", [share / "nowhere", share]) == hand
    assert resolve_mesh("arm/../arm/meshes/hand.stl", [share]) == hand
    assert resolve_mesh(f"file://{hand}", [share]) == hand
    assert resolve_mesh(f"file://{hand.with_name('long%20name.stl')}", [share]) == hand.with_name("long name.stl")
    assert resolve_mesh(str(hand), [share]) == hand
    assert resolve_mesh("arm/meshes/inner.stl", [share]) == hand


@pytest.mark.parametrize(
    "name",
    [
        "package://arm/meshes/missing.stl",
        "package://arm/meshes",
        "package://arm/../../secret.stl",
        "package://../secret.stl",
        "package://",
        "../secret.stl",
        "arm/meshes/link.stl",
        "arm/meshes/loop.stl",
        "file:///etc/passwd",
        "file://../secret.stl",
        "/etc/passwd",
        "http://localhost/arm/meshes/hand.stl",
        "null\0byte.stl",
        "x" * 5000,
        "",
    ],
)
def test_not_found(share, name):
    assert resolve_mesh(name, [share]) is None
    assert resolve_mesh(name, []) is None


def test_an_absolute_path_outside_the_roots_is_not_found(share):
    assert resolve_mesh(str(share.parent / "secret.stl"), [share]) is None
    assert resolve_mesh(f"file://{share.parent / 'secret.stl'}", [share]) is None


def test_shapes_keep_the_name_as_written_if_there_is_no_file(share):
    name = "package://arm/meshes/hand.stl"
    assert parse_urdf(URDF).links["hand"].visuals[0].mesh == name
    found = parse_urdf(URDF, roots=[share]).links["hand"].visuals[0].mesh
    assert found == str(share / "arm" / "meshes" / "hand.stl")
    lost = parse_urdf(URDF, roots=[share / "arm" / "meshes"]).links["hand"].visuals[0].mesh
    assert lost == name
