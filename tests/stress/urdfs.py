"""URDF files of example-robot-data, and the bundled ones: loaded, or refused for the reason that Pinocchio has.

    pip install example-robot-data
    python -m tests.stress.urdfs              # those of example-robot-data, if it is installed, and the bundled ones
    python -m tests.stress.urdfs FOLDER ...   # those in these folders

What both load must stand the same at 100 random postures. By default Pinocchio takes no notice of <mimic>, so what is
refused here for a mimic joint must be refused by Pinocchio with `mimic=True`.
"""

from __future__ import annotations

import re
import sys
import sysconfig
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

import memetik as mk
from memetik import bodies

ALLOWED = 1e-10
POSTURES = 100
# Our words for a reason, and Pinocchio's or its parser's.
REASONS = (
    (r"needs at least one link", r"does not contain a valid URDF model"),
    (r"mimics it", r"mimic joint is not in the kinematic tree"),
    (r"not XML|begins with", r"does not contain a valid URDF model"),
)


class Finding(NamedTuple):
    """What became of a file."""

    path: Path
    refused: str = ""  # by both, for this reason
    links: int = 0
    error: float = 0.0
    wrong: str = ""


def files(folders: list[Path]) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.urdf") if path.is_file())


def installed() -> list[Path]:
    """The bundled files, and those of example-robot-data if it is there."""
    share = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data"
    return [bodies.path(name).parent for name in bodies.names()][:1] + ([share] if share.is_dir() else [])


def compare(path: Path) -> Finding:
    """One file in both."""
    ours, theirs, body, model = "", "", None, None
    try:
        body = mk.load(path)
    except mk.MemetikError as error:
        ours = str(error)
    try:
        model = pin.buildModelFromUrdf(str(path), mimic="mimics" in ours)
    except ValueError as error:
        theirs = " ".join(str(error).split())
    if ours or theirs:
        same = any(re.search(one, ours) and re.search(other, theirs) for one, other in REASONS)
        wrong = "" if same else f"here: {ours or 'loaded'}; Pinocchio: {theirs or 'loaded'}"
        return Finding(path, refused=ours, wrong=wrong)
    error = difference(body, model)
    return Finding(path, "", len(body.links), error, "" if error <= ALLOWED else f"differs by {error:.1e}")


def difference(body: mk.Body, model: pin.Model) -> float:
    """The largest difference of any entry of the pose of any link."""
    rng, data, worst = np.random.default_rng(0), model.createData(), 0.0
    rows = np.array([body.sample(rng) for _ in range(POSTURES)])
    frames = [(k, frame.name) for k, frame in enumerate(model.frames) if frame.type == pin.FrameType.BODY]
    poses = body.forward(rows)
    for row, q in enumerate(body.to_pinocchio(rows, model)):
        pin.framesForwardKinematics(model, data, q)
        worst = max(worst, *(float(np.abs(poses[name][row] - data.oMf[k].homogeneous).max()) for k, name in frames))
    return worst


def main(arguments: list[str]) -> int:
    warnings.simplefilter("ignore", mk.MemetikWarning)
    found = [compare(path) for path in files([Path(folder) for folder in arguments] or installed())]
    for finding in found:
        if finding.wrong:
            print(f"WRONG {finding.path}: {finding.wrong}")
        elif finding.refused:
            print(f"both refuse {finding.path.name}: {finding.refused}")
    good = [finding for finding in found if not finding.wrong and not finding.refused]
    worst = max((finding.error for finding in good), default=0.0)
    print(f"{len(found)} files: {len(good)} loaded by both, with {sum(f.links for f in good)} links that differ by {worst:.1e} "
          f"at most; {sum(bool(f.refused) and not f.wrong for f in found)} refused by both; "
          f"{sum(bool(f.wrong) for f in found)} wrong")  # fmt: skip
    return 1 if any(finding.wrong for finding in found) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
