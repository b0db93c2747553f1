"""Feet on the ground: nothing sinks in, swinging feet are those of the clip, and nothing jumps; against rays of a naive twin."""

import numpy as np
import pytest

import memetik as mk
from memetik.errors import ProblemError
from tests.naive import raycast
from tests.timing import ratio, yardstick

SOLE = (0.2, 0.094)


@pytest.fixture(scope="module")
def kyle():
    return mk.load("kyle", base="floating")


@pytest.fixture(scope="module")
def feet(kyle):
    return [kyle.frame(f"{side}_midfoot", offset=(0.03, 0.0, -0.095)) for side in ("left", "right")]


@pytest.fixture(scope="module")
def run(kyle, feet):
    """A run over 3.3 m."""
    phases = dict(zip(feet, (0.0, 0.5), strict=True))
    return mk.motion.gait(kyle, phases, stride=1.1, period=0.8, duty=0.35, height=0.15, tilt=0.9, cycles=3)


@pytest.fixture(scope="module")
def hills():
    """Bumps from 3 cm below to 7 cm above the ground of the clip."""
    x, y = np.meshgrid(np.linspace(-1.0, 5.0, 121), np.linspace(-1.0, 1.0, 41), indexing="ij")
    return mk.objectives.HeightField(0.02 + 0.05 * np.sin(3.0 * x) * np.cos(4.0 * y), spacing=0.05, origin=(-1.0, -1.0))


@pytest.fixture(scope="module")
def placed(run, hills, feet):
    return mk.motion.place_feet(run, hills, feet, sole=SOLE)


def depths(motion, terrain, foot):
    """How deep the corners of a sole are below a height field (frames, 5), by bilinear facets one by one."""
    x, y = 0.5 * SOLE[0], 0.5 * SOLE[1]
    corners = np.array([(0, 0, 0), (x, y, 0), (-x, y, 0), (-x, -y, 0), (x, -y, 0)])
    poses = motion.poses(foot)
    places = np.einsum("nij,kj->nki", poses[:, :3, :3], corners) + poses[:, None, :3, 3]
    return np.array([[_height(terrain, point) - point[2] for point in row] for row in places])


def _height(terrain, point):
    """The height of the facet over (x, y): a cell is split from its first corner to its last."""
    u, v = (point[:2] - terrain.origin) / terrain.spacing
    i, j = int(u), int(v)
    u, v, h = u - i, v - j, terrain.heights
    if u >= v:
        return h[i, j] + u * (h[i + 1, j] - h[i, j]) + v * (h[i + 1, j + 1] - h[i + 1, j])
    return h[i, j] + v * (h[i, j + 1] - h[i, j]) + u * (h[i + 1, j + 1] - h[i, j + 1])


def test_the_naive_height_is_that_of_a_ray(hills):
    facets = raycast.triangles_of(hills.heights, 0.05, (-1.0, -1.0))
    for point in np.random.default_rng(0).uniform((0, -0.5, 1), (3, 0.5, 1), (20, 3)):
        distance = raycast.cast(facets, point, np.array([0.0, 0.0, -1.0]))[0]
        assert point[2] - distance == pytest.approx(_height(hills, point), abs=1e-9)


def test_no_sole_is_below_the_ground(run, placed, hills, feet):
    """To 1 mm, where the clip is 5 cm deep."""
    for foot in feet:
        assert depths(run, hills, foot).max() > 0.05
        assert depths(placed, hills, foot).max() < 1e-3


def test_swinging_feet_are_those_of_the_clip(run, placed, hills, feet):
    for foot in feet:
        free = depths(run, hills, foot).max(axis=1) < -1e-9
        assert 0.2 < free.mean() < 0.8
        np.testing.assert_allclose(placed.poses(foot)[free], run.poses(foot)[free], atol=1e-6)
    legs = [k for k, name in enumerate(run.body.joint_names) if "hip" in name or "knee" in name or "ankle" in name]
    others = np.delete(np.arange(run.body.dof), legs)
    assert np.array_equal(placed.q[:, others], run.q[:, others])


def test_no_step_is_much_larger_than_those_of_the_clip(run, placed, feet):
    steps = [np.abs(np.diff(motion.q, axis=0)).max() for motion in (placed, run)]
    assert steps[0] < 1.1 * steps[1]
    for foot in feet:
        ways = [np.linalg.norm(np.diff(each.poses(foot)[:, :3, 3], axis=0), axis=1).max() for each in (placed, run)]
        assert ways[0] < 1.1 * ways[1]


def test_limits_hold(placed):
    assert (placed.q >= placed.body.lower - 1e-9).all() and (placed.q <= placed.body.upper + 1e-9).all()


def test_live_is_the_same(run, placed, hills, kyle, feet):
    placer = mk.motion.FootPlacer(kyle, hills, feet, sole=SOLE)
    found = [placer(q) for q in run.q]
    np.testing.assert_allclose([each.q for each in found], placed.q, atol=1e-9)
    assert all(each.success for each in found)
    assert any(each.standing == (True, False) for each in found)


def test_live_frames_that_do_not_follow_each_other(run, hills, kyle, feet):
    """A clip that is begun again from elsewhere: what stood before says nothing then."""
    placer = mk.motion.FootPlacer(kyle, hills, feet, sole=SOLE)
    first = [placer(q).q for q in run.q[:40]]
    placer(run.q[90])
    again = [placer(q).q for q in run.q[:40]]
    np.testing.assert_allclose(again, first, atol=1e-5)


@pytest.mark.timed
def test_a_frame_takes_less_than_half_a_millisecond(run, hills, kyle, feet):
    """Of a machine on which the yardstick takes one; on a busy one, both take longer."""
    placer = mk.motion.FootPlacer(kyle, hills, feet, sole=SOLE)

    def all_frames():
        for q in run.q:
            placer(q)

    all_frames()
    assert ratio(all_frames, yardstick, rounds=5) / len(run) < 0.5


def test_on_a_slope_soles_lie_flat_and_the_body_follows(kyle, feet):
    """A ramp of 10 degrees up: the body climbs, and standing soles have the normal of the ramp."""
    slope = np.radians(10.0)
    ramp = mk.objectives.Ground(normal=(-np.sin(slope), 0.0, np.cos(slope)))
    walk = mk.motion.gait(kyle, dict(zip(feet, (0.0, 0.5), strict=True)), stride=0.5, cycles=2)
    climbed = mk.motion.place_feet(walk, ramp, feet, sole=SOLE, follow=0.4)
    rise = climbed.poses("pelvis")[:, 2, 3] - walk.poses("pelvis")[:, 2, 3]
    assert rise[-1] - rise[0] == pytest.approx(np.tan(slope) * 1.0, abs=0.08)
    assert np.abs(np.diff(climbed.q, axis=0)).max() < 1.5 * np.abs(np.diff(walk.q, axis=0)).max()
    for foot in feet:
        poses = climbed.poses(foot)
        corners = poses[:, :3, 3] + 0.1 * poses[:, :3, 0], poses[:, :3, 3] - 0.1 * poses[:, :3, 0]
        assert min(((corner - ramp.point) @ ramp.normal).min() for corner in corners) > -1e-3
        tilted = np.arccos(np.clip(poses[:, :3, 2] @ ramp.normal, -1, 1))
        assert tilted.min() < np.radians(1.0)


def test_meshes_and_four_legs():
    """A quadruped on a step: each leg is solved up to pelvis or chest."""
    go2 = mk.load("go2", base="floating")
    feet = [go2.frame(f"{leg}_foot") for leg in ("FL", "FR", "RL", "RR")]
    corners = [(0.05, -1, 0.03), (1, -1, 0.03), (1, 1, 0.03), (0.05, 1, 0.03)]
    step = mk.objectives.TriangleMesh(corners, [(0, 1, 2), (0, 2, 3)])
    height = go2.forward(go2.home, feet[0])[2, 3] - go2.links["FL_foot"].shapes[0].size[0]  # of the sole
    stand = mk.Motion(go2, [0.0], [go2.home]).moved((0, 0, -height))
    placed = mk.motion.place_feet(stand, step, feet)
    lifts = [(placed.poses(foot) - stand.poses(foot))[0, 2, 3] for foot in feet]
    np.testing.assert_allclose(lifts, [0.03, 0.03, 0.0, 0.0], atol=2e-3)  # the balls of the feet roll a little


def test_a_clip_that_leaves_a_height_field_is_told(run, hills, feet):
    """Its feet are those of the clip there."""
    off = run.moved((3.0, 0.0, 0.0))
    with pytest.warns(mk.MemetikWarning, match="leaves the height field in .* first at"):
        placed = mk.motion.place_feet(off, hills, feet, sole=SOLE)
    for foot in feet:
        beyond = off.poses(foot)[:, 0, 3] > 5.2
        assert beyond.any()
        assert np.array_equal(placed.poses(foot)[beyond], off.poses(foot)[beyond])


@pytest.fixture(scope="module")
def wolf():
    """A walk, and the paws; eight joints in a foreleg, two more than a paw needs."""
    body = mk.load("wolf", base="floating")
    paws = {"front_left_paw": 0.25, "front_right_paw": 0.75, "hind_left_paw": 0.0, "hind_right_paw": 0.5}
    return mk.motion.gait(body, paws, stride=0.5, tilt=0.0, duty=0.65, crouch=0.03, cycles=1, rate=60.0), list(paws)


def test_legs_with_more_joints_than_a_foot_needs_do_not_change_between_postures(wolf, hills):
    """Other postures are up to seven times as far as the largest step of the clip."""
    walk, paws = wolf
    placed = mk.motion.place_feet(walk, hills, paws)
    steps = [np.abs(np.diff(motion.q[:, 6:], axis=0)).max() for motion in (placed, walk)]
    assert steps[0] < 1.1 * steps[1]


@pytest.mark.timed
def test_a_frame_of_four_legs_takes_less_than_a_third_of_a_millisecond(wolf, hills):
    """Of a whole clip, and live, as above."""
    walk, paws = wolf
    placer = mk.motion.FootPlacer(walk.body, hills, paws)

    def live():
        for q in walk.q:
            placer(q)

    for work in (live, lambda: mk.motion.place_feet(walk, hills, paws)):
        work()
        assert ratio(work, yardstick, rounds=5) / len(walk) < 0.3


def test_feet_that_cannot_turn_with_the_ground_are_raised(hills):
    """H1 has an ankle of one axis: where the ground falls off sideways, a sole stands on its edge."""
    h1 = mk.load("h1", base="floating")
    feet = [h1.frame(f"{side}_ankle_link", offset=(0.0425, 0.0, -0.062)) for side in ("left", "right")]
    walk = mk.motion.gait(h1, dict(zip(feet, (0.0, 0.5), strict=True)), stride=0.4, tilt=0.2, crouch=0.06, cycles=2)
    walk = walk.moved((0.0, 0.0, -walk.poses(feet[0])[0, 2, 3]))
    placed = mk.motion.place_feet(walk, hills, feet, sole=(0.255, 0.08))
    assert np.abs(np.diff(placed.q[:, 6:], axis=0)).max() < 1.5 * np.abs(np.diff(walk.q[:, 6:], axis=0)).max()
    for foot in feet:
        poses = placed.poses(foot)
        corners = np.array([(0, 0, 0), *((x, y, 0) for x in (-0.1275, 0.1275) for y in (-0.04, 0.04))])
        places = np.einsum("nij,kj->nki", poses[:, :3, :3], corners) + poses[:, None, :3, 3]
        deep = np.array([[_height(hills, point) - point[2] for point in row] for row in places])
        assert deep.max() < 1e-3
        assert deep[deep.max(axis=1) > -1e-3].min() < -5e-3  # another corner is in the air


def steps(rise, tread, count):
    """Stairs that begin at x = 0.4 m, as a mesh, and their height at places x."""
    corners, facets = [(-2.0, -1.0, 0.0), (-2.0, 1.0, 0.0), (0.4, -1.0, 0.0), (0.4, 1.0, 0.0)], [(0, 2, 1), (1, 2, 3)]
    for i in range(count):
        x, z, k = 0.4 + tread * i, rise * (i + 1), len(corners)
        for a, b in ((x, z - rise), (x, z), (x + tread, z)):
            corners += [(a, -1.0, b), (a, 1.0, b)]
        facets += [(k, k + 2, k + 1), (k + 1, k + 2, k + 3), (k + 2, k + 4, k + 3), (k + 3, k + 4, k + 5)]
    return mk.objectives.TriangleMesh(
        corners, facets
    ), lambda x: rise * np.clip(np.floor((x - 0.4) / tread) + 1, 0, count)


@pytest.fixture(scope="module")
def climb(kyle, feet):
    """A walk on z = 0."""
    walk = mk.motion.gait(kyle, dict(zip(feet, (0.0, 0.5), strict=True)), stride=0.6, cycles=3)
    return walk.moved((0.0, 0.0, -walk.poses(feet[0])[:, 2, 3].min()))


def test_on_stairs_no_sole_is_inside_a_step_and_joints_keep_their_velocities(climb, kyle, feet):
    """Against the exact boxes; with corners alone as contact points, steps of 12 cm are 12.6 mm inside the soles."""
    stairs, height = steps(0.12, 0.3, 6)
    placed = mk.motion.place_feet(climb, stairs, ["left_midfoot", "right_midfoot"], follow=0.4)
    along, across = np.meshgrid(np.linspace(-0.1, 0.1, 201), (-0.047, 0.0, 0.047))
    sole = np.column_stack([along.ravel(), across.ravel(), np.zeros(along.size)])
    for foot in feet:
        poses = placed.poses(foot)
        places = np.einsum("nij,kj->nki", poses[:, :3, :3], sole) + poses[:, None, :3, 3]
        assert (height(places[..., 0]) - places[..., 2]).max() < 1.5e-3
    rates = np.abs(np.diff(placed.q, axis=0)) / np.diff(placed.times)[:, None]
    assert (rates < kyle.variables.velocity).all()
    assert placed.poses("pelvis")[-1, 2, 3] - placed.poses("pelvis")[0, 2, 3] > 0.4


def test_legs_that_cannot_reach_and_joints_that_are_too_fast_are_told(climb, feet):
    """The body stays where it is while the stairs rise, which no leg can follow."""
    stairs, _ = steps(0.12, 0.3, 6)
    with pytest.warns(mk.MemetikWarning) as told:
        mk.motion.place_feet(climb, stairs, feet, sole=SOLE)
    messages = [str(each.message) for each in told]
    assert any("off its place" in each and "follow=0.4" in each for each in messages)
    assert any("rad/s" in each and "are allowed" in each for each in messages)


def test_a_link_stands_on_its_sole_and_a_frame_above_it_is_told(climb, kyle):
    """The ankle itself is 9.5 cm above the sole."""
    ankles, ground = ["left_midfoot", "right_midfoot"], mk.objectives.Ground(point=(0.0, 0.0, 0.03))
    placed = mk.motion.place_feet(climb, ground, ankles)
    for ankle in ankles:
        assert placed.poses(kyle.frame(ankle, (0.03, 0.0, -0.095)))[:, 2, 3].min() == pytest.approx(0.03, abs=1e-3)
    above = [kyle.frame(ankle, (0.03, 0.0, 0.0)) for ankle in ankles]
    with pytest.warns(mk.MemetikWarning, match=r"reach 9\.5 cm below its frame"):
        mk.motion.place_feet(climb, ground, above, sole=SOLE)


@pytest.mark.parametrize(
    "wrong",
    [{"feet": []}, {"sole": (1,)}, {"sole": (-1, 0)}, {"settle": 0.0}, {"terrain": 3},
     {"follow": -1.0}, {"motion": 3}],
)  # fmt: skip
def test_mistakes_are_told(run, hills, feet, wrong):
    given = {"motion": run[:2], "terrain": hills, "feet": feet, **wrong}
    with pytest.raises(ProblemError):
        mk.motion.place_feet(given.pop("motion"), given.pop("terrain"), given.pop("feet"), **given)


def test_frames_that_are_none(kyle, hills, feet):
    placer = mk.motion.FootPlacer(kyle, hills, feet)
    for wrong in (np.zeros(3), np.full(kyle.dof, np.nan), "q"):
        with pytest.raises(ProblemError):
            placer(wrong)


# ---- Gaits ---------------------------------------------------------------------------------------------------


def test_a_gait_stands_and_swings(run, feet):
    """Standing feet stay where they are; the body moves at stride / period."""
    contact = run.contacts(feet, ground=0.0, height=0.03)
    for foot in feet:
        on = contact[str(foot)]
        assert 0.2 < on.mean() < 0.4
    pelvis = run.poses("pelvis")[:, 0, 3]
    assert pelvis[-1] - pelvis[0] == pytest.approx(3.3)


def test_gaits_that_cannot_be(kyle, feet):
    phases = dict(zip(feet, (0.0, 0.5), strict=True))
    for wrong in ({"stride": 5.0}, {"duty": 1.0}, {"rate": 0.0}, {"cycles": 0}, {"feet": {}}):
        with pytest.raises(ProblemError):
            mk.motion.gait(kyle, wrong.pop("feet", phases), **wrong)
