"""Requests and replies as JSON."""

import json

import numpy as np
import pytest

import memetik as mk
from memetik.scenes import Wish
from memetik_serve import Code, Missed, Reply, Request, plain

POSE = {"kind": "Pose", "frame": "panda_hand", "position": [0.4, 0.0, 0.5]}


def test_a_whole_request():
    given = {
        "objectives": [POSE, {"kind": "CenterJoints", "name": "calm", "secondary": True, "weight": 0.1}],
        "group": "arm", "state": {"panda_joint1": 1}, "fixed_joints": ["panda_joint7"], "approximate": True, "timeout": 0.5,
        "attempts": 2, "avoid_collisions": True, "method": "bioik", "seed": 7,
    }  # fmt: skip
    hand = Wish("Pose", "Pose 1", {"frame": "panda_hand", "position": [0.4, 0.0, 0.5]})
    calm = Wish("CenterJoints", "calm", {"weight": 0.1, "tolerance": None})
    assert plain.request(given) == Request(
        (hand, calm), "arm", {"panda_joint1": 1.0}, ("panda_joint7",), True, 0.5, 2, True, "bioik", 7
    )


def test_secondary_frees_both_tolerances_of_a_pose():
    made = plain.wish({**POSE, "secondary": True})
    assert made.values["position_tolerance"] is None
    assert made.values["orientation_tolerance"] is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "list of 1 to 500"),
        ({"objectives": []}, "list of 1 to 500"),
        ({"objectives": [POSE] * 501}, "list of 1 to 500"),
        ({"objectives": [1]}, "objective 1 is 1"),
        ({"objectives": [{"kind": "Wish"}]}, "Write one of Position"),
        ({"objectives": [{**POSE, "name": "a"}, {**POSE, "name": "a"}]}, "same name"),
        ({"objectives": [{**POSE, "enabled": 1}]}, "true or false"),
        ({"objectives": [POSE], "goal": 1}, "'goal' is unknown"),
        ({"objectives": [POSE], "group": 3}, "group is 3"),
        ({"objectives": [POSE], "state": [1]}, "state is"),
        ({"objectives": [POSE], "timeout": 11}, "from 0 to 10"),
        ({"objectives": [POSE], "attempts": 1.5}, "whole number"),
        ({"objectives": [POSE], "seed": -1}, "seed is -1"),
    ],
)  # fmt: skip
def test_wrong_requests_say_how_to_write_them(given, words):
    with pytest.raises(mk.errors.FormatError, match=words):
        plain.request(given)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"a": NaN}', "[" * 100_000, b"\xff\xfe\x00", '{"a": 1e999'])
def test_what_is_no_object_in_json_is_refused(text):
    with pytest.raises(mk.errors.FormatError):
        plain.loads(text)


def test_replies_are_json():
    missed = Missed("hand", "position", np.inf, 1e-4, "m", "missed")
    reply = Reply(Code.NO_IK_SOLUTION, "missed it.", False, np.array([1.0, 2.0]), np.inf, (missed,), 0.1, 3)
    found = json.loads(json.dumps(plain.reply(reply, ("a", "b")), allow_nan=False))
    assert found["q"] == {"a": 1.0, "b": 2.0}
    assert (found["success"], found["code"], found["status"]) == (False, -31, "NO_IK_SOLUTION")
    assert found["objectives"][0]["error"] is None
    assert "q" not in plain.reply(Reply(Code.INVALID_GROUP_NAME, "no group."), ())
