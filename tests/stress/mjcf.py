"""MuJoCo models of installed packages: every body and site stands where MuJoCo has it, or the model is refused by name.

    pip install gymnasium dm_control gymnasium-robotics robosuite metaworld playground
    python -m tests.stress.mjcf 1000                 # random qpos for each model, in the packages installed here
    python -m tests.stress.mjcf 1000 FOLDER ...      # in these folders

A model that MuJoCo itself cannot compile, mostly a fragment that others include, is counted and left out.
"""

from __future__ import annotations

import sys
import sysconfig
import warnings
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np

import memetik as mk

ALLOWED = 1e-10


class Finding(NamedTuple):
    """What became of a file."""

    path: Path
    error: float = 0.0  # the largest difference of any entry of any pose
    frames: int = 0
    refused: str = ""  # by MuJoCo
    wrong: str = ""


def models(folders: list[Path]) -> list[Path]:
    """All files that begin as MuJoCo's do, in the order of their names."""
    found = []
    for path in sorted(path for folder in folders for path in folder.rglob("*.xml") if path.is_file()):
        text = path.read_text(errors="replace")
        if "<mujoco" in text and "<mujocoinclude" not in text:
            found.append(path)
    return found


def random_qpos(model: mujoco.MjModel, rng: np.random.Generator, count: int) -> np.ndarray:
    """Rows of qpos: any rotation, angles within ±pi and slides within ±1 m of the reference, whatever the limits are."""
    rows = np.tile(np.array(model.qpos0), (count, 1))
    for kind, start in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                rows[:, start : start + 3] += rng.uniform(-1.0, 1.0, (count, 3))
                start += 3
            turns = rng.normal(size=(count, 4))
            rows[:, start : start + 4] = turns / np.linalg.norm(turns, axis=1, keepdims=True)
        else:
            size = np.pi if kind == mujoco.mjtJoint.mjJNT_HINGE else 1.0
            rows[:, start] += rng.uniform(-size, size, count)
    return rows


def compare(path: Path, count: int) -> Finding:
    """One file at so many random qpos; couplings hold in what is compared, which plain kinematics of MuJoCo does not see to."""
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, RuntimeError) as error:
        return Finding(path, refused=" ".join(str(error).split())[:100])
    try:
        body = mk.load(path)
    except mk.MemetikError as error:
        return Finding(path, wrong=f"refused: {error}")
    rows = body.from_qpos(random_qpos(model, np.random.default_rng(0), count))
    qpos = body.to_qpos(rows)
    names = [(model.body(k).name or f"body{k}", "b", k) for k in range(1, model.nbody)]
    names += [(model.site(k).name or f"site{k}", "s", k) for k in range(model.nsite)]
    taken: set[str] = set()
    links = []
    for name, kind, k in names:  # as the reader tells equal names apart
        if kind == "b":
            name = name if name not in taken else f"{name}_{k}"
        while name in taken:
            name += "_site"
        taken.add(name)
        links.append((name, kind, k))
    data, worst = mujoco.MjData(model), 0.0
    places, turns = np.empty((count, len(links), 3)), np.empty((count, len(links), 9))
    for row in range(count):
        data.qpos[:] = qpos[row]
        mujoco.mj_kinematics(model, data)
        np.concatenate([data.xpos[1:], data.site_xpos], out=places[row])
        np.concatenate([data.xmat[1:], data.site_xmat], out=turns[row])
    for k, (name, _, _) in enumerate(links):
        poses = body.forward(rows, name)
        size = np.maximum(1.0, np.abs(places[:, k]))
        worst = max(worst, float((np.abs(poses[:, :3, 3] - places[:, k]) / size).max()))
        worst = max(worst, float(np.abs(poses[:, :3, :3].reshape(count, 9) - turns[:, k]).max()))
    return Finding(path, worst, len(links), wrong="" if worst <= ALLOWED else f"differs by {worst:.1e}")


def main(arguments: list[str]) -> int:
    count = int(arguments[0]) if arguments else 1000
    folders = [Path(folder) for folder in arguments[1:]] or [Path(sysconfig.get_paths()["purelib"])]
    warnings.simplefilter("ignore", mk.MemetikWarning)
    mujoco.set_mju_user_warning(lambda message: None)  # it would also write them to a file
    found = [compare(path, count) for path in models(folders)]
    for finding in found:
        if finding.wrong:
            print(f"WRONG {finding.path}: {finding.wrong}")
    good = [finding for finding in found if not finding.wrong and not finding.refused]
    refused = [finding for finding in found if finding.refused]
    print(f"{len(found)} files, {len(refused)} of which MuJoCo does not compile")
    worst = max((finding.error for finding in good), default=0.0)
    frames = sum(finding.frames for finding in good)
    print(
        f"{len(good)} models equal to MuJoCo at {count} random qpos each: {frames} bodies and sites, worst {worst:.1e}"
    )
    return 1 if any(finding.wrong for finding in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
