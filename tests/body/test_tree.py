"""Is it a tree? Everything that is none is refused, and the walk goes depth-first."""

import numpy as np
import pytest

from memetik import Body
from memetik.build import Joint, Link
from memetik.errors import BodyError, UnknownNameError
from tests.naive.bodies import random_body

pytestmark = pytest.mark.quick


def body(links, *joints):
    """A body from words: body("a b", "j a b") has a joint j from a to b."""
    return Body("test", map(Link, links.split()), [Joint(j.split()[0], "revolute", *j.split()[1:]) for j in joints])


@pytest.mark.parametrize(
    ("links", "joints", "message"),
    [
        ("", [], "a body needs at least one link"),
        ("a b", [], "2 links have no parent: 'a', 'b'. A body has one root"),
        ("a b c", ["j a b"], "2 links have no parent: 'a', 'c'"),
        ("a b", ["j a b", "k b a"], "the joints form a circle, so no link is the root"),
        ("a b c", ["j b c", "k c b"], "joint 'j' is part of a circle that the root 'a' does not reach"),
        ("a b", ["j a b", "k b b"], "link 'b' hangs on two joints, 'j' and 'k'. A body is a tree"),
        ("a b c", ["j a b", "k a c", "l b c"], "link 'c' hangs on two joints, 'k' and 'l'"),
        ("a", ["j a a"], "the joints form a circle"),
        ("a b a", ["j a b"], "two links are named 'a'. Rename one"),
        ("a b c", ["j a b", "j b c"], "two joints are named 'j'. Rename one"),
    ],
)
def test_no_tree(links, joints, message):
    with pytest.raises(BodyError, match=message):
        body(links, *joints)


@pytest.mark.parametrize(("role", "joint"), [("parent", "j hnd b"), ("child", "j a hnd")])
def test_a_joint_of_a_missing_link(role, joint):
    message = rf"no link named 'hnd' in the links of the body \({role} of joint 'j'\). Did you mean 'hand'\?"
    with pytest.raises(UnknownNameError, match=message):
        body("a b hand", joint)


def test_a_short_list_of_links_is_shown_in_order():
    with pytest.raises(UnknownNameError, match="There are: zebra, ant, mole"):
        body("zebra ant mole", "j zebra quux")


def test_many_roots_are_not_all_listed():
    with pytest.raises(BodyError, match=r"9 links have no parent: 'a', 'b', 'c', 'd', 'e', 'f'. A body"):
        body("a b c d e f g h i")


def test_the_walk_is_depth_first_and_keeps_the_order_of_siblings():
    tree = body("root l ll r rr lr", "right root r", "left root l", "below r rr", "under l ll", "beside l lr")
    assert tree.joint_names == ("right", "below", "left", "under", "beside")


@pytest.mark.parametrize("seed", range(10))
def test_rows_of_a_subtree_are_contiguous(seed):
    """What OFKT relies on: parents come first, and `last` ends exactly the rows that a motion carries."""
    rng = np.random.default_rng(seed)
    nodes = random_body(rng, 12).flatten()[0].nodes
    for i in range(nodes.size):
        assert nodes["parent"][i] < i
        carried = {i}
        for k in range(nodes.size):
            if nodes["parent"][k] in carried:
                carried.add(k)
        assert carried == set(range(i, nodes["last"][i] + 1))


def test_a_very_long_chain_needs_no_recursion():
    links = [Link(f"link{k}") for k in range(601)]
    long = Body(
        "snake",
        links,
        [Joint(f"j{k}", "revolute", f"link{k}", f"link{k + 1}", (0, 0, 0.01)) for k in range(600)],
    )
    assert long.forward(long.home)["link600"][2, 3] == pytest.approx(6.0)
