"""The first scene of an arm: a posture from which a dragged target leads to the neighbour."""

from dataclasses import replace

import numpy as np
import pytest

import memetik as mk
from memetik.scenes import BodySource, blank
from memetik_studio.session import Session

# As Kinova's Jaco: two joints whose ranges are off zero, so that home is folded up, and a wrist that is singular at zero.
AXES = {"base": "0 0 1", "shoulder": "0 1 0", "elbow": "0 1 0", "roll": "0 0 1", "pitch": "0 1 0", "twist": "0 0 1"}
RANGES = {"shoulder": (0.82, 5.46), "elbow": (0.33, 5.95)}


def arm_urdf():
    parts, parent = ['<robot name="folded"><link name="root"/>'], "root"
    for k, (name, axis) in enumerate(AXES.items()):
        kind = "revolute" if name in RANGES else "continuous"
        limit = 'lower="{}" upper="{}"'.format(*RANGES[name]) if name in RANGES else ""
        parts.append(
            f'<link name="l{k}"/><joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="l{k}"/>'
            f'<origin xyz="0 0 {0.2 if k < 4 else 0.05}"/><axis xyz="{axis}"/>'
            f'<limit {limit} effort="1" velocity="1"/></joint>'
        )
        parent = f"l{k}"
    return "".join([*parts, "</robot>"])


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "folded.urdf"
    path.write_text(arm_urdf())
    return path


def test_a_drag_leads_to_the_neighbour(arm):
    body = mk.load(arm)
    assert body.home[1] == 0.82  # at its limit
    scene = blank(BodySource("file", str(arm)), body)
    assert set(scene.start) >= set(RANGES)
    session = Session(replace(scene, solving=replace(scene.solving, seconds=20.0)), roots=[str(arm.parent)])
    assert session.reached
    (wish,) = (wish.name for wish in scene.wishes if wish.kind == "Pose")
    at, wxyz = session.gizmo(wish)
    for way in np.vstack([np.eye(3), -np.eye(3)]):
        session.restart()
        before = session.goal.copy()
        session.move(wish, at + 0.05 * way, wxyz)
        assert session.reached
        assert np.abs(session.goal - before).max() < 1.0  # not around the other way
        session.move(wish, at, wxyz)


@pytest.mark.parametrize("name", ["panda", "ur5", "h1"])
def test_others_begin_at_home(name):
    """Arms that have a good one, and bodies that stand."""
    assert blank(BodySource("bundled", name), mk.load(name)).start == {}
