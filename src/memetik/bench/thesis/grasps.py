"""Grasps for the Shadow hand: drawn by rule, those of a hand with other fingers, or recorded ones from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

import memetik as mk
from memetik.types import Array

PALM = "rh_palm"
# Thumb to little finger: the link of the tip, and the link that the finger begins with.
FINGERS = {
    "thumb": ("rh_thtip", "rh_thbase"),
    "first": ("rh_fftip", "rh_ffknuckle"),
    "middle": ("rh_mftip", "rh_mfknuckle"),
    "ring": ("rh_rftip", "rh_rfknuckle"),
    "little": ("rh_lftip", "rh_lfknuckle"),
}
TIPS = tuple(tip for tip, _ in FINGERS.values())
STRETCH = 0.1  # a foreign hand's fingers are longer or shorter by up to this


class Grasps(NamedTuple):
    """Where the fingertips shall be, from thumb to little finger."""

    label: str
    poses: Array  # (grasps, 5, 4, 4) in the world; for a grasp without orientations these are the identity
    oriented: bool
    reachable: bool  # by the way they were made


def shadow_hand() -> mk.Body:
    """The hand as the thesis has it: 19 joints, two of them in the wrist, the distal joints of four fingers coupled."""
    return mk.load("shadow_hand").chain("thesis")


def draw_postures(body: mk.Body, count: int, seed: int = 1) -> Array:
    """Postures as in grasps (count, joints): the fingers close together, each a little more or less than the others.

    A hand that closes by c (0 open, 1 a fist) bends every flexing joint to c of its range, give or take a fifth of it; the
    wrist, the spread of the fingers and the thumb's base, which opposes the fingers, are drawn from all of their range.
    """
    rng = np.random.default_rng(seed)
    free = np.array([name.endswith(("WRJ1", "WRJ2", "J4", "LFJ5", "THJ5")) for name in body.joint_names])
    share = rng.uniform(size=(count, body.dof))
    closing = rng.uniform(0.0, 1.0, (count, 1)) + rng.uniform(-0.2, 0.2, (count, body.dof))
    share[:, ~free] = np.clip(closing, 0.0, 1.0)[:, ~free]
    return np.asarray(body.lower + share * (body.upper - body.lower))


def own_grasps(body: mk.Body, count: int) -> Grasps:
    """The fingertip poses of drawn postures: every one can be reached."""
    return Grasps("own, full poses", _tips(body, draw_postures(body, count)), oriented=True, reachable=True)


def foreign_grasps(body: mk.Body, count: int) -> Grasps:
    """Fingertip positions of hands with longer or shorter fingers, as a human's are: not all of them can be reached."""
    rng = np.random.default_rng(2)
    postures = draw_postures(body, count, seed=3)
    poses = _tips(body, postures)
    for grasp, q in zip(poses, postures, strict=True):
        at = body.forward(q)
        knuckles = np.array([at[knuckle][:3, 3] for _, knuckle in FINGERS.values()])
        length = rng.uniform(1.0 - STRETCH, 1.0 + STRETCH, (len(FINGERS), 1))
        grasp[:, :3, 3] = knuckles + length * (grasp[:, :3, 3] - knuckles)
        grasp[:, :3, :3] = np.eye(3)
    return Grasps(f"fingers ±{100 * STRETCH:g} %, positions", poses, oriented=False, reachable=False)


def recorded_grasps(body: mk.Body, path: Path) -> Grasps:
    """Fingertip positions from a JSON file.

    {"tip_links": [five links], "postures": [{"tips": [[x, y, z] of each link, in metres in the frame of rh_palm]}, ...]}
    """
    try:
        content = json.loads(path.read_text())
        order = [content["tip_links"].index(tip) for tip in TIPS]
        points = np.array([posture["tips"] for posture in content["postures"]], dtype=np.float64)[:, order]
        if points.ndim != 3 or points.shape[2] != 3 or not np.isfinite(points).all():
            raise ValueError("a tip needs three finite numbers")
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise mk.FormatError(
            f"{path}: no recorded grasps can be read from it ({error}). Expected is JSON with tip_links, the five links "
            f"{', '.join(TIPS)} in any order, and postures, a list of objects whose tips are as many places [x, y, z] in "
            f"metres in the frame of {PALM}."
        ) from error
    world_from_palm = body.forward(body.home)[PALM]
    poses = np.tile(np.eye(4), (*points.shape[:2], 1, 1))
    poses[..., :3, 3] = points @ world_from_palm[:3, :3].T + world_from_palm[:3, 3]
    return Grasps(f"{path.stem}, positions", poses, oriented=False, reachable=False)


def _tips(body: mk.Body, postures: Array) -> Array:
    at = [body.forward(q) for q in postures]
    return np.array([[poses[tip] for tip in TIPS] for poses in at])
