"""Balls around links: they hold what they say, and no pair is lost in the lists."""

import numpy as np
import pytest

import memetik as mk
from memetik import load
from memetik.collision.solids import link_solids
from memetik.kernels.terms.distance import LIST_COUNT, LIST_FIRST, LIST_GROUP, LIST_OTHERS, LIST_SECOND
from memetik.objectives.broad_phase import PAIRS, Group, _clusters, pair_lists, place_group


class Packed:
    """As much of the compiler as groups need."""

    def __init__(self, body):
        self.body, self.frames, self.values = body, [], []

    def frame(self, frame):
        self.frames.append(frame)
        return len(self.frames) - 1

    def numbers(self, values):
        self.values.extend(values)
        return len(self.values) - len(values)


def packed(name):
    body = load(name)
    packer = Packed(body)
    groups = [
        place_group(packer, link.name, link_solids(body, link.name, "")) for link in body.links.values() if link.shapes
    ]
    return packer, groups


def at(poses, each):
    """The centre of the ball around a group."""
    return poses[each.link][:3, :3] @ each.center + poses[each.link][:3, 3]


@pytest.mark.parametrize("name", ["valkyrie", "shadow_hand", "pr2", "h1"])
def test_what_hangs_on_a_link_stays_in_its_ball(name, rng):
    packer, groups = packed(name)
    home = _clusters(packer.body, groups)
    for _ in range(50):
        poses = packer.body.forward(packer.body.sample(rng))
        for each, (root, radius) in home.items():
            assert np.linalg.norm(at(poses, each) - at(poses, root)) + each.radius <= radius + 1e-9


def test_hands_are_taken_together():
    packer, groups = packed("valkyrie")
    home = _clusters(packer.body, groups)
    fingers = [each for each in groups if each.link.startswith("rightIndexFinger")]
    assert len(fingers) == 3
    assert len({home[each][0] for each in fingers}) == 1
    assert not any(each.link in ("pelvis", "torso", "rightFoot") for each in home)


@pytest.mark.parametrize("name", ["valkyrie", "panda"])
def test_every_pair_is_in_one_list(name):
    packer, groups = packed(name)
    pairs = [(one, two) for k, one in enumerate(groups) for two in groups[:k]]
    found = []
    for each in pair_lists(packer, pairs):
        assert len(each) == LIST_OTHERS + each[LIST_COUNT]
        assert (each[LIST_FIRST] < 0) == (each[LIST_SECOND] < 0)
        assert each[LIST_FIRST] < 0 or each[LIST_COUNT] >= PAIRS
        found += [(each[LIST_GROUP], other) for other in each[LIST_OTHERS:]]
    assert sorted(map(sorted, found)) == sorted(sorted((one.place, two.place)) for one, two in pairs)


def test_the_frame_of_a_group_stands_at_the_centre_of_its_ball():
    packer, groups = packed("panda")
    for each in groups:
        assert packer.frames[each.frame].link == each.link
        np.testing.assert_array_equal(packer.frames[each.frame].link_from_frame[:3, 3], each.center)


def test_a_chain_longer_than_the_stack():
    """Also with a subtree that stays near: at its end, six balls on one link around which others turn."""
    links = [mk.build.Link("l0")]
    joints = []
    for k in range(1, 1_500):
        links.append(mk.build.Link(f"l{k}", shapes=(mk.Shape("sphere", (0.01,)),) if k > 1_490 else ()))
        origin = mk.transform((0.001 if k > 1_490 else 0.1, 0.0, 0.0))
        joints.append(mk.build.Joint(f"j{k}", "revolute", f"l{k - 1}", f"l{k}", origin, (0, 0, 1), (-1.0,), (1.0,)))
    body = mk.Body("chain", links, joints)
    groups = [Group(k, f"l{k}", 0, (0.0, 0.0, 0.0), 0.01) for k in range(1_491, 1_500)]
    home = _clusters(body, groups)
    assert list(home) == groups and {root for root, _ in home.values()} == {groups[0]}
    assert home[groups[0]][1] == pytest.approx(0.01 + 8 * 0.001)
