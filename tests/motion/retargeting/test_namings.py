"""Skeletons as the usual files name them, on robots and characters, without a configuration."""

import pytest

import memetik as mk
from memetik.motion.retargeting.figure import PARTS, find_parts
from tests.motion.retargeting.namings import TREES, skeleton

ROBOTS = ("g1", "h1", "valkyrie")
# Toes that are part of the foot, heads that are part of the trunk, a trunk of one piece.
TOES = {"left_toes", "right_toes"}
FINGERS = {"left_fingers", "right_fingers"}  # of which the skeletons have less than two
NOT_LED = {
    "g1": TOES | {"head"}, "h1": TOES | {"head"}, "valkyrie": TOES | FINGERS, "nao": TOES | {"chest"},
    "mannequin": set(), "kyle": FINGERS,
}  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize("naming", TREES)
def test_parts_are_the_bones_that_the_names_say(naming):
    """Fingers, hair, ends and the bones between do not distract."""
    body, bones = skeleton(naming)
    found = {part: each.link for part, each in find_parts(body).items()}
    assert {part: found[part] for part in bones if part in PARTS} == {p: b for p, b in bones.items() if p in PARTS}
    assert set(found) == set(PARTS)


@pytest.mark.parametrize(
    ("naming", "name"),
    [(naming, name) for naming in TREES for name in ROBOTS]
    + [("mixamo", name) for name in NOT_LED if name not in ROBOTS],
)
def test_every_part_that_both_have_is_in_the_plan_and_the_others_are_named(naming, name):
    person, bones = skeleton(naming)
    plan = mk.motion.retarget_plan(person, mk.load(name))
    assert set(plan.missing) == NOT_LED[name]
    led = {match.part: match.bone for match in plan.matches}
    assert set(led) == set(PARTS) - NOT_LED[name]
    assert {part: led[part] for part in led if part in bones} == {part: bones[part] for part in led if part in bones}
    assert all(part in str(plan).rpartition("not led")[2] for part in plan.missing)
