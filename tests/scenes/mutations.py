"""Scenes with something wrong in them: one place of a good scene is replaced, taken away, doubled or nested."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from memetik import scenes

HUGE = 10**400
WRONG: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 7, 2**31, 2**63, 2**70, HUGE, -HUGE, 0.5, -0.0, 1e-320, 1e300, float("nan"),
    float("inf"), "", " ", "x", "home", "fixed", "floating", "planar", "Pose", "memetic", "analytic", "0", "\x00", "\ud800",
    "ä" * 300, "a" * 300, "../../etc/passwd", "panda", "nao", "hand", "snake:3", "snake:0", "snake:99999999999", "<robot/>",
    [], [[]], [None], [1], [1, 2], [1, 2, 3], [0, 0, 0], [0, 0, 0, 0], [1, 2, 3, 4], [1, 2, 3, 4, 5], ["x"], ["x", "y", "z"],
    [[1, 2], [3, 4]], [[1, 2, 3], [4, 5]], [[[1]]], [float("nan")] * 3, [HUGE] * 3, [True] * 3, [{}], [0.0] * 40,
    {}, {"": 1}, {"x": 1}, {"x": None}, {"kind": []}, {"kind": {}}, {"kind": None}, {"kind": "ground"}, {"kind": "Pose"},
    {"kind": "height field"}, {"kind": "height field", "heights": [[0, 0], [0, 0]], "spacing": 0}, {"link": "x"}, {"link": []},
    {"link": "panda_hand", "wxyz": [0, 0, 0, 0]}, {"x": {"x": {"x": []}}},
)  # fmt: skip
KEYS = ("kind", "name", "x", "", "weight", "tolerance", "frame", "format", "body", "seed", "parameters", "population")


def mutated(scene: Any, rng: random.Random) -> Any:
    """A copy of a scene as plain data with one to three changes."""
    changed = {"": copy.deepcopy(scene)}
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice(_CHANGES)(*_place(changed, rng), rng)
        changed.setdefault("", None)
    return changed[""]


def _place(plain: dict[str, Any], rng: random.Random) -> tuple[Any, Any]:
    """A place of the data as its parent and the key or index in it, mostly in or below the parts of a scene."""
    parent: Any = plain
    key: Any = ""
    while isinstance(parent[key], (dict, list)) and parent[key] and rng.random() < 0.9:
        parent = parent[key]
        keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
        parts = [each for each in keys if isinstance(parent[each], (dict, list))]
        key = rng.choice(parts if parts and rng.random() < 0.7 else keys)
    return parent, key


def _replace(parent: Any, key: Any, rng: random.Random) -> None:
    parent[key] = copy.deepcopy(rng.choice(WRONG))


def _remove(parent: Any, key: Any, rng: random.Random) -> None:
    del parent[key]


def _add(parent: Any, key: Any, rng: random.Random) -> None:
    inside = parent[key]
    if isinstance(inside, dict):
        inside[rng.choice(KEYS)] = copy.deepcopy(rng.choice(WRONG))
    elif isinstance(inside, list):
        inside.insert(rng.randint(0, len(inside)), copy.deepcopy(rng.choice(WRONG)))
    else:
        parent[key] = [inside]


def _nest(parent: Any, key: Any, rng: random.Random) -> None:
    parent[key] = [parent[key]] if rng.random() < 0.5 else {rng.choice(KEYS): parent[key]}


_CHANGES = (_replace, _replace, _replace, _remove, _add, _nest)


def everything() -> dict[str, Any]:
    """A scene as plain data with every kind of objective and every setting written out."""
    body = scenes.load_body(scenes.BodySource("bundled", "ur5"))
    arm, joint = "forearm_link", body.joint_names[0]
    needed = {
        "frame": {"link": arm, "position": [0, 0, 0.1], "wxyz": [1, 0, 0, 0]},
        "link": arm,
        "joint": joint,
        "of": joint,
    }
    wishes = []
    for kind in scenes.KINDS.values():
        values = {field.name: needed.get(field.name, field.default) for field in kind.fields}
        wishes.append({"kind": kind.name, "name": f"the {kind.name}", "enabled": True, **values})
    return {
        "format": "memetik scene 1",
        "title": "everything",
        "body": {"bundled": "ur5", "base": "xyz", "base_limit": 1.0},
        "objectives": json.loads(json.dumps(wishes)),
        "lock": {body.joint_names[-1]: 0.04},
        "start": dict.fromkeys(body.joint_names, 0.1),
        "solving": {"method": "bioik", "seed": 1, "evaluations": 500, "seconds": 0.5, "parameters": {"population": 20}},
        "motion": {"realistic": True, "velocity": 1.0, "acceleration": 5.0, "smoothing": 0.5},
    }
