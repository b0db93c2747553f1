"""Group: bodies side by side in one tree, and joint vectors to and fro."""

import pickle

import numpy as np
import pytest

import memetik as mk


@pytest.fixture(scope="module")
def pair():
    return mk.body.Group(
        {"ann": mk.load("panda"), "ben": mk.load("ur5", base="xyz", base_lower=-1, base_upper=1)},
        placements={"ben": mk.transform((1.0, 0.2, 0.1), mk.euler(0.1, 0.2, 0.3))},
    )


def test_each_body_is_where_it_would_be_alone(pair):
    rng = np.random.default_rng(0)
    q = {name: body.sample(rng) for name, body in pair.bodies.items()}
    together = pair.body.forward(pair.vector(q))
    place = {"ann": np.eye(4), "ben": mk.transform((1.0, 0.2, 0.1), mk.euler(0.1, 0.2, 0.3))}
    for name, body in pair.bodies.items():
        alone = body.forward(q[name], root=place[name])
        for link in body.links:
            np.testing.assert_allclose(together[pair.name(name, link)], alone[link], rtol=0, atol=1e-12)
    frame = pair.frame("ben", "tool0", (0.0, 0.0, 0.2))
    alone = pair.bodies["ben"].frame("tool0", (0.0, 0.0, 0.2))
    np.testing.assert_allclose(
        pair.body.forward(pair.vector(q), frame), place["ben"] @ pair.bodies["ben"].forward(q["ben"], alone), atol=1e-12
    )


def test_vectors_are_split_and_joined(pair):
    rng = np.random.default_rng(1)
    rows = np.array([pair.body.sample(rng) for _ in range(3)])
    parts = pair.split(rows)
    assert {name: part.shape for name, part in parts.items()} == {"ann": (3, pair.bodies["ann"].dof), "ben": (3, 9)}
    for k, row in enumerate(rows):
        np.testing.assert_array_equal(pair.vector({name: part[k] for name, part in parts.items()}), row)
        np.testing.assert_array_equal(pair.split(row)["ben"], parts["ben"][k])
    at_home = pair.split(pair.vector({"ann": parts["ann"][0]}))
    np.testing.assert_array_equal(at_home["ben"], pair.bodies["ben"].home)
    again = pickle.loads(pickle.dumps(pair))
    np.testing.assert_array_equal(again.split(rows)["ann"], parts["ann"])


def test_hands_meet_and_each_body_keeps_its_limits(pair):
    meet = mk.Pose(
        "ann/panda_hand", mk.transform((0, 0, 0.2), mk.euler(180, 0, 0, degrees=True)), relative_to="ben/tool0"
    )
    solution = mk.solve(mk.Problem(pair.body, [meet, mk.Displacement(weight=0.01)]))
    assert solution.success
    q = pair.split(solution.q)
    hands = [
        pair.bodies[name].forward(q[name], link, root=root)
        for name, link, root in (
            ("ann", "panda_hand", np.eye(4)),
            ("ben", "tool0", pair.body.joints["ben/world_mount"].origin),
        )
    ]
    np.testing.assert_allclose(np.linalg.inv(hands[1]) @ hands[0], meet.target, rtol=0, atol=1e-3)
    for name, body in pair.bodies.items():
        assert (body.lower <= q[name]).all() and (q[name] <= body.upper).all()


def test_loops_come_along():
    group = mk.body.Group(
        {"one": mk.build.five_bar(), "other": mk.build.five_bar()}, placements={"other": (1.0, 0.0, 0.0)}
    )
    assert [loop.name for loop in group.body.loops] == ["one/tip", "other/tip"]
    ways = [
        mk.JointValue(f"{name}/left_motor", value, tolerance=1e-9) for name, value in (("one", 1.9), ("other", 2.2))
    ]
    solution = mk.solve(mk.Problem(group.body, [*ways, *mk.objectives.close_loops(group.body)]))
    assert solution.success


@pytest.mark.parametrize(
    ("bodies", "at"),
    [
        ({}, None),
        ({"a/b": mk.build.five_bar}, None),
        ({"a": None}, None),
        ({"a": mk.build.five_bar}, {"b": (0, 0, 0)}),
        ([1], None),
    ],
)
def test_what_is_no_group_is_refused(bodies, at):
    if isinstance(bodies, dict):
        bodies = {name: make and make() for name, make in bodies.items()}
    with pytest.raises(mk.MemetikError):
        mk.body.Group(bodies, placements=at)


def test_open_loops_are_doubted():
    body = mk.build.five_bar()
    with pytest.warns(mk.MemetikWarning, match="close_loops"):
        mk.Problem(body, mk.Position("left_tip", (0.0, 0.4, 0.0)))
    with pytest.raises(mk.errors.ProblemError, match="no loops"):
        mk.objectives.close_loops(mk.build.planar_chain(3))


def test_cuts_keep_the_loops_that_are_left():
    body = mk.build.stewart_platform()
    assert [loop.name for loop in body.chain("base", ["platform", "leg_2_rod"]).loops] == ["leg_2"]
    assert len(body.fix({"leg_1": 0.7}).loops) == len(body.with_base("planar").loops) == 6
    links, loop = [mk.build.Link("a"), mk.build.Link("b")], mk.build.Loop("x", mk.Frame("a"), mk.Frame("b"))
    joint = mk.build.Joint("j", "revolute", "a", "b", lower=(-1,), upper=(1,))
    for wrong in (
        [loop, loop],
        [loop._replace(kind="screw")],
        [loop._replace(other=mk.Frame("a"))],
        [loop._replace(frame="a")],
        [3],
    ):
        with pytest.raises(mk.MemetikError):
            mk.Body("two", links, [joint], loops=wrong)
