"""Soles from meshes, from shapes, from links, and from the usual height of ankles; reports say from which."""

import numpy as np
import pytest

import memetik as mk
from memetik.motion.retargeting.soles import LINKS, MESHES, RATIO, SHAPES, sole_of
from memetik_lab.claims.walker import HEIGHT, SHAPE, named, walk
from tests.naive import retargeting as naive

UNDER = 0.071  # m, from the ankle of these bodies to the sole


def figure(foot=(), toe=(), toes=True, file=None):
    """A person of the walker's shape with these shapes on feet and toes."""
    parts = [row for row in SHAPE if toes or not row[0].endswith("toes")]
    links = [
        mk.build.Link(
            named(part, "mixamo"), shapes=foot if part.endswith("foot") else toe if part.endswith("toes") else ()
        )
        for part, _, _ in parts
    ]
    joints = [
        mk.build.Joint(
            f"{named(part, 'mixamo')}_joint", "spherical", named(parent, "mixamo"), named(part, "mixamo"),
            origin=mk.translation(*(HEIGHT * share for share in offset)),
        )
        for part, parent, offset in parts[1:]
    ]  # fmt: skip
    return mk.Body("figure", links, joints, file=file).with_base("floating")


def foot_mesh(folder):
    """A foot as a mesh: a box whose underside is 71 mm below the ankle, in millimetres."""
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("scipy")
    box = trimesh.creation.box(extents=(240.0, 90.0, 40.0))
    box.apply_translation((60.0, 0.0, -1e3 * UNDER + 20.0))
    box.export(folder / "foot.stl")
    return mk.Shape("mesh", (1e-3, 1e-3, 1e-3), mesh="foot.stl")


def test_soles_are_those_of_meshes(tmp_path):
    body = figure((foot_mesh(tmp_path),), file=tmp_path / "figure.urdf")
    clip = walk(1.5, 60.0)
    found = mk.retarget(clip, body)
    assert set(found.report.soles.values()) == {MESHES}
    corners = np.array([(x, y, -UNDER) for x in (-0.06, 0.18) for y in (-0.045, 0.045)])
    for part in found.plan.feet:
        low = naive.lowest(found.body, found.q, found.plan[part].link, corners)
        assert np.abs(low[found.standing[part].flat]).max() < 2e-3
        assert low.min() > -2e-3
        np.testing.assert_allclose(found.report.sole[part], low, atol=1e-6)


def test_toes_that_move_are_part_of_the_sole():
    """A body whose toes hang lower than its feet does not sink by as much."""
    pad = mk.Shape("box", (0.1, 0.08, 0.03), mk.translation(0.04, 0.0, -0.06))
    body = figure(toe=(pad,))
    found = mk.retarget(walk(1.5, 60.0), body)
    assert set(found.report.soles.values()) == {SHAPES}
    corners = np.array([(x, y, -0.075) for x in (-0.01, 0.09) for y in (-0.04, 0.04)])
    for side in ("left", "right"):
        low = naive.lowest(found.body, found.q, named(f"{side}_toes", "mixamo"), corners)
        assert low.min() > -2e-3
        held = np.abs(low[found.standing[f"{side}_foot"].flat])
        assert np.median(held) < 5e-4 and held.max() < 5e-3


@pytest.mark.parametrize(("toes", "source"), [(True, LINKS), (False, RATIO)])
def test_soles_without_shapes_are_estimated_and_the_report_says_so(toes, source):
    body = figure(toes=toes)
    found = mk.retarget(walk(1.0, 60.0), body)
    assert set(found.report.soles.values()) == {source}
    assert any("soles are estimated by" in each and source in each for each in found.report.warnings)
    height = found.poses(named("left_foot", "mixamo"))[found.standing["left_foot"].flat, 2, 3]
    # An ankle of a person is at 4 to 9 % of the height; that of this skeleton, by its toes, at 3 % of it at least.
    assert 0.03 * HEIGHT - 1e-3 < np.median(height) < 0.09 * HEIGHT


@pytest.mark.quick
def test_a_mesh_that_is_not_there_is_as_none():
    missing = mk.Shape("mesh", (1.0, 1.0, 1.0), mesh="nowhere.stl")
    body = figure((missing,), toes=False)
    sole = sole_of(body, named("left_foot", "mixamo"), np.zeros(3), np.eye(3), 0.84)
    assert sole.source == RATIO


@pytest.mark.quick
@pytest.mark.parametrize(
    ("shape", "lowest"),
    [
        (mk.Shape("sphere", (0.03,), mk.translation(0.0, 0.0, -0.05)), -0.08),
        (mk.Shape("capsule", (0.02, 0.1), mk.transform((0.0, 0.0, -0.04), mk.rpy(0.0, np.pi / 2, 0.0))), -0.06),
        (mk.Shape("cylinder", (0.02, 0.1), mk.transform((0.0, 0.0, -0.04), mk.rpy(0.0, np.pi / 2, 0.0))), -0.06),
        (mk.Shape("box", (0.2, 0.1, 0.02), mk.translation(0.0, 0.0, -0.05)), -0.06),
        (mk.collision.hull([(0.0, 0.0, -0.07), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.1, 0.1, 0.1)]), -0.07),
    ],
    ids=["sphere", "capsule", "cylinder", "box", "hull"],
)
def test_round_shapes_end_where_they_end(shape, lowest):
    body = figure((shape,), toes=False)
    sole = sole_of(body, named("left_foot", "mixamo"), np.zeros(3), np.eye(3), 0.84)
    assert sole.points[:, 2].min() == pytest.approx(lowest, abs=1e-4)
    turned = mk.rpy(0.3, -0.2, 0.0)
    samples = naive.shape_samples(shape, None) @ shape.link_from_shape[:3, :3].T + shape.link_from_shape[:3, 3]
    assert (sole.points @ turned.T)[:, 2].min() == pytest.approx((samples @ turned.T)[:, 2].min(), abs=2e-4)


@pytest.mark.parametrize("name", ["go2", "wolf"])
def test_four_feet_stand_where_a_wolf_leads_a_quadruped(name):
    """Legs that end in a ball stand on it, however the shank tilts."""
    wolf = mk.load("wolf", base="floating")
    still = mk.Motion(wolf, np.arange(30) / 30.0, np.tile(wolf.home, (30, 1)))
    found = mk.retarget(still, mk.load(name))
    assert set(found.plan.feet) == {f"{side}_{part}" for side in ("left", "right") for part in ("foot", "hand")}
    for part in found.plan.feet:
        low = found.report.sole[part]
        assert np.abs(low).max() < 2e-3, part
    assert found.report.reached.all() and found.report.penetration < 1e-3
