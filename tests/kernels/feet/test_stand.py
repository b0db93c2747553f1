"""A leg that stands: where its foot is comes first, then how it is turned, then how near it is to the clip; against SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import memetik as mk
from memetik.motion.clips.legs import NEAR, TURN

pytestmark = pytest.mark.quick


def leg(joints, upper=2.0):
    """A floating trunk with a leg of turns about y, 0.3 m apart; the last bone is a foot that points down."""
    names = [f"turn{k}" for k in range(joints)]
    links = ["trunk", *(f"bone{k}" for k in range(joints))]
    made = [
        mk.build.Joint(name, "revolute", links[k], links[k + 1], axis=(0, 1, 0), lower=-2.0, upper=upper,
                 origin=mk.translation(0.0, 0.0, -0.3 if k else 0.0))
        for k, name in enumerate(names)
    ]  # fmt: skip
    body = mk.Body("leg", [mk.build.Link(name) for name in links], made).with_base("floating")
    return body, body.frame(links[-1], offset=(0.0, 0.0, -0.1))


def sunk(body, foot, bends, depth):
    """A posture whose foot is so deep below z = 0."""
    q = body.home.copy()
    q[6:] = bends
    q[body.index("base.z")] -= body.forward(q, foot)[2, 3] + depth
    return q


def test_a_leg_with_a_joint_to_spare_is_at_the_balance_of_turn_and_clip():
    body, foot = leg(4)
    clip = sunk(body, foot, (0.5, -0.9, 0.6, -0.2), 0.05)
    placer = mk.motion.FootPlacer(body, mk.objectives.Ground(), [foot])
    found = placer(clip)
    wanted = body.forward(clip, foot)
    wanted[2, 3] = 0.0

    def posture(bends):
        return np.concatenate((clip[:6], bends))

    def off(bends):
        return (body.forward(posture(bends), foot)[:3, 3] - wanted[:3, 3])[[0, 2]]

    def cost(bends):
        away = bends - clip[6:]
        return TURN * away.sum() ** 2 + NEAR * (away**2).sum()

    best = minimize(
        cost, clip[6:], method="SLSQP", constraints={"type": "eq", "fun": off}, options={"ftol": 1e-14, "maxiter": 200}
    )
    assert found.success and found.standing == (True,)
    assert_allclose(found.q[:6], clip[:6], atol=0)
    assert_allclose(found.q[6:], best.x, atol=1e-4)
    assert_allclose(body.forward(found.q, foot)[:3, 3], wanted[:3, 3], atol=1e-5)


def test_a_limit_holds_and_the_others_make_up_for_it():
    body, foot = leg(4, upper=0.62)
    clip = sunk(body, foot, (0.5, -0.9, 0.6, -0.2), 0.05)
    found = mk.motion.FootPlacer(body, mk.objectives.Ground(), [foot])(clip)
    assert found.success and found.q[6:].max() <= 0.62
    assert found.q[6:].max() == pytest.approx(0.62)
    assert body.forward(found.q, foot)[2, 3] == pytest.approx(0.0, abs=1e-5)


def test_a_foot_that_cannot_turn_gives_way_and_is_raised():
    """An ankle that is all but stiff."""
    body, foot = leg(3)
    body = body.with_limits({"turn2": (0.39, 0.41)})
    clip = sunk(body, foot, (0.5, -0.9, 0.4), 0.02)
    slope = mk.objectives.Ground(normal=(-0.2, 0.0, 1.0))
    found = mk.motion.FootPlacer(body, slope, [foot], sole=(0.2, 0.0), settle=0.001)(clip)
    pose = body.forward(found.q, foot)
    heights = (np.array([pose[:3, 3] + x * pose[:3, 0] for x in (-0.1, 0.0, 0.1)]) @ slope.normal) / slope.normal[2]
    assert found.success
    assert -1e-4 <= heights.min() < 1e-3 and heights.max() > 0.02


def test_what_is_out_of_reach_is_told():
    """A leg that is straight down cannot get shorter without bending, and may not bend."""
    body, foot = leg(2, upper=0.0)
    tight = body.with_limits({"turn0": (-1e-3, 0.0), "turn1": (-1e-3, 0.0)})
    found = mk.motion.FootPlacer(tight, mk.objectives.Ground(), [foot])(sunk(tight, foot, (0.0, 0.0), 0.05))
    assert not found.success and found.standing == (True,)


def test_the_next_frame_keeps_to_the_posture_of_the_one_before():
    """Of knees that bend either way, the one that is bent stays; what jumps is not the next frame."""
    body, foot = leg(3)
    ground = mk.objectives.Ground()
    placer = mk.motion.FootPlacer(body, ground, [foot])
    ahead = [placer(sunk(body, foot, (a, -2.0 * a, a), 0.04)).q for a in np.linspace(0.1, -0.02, 7)]
    assert np.abs(np.diff(ahead, axis=0)).max() < 0.1
    assert (
        ahead[-1][7]
        < 0.0
        < mk.motion.FootPlacer(body, ground, [foot])(sunk(body, foot, (-0.02, 0.04, -0.02), 0.04)).q[7]
    )
