"""check_motion: never "free" where MuJoCo finds contact along the way, contacts that are contacts, and honest doubts."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

import memetik as mk
from memetik.errors import ProblemError
from tests.naive.bodies import dressed, random_body
from tests.naive.distance import shape_distance
from tests.naive.kinematics import forward
from tests.naive.motions import Judge, crowded, straight

ROUNDING = 1e-6  # m, of MuJoCo's distances
KINDS = ("revolute", "continuous", "prismatic", "screw", "cylindrical", "planar", "spherical", "xyz", "floating")


def slider(gap=1.0):
    """A ball of 0.1 m on a slide along x, and a fixed one at `gap` from its home."""
    builder = mk.build.BodyBuilder("slider")
    ball = [mk.Shape("sphere", (0.1,))]
    builder.add("base", "slide", "prismatic", "car", axis=(1, 0, 0), lower=-5, upper=5, shapes=ball)
    body = builder.build()
    world = mk.World({"post": mk.Shape("sphere", (0.1,), mk.translation(gap, 0, 0))})
    return body, world, mk.Problem(body, [mk.Distance("car", world)])


# ---- Against dense samples ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["panda", "ur5", "shadow_hand"])
def test_what_is_free_is_free_at_every_sample(name):
    body, world = crowded(name)
    problem, judge = mk.Problem(body, [mk.SelfDistance(body), mk.Distance(body, world)]), Judge(body, world)
    rng = np.random.default_rng(0)
    free = met = 0
    for k in range(60):
        q0 = body.sample(rng)
        q1 = q0 + (1.0, 0.3, 0.05)[k % 3] * (body.sample(rng) - q0)
        found = mk.motion.check_motion(problem, [q0, q1])
        if found:
            free += 1
            assert judge.least(straight(q0, q1, 40)) >= found.distance - ROUNDING
        elif found.contact.any():
            met += 1
            assert mk.Solution.of(problem, found.first.q).status != mk.Status.REACHED
    assert free >= 5
    assert met >= 5


@pytest.mark.parametrize("seed", range(6))
def test_all_kinds_of_joints(seed):
    """Random trees of all joints, with mimic joints: no link comes nearer to a ball than what is proved."""
    rng = np.random.default_rng(seed)
    body = dressed(random_body(rng, 6, KINDS), rng, 1)
    ball = mk.Shape("sphere", (0.05,), mk.translation(*rng.normal(scale=0.6, size=3)))
    link = "link6"
    problem = mk.Problem(body, [mk.Distance(link, [ball])])
    for _ in range(8):
        q0 = body.sample(rng)
        q1 = q0 + 0.2 * rng.normal(size=body.dof)
        found = mk.motion.check_motion(problem, [q0, q1])
        shapes = body.links[link].shapes
        least = math.inf
        for q in straight(q0, q1, 25):
            place = forward(body, q)[link]
            least = min(least, *(shape_distance(shape, place, ball, np.eye(4)) for shape in shapes))
        if found:
            assert least >= found.distance - 1e-7
        else:
            assert found.contact.any()


# ---- Known answers --------------------------------------------------------------------------------------------


def test_the_first_contact_is_where_it_is():
    _, _, problem = slider()
    found = mk.motion.check_motion(problem, [[0.0], [2.0]])
    assert not found
    met = found.first
    assert met.pair == ("car", "post")
    assert_allclose(met.q, 0.8, atol=2e-4)
    assert_allclose(met.share, 0.4, atol=1e-4)
    assert met.q[0] > 0.8  # a posture that is in contact, not one beside it
    assert "car and post" in str(found)
    assert found.distance == -math.inf


def test_a_free_motion_has_a_proved_distance():
    _, _, problem = slider()
    found = mk.motion.check_motion(problem, [[0.0], [0.7]])
    assert found
    assert 0.0 < found.distance <= 0.1 + 1e-12
    assert found.first is None
    assert found.meetings == ()
    assert mk.motion.check_motion(problem, [[0.0], [0.0]]).distance == pytest.approx(0.8)


def test_clearance():
    _, _, problem = slider()
    assert mk.motion.check_motion(problem, [[0.0], [0.7]], clearance=0.09)
    close = mk.motion.check_motion(problem, [[0.0], [0.7]], clearance=0.11)
    assert close.contact.all()
    assert str(close).startswith("closer than the 0.11 m to keep in 1 of 1 motion"), "nothing is touched"
    assert str(mk.motion.check_motion(problem, [[0.0], [0.9]])).startswith("contact in 1 of 1 motion")


def test_a_narrow_miss_is_undecided_and_a_finer_look_decides():
    """The ball passes another one at 20 micrometres."""
    body = slider()[0]
    world = mk.World({"post": mk.Shape("sphere", (0.1,), mk.translation(1.0, 0.20002, 0))})
    problem = mk.Problem(body, [mk.Distance("car", world)])
    coarse = mk.motion.check_motion(problem, [[0.0], [2.0]])
    assert coarse.undecided.all()
    assert not coarse
    assert "undecided" in str(coarse)
    assert mk.motion.check_motion(problem, [[0.0], [2.0]], resolution=1e-6)


def test_a_tunnel_that_no_posture_shows():
    """Both ends are free, what lies between them is not: a thin wall."""
    body = slider()[0]
    wall = mk.World({"wall": mk.Shape("box", (0.001, 1, 1), mk.translation(1.0, 0, 0))})
    problem = mk.Problem(body, [mk.Distance("car", wall)])
    ends = [[0.0], [2.0]]
    assert all(mk.Solution.of(problem, end).status == mk.Status.REACHED for end in ends)
    assert mk.motion.check_motion(problem, ends).first.pair == ("car", "wall")


def test_a_tolerance_lets_solids_sink_in():
    body, world, _ = slider()
    soft = mk.Problem(body, [mk.Distance("car", world, tolerance=0.05)])
    assert mk.motion.check_motion(soft, [[0.0], [0.84]])
    assert mk.motion.check_motion(soft, [[0.0], [0.86]]).contact.all()


def test_paths_of_many_postures():
    _, _, problem = slider()
    found = mk.motion.check_motion(problem, [[0.0], [0.5], [1.1], [3.0], [4.0]])
    assert found.free.tolist() == [True, False, False, True]
    assert [met.step for met in found.meetings] == [1, 2]
    assert found.first.time == pytest.approx(1.5, abs=1e-3)


def test_obstacles_that_move():
    """A post crosses the way of the car, which stands still; both are free where they start and end."""
    _, _, problem = slider()
    poses = [mk.translation(0.0, -2.0, 0), mk.translation(0.0, 2.0, 0)]
    apart = problem.objectives[0]
    found = mk.motion.check_motion(problem, [[0.0], [0.0]], targets={apart: {"post": poses}})
    assert found.first.share == pytest.approx(0.45, abs=1e-3)
    aside = [mk.translation(1.0, -2.0, 0), mk.translation(1.0, 2.0, 0)]
    free = mk.motion.check_motion(problem, [[0.0], [0.0]], targets={apart: {"post": aside}})
    assert free
    assert free.distance <= 0.8


def test_obstacles_that_turn():
    """A bar that turns beside the car, and one that turns into its way and out again."""
    body = slider()[0]
    world = mk.World({"bar": mk.Shape("capsule", (0.01, 1.0))})
    problem = mk.Problem(body, [mk.Distance("car", world)])
    poses = [mk.transform((0.5, 0, 0), mk.euler(np.pi / 2 + a, 0, 0)) for a in (-0.4, 0.4)]
    spun = [mk.transform((0.5, 0, 0), mk.euler(0, np.pi / 2 + a, 0)) for a in (-1.0, 1.0)]
    apart = problem.objectives[0]
    assert mk.motion.check_motion(problem, [[0.0], [0.0]], targets={apart: {"bar": poses}})
    assert mk.motion.check_motion(problem, [[0.2], [0.2]], targets={apart: {"bar": spun}}).contact.all()


def test_a_root_moves_the_body_in_the_world():
    body, world, _ = slider()
    turned = mk.transform((0, 0, 0), mk.euler(0, 0, np.pi / 2))
    problem = mk.Problem(body, [mk.Distance("car", world)], root=turned)
    assert mk.motion.check_motion(problem, [[0.0], [2.0]])
    problem.root = np.eye(4)
    assert not mk.motion.check_motion(problem, [[0.0], [2.0]])
    problem.root = mk.translation(-1.0, 0, 0)
    assert_allclose(mk.motion.check_motion(problem, [[0.0], [2.0]]).first.q, 1.8, atol=2e-4)


def test_locked_joints_weld():
    """Links with nothing but locked joints between them do not count, as in a solve."""
    body = mk.load("panda")
    names = [name for name in body.joint_names if name != "panda_joint1"]
    lock = {name: float(body.home[body.index(name)]) for name in names}
    problem = mk.Problem(body, [mk.SelfDistance(body)], lock=lock)
    found = mk.motion.check_motion(problem, [body.home, body.vector({"panda_joint1": 1.0})])
    assert found
    assert len(found.pairs) < len(mk.SelfDistance(body).pairs)


def test_a_body_and_a_world():
    body = mk.load("panda")
    goal = body.vector({"panda_joint1": 1.5})
    assert mk.motion.check_motion(body, [body.home, goal])
    place = body.forward(body.vector({"panda_joint1": 0.7}), "panda_hand")
    world = mk.World({"ball": mk.Shape("sphere", (0.05,), place)})
    found = mk.motion.check_motion(body, [body.home, goal], world=world)
    assert found.first.pair[1] == "ball"


def test_trajectories_are_followed_between_their_rows():
    """A spline swings beyond the postures that it passes, into a post that straight lines do not reach."""
    _, _, problem = slider()
    path = np.array([[0.0], [0.75], [0.76], [0.0]])
    track = mk.motion.Track(problem, path, np.zeros(4, dtype=int), np.zeros(4, dtype=bool), {}, 1.0, 0, 0.0)
    assert mk.motion.check_motion(problem, path)
    trajectory = track.retime(velocity=1.0, acceleration=1.0)
    dense = trajectory.sample(1000).q.max()
    found = mk.motion.check_motion(problem, trajectory)
    assert dense > 0.8
    assert found.contact.any()
    assert 0.0 < found.first.time < trajectory.duration
    calm = mk.motion.Track(problem, 0.8 * path, np.zeros(4, dtype=int), np.zeros(4, dtype=bool), {}, 1.0, 0, 0.0)
    slow = calm.retime(velocity=1.0, acceleration=1.0)
    assert slow.sample(1000).q.max() < 0.8
    assert mk.motion.check_motion(problem, slow)


def test_track_says_what_lies_between():
    """A gantry steps over a wall that no step touches."""
    body = slider()[0]
    wall = mk.World({"wall": mk.Shape("box", (0.01, 1, 1), mk.translation(1.0, 0, 0))})
    reach, apart = mk.Position("car", (0, 0, 0)), mk.Distance("car", wall)
    problem = mk.Problem(body, [reach, apart])
    targets = [(0.0, 0, 0), (0.8, 0, 0), (1.3, 0, 0)]
    plain = mk.track(problem, {reach: targets}, jump=1.0)
    assert plain.success
    assert plain.between is None
    checked = mk.track(problem, {reach: targets}, jump=1.0, between=True)
    assert not checked.success
    assert checked.between.free.tolist() == [True, False]
    assert "1 of 2 motions between them free" in repr(checked)
    assert checked.check_motion().free.tolist() == [True, False]
    assert mk.track(problem, {reach: targets[:2]}, jump=1.0, between=True)


def plotter():
    """A pen on two slides."""
    builder = mk.build.BodyBuilder("plotter")
    builder.add("base", "x", "prismatic", "bridge", axis=(1, 0, 0), lower=-3, upper=3)
    pen = [mk.Shape("sphere", (0.02,))]
    builder.add("bridge", "y", "prismatic", "pen", axis=(0, 1, 0), lower=-3, upper=3, shapes=pen)
    return builder.build()


def test_a_smooth_track_is_proved_to_go_around():
    """Targets lead through a ball: step by step the pen jumps through it, as a smooth path it passes beside it."""
    body = plotter()
    world = mk.World({"ball": mk.Shape("sphere", (0.15,), mk.translation(0.5, -0.05, 0))})
    reach = mk.Position("pen", (0, 0, 0))
    problem = mk.Problem(body, [reach, mk.Distance("pen", world)])
    targets = np.column_stack([np.linspace(0.0, 1.0, 41), np.zeros((41, 2))])
    smooth = mk.track(problem, {reach: targets}, between=True, smooth=True)
    assert smooth.between
    assert (smooth.errors[problem.objectives[1]] == 0.0).all()
    assert (
        Judge(body, world, pairs=()).least(np.concatenate([straight(*ends, 20) for ends in pairwise(smooth.q)])) > 0.0
    )


def test_what_no_step_shows_is_refused():
    """Every step reaches its target, on either side of a thin plate; the path between them does not count as a success."""
    body = plotter()
    world = mk.World({"plate": mk.Shape("box", (0.01, 0.4, 1), mk.translation(0.5, -0.1, 0))})
    reach = mk.Position("pen", (0, 0, 0))
    problem = mk.Problem(body, [reach, mk.Distance("pen", world)])
    targets = np.column_stack([np.linspace(0.0, 1.0, 21), np.zeros((21, 2))])  # 5 cm a step
    targets[10, 0] = 0.47
    for smooth in (False, True):
        track = mk.track(problem, {reach: targets}, between=True, smooth=smooth)
        assert track.reached.all()
        assert not track.success
        assert np.flatnonzero(~track.between.free).tolist() == [10]


def test_wrong_arguments():
    body, world, problem = slider()
    with pytest.raises(ProblemError, match="no Distance or SelfDistance"):
        mk.motion.check_motion(mk.Problem(body, [mk.Position("car", (0, 0, 0))]), [[0.0], [1.0]])
    with pytest.raises(ProblemError, match="two or more finite"):
        mk.motion.check_motion(problem, [[0.0]])
    with pytest.raises(ProblemError, match="two or more finite"):
        mk.motion.check_motion(problem, [[0.0], [math.nan]])
    with pytest.raises(ProblemError, match="resolution"):
        mk.motion.check_motion(problem, [[0.0], [1.0]], resolution=0.0)
    with pytest.raises(ProblemError, match="knows its world"):
        mk.motion.check_motion(problem, [[0.0], [1.0]], world=world)
    with pytest.raises(ProblemError, match="no problem and no body"):
        mk.motion.check_motion("panda", [[0.0], [1.0]])
    with pytest.raises(ProblemError, match="3 rows of obstacles for 2"):
        poses = {"post": [np.eye(4)] * 3}
        mk.motion.check_motion(problem, [[0.0], [1.0]], targets={problem.objectives[0]: poses})
