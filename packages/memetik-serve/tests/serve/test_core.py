"""The core: request -> problem -> solution -> reply, with the codes of MoveIt."""

import gc
import subprocess
import sys
import threading
import time
import tracemalloc
import weakref

import numpy as np
import pytest

import memetik as mk
from memetik.scenes import KINDS, Wish
from memetik_serve import Code, Core, Reply, Request
from memetik_serve import core as core_module
from memetik_serve.store import MB, Store
from memetik_serve.structure import movers


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda")


@pytest.fixture(scope="module")
def core(panda):
    return Core(panda)


def hand(pose, **values):
    place = {"position": pose[:3, 3].tolist(), "wxyz": mk.geometry.to_quaternion(pose[:3, :3]).tolist()}
    return Wish("Pose", "hand", {"frame": "panda_hand", **place, **values})


def reachable(body, rng, count):
    return [body.forward(body.sample(rng), "panda_hand") for _ in range(count)]


FAR = mk.translation(3.0, 0.0, 0.0)


def test_the_answer_is_that_of_solve(core, panda, rng):
    for pose in reachable(panda, rng, 20):
        reply = core.answer(Request((hand(pose),)))
        assert (reply.code, reply.reached, reply.message) == (Code.SUCCESS, True, "")
        goal = mk.transform(pose[:3, 3], mk.geometry.to_quaternion(pose[:3, :3]))
        np.testing.assert_allclose(
            reply.q, mk.solve(mk.Problem(panda, [mk.Pose("panda_hand", goal)])).q, rtol=0, atol=1e-9
        )
        np.testing.assert_allclose(panda.forward(reply.q, "panda_hand"), pose, atol=2e-3)


def test_poses_are_those_of_transform(rng):
    for _ in range(20):
        position, wxyz = rng.normal(size=3), mk.geometry.to_quaternion(mk.geometry.random_rotation(rng))
        np.testing.assert_allclose(
            core_module.pose_matrix(position, wxyz), mk.transform(position, wxyz), rtol=0, atol=1e-15
        )


def test_codes_are_those_of_moveit():
    """moveit_msgs/MoveItErrorCodes, 0.11.4."""
    assert {code.name: code.value for code in Code} == {
        "SUCCESS": 1, "TIMED_OUT": -6, "INVALID_GROUP_NAME": -15, "INVALID_GOAL_CONSTRAINTS": -16, "INVALID_ROBOT_STATE": -17,
        "INVALID_LINK_NAME": -18, "INVALID_OBJECT_NAME": -19, "FRAME_TRANSFORM_FAILURE": -21,
        "COLLISION_CHECKING_UNAVAILABLE": -22, "NO_IK_SOLUTION": -31, "FAILURE": 99999,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"objectives": (hand(FAR),), "timeout": 5.0}, Code.NO_IK_SOLUTION, "missed hand"),
        ({"objectives": (hand(FAR),), "timeout": 1e-4}, Code.TIMED_OUT, "time ended"),
        ({"group": "legs"}, Code.INVALID_GROUP_NAME, "There are: arm"),
        ({"objectives": (Wish("Position", "x", {"frame": "hnd"}),)}, Code.INVALID_LINK_NAME, "no link named 'hnd'"),
        ({"objectives": ()}, Code.INVALID_GOAL_CONSTRAINTS, "0 objectives"),
        ({"objectives": (Wish("Wish", "x"),)}, Code.INVALID_GOAL_CONSTRAINTS, "no kind of objective"),
        ({"objectives": (hand(FAR, position=[1, 2]),)}, Code.INVALID_GOAL_CONSTRAINTS, "list of 3 numbers"),
        ({"objectives": (hand(FAR, wxyz=[0, 0, 0, 0]),)}, Code.INVALID_GOAL_CONSTRAINTS, "no rotation"),
        ({"objectives": (hand(FAR, weight=-1.0),)}, Code.INVALID_GOAL_CONSTRAINTS, "above zero"),
        ({"state": {"elbow": 0.0}}, Code.INVALID_ROBOT_STATE, "no joint named 'elbow'"),
        ({"state": {"panda_joint1": np.nan}}, Code.INVALID_ROBOT_STATE, "NaN"),
        ({"fixed_joints": ("elbow",)}, Code.INVALID_ROBOT_STATE, "fixed_joints"),
        ({"state": {"panda_joint1": 9.0}, "fixed_joints": ("panda_joint1",)}, Code.INVALID_ROBOT_STATE, "limits"),
        ({"timeout": -1.0}, Code.INVALID_GOAL_CONSTRAINTS, "timeout"),
        ({"attempts": 0}, Code.INVALID_GOAL_CONSTRAINTS, "attempts"),
        ({"method": "magic"}, Code.INVALID_GOAL_CONSTRAINTS, "no method named 'magic'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_in_the_code(core, panda, changes, code, words):
    reply = core.answer(Request(**{"objectives": (hand(panda.forward(panda.home, "panda_hand")),), **changes}))
    assert reply.code == code
    assert words in reply.message
    assert code.is_answer == (reply.q is not None)


def test_after_a_wrong_request_the_next_is_right(core, panda, rng):
    (pose,) = reachable(panda, rng, 1)
    before = core.answer(Request((hand(pose),)))
    core.answer(Request((hand(pose, position=["x", 0, 0]),)))
    assert core.answer(Request((hand(pose),))).q.tolist() == before.q.tolist()


def test_a_fault_of_the_program_is_a_code_too(panda, monkeypatch):
    monkeypatch.setattr(core_module.mk, "solve", lambda *a, **k: 1 / 0)
    reply = Core(panda).answer(Request((hand(FAR),)))
    assert reply.code == Code.FAILURE
    assert "ZeroDivisionError" in reply.message


def test_approximate_makes_a_success_of_the_closest(core):
    reply = core.answer(Request((hand(FAR),), approximate=True))
    assert (reply.code, reply.reached) == (Code.SUCCESS, False)
    assert {(row.objective, row.verdict) for row in reply.measured} == {("hand", "missed")}
    assert reply.fitness == pytest.approx(sum(row.error**2 for row in reply.measured))


def test_guides_never_block(core, panda, rng):
    (pose,) = reachable(panda, rng, 1)
    guide = Wish("Position", "elsewhere", {"frame": "panda_link4", "target": [9.0, 0.0, 0.0], "tolerance": None})
    assert core.answer(Request((hand(pose), guide))).code == Code.SUCCESS
    assert (
        core.answer(Request((hand(pose), Wish("Position", "x", {**guide.values, "tolerance": 1e-3})))).code
        != Code.SUCCESS
    )


def test_fixed_joints_stay_where_the_state_has_them(core, panda, rng):
    for value in (0.1, 0.2, 0.1):
        goal = panda.forward(panda.vector({"panda_joint1": value, "panda_joint2": 0.3}), "panda_hand")
        request = Request((hand(goal),), state={"panda_joint1": value}, fixed_joints=("panda_joint1",))
        reply = core.answer(request)
        assert reply.code == Code.SUCCESS
        assert reply.q[0] == value


def test_only_the_group_moves(rng):
    body = mk.load("valkyrie")
    group = next(name for name, chain in body.chains.items() if len(chain.tips) == 1 and chain.base != body.root)
    tip = body.chains[group].tips[0]
    free = set(body.chain(group).joint_names)
    core, state = Core(body), dict(zip(body.joint_names, body.sample(rng).tolist(), strict=True))
    inside = body.vector({name: value for name, value in state.items() if name not in free})
    goal = body.forward(inside, tip)
    wishes = (Wish("Position", "tip", {"frame": tip, "target": goal[:3, 3].tolist()}), Wish("CenterJoints", "calm", {}))
    reply = core.answer(Request(wishes, group=group, state=state))
    assert reply.code == Code.SUCCESS
    moved = {name for name, value in zip(body.joint_names, reply.q.tolist(), strict=True) if value != state[name]}
    assert moved
    assert moved <= free


def test_mimic_and_fixed_joints_of_a_state_have_no_say(core, panda):
    start = core.start({"panda_finger_joint2": 0.01, "panda_joint8": 0.0, "panda_joint2": 0.5})
    assert start.tolist() == panda.vector({"panda_joint2": 0.5}).tolist()


def test_collisions_are_avoided(panda):
    box = mk.World()
    goal = mk.transform((0.45, 0.0, 0.4), mk.euler(180, 0, 0, degrees=True))
    free = Core(panda).answer(Request((hand(goal),)))
    elbow = panda.forward(free.q, "panda_link4")[:3, 3]
    box.add("ball", mk.Shape("sphere", (0.08,)), mk.translation(*elbow))
    reply = Core(panda, world=box, timeout=5.0).answer(Request((hand(goal),), avoid_collisions=True))
    assert reply.code == Code.SUCCESS
    assert mk.Solution.of(mk.Problem(panda, [mk.Distance(panda, box)]), free.q).success is False
    assert mk.Solution.of(mk.Problem(panda, [mk.Distance(panda, box), mk.SelfDistance(panda)]), reply.q).success


def test_without_shapes_collisions_cannot_be_avoided():
    builder = mk.build.BodyBuilder("bare")
    builder.add("base", "turn", "revolute", "arm", axis=(0, 0, 1), lower=-1, upper=1)
    body = builder.build()
    wish = Wish("Orientation", "arm", {"frame": "arm"})
    reply = Core(body).answer(Request((wish,), avoid_collisions=True))
    assert reply.code == Code.COLLISION_CHECKING_UNAVAILABLE


def test_frames_that_poses_are_given_in(core, panda):
    assert core.world_from("", {}) is None
    assert core.world_from("panda_link0", {}) is None
    state = {"panda_joint1": 0.7}
    np.testing.assert_array_equal(
        core.world_from("panda_link3", state), panda.forward(panda.vector(state), "panda_link3")
    )
    with pytest.raises(mk.errors.ProblemError, match="no frame named 'map'") as caught:
        core.world_from("map", {})
    assert caught.value.code == Code.FRAME_TRANSFORM_FAILURE
    assert core.tip("arm") == "panda_link8"
    with pytest.raises(mk.errors.ProblemError, match="Name the link"):
        core.tip("hand")


def test_targets_are_in_the_world_and_the_root_stands_in_it(panda, rng):
    root = mk.transform((1.0, 2.0, 0.3), mk.euler(0, 0, 90, degrees=True))
    q = panda.sample(rng)
    reply = Core(panda, root=root).answer(Request((hand(panda.forward(q, "panda_hand", root=root)),)))
    assert reply.code == Code.SUCCESS


@pytest.mark.parametrize(
    "kind", [name for name in KINDS if name not in ("Projection", "FunctionalRelation", "Balance", "GravityTorque")]
)
def test_every_kind_of_objective_is_taken_twice(core, kind, panda):
    """The second request changes targets only; each says what a fresh core says."""
    given = {
        "frame": "panda_hand", "link": "panda_hand", "joint": "panda_joint2", "links": ["panda_hand", "panda_link2"],
    }  # fmt: skip
    known = {field.name for field in KINDS[kind].fields}
    values = {name: value for name, value in given.items() if name in known}
    changed = [
        {"target": [0.4, 0.2, 0.3]}, {"position": [0.4, 0.2, 0.3]}, {"point": [0.4, 0.2, 0.3]},
        {"obstacles": [[0.5, 0.3, 0.4, 0.1]]}, {"direction": [0.0, 1.0, 0.0]},
    ]  # fmt: skip
    if kind == "Orientation":
        changed[0] = {"target": [0.0, 1.0, 0.0, 0.0]}
    if kind == "JointValue":
        changed[0] = {"target": 0.4}
    other = {name: value for change in changed for name, value in change.items() if name in known}
    reach = Wish("Position", "reach", {"frame": "panda_link7", "target": [0.4, 0.1, 0.5], "tolerance": 0.05})
    for wish in (Wish(kind, "it", values), Wish(kind, "it", {**values, **other})):
        reply, fresh = (each.answer(Request((reach, wish), timeout=5.0)) for each in (core, Core(panda)))
        assert reply.code == fresh.code
        assert reply.code.is_answer, reply.message
        assert reply.q.tolist() == fresh.q.tolist()


def test_a_known_structure_is_not_compiled_again(core, panda, rng, monkeypatch):
    poses = reachable(panda, rng, 3)
    core.answer(Request((hand(poses[0]),)))
    monkeypatch.setattr(core_module.mk, "Problem", None)
    assert all(core.answer(Request((hand(pose),))).code == Code.SUCCESS for pose in poses)


def test_what_is_kept_is_bounded(panda):
    core, pose = Core(panda, store=Store(most=10 * MB, share=6 * MB, many=5)), panda.forward(panda.home, "panda_hand")
    for k in range(6):
        core.answer(Request((hand(pose, weight=1.0 + k),)))
        core.answer(Request((hand(pose),), state={"panda_joint1": 0.1 * k}, fixed_joints=("panda_joint1",)))
    kept = [each for structure in core._structures.values() for row in structure.idle.values() for each in row]
    assert len(kept) == 5 == sum(structure.count for structure in core._structures.values())
    assert 0 < core.store.size <= 10 * MB
    assert core.answer(Request((hand(pose),))).reached  # what was forgotten is compiled again


@pytest.mark.parametrize("avoids", [False, True])
def test_what_is_forgotten_is_freed_at_once(panda, avoids):
    """Without the garbage collector, which a server lets run rarely."""
    core, pose = Core(panda, store=Store(many=1)), panda.forward(panda.home, "panda_hand")
    held = []
    gc.disable()
    try:
        for k in range(3):
            wish = KINDS["Position"].new("hand", frame="panda_hand", target=pose[:3, 3].tolist(), weight=1.0 + k)
            assert core.answer(Request((wish,), avoid_collisions=avoids)).code == 1
            ((prepared,),) = [row for each in core._structures.values() for row in each.idle.values()]
            held.append(weakref.ref(prepared.problem.compiled))
            del prepared
        assert [each() is None for each in held] == [True, True, False]
        core.close()
        assert held[2]() is None
    finally:
        gc.enable()


def test_a_client_that_keeps_too_much_loses_its_own(panda):
    core, pose = Core(panda, store=Store(many=4)), panda.forward(panda.home, "panda_hand")
    for k in range(3):
        core.answer(Request((hand(pose, weight=1.0 + k),)), client="other")
    for k in range(20):
        core.answer(Request((hand(pose, weight=10.0 + k),)), client="greedy")
    assert all(core.quick(Request((hand(pose, weight=1.0 + k),))) is not None for k in range(3))
    assert core.store.held("greedy") > 0


SIZES = """
from pathlib import Path

import memetik as mk
from memetik.scenes import Wish
from memetik_serve import Core, Request

body = mk.load("valkyrie")
core, pose = Core(body), body.forward(body.home, "leftFoot")
place = {"position": (pose[:3, 3] + 0.3).tolist(), "wxyz": mk.geometry.to_quaternion(pose[:3, :3]).tolist()}


def resident():
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])


def ask(weight):
    wish = Wish("Pose", "foot", {"frame": "leftFoot", "weight": weight, **place})
    core.answer(Request((wish,), avoid_collisions=True, timeout=0.001))


ask(1.0)
before, counted = resident(), core.store.size
for k in range(20):
    ask(2.0 + k)
print(resident() - before, core.store.size - counted)
"""


@pytest.mark.only_if(sys.platform == "linux", "Linux, which tells how large a process is")
def test_sizes_are_those_of_the_process():
    """What the store counts is at least half of what problems take, also of those with large tables.

    A process of its own is measured: one that ran other tests reuses memory that they freed, or returns it meanwhile.
    """
    ran = subprocess.run([sys.executable, "-c", SIZES], capture_output=True, text=True, check=True, timeout=300)
    grown, counted = map(int, ran.stdout.split())
    assert 0.5 * grown < counted < 4.0 * grown


def test_attempts_share_the_time(core):
    request = Request((hand(FAR),), timeout=0.2, attempts=60, method="bioik")
    core.answer(request)
    begin = time.perf_counter()
    assert core.answer(request).code in (Code.TIMED_OUT, Code.NO_IK_SOLUTION)
    assert time.perf_counter() - begin < 1.0  # an attempt alone takes about 0.04 s


def test_a_long_chain_takes_no_memory_with_its_square():
    chain = mk.build.snake(3000)
    tip = list(chain.links)[-1]
    tracemalloc.start()
    try:
        assert movers(chain, [tip, chain.root]) == set(chain.joint_names)
        Core(chain)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_a_quick_look_says_the_same_or_nothing(panda, rng):
    core = Core(panda)
    requests = [Request((hand(pose),)) for pose in reachable(panda, rng, 200)]
    assert core.quick(requests[0]) is None  # nothing is compiled yet
    core.answer(requests[0])
    looked = [core.quick(request) for request in requests]
    assert sum(reply is not None for reply in looked) > 190
    for request, reply in zip(requests, looked, strict=True):
        assert reply is None or reply.q.tolist() == core.answer(request).q.tolist()
    assert core.quick(Request((hand(FAR),))) is None
    assert core.quick(Request((hand(FAR),), group="legs")).code == Code.INVALID_GROUP_NAME


def test_threads_do_not_disturb_each_other(core, panda, rng):
    requests = [Request((hand(pose),)) for pose in reachable(panda, rng, 60)]
    expected = [core.answer(request).q.tolist() for request in requests]
    found: dict[int, list[Reply]] = {}

    def ask(who):
        found[who] = [core.answer(request) for request in requests]

    threads = [threading.Thread(target=ask, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all([reply.q.tolist() for reply in found[who]] == expected for who in range(4))


def test_attempts_take_other_seeds(core):
    once = core.answer(Request((hand(FAR),), timeout=5.0))
    twice = core.answer(Request((hand(FAR),), attempts=3, timeout=5.0))
    assert twice.fitness <= once.fitness


def test_an_explanation_says_why(core, panda):
    assert "reaches at most" in core.explain(Request((hand(FAR),)))
    assert core.explain(Request((hand(panda.forward(panda.home, "panda_hand")),))) == ""
