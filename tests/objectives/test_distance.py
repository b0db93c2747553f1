"""Distance: residuals and errors against hulls, derivatives, targets that move, problems solved."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import cKDTree

from memetik import Body, Shape, load, transform
from memetik.build import Joint, Link
from memetik.errors import ProblemError, UnknownNameError
from memetik.geometry import random_rotation
from memetik.kernels.geometry.solids import SOLID_KERNEL
from memetik.kernels.terms.distance import GROUP_SOLIDS
from memetik.objectives import Distance, Pose, SelfDistance
from memetik.objectives.apart import ROWS
from memetik.problem import Problem
from memetik.solvers import Budget, Memetic
from tests.naive.bodies import dressed, random_body, random_hull, random_shape
from tests.naive.distance import moved, shape_distance, surface
from tests.naive.kinematics import forward
from tests.objectives.distances import error_at, link_distance, residuals
from tests.objectives.finite_differences import check_jacobian

KINDS = ("revolute", "continuous", "prismatic", "screw", "cylindrical", "planar", "spherical", "xyz", "floating")


def tree(seed, shapes=2):
    """A random body of all kinds of joints with solids on its links."""
    rng = np.random.default_rng(seed)
    return dressed(random_body(rng, 7, KINDS), rng, shapes), rng


def ball(center, radius):
    return Shape("sphere", (radius,), transform(center))


# ---- What is measured -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_links_against_the_world(seed):
    """Residuals are margin - d for every pair closer than the margin, in order, and the error is the deepest."""
    body, rng = tree(seed)
    links = ["link7", "link5", "link3"]
    obstacles = [random_shape(rng), (*rng.normal(scale=0.5, size=3), 0.2), (*rng.normal(scale=0.5, size=3), 0.0)]
    shapes = [obstacles[0], *(ball(row[:3], row[3]) for row in obstacles[1:])]
    margin = 0.3
    objective = Distance(links, obstacles, margin=margin)
    problem = Problem(body, [objective])
    q = body.sample(rng)
    distances = np.array([link_distance(body, forward(body, q), a, b) for a in links for b in shapes])
    expected = [margin - d for d in distances if d < margin]
    assert_allclose(residuals(problem, q), [*expected, *[0.0] * (9 - len(expected))], atol=1e-7)
    assert_allclose(error_at(Distance(links, obstacles, margin=margin), body, q), max(0.0, -distances.min()), atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_links_against_links_and_frames(seed):
    body, rng = tree(seed)
    q = body.sample(rng)
    poses = forward(body, q)
    frame = body.frame("link2", offset=rng.normal(scale=0.2, size=3))
    problem = Problem(body, [Distance("link6", ["link3", frame], margin=5.0)])
    bare = Shape("sphere", (0.0,), poses["link2"] @ frame.link_from_frame)
    expected = [link_distance(body, poses, "link6", "link3"), link_distance(body, poses, "link6", bare)]
    assert_allclose(residuals(problem, q), 5.0 - np.array(expected), atol=1e-7)


def test_a_frame_with_a_radius(rng):
    """max(0, r + r_b + margin - |p - y|) for a ball around the origin of the frame."""
    body, _ = tree(0)
    q = body.sample(rng)
    frame = body.frame("link7", offset=(0.1, 0.2, -0.3))
    origin = (forward(body, q)["link7"] @ frame.link_from_frame)[:3, 3]
    points = np.add(origin, [(0.0, 0.0, 0.25), (0.0, 3.0, 0.0)])
    objective = Distance(frame, points, radius=0.2, margin=0.1)
    assert_allclose(residuals(Problem(body, [objective]), q), [0.05, 0.0], atol=1e-12)
    assert error_at(objective, body, q) == 0.0
    by_name = Distance("link7", [(*forward(body, q)["link7"][:3, 3], 0.5)], radius=0.2, margin=0.0)
    assert_allclose(error_at(by_name, body, q), 0.7)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "box"])
@pytest.mark.parametrize("other", ["sphere", "capsule", "cylinder", "box"])
def test_solids_are_never_closer_than_measured(kind, other, rng):
    """No two points of the surfaces are closer than the distance, and for all but cylinders some almost are."""
    for _ in range(5):
        one, two = random_shape(rng, [kind]), random_shape(rng, [other])
        body = Body("one", [Link("world"), Link("thing", shapes=(one,))], [Joint("base", "floating", "world", "thing")])
        place = transform(rng.uniform(0.4, 0.7, 3), random_rotation(rng))
        two = dataclasses.replace(two, link_from_shape=place)
        d = 5.0 - residuals(Problem(body, [Distance("thing", two, margin=5.0)]), body.home)[0]
        a, b = moved(one.link_from_shape, surface(one)), moved(place, surface(two))
        least = cKDTree(a).query(b)[0].min()
        if d > 0.0:
            assert least >= d - 1e-12
            if "cylinder" not in (kind, other):
                assert least <= d + 0.05


def test_a_flat_cylinder_is_not_thicker_than_its_box():
    """The capsule around a disc would stick out by its radius."""
    plate = Shape("cylinder", (0.5, 0.02))
    body = Body("probe", [Link("world"), Link("tip")], [Joint("base", "xyz", "world", "tip")])
    frame = body.frame("tip")
    assert_allclose(residuals(Problem(body, [Distance(frame, plate, margin=1.0)]), [0.0, 0.0, 0.2]), 1.0 - 0.19)
    assert_allclose(residuals(Problem(body, [Distance(frame, plate, margin=1.0)]), [0.8, 0.0, 0.0]), 1.0 - 0.3)


def test_what_is_left_unlooked_at_is_beyond_the_margin():
    """The balls that rule out most pairs hold the boxes of cylinders too."""
    drum, n = Shape("cylinder", (0.1, 0.2)), np.array([0.5, 0.5, math.sqrt(0.5)])
    body = Body("probe", [Link("world"), Link("tip")], [Joint("base", "xyz", "world", "tip")])
    expected = 1.85 - shape_distance(drum, np.eye(4), ball(2.0 * n, 0.0), np.eye(4))
    assert expected > 0.001
    problem = Problem(body, [Distance(body.frame("tip"), drum, margin=1.85)])
    assert_allclose(residuals(problem, 2.0 * n), [expected], atol=1e-9)


def test_more_close_pairs_than_rows():
    """The deepest of those that share the last row counts there, whatever its place in the list."""
    body = Body("probe", [Link("world"), Link("tip")], [Joint("base", "xyz", "world", "tip")])
    spheres = np.tile([0.0, 0.0, 1.0, 0.5], (ROWS + 3, 1))
    spheres[ROWS, 2] = 0.7
    objective = Distance(body.frame("tip"), spheres, margin=0.8)
    q = np.array([0.1, 0.0, 0.0])
    found = residuals(Problem(body, [objective]), q)
    assert found.shape == (ROWS,)
    assert_allclose(found[:-1], 1.3 - np.hypot(0.1, 1.0))
    assert_allclose(found[-1], 1.3 - np.hypot(0.1, 0.7))
    check_jacobian(body, [objective], q)
    near = Distance(body.frame("tip"), spheres, margin=0.0)
    assert error_at(near, body, q) == 0.0
    assert_allclose(error_at(near, body, np.array([0.0, 0.0, 0.6])), 0.4)


# ---- Derivatives ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_jacobian(seed):
    """All kinds of joints, all pairs of solids, all pairs close."""
    body, rng = tree(seed)
    frame = body.frame("link2", offset=rng.normal(scale=0.2, size=3))
    objectives = [
        Distance(["link7", "link6"], [random_shape(rng), random_shape(rng), "link3", frame], margin=5.0),
        SelfDistance(body, margin=5.0),
        Distance(body.frame("link7", offset=(0.1, 0.0, 0.0)), rng.normal(size=(2, 4)) ** 2, radius=0.1, margin=5.0),
    ]
    jacobian = check_jacobian(body, objectives, body.sample(rng), tolerance=1e-5)
    assert (np.abs(jacobian).max(axis=0) > 1e-6).sum() >= 8


@pytest.mark.parametrize("kind", ["sphere", "capsule", "cylinder", "box"])
@pytest.mark.parametrize("other", ["sphere", "capsule", "cylinder", "box"])
def test_jacobian_in_contact(kind, other, rng):
    """The way out of each other, for every pair of kinds; a floating body gives six derivatives."""
    for _ in range(4):
        one, two = random_shape(rng, [kind]), random_shape(rng, [other])
        body = Body("one", [Link("world"), Link("thing", shapes=(one,))], [Joint("base", "floating", "world", "thing")])
        near = transform(one.link_from_shape[:3, 3] + 0.02, random_rotation(rng))
        objective = Distance("thing", dataclasses.replace(two, link_from_shape=near), margin=0.0)
        jacobian = check_jacobian(body, [objective], body.home, tolerance=1e-5)
        assert_allclose(np.linalg.norm(jacobian[:3, 0]), 1.0)  # along n
        assert error_at(objective, body, body.home) > 0.0


def test_far_away_nothing_pulls(rng):
    body, _ = tree(1)
    objective = Distance("link7", [(100.0, 0.0, 0.0, 1.0)], margin=0.01)
    assert_array_equal(check_jacobian(body, [objective], body.home), 0.0)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (Shape("sphere", (0.1,)), Shape("sphere", (0.2,))),
        (Shape("capsule", (0.1, 0.4)), Shape("capsule", (0.1, 0.4))),
        (Shape("capsule", (0.1, 0.4)), Shape("sphere", (0.1,))),
        (Shape("box", (0.2, 0.2, 0.2)), Shape("box", (0.2, 0.2, 0.2))),
        (Shape("box", (0.2, 0.2, 0.2)), Shape("capsule", (0.1, 0.4))),
        (Shape("box", (0.0, 0.0, 0.0)), Shape("box", (0.0, 0.0, 0.0))),
        (Shape("cylinder", (0.1, 0.4)), Shape("cylinder", (0.1, 0.4))),
    ],
)
def test_solids_that_coincide_find_a_way_out(one, two):
    """Where every direction is as good as the other, one is taken."""
    body = Body("one", [Link("world"), Link("thing", shapes=(one,))], [Joint("base", "floating", "world", "thing")])
    solution = Memetic().solve(Problem(body, [Distance("thing", two)]), body.home)
    assert solution.success
    assert link_distance(body, forward(body, solution.q), "thing", two) >= 0.0


# ---- Obstacles that move --------------------------------------------------------------------------------------


def test_obstacles_move_in_place(rng):
    body, _ = tree(2)
    objective = Distance("link7", [(0.0, 0.0, 0.0, 0.1), (1.0, 0.0, 0.0, 0.2)], margin=5.0)
    problem = Problem(body, [objective])
    compiled = problem.compiled
    assert_array_equal(objective.obstacles, [[0.0, 0.0, 0.0, 0.1], [1.0, 0.0, 0.0, 0.2]])
    moved_to = np.array([[0.3, 0.1, 0.0], [0.2, 0.0, 0.9]])
    objective.obstacles = moved_to
    assert problem.compiled is compiled
    assert_array_equal(objective.obstacles, np.hstack([moved_to, np.zeros((2, 1))]))
    fresh = Problem(body, [Distance("link7", moved_to, margin=5.0)])
    assert_array_equal(residuals(problem, body.home), residuals(fresh, body.home))
    objective.obstacles = [Shape("box", (0.1, 0.2, 0.3), transform(moved_to[0])), moved_to[1]]
    assert problem.compiled is compiled
    assert_allclose(objective.obstacles[0], [*moved_to[0], np.linalg.norm([0.05, 0.1, 0.15])])
    shape = Shape("box", (0.1, 0.2, 0.3), transform(moved_to[0]))
    assert_allclose(
        residuals(problem, body.home)[0], 5.0 - link_distance(body, forward(body, body.home), "link7", shape)
    )


def test_another_number_of_obstacles_compiles_anew(rng):
    body, _ = tree(2)
    objective = Distance("link7", np.empty((0, 4)), margin=5.0)
    pose = Pose("link7", body.forward(body.home)["link7"])
    problem = Problem(body, [pose, objective])
    assert Memetic().solve(problem, body.home).errors[objective] == 0.0
    objective.obstacles = [(0.0, 0.0, 0.0, 1.0)]
    solution = Memetic().solve(problem, body.home, Budget(evaluations=1))
    depth = 1.0 - link_distance(body, forward(body, solution.q), "link7", ball(np.zeros(3), 0.0))
    assert_allclose(solution.errors[objective], max(0.0, depth), atol=1e-9)


def test_obstacles_over_time(rng):
    """Rows for a track: each is what assigning that step would write."""
    objective = Distance("link7", rng.normal(size=(2, 3)))
    path = rng.uniform(0.1, 1.0, (5, 2, 4))
    rows, target = objective.target_rows(path)
    for step, row in zip(path, rows, strict=True):
        objective.obstacles = step
        assert_array_equal(row, target.numbers)
    with pytest.raises(ProblemError, match="rows x 2 x 3 or 4"):
        objective.target_rows(path[:, :1])


def test_margin_can_change():
    body, _ = tree(2)
    objective = Distance("link7", "link2", margin=4.0)
    problem = Problem(body, [objective])
    before = residuals(problem, body.home)
    objective.margin = 5.0
    assert_allclose(residuals(problem, body.home), before + 1.0)


def test_clearance_is_judged_and_margin_is_not():
    """Error is what is missing of the clearance; the residual aims beyond it by the margin."""
    body = Body("probe", [Link("world"), Link("tip")], [Joint("base", "xyz", "world", "tip")])
    q = np.array([0.5, 0.0, 0.0])
    make = lambda clearance: Distance(body.frame("tip"), [(0.0, 0.0, 0.0, 0.2)], clearance=clearance, margin=0.1)  # noqa: E731
    assert error_at(make(0.29), body, q) == 0.0
    assert_allclose(residuals(Problem(body, [make(0.29)]), q), 0.09)
    assert_allclose(error_at(make(0.35), body, q), 0.05)
    objective = make(0.0)
    problem = Problem(body, [objective])
    assert_allclose(residuals(problem, q), 0.0)
    objective.clearance = 0.35
    assert_allclose(residuals(problem, q), 0.15)
    solution = Memetic().solve(problem, q)
    assert solution.success
    assert np.linalg.norm(solution.q) >= 0.55


# ---- What cannot be meant -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Distance("link1", [(0.0, 0.0)]), "cannot keep away from"),
        (lambda: Distance("link1", 3.0), "cannot keep away from"),
        (lambda: Distance("link1", [None]), "cannot keep away from"),
        (lambda: Distance("link1", [(0.0, 0.0, np.nan)]), "NaN"),
        (lambda: Distance("link1", [(0.0, 0.0, 0.0, -1.0)]), "radius below zero"),
        (lambda: Distance("link1", "link1"), "itself"),
        (lambda: Distance([], (0.0, 0.0, 0.0)), "at least one link or frame"),
        (lambda: Distance("link1", (0.0, 0.0, 0.0), radius=-0.1), "radius is -0.1"),
        (lambda: Distance("link1", (0.0, 0.0, 0.0), clearance=-0.1), "clearance is -0.1"),
        (lambda: Distance("link1", (0.0, 0.0, 0.0), margin=np.inf), "margin is inf"),
        (lambda: Distance("link1", Shape("mesh", (1.0, 1.0, 1.0), mesh="a.stl")), "mesh.*capsule"),
    ],
)
def test_mistakes_when_it_is_made(make, message):
    with pytest.raises(ProblemError, match=message):
        make()


def test_mistakes_about_the_body():
    meshed = Body(
        "meshed",
        [Link("root"), Link("hand", shapes=(Shape("mesh", (1.0, 1.0, 1.0), mesh="hand.stl"),)), Link("tip")],
        [Joint("turn", "revolute", "root", "hand"), Joint("weld", "fixed", "hand", "tip")],
    )
    with pytest.raises(ProblemError, match="shape 0 of link 'hand' is a mesh"):
        Problem(meshed, [Distance("hand", (0.0, 0.0, 0.0))])
    with pytest.raises(ProblemError, match="link 'tip' of body 'meshed' has no shapes"):
        Problem(meshed, [Distance("tip", (0.0, 0.0, 0.0))])
    with pytest.raises(UnknownNameError, match="hnad"):
        Problem(meshed, [Distance("hnad", (0.0, 0.0, 0.0))])
    Problem(meshed, [Distance("hand", (0.0, 0.0, 1.0), radius=0.1)])


# ---- Problems solved ------------------------------------------------------------------------------------------


def test_hard_below_the_radius_and_soft_without_tolerance():
    """A point that must be inside the sphere cannot be reached; as a mere guide the sphere gives way."""
    body = load("panda")
    target = body.forward(body.home)["panda_hand"]
    obstacle = [(*target[:3, 3], 0.1)]
    hand = body.frame("panda_hand")
    firm, soft = Distance(hand, obstacle), Distance(hand, obstacle, tolerance=None)
    solution = Memetic().solve(Problem(body, [Pose(hand, target), firm]), body.home, Budget(evaluations=500))
    assert not solution.success
    solution = Memetic().solve(Problem(body, [Pose(hand, target), soft]), body.home, Budget(evaluations=2000))
    assert solution.success
    assert solution.errors[soft] == pytest.approx(0.1, abs=1e-3)


def test_poses_beside_a_sphere():
    """Poses of postures that miss a sphere by 5 mm to 10 cm, so that they can be reached without contact."""
    body, rng = load("panda"), np.random.default_rng(3)
    arm = [link.name for link in body.links.values() if link.shapes and link.name != "panda_link0"]
    pose, distance = Pose("panda_hand", np.eye(4)), Distance(arm, [(0.0, 0.0, 0.0, 0.12)])
    problem = Problem(body, [pose, distance])
    solved = count = 0
    while count < 20:
        q = body.sample(rng)
        poses = body.forward(q)
        sphere = ball(poses[str(rng.choice(arm))][:3, 3] + rng.normal(scale=0.15, size=3), 0.12)
        gap = min(link_distance(body, poses, link, sphere) for link in arm)
        if 0.005 < gap < 0.1:
            count += 1
            pose.target, distance.obstacles = poses["panda_hand"], [sphere]
            solution = Memetic().solve(problem, body.home)
            if solution.success:
                solved += 1
                found = forward(body, solution.q)
                assert min(link_distance(body, found, link, sphere) for link in arm) >= -1e-9
    assert solved == 20


# ---- Hulls ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_hulls_on_links_and_in_the_world(seed):
    """Residuals of hulls beside other shapes are those of hulls of differences."""
    rng = np.random.default_rng(seed)
    body = random_body(rng, 5, KINDS)
    links = [dataclasses.replace(link, shapes=(random_hull(rng), random_hull(rng))) for link in body.links.values()]
    body = Body(body.name, links, body.joints.values())
    obstacles = [random_hull(rng), ball((0.3, 0.2, 0.1), 0.2), random_hull(rng, 200), Shape("box", (0.1, 0.2, 0.3))]
    margin = 10.0
    problem = Problem(body, Distance(["link5", "link3"], obstacles, margin=margin))
    for _ in range(3):
        q = body.sample(rng)
        poses = forward(body, q)
        wanted = [
            margin - link_distance(body, poses, link, other) for link in ("link5", "link3") for other in obstacles
        ]
        assert_allclose(residuals(problem, q), wanted, atol=1e-6)


def test_hulls_move_in_place_and_travel():
    """A hull may be moved without compiling again, and an objective with one is pickled."""
    body = load("ur5")
    cube = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
    away = Distance(body.frame("wrist_3_link"), Shape("hull", points=cube), radius=0.05)
    problem = Problem(body, away)
    place = body.forward(body.home)["wrist_3_link"][:3, 3]
    compiled = problem.compiled
    for depth in (0.02, 0.0, 0.04):
        away.obstacles = Shape("hull", (), transform(np.add(place, (0.15 - depth, 0.0, 0.0))), points=cube)
        assert problem.compiled is compiled
        found = Memetic().solve(problem, body.home, Budget(evaluations=1)).errors[away]
        assert_allclose(found, depth, atol=1e-12)
    away._world.numbers[[GROUP_SOLIDS + SOLID_KERNEL, GROUP_SOLIDS + SOLID_KERNEL + 1]] = 0.0  # of another process
    copy = pickle.loads(pickle.dumps(problem))
    assert_allclose(
        Memetic().solve(copy, body.home, Budget(evaluations=1)).errors[copy.objectives[0]], 0.04, atol=1e-12
    )
    away.obstacles = [Shape("hull", points=cube[:4])]
    assert problem.compiled is not compiled


def test_the_published_loss_changes_no_report_and_no_method_by_residuals():
    """It is a term of its own that evolutionary methods alone look at; eq. 4.7 has it infinite in contact."""
    body, rng = load("panda"), np.random.default_rng(2)
    hand = Pose("panda_hand", body.forward(body.sample(rng), "panda_hand"))
    answers = {}
    for loss in ("margin", "published"):
        keep = Distance("panda_link4", [[0.4, 0.1, 0.6, 0.1]], radius=0.08, loss=loss, weight=1e-4)
        for tolerance in (0.0, None):
            keep.tolerance = tolerance
            problem = Problem(body, [hand, keep])
            compiled = problem.compiled
            assert len(compiled.terms) == (3 if loss == "margin" else 4)
            assert_array_equal(compiled.weights, [1.0, 1.0, *([1e-4] * (len(compiled.terms) - 2))])
            solution = Memetic().solve(problem, body.home)
            assert isinstance(solution.errors[keep], float) and str(solution).count("Distance") == 1
            answers[loss, tolerance] = solution.q
    for tolerance in (0.0, None):
        assert_allclose(answers["published", tolerance], answers["margin", tolerance], atol=1e-9)
    with pytest.raises(ProblemError, match="choose one of margin, published"):
        Distance("panda_link4", [[0.4, 0.1, 0.6]], radius=0.1, loss="hyperbola")
