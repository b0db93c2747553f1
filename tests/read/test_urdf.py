"""URDF that is right: every element becomes what it means."""

import math
import re

import numpy as np
import pinocchio
import pytest

from memetik.errors import FormatError
from memetik.geometry import rpy
from memetik.read import parse_urdf, read_urdf
from tests.read.samples import URDF, changed


def read_changed(old, new, **options):
    return parse_urdf(changed(URDF, old, new), file="arm.urdf", **options)


def test_the_whole_sample():
    body = parse_urdf(URDF)
    assert (body.name, body.root) == ("arm", "world")
    assert body.joint_names == ("shoulder", "elbow", "slide", "finger")
    assert [body.joints[name].kind for name in body.joint_names] == [
        "revolute", "continuous", "prismatic", "revolute",
    ]  # fmt: skip
    assert body.lower.tolist() == [-2.0, -math.inf, 0.0, 0.0]
    assert body.upper.tolist() == [2.0, math.inf, 0.2, 0.8]
    assert body.joints["shoulder"].velocity == (1.5,)
    assert body.joints["shoulder"].acceleration == (7.0,)
    assert body.joints["elbow"].velocity == (3.0,)
    assert body.joints["finger_mimic"].mimic == ("finger", -1.0, 0.1)
    assert body.joints["slide"].axis.tolist() == [1.0, 0.0, 0.0], "the axis of URDF unless it is given"


def test_forward_kinematics_by_hand():
    body = parse_urdf(URDF)
    hand = body.forward([0.0, 0.0, 0.1, 0.0])["hand"]
    assert np.allclose(hand[:3, 3], (0.0, 0.8, 0.5), atol=1e-15), "0.4 + 0.3 + 0.1 along y, half a metre up"
    assert np.allclose(hand[:3, :3], rpy(0, 0, math.pi / 2), atol=1e-15)


def test_forward_kinematics_against_pinocchio():
    text = changed(URDF, '<origin xyz="0.4 0 0"/>', '<origin xyz="0.4 -0.1 0.2" rpy="0.3 -1.2 2.5"/>')
    body, model = parse_urdf(text), pinocchio.buildModelFromXML(text)
    data = model.createData()
    q = body.sample(np.random.default_rng(3))
    shoulder, elbow, slide, finger = q
    theirs = np.array([shoulder, math.cos(elbow), math.sin(elbow), slide, finger, 0.1 - finger])
    pinocchio.framesForwardKinematics(model, data, theirs)
    for name, pose in body.forward(q).items():
        expected = data.oMf[model.getFrameId(name, pinocchio.FrameType.BODY)].homogeneous
        assert np.allclose(pose, expected, rtol=0.0, atol=1e-14), name


def test_mass_and_shapes():
    links = parse_urdf(URDF).links
    assert (links["base"].mass, links["base"].center_of_mass) == (4.0, (0.0, 0.0, 0.1))
    (box,), (cylinder, plain) = links["base"].shapes, links["base"].visuals
    assert plain.color is None
    assert (box.kind, box.size, box.link_from_shape[2, 3]) == ("box", (0.2, 0.3, 0.4), 0.1)
    assert (cylinder.kind, cylinder.size, cylinder.color) == ("cylinder", (0.1, 0.2), (0.6, 0.6, 0.7, 1.0))
    (sphere,), (capsule,) = links["upper"].shapes, links["upper"].visuals
    assert (sphere.kind, sphere.size, sphere.color) == ("sphere", (0.3,), None)
    assert (capsule.kind, capsule.size, capsule.color) == ("capsule", (0.05, 0.4), (1.0, 0.0, 0.0, 0.5))
    assert np.allclose(capsule.link_from_shape[:3, :3], rpy(0, math.pi / 2, 0), atol=1e-15)
    (mesh,) = links["hand"].visuals
    assert (mesh.kind, mesh.size, mesh.mesh) == (
        "mesh",
        (0.001, 0.001, -0.001),
        "package://arm/meshes/hand.stl",
    )
    assert mesh.color == (1.0, 0.0, 0.0, 0.5), "a material defined in one link serves all"


def test_soft_limits_only_narrow():
    body = parse_urdf(URDF, soft_limits=True)
    assert (body.lower[0], body.upper[0]) == (-1.5, 2.0)
    with pytest.raises(FormatError, match=r"soft limits 2.5 to 3 .* soft_limits=False"):
        read_changed('soft_lower_limit="-1.5"', 'soft_lower_limit="2.5"', soft_limits=True)


def test_a_chain_of_mimic_joints():
    body = read_changed(
        '<limit lower="0" upper="0.2" effort="10" velocity="1"/>',
        '<limit lower="-9" upper="9" effort="1" velocity="1"/><mimic joint="finger_mimic" multiplier="2"/>',
    )
    drive = body.variables.drives["slide"][0]
    assert body.joint_names[drive.variable] == "finger"
    assert (drive.ratio, drive.offset) == (-2.0, 0.2)


@pytest.mark.parametrize(("kind", "dof"), [("floating", 6), ("planar", 3)])
def test_joints_of_several_degrees_of_freedom(kind, dof):
    text = changed(URDF, '<joint name="mount" type="fixed">', f'<joint name="mount" type="{kind}">')
    body = parse_urdf(changed(text, '<axis xyz="0 0 0"/>', '<axis xyz="0 1 0"/>'))
    assert body.joints["mount"].kind == kind
    assert len(body.joints["mount"].variables) == dof
    assert np.isinf(body.lower[:dof]).all()


def test_a_quaternion_instead_of_angles():
    half = math.sqrt(0.5)
    body = read_changed('rpy="0 0 1.5707963267948966"', f'quat_xyzw="0 0 {half} {half}"')
    assert np.allclose(body.joints["shoulder"].origin[:3, :3], rpy(0, 0, math.pi / 2), atol=1e-15)


def test_a_joint_and_a_link_may_share_a_name():
    body = parse_urdf(URDF.replace('"mount"', '"base"'))
    assert "base" in body.joints and "base" in body.links


def test_one_link_is_a_body():
    body = parse_urdf('<robot name="stone"><link name="stone"/></robot>')
    assert (body.dof, body.root) == (0, "stone")


def test_read_urdf_names_the_file(tmp_path):
    path = tmp_path / "mine.urdf"
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "hand.stl").touch()
    path.write_text(URDF)
    assert read_urdf(path).dof == read_urdf(str(path)).dof == 4
    path.write_text(changed(URDF, 'lower="-2"', 'lower="abc"'))
    expected = (
        "mine.urdf, line 22, joint 'shoulder': limit lower is 'abc', not a number. "
        'Write radians, for example lower="-1.57".'
    )
    with pytest.raises(FormatError, match=re.escape(expected)):
        read_urdf(path)
