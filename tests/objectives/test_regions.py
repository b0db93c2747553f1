"""MinDistance, MaxDistance, Line, Plane, Touch, Side: residuals and errors by plain formulas, derivatives, solved."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from memetik import Body, Shape, load, transform
from memetik.build import Joint, Link
from memetik.errors import ProblemError
from memetik.geometry import random_rotation
from memetik.objectives import Line, MaxDistance, MinDistance, Plane, Pose, Side, Touch
from memetik.problem import Problem
from memetik.solvers import Budget, Memetic
from tests.naive.bodies import dressed, random_body, random_direction, random_hull, random_shape
from tests.naive.distance import moved, surface
from tests.naive.kinematics import forward
from tests.objectives.finite_differences import Evaluated, check_jacobian, posture

KINDS = ("revolute", "continuous", "prismatic", "screw", "cylindrical", "planar", "spherical", "xyz", "floating")
SEEDS = range(6)


class Scene:
    """A random body with solids in a random posture; a frame on its tip, another that regions may ride on."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.body = dressed(random_body(rng, 7, KINDS), rng)
        self.q = self.body.sample(rng)
        poses = forward(self.body, self.q)
        self.frame = self.body.frame("link7", offset=transform(rng.normal(scale=0.2, size=3), random_rotation(rng)))
        self.carrier = self.body.frame("link4", offset=transform(rng.normal(scale=0.2, size=3), random_rotation(rng)))
        self.tip = poses["link7"]
        self.world_from_frame = poses["link7"] @ self.frame.link_from_frame
        self.world_from_carrier = poses["link4"] @ self.carrier.link_from_frame
        self.point = rng.normal(scale=0.5, size=3)
        self.direction = random_direction(rng)

    @property
    def p(self):
        """The origin of the frame."""
        return self.world_from_frame[:3, 3]

    def ridden(self, rides):
        """relative_to, and the point and direction of the region in the world."""
        T = self.world_from_carrier if rides else np.eye(4)
        return self.carrier if rides else None, moved(T, self.point), T[:3, :3] @ self.direction

    def residual(self, objective):
        problem = Problem(self.body, [objective])
        return Evaluated(problem, posture(problem, self.q)).residual

    def error(self, objective):
        """What a solver reports that may not move."""
        return Memetic().solve(Problem(self.body, [objective]), self.q, Budget(evaluations=1)).errors[objective]

    def check(self, objective, *, active=True):
        """Derivatives against differences; an inactive hinge has none."""
        jacobian = check_jacobian(self.body, [objective], self.q, tolerance=1e-5)
        assert (np.abs(jacobian).max() > 1e-3) == active


@pytest.mark.parametrize("rides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_min_and_max_distance(seed, rides):
    scene = Scene(seed)
    on, point, _ = scene.ridden(rides)
    d = np.linalg.norm(scene.p - point)
    for kind, distance, violation in [
        (MinDistance, d + 0.2, 0.2),
        (MinDistance, 0.5 * d, 0.0),
        (MaxDistance, 0.5 * d, 0.5 * d),
        (MaxDistance, d + 0.2, 0.0),
    ]:
        objective = kind(scene.frame, scene.point, distance, relative_to=on)
        assert_allclose(scene.residual(objective), [violation], atol=1e-12)
        assert_allclose(scene.error(objective), violation, atol=1e-12)
        scene.check(objective, active=violation > 0.0)


@pytest.mark.parametrize("rides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_line(seed, rides):
    scene = Scene(seed)
    on, point, u = scene.ridden(rides)
    objective = Line(scene.frame, scene.point, 3.0 * scene.direction, relative_to=on)
    expected = np.linalg.norm((np.eye(3) - np.outer(u, u)) @ (scene.p - point))
    assert_allclose(np.linalg.norm(scene.residual(objective)), expected)
    assert_allclose(scene.error(objective), expected)
    scene.check(objective)


@pytest.mark.parametrize("rides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_plane(seed, rides):
    scene = Scene(seed)
    on, point, n = scene.ridden(rides)
    height = n @ (scene.p - point)
    objective = Plane(scene.frame, scene.point, 2.0 * scene.direction, relative_to=on)
    assert_allclose(scene.residual(objective), [height])
    assert_allclose(scene.error(objective), abs(height))
    scene.check(objective)
    for sign in (1.0, -1.0):
        above = Plane(scene.frame, scene.point, sign * scene.direction, side="above", relative_to=on)
        assert_allclose(scene.residual(above), [max(0.0, -sign * height)])
        assert_allclose(scene.error(above), max(0.0, -sign * height))
        scene.check(above, active=sign * height < 0.0)


@pytest.mark.parametrize("rides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_touch(seed, rides):
    """The lowest of many points of the surfaces is nowhere below the residual and hardly above it."""
    scene = Scene(seed)
    on, point, n = scene.ridden(rides)
    shapes = scene.body.links["link7"].shapes
    lowest = min(((moved(scene.tip @ s.link_from_shape, surface(s)) - point) @ n).min() for s in shapes)
    objective = Touch("link7", scene.point, scene.direction, relative_to=on)
    height = scene.residual(objective)[0]
    assert lowest - 0.005 <= height <= lowest + 1e-9
    assert_allclose(scene.error(objective), abs(height))
    scene.check(objective)
    above = Touch("link7", scene.point, scene.direction, side="above", relative_to=on)
    assert_allclose(scene.residual(above), [max(0.0, -height)])
    scene.check(above, active=height < 0.0)


@pytest.mark.parametrize("count", [1, 20, 1000])
def test_touch_of_a_hull(count, rng):
    """The lowest of its points less its radius, beside another solid."""
    for _ in range(5):
        hull, n = random_hull(rng, count), random_direction(rng)
        shapes = (Shape("sphere", (0.01,), hull.link_from_shape), hull)
        body = Body("one", [Link("world"), Link("thing", shapes=shapes)], [Joint("base", "floating", "world", "thing")])
        problem = Problem(body, [Touch("thing", (0, 0, 0), n)])
        found = Evaluated(problem, posture(problem, body.home)).residual[0]
        heights = moved(hull.link_from_shape, hull.points) @ n - hull.size[0]
        ball = n @ hull.link_from_shape[:3, 3] - 0.01
        assert_allclose(found, min(ball, heights.min()), atol=1e-9)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "box"])
def test_touch_is_exact(kind, rng):
    """Support of each solid: r, l/2 |n·u| + r, l/2 |n·u| + r sqrt(1 - (n·u)^2), sum of h_i |n·e_i|."""
    for _ in range(20):
        shape, n = random_shape(rng, [kind]), random_direction(rng)
        body = Body(
            "one", [Link("world"), Link("thing", shapes=(shape,))], [Joint("base", "floating", "world", "thing")]
        )
        problem = Problem(body, [Touch("thing", (0, 0, 0), n)])
        found = Evaluated(problem, posture(problem, body.home)).residual[0]
        along = np.abs(shape.link_from_shape[:3, :3].T @ n)
        if kind == "box":
            support = np.dot(shape.size, along) / 2.0
        else:
            radius, length = (*shape.size, 0.0)[:2]
            across = math.hypot(along[0], along[1]) if kind == "cylinder" else 1.0
            support = radius * across + length / 2.0 * along[2]
        assert_allclose(found, n @ shape.link_from_shape[:3, 3] - support, atol=1e-9)


@pytest.mark.parametrize("rides", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_side(seed, rides):
    scene = Scene(seed)
    on, _, d = scene.ridden(rides)
    axis = random_direction(scene.rng)
    sine = scene.world_from_frame[:3, :3] @ axis @ d
    for sign in (1.0, -1.0):
        objective = Side(scene.frame, sign * scene.direction, axis=axis, relative_to=on)
        expected = max(0.0, math.asin(sign * sine))
        assert_allclose(np.linalg.norm(scene.residual(objective)), expected, atol=1e-12)
        assert_allclose(scene.error(objective), expected, atol=1e-12)
        scene.check(objective, active=sign * sine > 0.0)


def test_retargeting_in_place():
    """Every number of a region can be assigned, and the compiled problem follows."""
    body, rng = load("panda"), np.random.default_rng(5)
    q = body.sample(rng)

    def fresh(*objectives):
        problem = Problem(body, objectives)
        return problem, Evaluated(problem, posture(problem, q)).residual

    near, far = MinDistance("panda_hand", (0, 0, 0), 0.1), MaxDistance("panda_hand", (0, 0, 0), 9.0)
    line, plane = Line("panda_hand", (0, 0, 0), (0, 0, 1)), Plane("panda_hand", (0, 0, 0), (0, 0, 1))
    touch, side = Touch("panda_hand"), Side("panda_hand", (0, 0, 1))
    problem, _ = fresh(near, far, line, plane, touch, side)
    compiled = problem.compiled
    near.target, near.distance = (0.1, 0.2, 0.3), 3.0
    far.target, far.distance = (0.1, 0.2, 0.3), 0.1
    line.point, line.direction = (1.0, 0.0, 0.5), (1.0, 2.0, 0.0)
    plane.point, plane.normal = (1.0, 0.0, 0.5), (1.0, 2.0, 0.0)
    touch.point, touch.normal = (1.0, 0.0, 0.5), (1.0, 2.0, 0.0)
    side.direction = (1.0, 2.0, 3.0)
    assert problem.compiled is compiled
    _, expected = fresh(
        MinDistance("panda_hand", (0.1, 0.2, 0.3), 3.0),
        MaxDistance("panda_hand", (0.1, 0.2, 0.3), 0.1),
        Line("panda_hand", (1.0, 0.0, 0.5), (1.0, 2.0, 0.0)),
        Plane("panda_hand", (1.0, 0.0, 0.5), (1.0, 2.0, 0.0)),
        Touch("panda_hand", (1.0, 0.0, 0.5), (1.0, 2.0, 0.0)),
        Side("panda_hand", (1.0, 2.0, 3.0)),
    )
    assert_allclose(Evaluated(problem, posture(problem, q)).residual, expected)
    assert (near.distance, far.distance) == (3.0, 0.1)
    for written, kept in [
        (near.target, (0.1, 0.2, 0.3)), (line.point, (1.0, 0.0, 0.5)), (plane.point, (1.0, 0.0, 0.5)),
        (line.direction, (1.0, 2.0, 0.0)), (plane.normal, (1.0, 2.0, 0.0)), (side.direction, (1.0, 2.0, 3.0)),
    ]:  # fmt: skip
        unit = kept / np.linalg.norm(kept) if written @ written == pytest.approx(1.0) else kept
        assert_allclose(written, unit)


@pytest.mark.parametrize(
    ("objective", "assign"),
    [
        (MinDistance("tip", (0, 0, 0), 0.5), "target"),
        (MaxDistance("tip", (0, 0, 0), 0.5), "target"),
        (Line("tip", (0, 0, 0), (1, 2, 3)), "point"),
        (Plane("tip", (0, 0, 0), (1, 2, 3)), "point"),
        (Touch("tip", (0, 0, 0), (1, 2, 3)), "point"),
        (Side("tip", (1, 2, 3)), "direction"),
    ],
)
def test_targets_over_time(objective, assign, rng):
    """Rows for a track: each is what assigning that step would write."""
    path = rng.normal(size=(5, 3))
    rows, target = objective.target_rows(path)
    for step, row in zip(path, rows, strict=True):
        setattr(objective, assign, step)
        assert_allclose(row, target.numbers, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MinDistance("tip", (0, 0, 0), -1.0), "distance is -1.0"),
        (lambda: MaxDistance("tip", (0, 0, 0), math.nan), "distance is nan"),
        (lambda: MaxDistance("tip", (0, 0), 1.0), "three numbers"),
        (lambda: MinDistance("tip", (0, 0, math.inf), 1.0), "infinite"),
        (lambda: Line("tip", (0, 0, 0), (0, 0, 0)), "direction of finite length"),
        (lambda: Plane("tip", (0, 0, 0), (0, 0, 1), side="below"), "turn the normal"),
        (lambda: Plane("tip", (0, 0, math.nan), (0, 0, 1)), "point has an entry that is NaN or infinite"),
        (lambda: Side("tip", (0, 0, 0)), "Side: direction"),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


def test_touch_needs_shapes():
    body = Body("bare", [Link("world"), Link("tip")], [Joint("base", "xyz", "world", "tip")])
    with pytest.raises(ProblemError, match="link 'tip' of body 'bare' has no shapes"):
        Problem(body, [Touch("tip")])


def test_starting_on_the_very_point():
    """At the point that a frame must leave, any way out will do."""
    body = Body("probe", [Link("world"), Link("tip")], [Joint("base", "xyz", "world", "tip")])
    assert Memetic().solve(Problem(body, [MinDistance("tip", (0, 0, 0), 0.5)]), body.home).success


def test_regions_together():
    """A pen on a slanted line of a table, not too far out, its tail up, the elbow above the table: all at once."""
    body, rng = load("panda"), np.random.default_rng(1)
    pen = body.frame("panda_hand", offset=(0.0, 0.0, 0.1))
    solved = 0
    for _ in range(20):
        spot = np.array([*rng.uniform(0.3, 0.45, 2) * rng.choice([-1.0, 1.0], 2), 0.1])
        objectives = [
            Line(pen, spot, (1.0, 1.0, 0.0)),
            MaxDistance(pen, (0.0, 0.0, 0.1), 0.7),
            MinDistance(pen, (0.0, 0.0, 0.1), 0.3),
            Side(pen, (0.0, 0.0, 1.0)),
            Touch("panda_link5", (0.0, 0.0, 0.1), side="above"),
        ]
        solution = Memetic().solve(Problem(body, objectives), body.sample(rng))
        solved += solution.success
        if solution.success:
            p = (forward(body, solution.q)["panda_hand"] @ pen.link_from_frame)[:3, 3]
            assert np.linalg.norm(np.cross(p - spot, (1.0, 1.0, 0.0))) / math.sqrt(2.0) <= 1e-4 + 1e-9
            assert 0.3 - 2e-4 <= np.linalg.norm(p - [0.0, 0.0, 0.1]) <= 0.7 + 2e-4
    assert solved == 20


def test_a_foot_on_a_slope():
    """The lowest point of a box that is held at a slant meets the plane, and its frame has its pose relative to it."""
    foot = Shape("box", (0.2, 0.1, 0.04), transform((0.05, 0.0, -0.03)))
    body = Body("leg", [Link("hip"), Link("foot", shapes=(foot,))], [Joint("base", "floating", "hip", "foot")])
    touch = Touch("foot", (0.0, 0.0, 0.2), (0.1, 0.2, 1.0))
    hold = Pose("foot", np.eye(4), position_tolerance=None)
    solution = Memetic().solve(Problem(body, [touch, hold]), body.home)
    assert solution.success
    corners = moved(forward(body, solution.q)["foot"] @ foot.link_from_shape, surface(foot))
    assert_allclose(((corners - touch.point) @ touch.normal).min(), 0.0, atol=2e-4)
