"""The session behind a page: everything a person can do, without a page."""

import json
from functools import partial

import numpy as np
import pytest

import memetik as mk
from memetik import scenes
from memetik_studio.session import Session
from memetik_studio.widgets import METHODS
from tests.scenes.samples import among_obstacles
from tests.studio.patience import patient
from tests.timing import processor_seconds

FAR = (3.0, 0.0, 0.4)
ARM = """<robot name="arm"><link name="base"/><link name="tip"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="tip"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture
def session():
    return Session(patient("arm reach"))


def hand(session):
    pose = session.body.forward(session.q)["panda_hand"]
    return pose[:3, 3] + 0.1 * pose[:3, 2]


# ---- Targets ---------------------------------------------------------------------------------------------------


def test_a_dragged_target_is_reached(session):
    session.begin_drag()
    for k in range(1, 20):
        target = (0.5, 0.1 - 0.01 * k, 0.4 + 0.005 * k)
        assert session.move("hand", target, (0, 1, 0, 0))
        assert session.solution.success
        np.testing.assert_allclose(hand(session), target, atol=1e-4)
    assert session.marks()["hand"].good is True
    assert not session.move("hand", target, (0, 1, 0, 0)), "a drag that moves nothing costs nothing"


@pytest.mark.timed
def test_a_frame_out_of_reach_takes_what_it_may(session):
    session.move("hand", FAR)  # a first failure also loads machine code
    session.set_solving(seconds=0.01, evaluations=10**9)
    spent = [processor_seconds(partial(session.move, "hand", (3.0, 0.01 * k, 0.4))) for k in range(1, 10)]
    assert np.median(spent) < 0.02
    assert not session.reached


def test_a_target_out_of_reach_is_told(session):
    session.move("hand", FAR)
    assert not session.reached and session.marks()["hand"].good is False
    assert "mm" in session.marks()["hand"].text
    session.move("hand", (0.5, 0.1, 0.4))
    assert session.reached


def test_numbers_do_what_gizmos_do(session):
    session.set("hand", position=[0.4, -0.1, 0.5])
    np.testing.assert_allclose(hand(session), (0.4, -0.1, 0.5), atol=1e-4)
    np.testing.assert_array_equal(session.gizmo("hand")[0], (0.4, -0.1, 0.5))


def test_a_disabled_objective_does_not_count(session):
    session.move("hand", FAR)
    session.enable("hand", False)
    assert session.reached and session.marks()["hand"] == (None, "off")
    session.enable("hand", True)
    assert not session.reached


def test_without_tolerance_an_objective_only_guides(session):
    session.move("hand", FAR)
    session.set("hand", position_tolerance=None, orientation_tolerance=None)
    assert session.reached and session.marks()["hand"].good is None


def test_the_heavier_objective_comes_nearer(session):
    session.add("Position", frame="panda_hand", target=[-0.6, 0.0, 0.4])
    missed = []
    for weight in (0.1, 10.0):
        session.set("Position 1", weight=weight)
        session.restart()
        missed.append(session.solution.errors[session._objectives["Position 1"]])
    assert missed[1] < 0.5 * missed[0]


def test_an_obstacle_can_be_dragged():
    session = Session(patient("arm around a sphere"))
    x, y, z, _ = session.scene.wish("keep off the sphere").values["obstacles"][0]
    for k in range(5):
        assert session.move_obstacle("keep off the sphere", 0, (x, y + 0.02 * (k + 1), z))
        assert session.solution.success
    assert not session.move_obstacle("keep off the sphere", 0, (x, y + 0.1, z))


def test_an_obstacle_of_the_world_can_be_dragged():
    session = Session(among_obstacles())
    problem, compiled = session.problem, session.problem.compiled
    assert not session.solution.success  # the cup stands where the hand should be
    session.begin_drag()
    assert session.move_block("cup", (0.5, -0.5, 0.05), (1.0, 0.0, 0.0, 0.0))
    assert session.solution.success
    assert (session.problem, session.problem.compiled) == (problem, compiled)
    assert session.scene.block("cup").position == (0.5, -0.5, 0.05)
    assert scenes.loads(session.save()).block("cup").position == (0.5, -0.5, 0.05)
    assert not session.move_block("cup", (0.5, -0.5, 0.05), (1.0, 0.0, 0.0, 0.0))
    assert session.undo()
    assert session.scene.block("cup").position == (0.5, 0.1, 0.4)


@pytest.mark.parametrize("kind", ["Direction", "Line", "Orientation", "LookAt", "Plane"])
def test_gizmos_give_back_what_they_got(session, kind):
    name = session.add(kind)
    position, wxyz = session.gizmo(name)
    before = session.scene.wish(name)
    session.move(name, position, wxyz)
    for field, value in before.values.items():
        if isinstance(value, list):
            np.testing.assert_allclose(session.scene.wish(name).values[field], value, atol=1e-9)
    turned = mk.geometry.to_quaternion(mk.euler(0.3, 0.2, 0.0) @ mk.geometry.rotation_matrix(wxyz))
    session.move(name, position + 0.01, turned)
    again = session.gizmo(name)
    known = scenes.KINDS[kind]
    if known.place:
        np.testing.assert_allclose(again[0], position + 0.01)
    if known.turn or known.axis:
        np.testing.assert_allclose(
            mk.geometry.rotation_matrix(again[1])[:, 2], mk.geometry.rotation_matrix(turned)[:, 2], atol=1e-9
        )  # fmt: skip


def test_names_are_checked(session):
    with pytest.raises(mk.errors.FormatError, match="called 'hand' already"):
        session.rename("stay close", "hand")
    session.rename("hand", "right hand")
    assert session.move("right hand", (0.5, 0.0, 0.4))
    with pytest.raises(mk.errors.UnknownNameError, match="no objective named 'hand'"):
        session.move("hand", (0.5, 0.0, 0.4))


def test_a_bad_edit_changes_nothing(session):
    before = session.scene
    with pytest.raises(mk.errors.FormatError):
        session.set("hand", weight=-1.0)
    with pytest.raises(mk.errors.UnknownNameError):
        session.set("hand", frame="no such link")
    assert session.scene is before and not session.undo()


# ---- Joints, solver ----------------------------------------------------------------------------------------------


def test_a_locked_joint_keeps_its_value(session):
    before = float(session.q[2])
    session.lock_joint("panda_joint3", True)
    session.move("hand", (0.48, 0.12, 0.42))
    assert session.reached and session.q[2] == before
    session.set_joint("panda_joint3", -0.3)
    assert session.q[2] == -0.3
    session.lock_joint("panda_joint3", False)
    assert "panda_joint3" not in session.scene.lock


def test_a_slider_poses_within_the_limits(session):
    session.set_live(False)
    session.set_joint("panda_joint1", 99.0)
    assert session.q[0] == session.body.upper[0]
    session.set_live(True)
    assert session.reached


def test_a_heavy_joint_moves_less(session):
    moved = []
    for weight in (1.0, 100.0):
        session.weigh_joint("panda_joint1", weight)
        session.restart()
        session.move("hand", (0.5, 0.1, 0.4))
        start = float(session.q[0])
        session.move("hand", (0.5, 0.15, 0.4))
        moved.append(abs(session.q[0] - start))
        assert session.joint_weight("panda_joint1") == weight
    assert moved[1] < moved[0]


@pytest.mark.parametrize("method", [row.name for row in METHODS])
def test_every_method_can_be_chosen(session, method):
    session.set_solving(method=method, seed=3)
    assert session.solution.method.partition(" ")[0] == method
    assert (
        session.marks()["stay close"].text in ("0", f"left out by {method}")
        or session.marks()["stay close"].good is None
    )


def test_a_method_gets_the_problem_without_guides_it_cannot_take(session):
    session.set_solving(method="ccd", evaluations=100_000)
    assert session.reached and session.marks()["hand"].good and session.marks()["stay close"].text == "left out by ccd"


def test_the_script_of_a_scene_has_what_its_method_can_take(session):
    session.set_solving(method="ccd")
    made = {}
    exec(session.code(), made)
    assert made["solution"].success and made["solution"].method == "ccd" and "stay close" not in session.code()


def test_a_method_that_cannot_take_the_problem_is_refused(session):
    session.add("JointValue")
    before = session.scene
    with pytest.raises(mk.errors.ProblemError, match="'ccd' cannot take"):
        session.set_solving(method="ccd")
    assert session.scene is before and session.reached


def test_an_unknown_method_is_refused(session):
    with pytest.raises(mk.errors.UnknownNameError, match="no method named 'magic'"):
        session.set_solving(method="magic")
    assert session.scene.solving.method == "memetic"


# ---- Undo, files, recording --------------------------------------------------------------------------------------


def test_a_drag_is_one_step_of_undo(session):
    before = session.scene
    session.begin_drag()
    for k in range(5):
        session.move("hand", (0.5, 0.1 + 0.01 * k, 0.45))
    after = session.scene
    session.remove("stay close")
    assert session.undo() and session.scene is after
    assert session.undo() and session.scene is before
    np.testing.assert_allclose(hand(session), (0.5, 0.1, 0.4), atol=1e-4)
    assert not session.undo()
    assert session.redo() and session.scene is after
    assert session.redo() and not session.redo()
    session.undo()
    session.enable("hand", False)
    assert not session.redo(), "an edit ends what could be redone"


def test_undo_crosses_from_scene_to_scene(session):
    session.open(patient("parallel five-bar"))
    assert session.body.name == "five_bar"
    assert session.undo() and session.body.name == "panda" and session.reached


def test_a_saved_scene_comes_back_where_it_was(session):
    session.move("hand", (0.45, -0.2, 0.35))
    session.lock_joint("panda_joint1", True)
    text = session.save()
    other = Session(patient("parallel five-bar"))
    other.upload("mine.json", text.encode())
    assert other.scene.wishes == session.scene.wishes and other.scene.lock == session.scene.lock
    np.testing.assert_allclose(other.q, session.q, atol=1e-4)


def test_a_body_can_be_uploaded(session):
    session.upload("arm.urdf", ARM.encode())
    assert session.body.name == "arm" and session.body.joint_names == ("turn",)
    other = Session(scenes.loads(session.save()))
    assert other.body.name == "arm", "the body travels with the scene"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("arm.urdf", b"<robot><link", "not XML"),
        ("arm.urdf", b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot/>', "document types and entities"),
        ("arm.urdf", b"\xff\xfe\x00", "not text in UTF-8"),
        ("arm.urdf", b" " * (scenes.MOST_BYTES + 1), "larger than 8 MB"),
        ("arm.xacro", b"<robot/>", "upload a body as .urdf"),
        ("arm.py", b"import os", "upload a body as .urdf"),
        ("s.json", b"{}", "this version reads"),
        ("s.json", b'{"format": "memetik scene 1", "body": {"file": "/etc/passwd"}}', "folders that may be read"),
    ],
)
def test_a_bad_upload_is_refused_and_changes_nothing(session, name, content, message):
    before = session.scene
    with pytest.raises(mk.MemetikError, match=message):
        session.upload(name, content)
    assert session.scene is before


def test_a_recording_has_every_frame(session):
    session.record(True)
    for k in range(3):
        session.move("hand", (0.5, 0.1 + 0.01 * k, 0.45))
    session.record(False)
    session.move("hand", (0.5, 0.0, 0.45))
    recording = session.recorded
    assert len(recording) == 4
    rows = [row.split(",") for row in recording.to_csv().splitlines()]
    assert rows[0] == ["time", *session.body.joint_names]
    np.testing.assert_allclose(np.array(rows[1:], dtype=float)[:, 1:], recording.postures, rtol=1e-8)
    plain = json.loads(recording.to_json())
    assert [frame["hand"]["position"][1] for frame in plain["targets"]] == pytest.approx([0.1, 0.1, 0.11, 0.12])
    assert plain["times"] == sorted(plain["times"])


def test_sessions_do_not_disturb_each_other(session):
    other = Session(patient("arm reach"))
    session.move("hand", (0.4, 0.3, 0.5))
    session.lock_joint("panda_joint1", True)
    assert other.scene == patient("arm reach")
    np.testing.assert_allclose(hand(other), (0.5, 0.1, 0.4), atol=1e-4)
    other.move("hand", (0.55, 0.0, 0.4))
    np.testing.assert_allclose(hand(session), (0.4, 0.3, 0.5), atol=1e-4)
