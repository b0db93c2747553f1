"""`memetik demo`: whole-body inverse kinematics from beginning to end, without any arguments."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import memetik as mk
from memetik.cli.options import OUT, add_command, add_out
from memetik.files import writable_file
from memetik.solution import duration, summary

VIEW = (62.0, 14.0)
EYES_ON = (1.5, 0.0, 0.55)  # m

STORY = """\
NASA's humanoid Valkyrie leans against a wall: both palms flat on it, one foot ahead, eyes on a point.

body     {name}: {dof} degrees of freedom, {links} links; three of them let its root move in x, y and z
problem  poses of palms and feet, a gaze, and as little movement as possible
"""


def add_commands(commands: Any) -> None:
    """Add `demo`."""
    command = add_command(commands, "demo", _demo, "see what memetik does, without any arguments")
    add_out(command, "folder for the pictures", OUT, "FOLDER")


def _demo(options: argparse.Namespace) -> int:
    pictures = writable_file(options.out / "demo_start.svg"), writable_file(options.out / "demo_solution.svg")
    begin = time.perf_counter()
    body = mk.load("valkyrie", base="xyz")
    print(STORY.format(name=body.name, dof=body.dof, links=len(body.links)), flush=True)
    poses = _poses(body)
    problem = mk.Problem(body, [*poses, mk.LookAt("head", EYES_ON), mk.Displacement()])
    mk.solve(problem)
    print(f"The first solution took {duration(time.perf_counter() - begin)}, with loading and, once, compiling.")
    solution = mk.solve(problem)
    print(f"The second one took {duration(solution.seconds)}:\n")
    print(summary(solution))
    print(f"\n{solution.explain()}\n")
    targets = [*(pose.target for pose in poses), np.array(EYES_ON)]
    looks: dict[str, Any] = {"view": VIEW, "targets": targets}
    mk.draw(body, body.home, pictures[0], title="where it starts, and what is wanted", **looks)
    mk.write.draw_many(body, [body.home, solution.q], pictures[1], title="solved; the start as a ghost", **looks)
    print("drawn:", pictures[0])
    print("drawn:", pictures[1])
    print("\nNext: memetik bodies, memetik show wolf, memetik solve panda --tip panda_hand --position 0.5 0.1 0.4")
    return 0 if solution.success else 1


def _poses(body: mk.Body) -> list[mk.Pose]:
    """Where hands and feet go; the palms face along x, with fingers (y of the left hand, -y of the right) upwards."""
    home = body.forward(body.home)
    flat = {side: np.column_stack([(1, 0, 0), (0, 0, up), (0, -up, 0)]) for side, up in (("left", 1), ("right", -1))}
    return [
        mk.Pose("leftPalm", mk.transform((0.7, 0.25, 0.3), flat["left"])),
        mk.Pose("rightPalm", mk.transform((0.7, -0.25, 0.3), flat["right"])),
        mk.Pose("leftFoot", mk.translation(0.3, 0.0, 0.0) @ home["leftFoot"]),
        mk.Pose("rightFoot", mk.translation(-0.1, 0.0, 0.0) @ home["rightFoot"]),
    ]
