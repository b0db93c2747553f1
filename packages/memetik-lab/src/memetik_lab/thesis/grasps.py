"""Grasps for the Shadow hand: drawn by rule, those of a hand with other fingers, or recorded ones from a file."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import memetik as mk
from memetik.geometry import as_transform
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
    """Fingertip poses or positions from a file, as `read_tips` has it."""
    poses, oriented = read_tips(path, TIPS)
    world = body.forward(body.home)[PALM] @ poses
    if not oriented:
        world[..., :3, :3] = np.eye(3)
    return Grasps(f"{path.stem}, {'full poses' if oriented else 'positions'}", world, oriented, reachable=False)


def read_tips(path: Path, tips: Sequence[str]) -> tuple[Array, bool]:
    """Recorded fingertips (postures, tips, 4, 4) in the frame of rh_palm, and whether they have orientations.

    A tip is three numbers x, y, z [m], seven with a quaternion w, x, y, z, or a matrix of 4 x 4.
    .json: {"tip_links": [links in any order], "postures": [{"tips": [a tip for each link]}, ...]}
    .npz: tip_links, and poses of postures x links x 3, 7, or 4 x 4
    .csv: posture, link, x, y, z, and qw, qx, qy, qz if there are orientations; a row for each tip
    """
    try:
        links, numbers = _READERS.get(path.suffix, _read_json)(path)
        numbers = np.asarray(numbers, dtype=np.float64)[:, [links.index(tip) for tip in tips]]
        if not np.isfinite(numbers).all() or numbers.shape[2:] not in ((3,), (7,), (4, 4)) or not numbers.size:
            raise ValueError("a tip needs three finite numbers, seven, or four times four")
        poses = np.tile(np.eye(4), (*numbers.shape[:2], 1, 1))
        if numbers.shape[2:] == (3,):
            poses[..., :3, 3] = numbers
        else:
            flat = numbers.reshape(-1, *numbers.shape[2:])
            poses[:] = np.array([_pose(tip) for tip in flat]).reshape(poses.shape)
    except (OSError, ValueError, KeyError, TypeError, IndexError, mk.MemetikError) as error:
        raise mk.errors.FormatError(
            f"{path}: no recorded grasps can be read from it ({error}). Expected is JSON or npz with tip_links, among them the "
            f"links {', '.join(tips)} in any order, and postures, each with a tip for each link, or CSV with the columns "
            f"posture, link, x, y, z and perhaps qw, qx, qy, qz. A tip is a place [x, y, z] in metres in the frame "
            f"of {PALM}, or with a quaternion w, x, y, z behind it, or a matrix of 4 x 4."
        ) from error
    return poses, numbers.shape[2:] != (3,)


def _pose(tip: Array) -> Array:
    return as_transform(tip, name="a tip") if tip.ndim == 2 else mk.transform(tip[:3], mk.quaternion(*tip[3:]))


def _read_json(path: Path) -> tuple[list[str], Any]:
    content = json.loads(path.read_text())
    return list(content["tip_links"]), [posture["tips"] for posture in content["postures"]]


def _read_npz(path: Path) -> tuple[list[str], Any]:
    with np.load(path, allow_pickle=False) as content:
        return [str(link) for link in content["tip_links"]], content["poses"]


def _read_csv(path: Path) -> tuple[list[str], Any]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    links = list(dict.fromkeys(row["link"] for row in rows))
    columns = ["x", "y", "z", *(("qw", "qx", "qy", "qz") if "qw" in rows[0] else ())]
    postures: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        postures.setdefault(row["posture"], {})[row["link"]] = [float(row[column]) for column in columns]
    return links, [[posture[link] for link in links] for posture in postures.values()]


_READERS = {".json": _read_json, ".npz": _read_npz, ".csv": _read_csv}


def _tips(body: mk.Body, postures: Array) -> Array:
    at = [body.forward(q) for q in postures]
    return np.array([[poses[tip] for tip in TIPS] for poses in at])
