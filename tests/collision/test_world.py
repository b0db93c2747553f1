"""World: obstacles that come, move and go under problems that stay compiled; grasps."""

import copy
import pickle
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik.errors import BodyError, ProblemError, UnknownNameError

ENOUGH = mk.Budget(evaluations=2_000)


def ball(x, y, z, radius=0.1):
    return mk.Shape("sphere", (radius,), mk.translation(x, y, z))


def judged(problem, q):
    """The errors of the objectives at a posture that is not left."""
    return mk.Solution.of(problem, q).errors


@pytest.fixture
def arm():
    body = mk.load("panda")
    hand = body.forward(body.home, "panda_hand")[:3, 3]
    return body, hand


def test_obstacles_come_move_and_go_without_compiling(arm):
    body, hand = arm
    world = mk.World()
    apart = mk.Distance("panda_hand", world)
    problem = mk.Problem(body, [apart])
    compiled = problem.compiled
    assert judged(problem, body.home)[apart] == 0.0
    world["ball"] = ball(*hand)
    deep = judged(problem, body.home)[apart]
    assert_allclose(
        deep, judged(mk.Problem(body, [other := mk.Distance("panda_hand", [(*hand, 0.1)])]), body.home)[other]
    )
    world.move("ball", mk.translation(0, 0, 5))
    assert judged(problem, body.home)[apart] == 0.0
    world.move({"ball": mk.transform(hand)})
    assert judged(problem, body.home)[apart] == deep
    world.disable("ball")
    assert judged(problem, body.home)[apart] == 0.0
    world.enable("ball")
    assert judged(problem, body.home)[apart] == deep
    world["ball"] = mk.Shape("box", (0.2, 0.2, 0.2), mk.transform(hand))
    assert judged(problem, body.home)[apart] > 0.0
    del world["ball"]
    assert judged(problem, body.home)[apart] == 0.0
    assert problem.compiled is compiled


def test_a_world_that_is_full_grows_and_packs_problems_anew(arm):
    body, hand = arm
    world = mk.World(capacity=2)
    apart = mk.Distance("panda_hand", world)
    problem = mk.Problem(body, [apart])
    compiled = problem.compiled
    for k in range(3):
        world[f"ball {k}"] = ball(*(hand if k == 2 else (0, 0, 5)))
    assert world.capacity == 4
    assert judged(problem, body.home)[apart] > 0.0
    assert problem.compiled is not compiled
    assert len(apart.obstacles) == 3


def test_several_problems_share_a_world(arm):
    body, hand = arm
    world = mk.World({"ball": ball(0, 0, 5)})
    problems = [
        mk.Problem(body, [mk.Distance(links, world)]) for links in ("panda_hand", ["panda_hand", "panda_link7"])
    ]
    world.move("ball", mk.transform(hand))
    assert all(judged(problem, body.home)[problem.objectives[0]] > 0.0 for problem in problems)


def test_several_shapes_move_as_one(arm):
    body, hand = arm
    world = mk.World({"frame": [ball(0.3, 0, 0), ball(-0.3, 0, 0)]})
    apart = mk.Distance("panda_hand", world)
    problem = mk.Problem(body, [apart])
    turned = mk.transform(hand + np.array((0, 0, 0.3)), mk.euler(0, np.pi / 2, 0))
    world.move("frame", turned)
    places = [shape.link_from_shape[:3, 3] for shape in world["frame"].placed]
    assert_allclose(places, [hand, hand + np.array((0, 0, 0.6))], atol=1e-12)
    assert judged(problem, body.home)[apart] > 0.0


def test_what_stands_on_a_table_may_touch_it():
    body = mk.load("panda")
    floor = mk.Shape("box", (2, 2, 0.1), mk.translation(0, 0, 0.0))
    world = mk.World({"floor": floor})
    apart = mk.Distance(body, world)
    problem = mk.Problem(body, [apart])
    assert judged(problem, body.home)[apart] > 0.0
    world.add("floor", floor, touching=["panda_link0", "panda_link1"])
    assert judged(problem, body.home)[apart] == 0.0
    world["floor"] = floor
    assert judged(problem, body.home)[apart] > 0.0


def test_solutions_keep_away(arm):
    body, _ = arm
    world = mk.World({"wall": mk.Shape("box", (0.05, 2.0, 2.0), mk.translation(0.45, 0, 0.5))})
    problem = mk.Problem(body, [mk.Position("panda_hand", (0.3, 0.3, 0.4)), mk.Distance(body, world)])
    solution = mk.solve(problem, budget=ENOUGH)
    assert solution.success
    assert solution.errors[problem.objectives[1]] == 0.0


def test_obstacles_along_a_track(arm):
    """A ball passes through the place of the hand, which gives way."""
    body, hand = arm
    world = mk.World({"ball": ball(0, 0, 0), "far": ball(0, 0, 5)})
    apart = mk.Distance(["panda_hand", "panda_link7"], world)
    reach = mk.Position("panda_hand", hand, tolerance=0.3)
    problem = mk.Problem(body, [reach, apart, mk.Displacement(weight=0.1)])
    poses = np.array([mk.translation(x, hand[1], hand[2]) for x in np.linspace(hand[0] - 0.6, hand[0] + 0.6, 30)])
    track = mk.track(problem, {apart: {"ball": poses}})
    assert (track.errors[apart] == 0.0).all()
    assert np.abs(np.diff(track.q, axis=0)).max() > 0.0
    assert_allclose(world["ball"].pose, np.eye(4))  # the world itself is left alone


def test_copies_and_pickles_have_worlds_of_their_own(arm):
    body, hand = arm
    world = mk.World({"ball": ball(0, 0, 5)})
    problem = mk.Problem(body, [mk.Distance("panda_hand", world)])
    for twin in (copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))):
        other = twin.objectives[0].world
        assert other is not world
        other.move("ball", mk.transform(hand))
        assert judged(twin, body.home)[twin.objectives[0]] > 0.0
        assert judged(problem, body.home)[problem.objectives[0]] == 0.0


def test_a_change_is_seen_whole(arm):
    """One thread moves two balls together; solves in another see both where they were, or both where they are."""
    body, hand = arm
    far = mk.translation(0, 0, 5)
    here = mk.transform(hand)
    world = mk.World({"a": ball(*hand), "b": ball(0, 0, 5)})
    apart = mk.Distance("panda_hand", world)
    problem = mk.Problem(body, [apart])
    judged(problem, body.home)
    stop, seen = threading.Event(), set()

    def watch():
        while not stop.is_set():
            seen.add(judged(problem, body.home)[apart] > 0.0)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for k in range(400):
        world.move({"a": here, "b": far} if k % 2 else {"a": far, "b": here})
    stop.set()
    watcher.join()
    assert seen == {True}  # one of them is always in the way


# ---- Grasps ---------------------------------------------------------------------------------------------------


def test_grasp_and_release(arm):
    body, hand = arm
    world = mk.World(
        {"cup": mk.Shape("cylinder", (0.03, 0.1), mk.transform(hand + np.array((0, 0, -0.12)), mk.euler(0.3, 0.2, 0)))}
    )
    before = world["cup"].pose
    holding = world.attach("cup", body, "panda_hand", body.home, touching=["panda_leftfinger", "panda_rightfinger"])
    assert "cup" not in world
    assert holding.joint_names == body.joint_names
    assert_allclose(holding.forward(body.home, "cup"), before, atol=1e-12)
    pairs = mk.SelfDistance(holding).pairs
    assert ("panda_link3", "cup") in pairs
    assert not any("finger" in link for pair in pairs if "cup" in pair for link in pair)
    world["wall"] = ball(*before[:3, 3], 0.05)
    apart = mk.Distance(holding, world)
    assert judged(mk.Problem(holding, [apart]), body.home)[apart] > 0.0
    q = body.home + 0.1
    free = world.release("cup", holding, q)
    assert free.links.keys() == body.links.keys()
    assert_allclose(world["cup"].pose, holding.forward(q, "cup"), atol=1e-12)
    assert_allclose(
        holding.forward(q, "panda_hand") @ np.linalg.inv(body.forward(q, "panda_hand")), np.eye(4), atol=1e-12
    )


def test_grasp_with_a_root(arm):
    body, _ = arm
    root = mk.transform((1, 2, 0), mk.euler(0, 0, 1))
    world = mk.World({"cup": ball(1.3, 2.3, 0.5, 0.03)})
    holding = world.attach("cup", body, "panda_hand", body.home, root=root)
    assert_allclose(holding.forward(body.home, "cup", root=root)[:3, 3], (1.3, 2.3, 0.5), atol=1e-12)
    world.release("cup", holding, body.home, root=root)
    assert_allclose(world["cup"].pose[:3, 3], (1.3, 2.3, 0.5), atol=1e-12)


def test_shapes_in_the_hand(arm):
    body, _ = arm
    holding = body.attach_shape("rod", "panda_hand", mk.Shape("capsule", (0.01, 0.3)), pose=(0, 0, 0.2), mass=2.0)
    assert_allclose(holding.mass, body.mass + 2.0)
    assert_allclose(
        holding.forward(body.home, "rod"), body.forward(body.home, "panda_hand") @ mk.translation(0, 0, 0.2)
    )
    assert holding.detach_shape("rod").links.keys() == body.links.keys()
    with pytest.raises(BodyError, match="already"):
        holding.attach_shape("rod", "panda_hand", mk.Shape("sphere", (0.1,)))
    with pytest.raises(UnknownNameError):
        holding.detach_shape("panda_hand")
    with pytest.raises(BodyError, match="no shapes"):
        body.attach_shape("air", "panda_hand", [])


def test_wrong_arguments(arm):
    body, _ = arm
    world = mk.World({"ball": ball(0, 0, 5)})
    with pytest.raises(UnknownNameError, match="Did you mean"):
        world.move("bal", np.eye(4))
    with pytest.raises(ProblemError, match="bad pose of obstacle 'ball'"):
        world.move("ball", 2 * np.eye(4))
    with pytest.raises(ProblemError, match="cannot move"):
        world.move("ball")
    with pytest.raises(ProblemError, match="no simple distance"):
        world["mesh"] = mk.Shape("mesh", (1, 1, 1), mesh="cup.stl")
    with pytest.raises(ProblemError, match="no shapes"):
        world["nothing"] = []
    with pytest.raises(ProblemError, match="Change them there"):
        mk.Distance("panda_hand", world).obstacles = [(0, 0, 0)]
    with pytest.raises(ProblemError, match="capacity"):
        mk.World(capacity=0)
    with pytest.raises(ProblemError, match="obstacles of a world"):
        mk.World([ball(0, 0, 0)])
    with pytest.raises(ProblemError, match="over time"):
        mk.track(mk.Problem(body, [apart := mk.Distance("panda_hand", world)]), {apart: np.zeros((3, 1, 4))})
    assert repr(world) == "<World: ball, room for 8 shapes>"
    assert "mesh" not in world


def test_hulls_stand_in_a_world_and_move_there():
    """A hull with the corners of a box is as far away as the box, wherever both are put."""
    corners = np.array([(x, y, z) for x in (-0.1, 0.3) for y in (-0.2, 0.2) for z in (0.0, 0.5)])
    box = mk.Shape("box", (0.4, 0.4, 0.5), mk.translation(0.1, 0.0, 0.25))
    body = mk.load("panda")
    rng = np.random.default_rng(5)
    worlds = [
        mk.World({"stone": [mk.Shape("hull", points=corners)], "ball": mk.Shape("sphere", (0.1,))}, capacity=3),
        mk.World({"stone": [box], "ball": mk.Shape("sphere", (0.1,))}, capacity=3),
    ]
    problems = [mk.Problem(body, [mk.Distance(body, world)]) for world in worlds]
    for _ in range(20):
        place = mk.transform(rng.uniform(-0.6, 0.6, 3), mk.geometry.random_rotation(rng))
        q = body.sample(rng)
        depths = []
        for world, problem in zip(worlds, problems, strict=True):
            world.move("stone", place)
            found = mk.solve(problem, start=q, budget=mk.Budget(evaluations=1))
            depths.append((found.status, found.q))
        assert depths[0][0] == depths[1][0]
        assert np.abs(depths[0][1] - depths[1][1]).max() < 1e-6
    for world, problem in zip(worlds, problems, strict=True):
        world.remove("stone")
        world["other"] = (
            mk.Shape("hull", points=corners + 2.0)
            if world is worlds[0]
            else mk.Shape("sphere", (0.01,), mk.translation(2, 2, 2))
        )
        world.move("ball", mk.translation(2.0, -2.0, 2.0))
        assert mk.solve(problem, start=body.home).success


def test_motions_into_a_cloud_or_a_hull_are_found():
    body = mk.load("panda")
    q0 = body.home
    q1 = q0.copy()
    q1[0] += 1.2
    hand = body.forward(0.5 * (q0 + q1))["panda_hand"][:3, 3]
    cloud = mk.objectives.PointCloud(hand + np.random.default_rng(1).normal(scale=0.02, size=(200, 3)), radius=0.01)
    stone = mk.collision.hull(hand + np.random.default_rng(2).normal(scale=0.03, size=(30, 3)))
    for others in (cloud, [stone], mk.World({"stone": stone})):
        problem = mk.Problem(body, [mk.Distance(["panda_hand", "panda_link7"], others)])
        check = mk.motion.check_motion(problem, np.array([q0, q1]))
        assert not check.free
    away = mk.objectives.PointCloud(hand + 3.0 + np.zeros((5, 3)), radius=0.01)
    assert mk.motion.check_motion(mk.Problem(body, [mk.Distance("panda_hand", away)]), np.array([q0, q1])).free


def test_nothing_of_a_world_is_assigned():
    world = mk.World({"ball": mk.Shape("sphere", (0.1,))})
    with pytest.raises(ProblemError, match=r"touching cannot be assigned.*by name"):
        world.touching = ["panda_hand"]
