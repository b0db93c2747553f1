"""Height fields and grids as obstacles: in Distance, in a World, in the hand, between postures, in pictures and scenes."""

import dataclasses
import gc
import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik.body.fields import volume_and_center
from memetik.errors import BodyError, FormatError, ProblemError
from memetik.kernels.terms.distance import DISTANCE, FIELD_DISTANCE
from memetik.scenes import file as scene_file
from memetik.scenes.build import problem as problem_of
from memetik.scenes.scene import Block
from memetik.solvers import Budget, Memetic
from tests.naive.fields import field_distance
from tests.objectives.finite_differences import check_jacobian

ARM = ["panda_link4", "panda_link5", "panda_link6", "panda_link7", "panda_hand"]
RADIUS = 0.15


def hills(rng=None, depth=2.0):
    """Smooth ground around the foot of an arm."""
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 21), np.linspace(-1.0, 1.0, 21), indexing="ij")
    return mk.objectives.HeightField(
        0.1 * np.sin(5.0 * x) * np.cos(4.0 * y), spacing=0.1, origin=(-1.0, -1.0), depth=depth
    )


def ball_grid(center=(0.0, 0.0, 0.0), spacing=0.025):
    """Distances from a ball, as a grid that stands about its centre."""
    axis = np.arange(-0.25, 0.2501, spacing)
    values = np.linalg.norm(np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1), axis=-1) - RADIUS
    return mk.collision.SignedDistanceGrid(values, spacing=spacing, origin=np.array(center) + axis[0])


def placed(body, q, link):
    """The shapes of a link in the world."""
    pose = body.forward(q)[link]
    return [dataclasses.replace(each, link_from_shape=pose @ each.link_from_shape) for each in body.links[link].shapes]


def error(problem, q, objective):
    return Memetic().solve(problem, q, Budget(evaluations=1)).errors[objective]


@pytest.mark.parametrize(
    ("links", "obstacle"), [(ARM, hills()), (None, ball_grid((0.45, 0.0, 0.45)))], ids=["heights", "grid"]
)
def test_jacobian(links, obstacle):
    """Of links over a field, and of a ball over a grid: those of other solids are found to a share of its spacing."""
    body = mk.load("panda")
    if links is None:
        away = mk.Distance(body.frame("panda_hand"), obstacle, radius=0.05, margin=0.5)
    else:
        away = mk.Distance(links, obstacle, margin=0.5)
    rng = np.random.default_rng(3)
    postures = [body.home + rng.uniform(-0.2, 0.2, body.dof) for _ in range(3)]
    assert max(np.abs(check_jacobian(body, [away], q)).max() for q in postures) > 0.1


def test_the_error_is_what_the_nearest_link_lacks():
    """Of the clearance, by coal's distances from the prisms under the facets."""
    body, field = mk.load("panda"), hills()
    away = mk.Distance(["panda_hand"], field, clearance=0.6)
    problem, rng = mk.Problem(body, away), np.random.default_rng(1)
    for q in (body.home + rng.uniform(-0.3, 0.3, body.dof) for _ in range(2)):
        q = np.clip(q, body.lower, body.upper)
        true = min(field_distance(shape, field.shape) for shape in placed(body, q, "panda_hand"))
        assert_allclose(error(problem, q, away), 0.6 - true, atol=1e-7)


def test_reached_is_free_of_the_solid_itself():
    """An arm reaches past a ball that it knows as a grid: by the true distance from the ball, at the clearance asked for."""
    body, center = mk.load("panda"), np.array([0.45, 0.0, 0.5])
    world = mk.World({"rock": ball_grid(), "ground": hills()})
    world.move("rock", mk.translation(*center))
    hand = mk.Position("panda_hand", (0.5, 0.3, 0.4))
    away = mk.Distance(ARM, world, clearance=0.01)
    problem = mk.Problem(body, [hand, away])
    rng, reached = np.random.default_rng(0), 0
    for _ in range(20):
        hand.target = rng.uniform((0.2, -0.5, 0.2), (0.6, 0.5, 0.8))
        solution = mk.solve(problem, body.sample(rng), budget=mk.Budget(evaluations=500))
        if solution.success:
            reached += 1
            for link in ARM:
                for shape in placed(body, solution.q, link):
                    assert true_distance(shape, center) >= 0.01 - 1e-6
    assert reached >= 10


def true_distance(shape, center):
    from tests.naive import coal

    return coal.distance(shape, mk.Shape("sphere", (RADIUS,), mk.translation(*center)))[0]


def test_a_world_moves_disables_and_removes_fields():
    body = mk.load("panda")
    tip = body.forward(body.home)["panda_hand"][:3, 3]
    world = mk.World({"rock": ball_grid(tip)})
    away = mk.Distance("panda_hand", world)
    problem = mk.Problem(body, away)
    deep = error(problem, body.home, away)
    assert deep > 0.1
    world.move("rock", mk.translation(1.0, 0.0, 0.0))
    assert error(problem, body.home, away) == 0.0
    world.move("rock", np.eye(4))
    assert_allclose(error(problem, body.home, away), deep, atol=1e-12)
    world.disable("rock")
    assert error(problem, body.home, away) == 0.0
    world.enable("rock")
    assert_allclose(error(problem, body.home, away), deep, atol=1e-12)
    again = pickle.loads(pickle.dumps(problem))
    assert_allclose(error(again, body.home, again.objectives[0]), deep, atol=1e-12)
    world["rock"] = mk.Shape("sphere", (0.1,), mk.translation(5.0, 0.0, 0.0))
    gc.collect()
    assert error(problem, body.home, away) == 0.0
    assert world.shapes[0].kind == "sphere"
    world.add("rock", ball_grid(tip), touching=["panda_hand"])
    with pytest.raises(ProblemError, match="cannot move from step to step"):
        away.target_rows({"rock": np.tile(np.eye(4), (2, 1, 1))})


def test_in_the_hand():
    """A grid that a hand holds keeps off the ground with it."""
    body = mk.load("panda")
    world = mk.World({"ground": hills()})
    at = body.forward(body.home)["panda_hand"] @ mk.translation(0.0, 0.0, 0.35)
    world.add("rock", ball_grid(), at)
    holding = world.attach("rock", body, "panda_hand", body.home, touching=["panda_leftfinger", "panda_rightfinger"])
    away = mk.Distance(["rock"], mk.Shape("box", (1.0, 1.0, 0.1), mk.translation(0.5, 0.0, 0.0)), margin=1.0)
    problem = mk.Problem(holding, away)
    middle = (holding.forward(holding.home)["rock"])[:3, 3]
    assert_allclose(middle, at[:3, 3], atol=1e-9)
    found = Memetic().solve(
        mk.Problem(holding, mk.Distance(["rock"], world, clearance=3.0)), holding.home, Budget(evaluations=1)
    )
    assert found.errors and error(problem, holding.home, away) == 0.0
    free = world.release("rock", holding, holding.home)
    assert "rock" not in free.links and "rock" in world


def test_between_postures():
    """A motion down into the ground is found, one above it proved; so with a root elsewhere, too."""
    body, field = mk.load("panda"), hills()
    for root in (None, mk.transform((0.1, 0.1, 0.0), mk.axis_angle((0, 0, 1), 0.5))):
        away = mk.Distance(ARM, field)
        problem = mk.Problem(body, [mk.Position("panda_hand", (0.4, 0.0, 0.6)), away], root=root)
        above = body.home
        low = body.home.copy()
        low[1] += 1.4
        check = mk.motion.check_motion(problem, [above, above + 0.05])
        assert check and check.distance > 0.1
        down = mk.motion.check_motion(problem, [above, low])
        assert not down and down.first.pair[1] == "height field"


def test_plain_distances_stay_plain():
    """Only who has a field compiles what it needs."""
    body = mk.load("panda")
    kinds = lambda *others: set(mk.Problem(body, mk.Distance("panda_hand", *others)).compiled.terms["kind"].tolist())  # noqa: E731
    assert kinds([(0.5, 0.0, 0.5, 0.1)]) == {DISTANCE.number}
    assert kinds([(0.5, 0.0, 0.5, 0.1), hills()]) == {FIELD_DISTANCE.number}


def test_the_memory_of_a_field_lives_as_long_as_the_problem():
    body = mk.load("panda")
    world = mk.World({"rock": ball_grid(body.forward(body.home)["panda_hand"][:3, 3])})
    compiled = mk.Problem(body, mk.Distance("panda_hand", world)).compiled
    samples = world["rock"].shapes[0].samples
    del world["rock"]
    assert any(getattr(each, "samples", None) is samples for each in compiled.kept)


def test_drawn():
    body = mk.load("panda")
    world = mk.World({"ground": hills(), "rock": ball_grid((0.5, 0.0, 0.4))})
    plain, full = mk.draw(body), mk.draw(body, world=world)
    assert full.count("<path") > plain.count("<path") + 500


@pytest.mark.parametrize("shape", [hills().shape, ball_grid().shape], ids=["heights", "grid"])
def test_surfaces_are_closed_and_face_out(shape):
    """By the winding of all edges and the volume within; heights have no bottom in pictures."""
    vertices, faces = shape.surface
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    once = {tuple(edge) for edge in edges.tolist()}
    assert len(once) == len(edges)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    if shape.kind == "grid":
        assert all((j, i) in once for i, j in once)
        volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
        assert_allclose(volume, 4.0 / 3.0 * np.pi * RADIUS**3, rtol=0.05)
    else:
        assert (np.cross(b - a, c - a)[: 2 * 20 * 20, 2] > 0.0).all()


def test_volumes():
    """Of a ball by its samples, and of level ground."""
    volume, center = volume_and_center("grid", ball_grid().values, ball_grid().shape.size)
    assert_allclose(volume, 4.0 / 3.0 * np.pi * RADIUS**3, rtol=0.1)
    assert_allclose(center, (0.25, 0.25, 0.25), atol=2e-3)
    volume, center = volume_and_center("heights", np.full((3, 5), 0.5), (0.5, 0.25, 0.3))
    assert_allclose([volume, *center], [0.3, 0.5, 0.5, 0.35], atol=1e-12)


def test_scenes_keep_fields():
    field = hills()
    values = tuple(map(tuple, field.heights.tolist()))
    ground = Block("ground", "heights", (0.1, 0.1, 2.0), (-1.0, -1.0, 0.0), values=values)
    plain = {
        "format": scene_file.FORMAT, "title": "hills", "body": {"bundled": "panda"},
        "objectives": [{"kind": "Distance", "name": "off", "links": ["panda_hand"], "obstacles": [], "world": True}],
        "world": [{
            "name": "ground", "shape": "heights", "size": [0.1, 0.1, 2.0], "position": [-1.0, -1.0, 0.0], "values": values,
        }],
    }  # fmt: skip
    text = scene_file.dumps(scene_file.loads(json.dumps(plain)))
    again = scene_file.loads(text)
    assert again.world == (ground,)
    body = mk.load("panda")
    problem = problem_of(again, body)
    assert problem.objectives[0].world["ground"].shapes[0].values.shape == field.heights.shape
    plain["world"][0]["values"] = [1.0, 2.0]
    with pytest.raises(FormatError, match=r"obstacle 1 of the world.*2 dimensions"):
        scene_file.loads(json.dumps(plain))


@pytest.mark.parametrize(
    ("kind", "size", "values", "said"),
    [
        ("heights", (0.1, 0.1, 1.0), None, "no values"),
        ("heights", (0.1, 0.1, 1.0), np.zeros((3, 1)), "2 dimensions"),
        ("heights", (0.0, 0.1, 1.0), np.zeros((3, 3)), "spacing"),
        ("heights", (0.1, 0.1, 0.0), np.zeros((3, 3)), "no depth"),
        ("heights", (0.1, 0.1, 1.0), np.full((3, 3), np.nan), "NaN"),
        ("grid", (0.1, 0.1, 0.1, 0.0), np.zeros((3, 3)), "3 dimensions"),
        ("grid", (0.1, 0.1, 0.1, 0.0), np.arange(27.0).reshape(3, 3, 3), "no signed distances"),
        ("sphere", (0.1,), np.zeros((3, 3)), "no values"),
    ],
)
def test_wrong_fields(kind, size, values, said):
    with pytest.raises(BodyError, match=said):
        mk.Shape(kind, size, values=values)


def test_fields_are_given_at_the_start():
    away = mk.Distance("panda_hand", [(0.5, 0.0, 0.5, 0.1)])
    with pytest.raises(ProblemError, match="when you make it"):
        away.obstacles = [hills().shape]
    with pytest.raises(ProblemError, match="depth"):
        mk.objectives.HeightField(np.zeros((2, 2)), depth=0.0)
