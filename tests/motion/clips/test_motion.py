"""Motion: slices, blends, poses and velocities, against SciPy and against forward kinematics."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import memetik as mk
from memetik.errors import ProblemError
from memetik.motion.clips.mirror import partner
from memetik.motion.clips.turns import nearest_turns, quaternions_of_matrices, steady_turns
from tests.read.clips import clip_text


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    """Seven random frames, up to 60 degrees a joint, one every 0.1 s."""
    path = tmp_path_factory.mktemp("clips") / "figure.bvh"
    path.write_text(clip_text(7, seed=4, step="0.1", turn=60.0))
    return mk.read_motion(path, scale=0.1)


@pytest.fixture(scope="module")
def kyle():
    return mk.load("kyle", base="floating")


def rotations(motion, link):
    return Rotation.from_matrix(motion.poses(link)[:, :3, :3])


# ---- What it holds -------------------------------------------------------------------------------------------


def test_what_it_says(clip):
    assert (
        repr(clip) == "<Motion 'figure': 7 frames in 0.600 s at 10 Hz, body 'figure', y up (guessed), 1 unit = 0.1 m>"
    )
    assert (len(clip), clip.start, clip.rate) == (7, 0.0, 10.0)
    assert clip.end == clip.duration == pytest.approx(0.6)
    assert clip.root.name == "Hips"


def test_nothing_can_be_written(clip):
    with pytest.raises(ValueError, match="read-only"):
        clip.q[0, 0] = 1.0
    mine = np.zeros((1, clip.body.dof))
    motion = mk.Motion(clip.body, [0.0], mine)
    mine[0, 0] = 1.0
    assert motion.q[0, 0] == 0.0


@pytest.mark.parametrize(
    "times, q",
    [
        ([0.0], np.zeros(24)), ([0.0, 0.0], np.zeros((2, 24))), ([1.0, 0.0], np.zeros((2, 24))), ([], np.zeros((0, 24))),
        ([0.0], np.zeros((1, 23))), ([np.nan], np.zeros((1, 24))), ([0.0], np.full((1, 24), np.nan)), ("x", "y"),
    ],
)  # fmt: skip
def test_what_is_no_motion(clip, times, q):
    with pytest.raises(ProblemError):
        mk.Motion(clip.body, times, q)
    with pytest.raises(ProblemError, match="not a body"):
        mk.Motion("kyle", [0.0], [[0.0]])


# ---- Slices and samples --------------------------------------------------------------------------------------


def test_slices(clip):
    assert np.array_equal(clip[2], clip.q[2]) and np.array_equal(clip[-1], clip.q[6])
    part = clip[2:5]
    assert np.array_equal(part.q, clip.q[2:5]) and np.array_equal(part.times, clip.times[2:5])
    assert len(clip[::3]) == 3
    for wrong in (7, -8, 1.5, slice(5, 5), slice(None, None, -1), slice("a", None)):
        with pytest.raises(ProblemError):
            clip[wrong]


def test_by_time(clip):
    part = clip.between(0.15, 0.5)
    assert part.times.tolist() == pytest.approx([0.15, 0.2, 0.3, 0.4, 0.5])
    assert np.array_equal(part.q[1:4], clip.q[2:5])
    np.testing.assert_allclose(part.q[0], clip.at(0.15), rtol=1e-14)
    for start, end in ((0.3, 0.3), (-1.0, 0.2), (0.0, 2.0), (np.nan, 0.5)):
        with pytest.raises(ProblemError):
            clip.between(start, end)


def test_between_frames_rotations_are_those_of_scipy(clip):
    times = np.linspace(0.0, clip.end, 43)
    found = clip.resampled(70.0)
    assert len(found) == 43
    for link in ("Hips", "Spine", "LeftLeg"):
        joint = clip.body.joints[link]
        parent = "world" if link == "Hips" else joint.parent
        local = rotations(clip, parent).inv() * rotations(clip, link)
        ours = rotations(found, parent).inv() * rotations(found, link)
        theirs = Slerp(clip.times, local)(times)
        assert (ours.inv() * theirs).magnitude().max() < 1e-9
    assert np.array_equal(clip.at(clip.times), clip.q)


def test_values_between_frames_go_on_without_jumps(clip):
    fine = clip.resampled(2000.0)
    assert np.abs(np.diff(fine.q, axis=0)).max() < 0.1


def test_eased_keyframes_come_to_rest(clip):
    fine = clip.resampled(1000.0, ease=True)
    np.testing.assert_allclose(fine.q[::100], clip.q, atol=1e-12)
    at_keys = np.abs(fine.velocities()[100:-1:100]).max()
    assert at_keys < 0.02 * np.abs(clip.resampled(1000.0).velocities()).max()


def test_single_frames():
    body = mk.load("panda")
    still = mk.Motion(body, [1.0], [body.home])
    assert np.array_equal(still.at([0.0, 9.0]), [body.home, body.home])
    assert still.rate == 0.0 and not still.velocities().any() and len(still.resampled(30.0)) == 1
    with pytest.raises(ProblemError, match="no floating base"):
        still.moved((1, 0, 0))


# ---- Changed as a whole --------------------------------------------------------------------------------------


def test_moved_and_turned(clip):
    T = mk.transform((0.3, -2.0, 0.1), mk.euler(20, 30, 40, degrees=True))
    moved = clip.transformed(T)
    np.testing.assert_allclose(moved.forward().array[:, 1:], T @ clip.forward().array[:, 1:], atol=1e-12)
    np.testing.assert_allclose(
        clip.moved((1, 2, 3)).poses("Head")[:, :3, 3], clip.poses("Head")[:, :3, 3] + (1, 2, 3), atol=1e-12
    )
    turned = clip.turned(0.7)
    first = clip.poses("Hips")[0, :3, 3]
    np.testing.assert_allclose(turned.poses("Hips")[0, :3, 3], first, atol=1e-12)
    back = turned.turned(-0.7)
    np.testing.assert_allclose(back.forward().array, clip.forward().array, atol=1e-12)


def test_mirrored_skeleton(clip):
    """The picture in the mirror, of a skeleton that is symmetric to the last digit."""
    mirror = clip.mirrored().forward()
    plain = clip.forward()
    for link in clip.body.links:
        other = partner(link, clip.body.links)
        np.testing.assert_allclose(
            mirror[link][:, :3, 3], plain[other][:, :3, 3] * (-1, 1, 1), atol=1e-12, err_msg=link
        )
    np.testing.assert_allclose(clip.mirrored().mirrored().forward().array, plain.array, atol=1e-12)


def test_mirrored_kyle(kyle):
    rng = np.random.default_rng(3)
    motion = mk.Motion(kyle, [0.0, 1.0], [kyle.sample(rng), kyle.sample(rng)])
    mirror, plain = motion.mirrored().forward(), motion.forward()
    for link in kyle.links:
        other = partner(link, kyle.links)
        np.testing.assert_allclose(mirror[link][:, :3, 3], plain[other][:, :3, 3] * (1, -1, 1), atol=1e-6, err_msg=link)


def test_what_cannot_be_mirrored():
    panda = mk.load("panda", base="floating")
    motion = mk.Motion(panda, [0.0], [panda.home])
    with pytest.raises(mk.errors.BodyError, match=r"no links named as left and right|axes do not match"):
        motion.mirrored()
    with pytest.raises(ProblemError, match="no length"):
        motion.mirrored(normal=(0, 0, 0))


@pytest.mark.parametrize(
    "left, right",
    [("LeftFoot", "RightFoot"), ("left_hand", "right_hand"), ("LHipJoint", "RHipJoint"), ("l_hip", "r_hip"),
     ("hand.L", "hand.R"), ("thigh_l", "thigh_r"), ("J_Bip_L_Foot", "J_Bip_R_Foot"), ("handL", "handR")],
)  # fmt: skip
def test_partners(left, right):
    names = {left, right, "LowerBack", "Spine"}
    assert partner(left, names) == right and partner(right, names) == left
    assert partner("LowerBack", names) == "LowerBack" and partner("Spine", names) == "Spine"


def test_joined(clip):
    """Frames before the overlap are those of the first clip, frames after it those of the second, moved along the ground."""
    other = clip.moved((3.0, 2.0, 0.0)).turned(1.0)
    both = clip.joined(other, blend=0.2)
    assert both.duration == pytest.approx(1.0)
    assert np.array_equal(both.q[:5], clip.q[:5])
    rest = both[6:]
    moved = rest.poses("Hips")[0] @ np.linalg.inv(other.poses("Hips")[2])
    assert moved[2, 3] == pytest.approx(0.0, abs=1e-9) and moved[2, 2] == pytest.approx(1.0, abs=1e-12)
    for link in ("Hips", "Head"):
        np.testing.assert_allclose(rest.poses(link), moved @ other.poses(link)[2:], atol=1e-9)
    cut = clip.joined(clip, blend=0.0, align=False)
    assert len(cut) == 14 and np.array_equal(cut.q[:7], clip.q)
    np.testing.assert_allclose(cut.q[7:], clip.q, atol=1e-9)
    with pytest.raises(ProblemError, match="blend is 5"):
        clip.joined(clip, blend=5.0)
    panda = mk.load("panda")
    with pytest.raises(ProblemError, match="different bodies"):
        clip.joined(mk.Motion(panda, [0.0], [panda.home]))


def test_blended(clip):
    other = clip.mirrored()
    assert np.array_equal(clip.blended(other, 0.0).q, clip.q)
    half = clip.blended(other, 0.5)
    one, two, mid = (rotations(each, "Hips") for each in (clip, other, half))
    np.testing.assert_allclose((one.inv() * mid).magnitude(), (mid.inv() * two).magnitude(), atol=1e-9)
    shares = np.linspace(0.0, 1.0, len(clip))
    assert np.array_equal(clip.blended(other, shares).q[-1], other.q[-1])
    with pytest.raises(ProblemError, match="ratio"):
        clip.blended(other, 1.5)


def test_keyframes(clip):
    assert np.array_equal(clip.keyframes(4).times, clip.times[[0, 4, 6]])
    assert np.array_equal(clip.keyframes([5, 1]).q, clip.q[[1, 5]])
    for wrong in (0, [], [9], "ab"):
        with pytest.raises(ProblemError):
            clip.keyframes(wrong)


# ---- Velocities ----------------------------------------------------------------------------------------------


def test_velocities_of_a_steady_spin():
    """A ball that turns evenly about a slanted axis, through every singularity of its angles."""
    body = mk.build.BodyBuilder("ball").add("base", "ball", "spherical", "tip").build()
    spin = np.array([2.0, -1.0, 3.0])
    times = np.linspace(0.0, 3.0, 301)
    turns = Rotation.from_rotvec(times[:, None] * spin) * Rotation.from_euler("x", 80, degrees=True)
    q = steady_turns("zxy", quaternions_of_matrices(turns.as_matrix()), np.zeros(3))
    motion = mk.Motion(body, times, q)
    assert (rotations(motion, "tip").inv() * turns).magnitude().max() < 1e-12
    np.testing.assert_allclose(motion.velocities(), np.tile(spin, (301, 1)), atol=1e-9)
    np.testing.assert_allclose(motion.frame_velocities("tip")[:, 3:], np.tile(spin, (301, 1)), atol=1e-9)


def test_velocities_of_frames(kyle):
    times = np.linspace(0.0, 1.0, 1001)
    rng = np.random.default_rng(0)
    one, two = kyle.home, kyle.clip(kyle.home + 0.3 * rng.standard_normal(kyle.dof))
    motion = mk.Motion(kyle, [0.0, 1.0], [one, two]).resampled(1000.0)
    found = motion.frame_velocities("left_hand")[500]
    before, after = (kyle.forward(motion.at(0.5 + d), "left_hand") for d in (-1e-4, 1e-4))
    np.testing.assert_allclose(found[:3], (after - before)[:3, 3] / 2e-4, atol=1e-4)
    assert len(times) == len(motion)


def test_turns_nearest_to_others():
    turns = np.random.default_rng(1).uniform(-7.0, 7.0, (500, 3))
    for order in ("xyz", "zyx", "yxz", "zxy", "xzy", "yzx"):
        rotation = Rotation.from_euler(order.upper(), turns)
        quats = quaternions_of_matrices(rotation.as_matrix())
        np.testing.assert_allclose(nearest_turns(order, quats, turns), turns, atol=1e-7)


# ---- Contacts ------------------------------------------------------------------------------------------------


def test_contacts_of_a_foot_that_hops():
    """It stands for 0.5 s, is in the air for 0.5 s, three times; on the verge it does not flutter."""
    body = mk.build.BodyBuilder("foot").add("base", "slide", "xyz", "sole").build()
    times = np.arange(300) / 100.0
    phase = times % 1.0
    flying = phase >= 0.5
    height = np.where(flying, 0.2 * np.sin(np.pi * (phase - 0.5) / 0.5), 0.0)
    forward = np.floor(times) * 0.5 + np.where(flying, 0.5 * (phase - 0.5) / 0.5, 0.0)
    noise = 0.002 * np.sin(173.0 * times)
    motion = mk.Motion(body, times, np.stack([forward, 0 * times, height + noise], axis=1))
    for ground in (None, 0.0, mk.objectives.Ground()):
        found = motion.contacts("sole", ground=ground)["sole"]
        assert (np.abs(np.diff(found.astype(int))).sum()) == 5
        assert (found != ~flying).sum() <= 18  # a few frames at each switch
    lifted = motion.contacts([body.frame("sole", (0, 0, 0.3))], ground=0.0)
    assert not next(iter(lifted.values())).any()
    with pytest.raises(ProblemError, match="height"):
        motion.contacts("sole", height=-1.0)


def test_times_that_are_hardly_apart_are_refused():
    body = mk.load("ur5")
    with pytest.raises(ProblemError, match="in another unit"):
        mk.Motion(body, (0.0, 5e-324), np.zeros((2, body.dof)))
