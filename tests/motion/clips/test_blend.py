"""Transitions: speeds between those of both clips, feet that stand still, and bodies that have to be the same."""

import dataclasses
import itertools

import numpy as np
import pytest

import memetik as mk
from memetik.body.cut import rebuilt
from memetik.errors import ProblemError
from tests.naive import gaits

SOLE = gaits.sole_corners(0.2, 0.094)


@pytest.fixture(scope="module")
def kyle():
    return mk.load("kyle", base="floating")


@pytest.fixture(scope="module")
def feet(kyle):
    return [kyle.frame(f"{side}_midfoot", offset=(0.03, 0.0, -0.095)) for side in ("left", "right")]


@pytest.fixture(scope="module")
def walk(kyle, feet):
    """At 1.2 m/s."""
    return mk.motion.gait(kyle, dict(zip(feet, (0.0, 0.5), strict=True)), stride=0.72, period=0.6, cycles=4)


@pytest.fixture(scope="module")
def run(kyle, feet):
    """At 3.4 m/s, with flights."""
    phases = dict(zip(feet, (0.0, 0.5), strict=True))
    shape = {"duty": 0.3, "height": 0.15, "tilt": 0.9, "crouch": 0.08}
    return mk.motion.gait(kyle, phases, stride=1.36, period=0.4, cycles=5, **shape)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("blend", [0.4, 0.8])
@pytest.mark.parametrize("named", [True, False])
def test_a_transition_has_speeds_between_both_and_feet_do_not_slide(walk, run, feet, forward, blend, named):
    """Blended by places, the root reaches 4.9 m/s, and feet on the ground move at more than 1 m/s."""
    first, second = (walk, run) if forward else (run, walk)
    both = first.joined(second, blend=blend, feet=feet if named else None)
    speeds = gaits.root_speeds(both)
    assert speeds.min() > 1.2 - 1e-6 and speeds.max() < 3.4 + 1e-6
    ground = walk.poses(feet[0])[:, 2, 3].min()
    for foot in feet:
        _, slides = gaits.slides(both, foot, SOLE, ground)
        assert len(slides) > 200 and slides.max() < 0.3 and slides.mean() < 0.004
        assert gaits.places(both, foot, SOLE)[..., 2].min() > ground - 1e-3
    assert (both.q >= both.body.lower - 1e-9).all() and (both.q <= both.body.upper + 1e-9).all()
    rates = [np.abs(motion.velocities()[:, 6:]).max() for motion in (both, walk, run)]
    assert rates[0] < 1.1 * max(rates[1:])


def test_without_feet_postures_are_blended_only(walk, run, feet):
    """The evaluator sees how feet slide then, so that it does see it."""
    both = walk.joined(run, blend=0.8, feet=[])
    ground = walk.poses(feet[0])[:, 2, 3].min()
    assert max(gaits.slides(both, foot, SOLE, ground)[1].max() for foot in feet) > 0.5
    assert gaits.root_speeds(both).max() < 3.4 + 1e-6


def test_the_steps_of_both_keep_time(walk, run, feet):
    """The left foot touches down in both at the same time: the run is entered where its phase is that of the walk."""
    both = walk.joined(run, blend=0.4, feet=feet)
    stands = both.contacts(feet)
    downs = [both.times[1:][np.diff(stands[str(foot)].astype(int)) > 0] for foot in feet]
    left, right = downs
    periods = np.diff(left)
    assert periods.min() > 0.4 - 0.05 and periods.max() < 0.6 + 0.05
    for a, b in itertools.pairwise(left):
        inside = right[(right > a) & (right < b)]
        assert len(inside) == 1 and 0.35 < (inside[0] - a) / (b - a) < 0.65


def test_a_clip_goes_on_in_its_own_heading(walk, feet):
    turned = walk.joined(walk.turned(2.0).moved((5.0, 1.0, 0.0)), blend=0.3, feet=feet)
    way = turned.poses("pelvis")[:, :2, 3]
    assert np.abs(way[:, 1]).max() < 0.02 and (np.diff(way[:, 0]) > 0.0).all()


def longer(body, joint, by):
    """The body with one joint moved."""
    joints = [
        dataclasses.replace(each, origin=each.origin @ mk.translation(*by)) if each.name == joint else each
        for each in body.joints.values()
    ]
    return rebuilt(body, joints=joints)


def test_clips_of_different_skeletons_are_refused_and_say_what_differs(kyle, walk):
    other = longer(kyle, "left_knee", (0.0, 0.0, -0.02))
    motion = mk.Motion(other, walk.times, walk.q)
    for act in (walk.joined, lambda each: walk.blended(each, 0.5)):
        with pytest.raises(ProblemError, match=r"'left_knee' sits 20\.0 mm away.*Retarget"):
            act(motion)
    names = mk.Motion(mk.load("g1", base="floating"), [0.0, 1.0], np.zeros((2, mk.load("g1", base="floating").dof)))
    with pytest.raises(ProblemError, match="'pelvis_z' is in one of them only"):
        walk.joined(names)
    assert len(walk.joined(mk.Motion(mk.load("kyle", base="floating"), walk.times, walk.q), blend=0.2)) > len(walk)
