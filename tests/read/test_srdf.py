"""SRDF: groups become chains, a state becomes home, disabled collisions become touching links."""

import pickle

import numpy as np
import pytest

from memetik.body import Chain
from memetik.errors import BodyError, FormatError, MemetikWarning, UnknownNameError
from memetik.read import apply_srdf, parse_srdf, parse_urdf, read_srdf
from tests.read.samples import SRDF, URDF, changed

ARM = parse_urdf(URDF)

# Two limbs on a trunk: root --t-- trunk --l1-- l1 --l2-- l2 and trunk --r1-- r1 --r2-- r2, all turning.
TREE = parse_urdf(
    '<robot name="tree"><link name="root"/>'
    + "".join(
        f'<link name="{child}"/><joint name="{child}_joint" type="continuous">'
        f'<parent link="{parent}"/><child link="{child}"/></joint>'
        for parent, child in [("root", "trunk"), ("trunk", "l1"), ("l1", "l2"), ("trunk", "r1"), ("r1", "r2")]
    )
    + "</robot>"
)


def tree_chain(content):
    return apply_srdf(TREE, parse_srdf(f'<robot name="tree"><group name="g">{content}</group></robot>')).chains["g"]


def applied(old, new):
    return apply_srdf(ARM, parse_srdf(changed(SRDF, old, new), file="arm.srdf"))


# ---- Good files --------------------------------------------------------------------------------------------


def test_the_whole_sample():
    body = apply_srdf(ARM, parse_srdf(SRDF))
    assert body.chains == {
        "reach": Chain("base", ("hand",)),
        "grip": Chain("hand", ("left_finger", "right_finger")),
        "all": Chain("base", ("hand", "left_finger", "right_finger")),
    }
    assert body.home.tolist() == [0.5, 0.0, 0.1, 0.0], "home, not ready; the joint of the ground is not the body's"
    assert body.touching == {frozenset(("upper", "base")), frozenset(("fore", "upper"))}
    assert body.chain("reach").joint_names == ("shoulder", "elbow", "slide")
    assert body.chain("all").dof == body.dof == 4


def test_it_comes_from_a_file_too(tmp_path):
    path = tmp_path / "arm.srdf"
    path.write_text(SRDF)
    assert read_srdf(path) == read_srdf(str(path))
    assert read_srdf(path).groups["reach"].chains == (("base", "hand"),)


@pytest.mark.parametrize(
    ("content", "chain"),
    [
        ('<chain base_link="root" tip_link="l2"/>', Chain("root", ("l2",))),
        (
            '<chain base_link="trunk" tip_link="l2"/><chain base_link="trunk" tip_link="r1"/>',
            Chain("trunk", ("l2", "r1")),
        ),
        # A tip on the way to another is still a tip.
        (
            '<chain base_link="root" tip_link="l2"/><chain base_link="root" tip_link="l1"/>',
            Chain("root", ("l2", "l1")),
        ),
        # The chains begin at different links: what lies between those and the common base stays fixed.
        (
            '<chain base_link="l1" tip_link="l2"/><chain base_link="trunk" tip_link="r2"/>',
            Chain("trunk", ("l2", "r2"), ("l2_joint", "r1_joint", "r2_joint")),
        ),
        ('<joint name="l1_joint"/><joint name="l2_joint"/>', Chain("trunk", ("l2",))),
        (
            '<joint name="l2_joint"/><joint name="trunk_joint"/>',
            Chain("root", ("l2",), ("trunk_joint", "l2_joint")),
        ),
        ('<joint name="l1_joint"/><link name="l2"/>', Chain("trunk", ("l2",), ("l1_joint",))),
        # Every link on the way is listed, as many files do.
        (
            '<link name="trunk"/><link name="l1"/><link name="l2"/><joint name="l1_joint"/><joint name="l2_joint"/>',
            Chain("trunk", ("l2",)),
        ),
        (
            '<joint name="l2_joint"/><joint name="r2_joint"/>',
            Chain("trunk", ("l2", "r2"), ("l2_joint", "r2_joint")),
        ),
        ('<joint name="l2_joint"/><chain base_link="l1" tip_link="l2"/>', Chain("l1", ("l2",))),
    ],
)
def test_groups_become_chains(content, chain):
    assert tree_chain(content) == chain
    freed = chain.joints or tuple(TREE.chain(chain.base, chain.tips).joint_names)
    named = apply_srdf(TREE, parse_srdf(f'<robot name="tree"><group name="g">{content}</group></robot>'))
    assert named.chain("g").joint_names == freed, "the chain can be cut out of the body"


def test_groups_that_move_nothing_are_no_chains():
    text = '<robot name="arm"><group name="a"/><group name="b"><link name="hand"/></group>'
    text += '<group name="c"><joint name="mount"/></group>'
    text += '<group name="d"><joint name="finger_mimic"/></group></robot>'
    assert apply_srdf(ARM, parse_srdf(text)).chains == {}


def test_subgroups_may_share_subgroups():
    groups = '<group name="a"><joint name="shoulder"/></group><group name="b"><group name="a"/></group>'
    groups += '<group name="c"><group name="a"/><group name="b"/></group>'
    chains = apply_srdf(ARM, parse_srdf(f'<robot name="arm">{groups}</robot>')).chains
    assert chains["a"] == chains["b"] == chains["c"] == Chain("base", ("upper",))


def test_a_joint_of_several_variables():
    text = changed(URDF, '<joint name="mount" type="fixed">', '<joint name="mount" type="planar">')
    body = parse_urdf(changed(text, '<axis xyz="0 0 0"/>', '<axis xyz="0 0 1"/>'))
    srdf = parse_srdf(
        '<robot name="arm"><group name="walk"><joint name="mount"/><joint name="shoulder"/></group>'
        '<group_state name="home" group="walk"><joint name="mount" value="1 2 3"/></group_state></robot>'
    )
    body = apply_srdf(body, srdf)
    assert body.chain("walk").dof == 4
    assert body.home[:3].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("names", "home"),
    [(("ready", "default", "home"), 0.3), (("ready", "default"), 0.2), (("ready",), 0.1), (("rest",), 0.0)],
)
def test_which_state_is_home(names, home):
    values = {"ready": 0.1, "default": 0.2, "home": 0.3, "rest": 0.4}
    states = "".join(
        f'<group_state name="{name}" group="g"><joint name="shoulder" value="{values[name]}"/></group_state>'
        for name in names
    )
    srdf = parse_srdf(f'<robot name="arm"><group name="g"><joint name="shoulder"/></group>{states}</robot>')
    assert apply_srdf(ARM, srdf).home[0] == home


def test_home_of_several_groups_and_of_mimic_joints():
    more = '<group_state name="home" group="grip"><joint name="finger" value="0.4"/>'
    more += '<joint name="finger_mimic" value="9"/><joint name="shoulder" value="-1"/></group_state></robot>'
    body = applied("</robot>", more)
    assert body.home.tolist() == [0.5, 0.0, 0.1, 0.4], "the first state to name a joint decides; mimics have no say"


def test_states_are_postures():
    body = applied("</robot>", "</robot>")
    assert list(body.postures) == ["home", "ready"]
    assert np.array_equal(body.postures["home"], body.home)
    assert body.postures["ready"].tolist() == body.vector({"elbow": 1.0}).tolist(), "the rest is at home"
    assert "postures: home, ready" in str(body)
    beyond = applied('name="elbow" value="1"', 'name="slide" value="99"')
    assert beyond.postures["ready"][2] == beyond.upper[2]


def test_postures_come_along():
    body = applied("</robot>", "</robot>")
    assert list(body.fix({"elbow": 0.2}).postures) == ["home"], "one that moves no joint is none"
    freed = body.with_base("floating")
    assert np.array_equal(freed.postures["ready"][freed.index("elbow")], 1.0)
    both = body.attach(body, at="hand", prefix="other_")
    assert both.postures["ready"][[both.index("elbow"), both.index("other_elbow")]].tolist() == [1.0, 1.0]
    assert list(pickle.loads(pickle.dumps(body)).postures) == ["home", "ready"]


def test_rounding_beyond_a_limit_is_moved_to_it():
    assert applied('name="shoulder" value="0.5"', 'name="shoulder" value="2.0004"').home[0] == 2.0


def test_links_that_may_touch_any_other():
    pairs = '<disable_default_collisions link="hand"/><enable_collisions link1="base" link2="hand"/></robot>'
    touching = applied("</robot>", pairs).touching
    assert frozenset(("hand", "world")) in touching and frozenset(("hand", "base")) not in touching
    assert frozenset(("base", "upper")) in touching and frozenset(("hand",)) not in touching


def test_it_adds_to_what_the_body_has():
    body = apply_srdf(apply_srdf(ARM, parse_srdf(SRDF)), parse_srdf('<robot name="arm"/>'))
    assert set(body.chains) == {"reach", "grip", "all"} and len(body.touching) == 2 and body.home[0] == 0.5


# ---- Bad files ---------------------------------------------------------------------------------------------

REFUSED = {
    "unknown tip": ('tip_link="hand"', 'tip_link="hnd"', UnknownNameError, "line 4", "'hand'"),
    "unknown base": ('base_link="base"', 'base_link="bse"', UnknownNameError, "line 4", "'base'"),
    "unknown link": ('<link name="hand"/>', '<link name="hnd"/>', UnknownNameError, "line 10", "'hand'"),
    "unknown joint": ('<joint name="finger"/>', '<joint name="fngr"/>', UnknownNameError, "line 6", "finger"),
    "unknown group": ('<group name="grip"/>', '<group name="gri"/>', UnknownNameError, "line 9", "'grip'"),
    "unknown joint of state": (
        'name="elbow" value', 'name="elbw" value', UnknownNameError, "line 16", "'elbow'",
    ),
    "unknown touching link": ('link1="upper"', 'link1="uper"', UnknownNameError, "line 18", "'upper'"),
    "chain upside down": (
        'base_link="base" tip_link="hand"', 'base_link="hand" tip_link="base"', BodyError, "'reach'", "Swap",
    ),
    "chain without tip": (' tip_link="hand"', "", FormatError, "line 4", 'tip_link="'),
    "group without name": ('<group name="looks">', "<group>", FormatError, "line 10", 'name="'),
    "two groups alike": ('<group name="looks">', '<group name="grip">', FormatError, "'grip'", "Rename"),
    "group in itself": (
        '<joint name="finger_mimic"/>', '<group name="all"/>', FormatError, "contains itself", "Remove",
    ),
    "value not a number": ('value="0.5"', 'value="half"', FormatError, "line 12", "radians"),
    "value NaN": ('value="0.5"', 'value="nan"', FormatError, "line 12", "radians"),
    "no value": (' value="0.5"', "", FormatError, "line 12", 'value="'),
    "two values": ('value="0.5"', 'value="0.5 0.5"', BodyError, "'shoulder'", "it has 1"),
    "home outside limits": ('value="0.5"', 'value="5"', BodyError, "'shoulder'", "limits -2 to 2"),
    "pair of one": (' link2="base"', "", FormatError, "line 18", 'link2="'),
    "not XML": ("</robot>", "", FormatError, "not XML", ""),
    "not a robot": ('<robot name="arm">', '<robot name="arm"/><robot>', FormatError, "not XML", ""),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "error", "what", "mend"), REFUSED.values(), ids=REFUSED)
def test_refused(old, new, error, what, mend):
    with pytest.raises(error) as caught:
        applied(old, new)
    message = str(caught.value)
    assert "arm.srdf" in message and what in message and mend in message, message


def test_a_urdf_element_is_no_srdf():
    with pytest.raises(FormatError, match="<mujoco>"):
        parse_srdf("<mujoco/>")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('<group_state name="ready" group="reach">', '<group_state name="ready" group="rech">', "'rech'"),
        (
            '<disable_collisions link1="fore"',
            '<disable_collision link1="fore"',
            "did you mean <disable_collisions>",
        ),
    ],
)
def test_mended(old, new, says):
    with pytest.warns(MemetikWarning, match=says):
        assert set(applied(old, new).chains) == {"reach", "grip", "all"}
