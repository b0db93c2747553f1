"""One file for each published table, figure or claim, in a folder for each document, on one shared harness."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

from memetik.errors import ProblemError, UnknownNameError
from memetik_lab.harness import Report as Report
from memetik_lab.harness import UnavailableError as UnavailableError
from memetik_lab.harness import prepare

_EXPERIMENTS = {
    "thesis.arms": "one pose on nine arms, beside other solvers (Table 5.3 of the thesis)",
    "thesis.valkyrie": "many objectives on a humanoid (Table 5.4 of the thesis)",
    "thesis.serial": "one pose on six arms by seven methods, 10 ms and 1 s (Table 5.2 of the thesis)",
    "thesis.losses": "Bio IK on the humanoid, root mean square against mean of the losses (Table 5.4 of the thesis)",
    "thesis.population": "how many individuals and elites (Fig. 5.1 and 5.2 of the thesis)",
    "thesis.convergence": "solved by generation (Fig. 5.6 of the thesis), time with and without OFKT (Fig. 3 of the OFKT paper)",
    "thesis.ablation": "Bio IK without one of its phases at a time (Fig. 5.3 of the thesis)",
    "thesis.generations": "elites of Bio IK on one thread and on more (Fig. 5.4 of the thesis, right)",
    "thesis.landscapes": "fitness landscapes and histories of evolutions, by elites (Fig. 5.26 to 5.32 of the thesis)",
    "thesis.snakes": "chains of 10 to 1000 joints (Fig. 5.7 of the thesis)",
    "thesis.related": "Bio IK here and as published, HGSA, PSO and Jacobian methods (Table 5.3 of the thesis and others)",
    "thesis.workspace": "where an arm's poses are solved and where not (Fig. 5.8 of the thesis)",
    "thesis.lifting": "a humanoid lifts and turns a box that it holds (Fig. 5.10 of the thesis)",
    "thesis.hand": "fingertips of the Shadow hand in grasps (Fig. 5.13 of the thesis)",
    "thesis.manipulation": "a cube and a capsule turned in the hand (Fig. 5.14 and 5.15 of the thesis)",
    "thesis.obstacles": "reaching around a ball and into a box (Fig. 5.16 and 5.17 of the thesis)",
    "thesis.trajectories": "smooth motion of whole bodies, also around a ball (Fig. 5.20 and 5.21 of the thesis)",
    "thesis.terrain": "feet of a runner placed on hills (Fig. 5.24 and 5.25 of the thesis)",
    "thesis.applications": "a welder over a surface, chords on a guitar (Fig. 5.34 and 5.35 of the thesis)",
    "claims.tracking": "paths of poses: cost and largest change of a step, against the least possible",
    "claims.servo": "a servo at 1 kHz beside pink and mink: the cost of a tick, and the edge of the workspace",
    "claims.servo_obstacles": "a servo among obstacles, still and moving, beside mink and pink with their collision limits",
    "claims.retarget": "motions of people on a robot, beside the scheme of GMR",
    "claims.clips": "a hundred clips on a robot at once, on one thread, on all cores and on a graphics card",
    "claims.clutter": "poses free of collisions: an arm among 20 obstacles, a humanoid that keeps off itself",
    "claims.planning": "ways through the scenes of MotionBenchMaker, beside VAMP and OMPL",
    "claims.cuda": "batches on a graphics card, by their size",
    "nao_paper.nao": "FABRIK, Jacobian methods and networks on the arm of the NAO (Poddighe 2013)",
    "nao_paper.chains": "FABRIK, CCD, DLS and SDLS on chains of 2 to 100 joints (open in Poddighe 2013)",
    "claims.covers": "meshes of ten robots covered by simple shapes: volume, time, and no collision missed",
    "claims.learned": "what the guess of a network is worth as a start",
    "claims.minimise": "the optimisers on functions that people test with, beside SciPy",
    "claims.solutions": "all solutions of a pose, against the closed form",
    "claims.batch": "many poses at once, on one thread and on more, beside other solvers",
    "ofkt_paper.ofkt": "cost of one forward kinematics, plain against OFKT, by degrees of freedom",
    "ofkt_paper.counts": "transformations with and without OFKT, counted and timed (Table 1 of the OFKT paper)",
    "ofkt_paper.cost": "a generation of Bio IK with and without OFKT, in one query and by joints (Fig. 2 of the OFKT paper)",
    "ofkt_paper.forms": "quaternion-vector against matrix form inside the forward kinematics kernel",
}

_WITHOUT_FIGURES = (
    "clips",
    "clutter",
    "covers",
    "cuda",
    "forms",
    "learned",
    "minimise",
    "planning",
    "related",
    "retarget",
    "solutions",
)  # all others need matplotlib


def experiments() -> dict[str, str]:
    """Name and purpose of every experiment."""
    return {_name(place): purpose for place, purpose in _EXPERIMENTS.items()}


def experiment(name: str) -> ModuleType:
    """The module of an experiment."""
    for place in _EXPERIMENTS:
        if _name(place) == name:
            return importlib.import_module(f"memetik_lab.{place}")
    raise UnknownNameError("experiment", name, list(experiments()))


def run(name: str, folder: Path, *, quick: bool = False, peers: bool = True, data: Path | None = None) -> Report:
    """Run one experiment: print its table, save results and plots in `folder`.

    peers: whether other solvers are measured beside memetik, where an experiment has any.
    data: a file with recordings, for an experiment that takes one.
    """
    module = experiment(name)
    taken = inspect.signature(module.run).parameters
    more: dict[str, Any] = {}
    if not peers and "peers" in taken:
        more["peers"] = ()
    if data is not None:
        if "data" not in taken:
            raise ProblemError(f"bench: the experiment {name!r} takes no data.")
        more["data"] = data
    prepare(folder, figures=name not in _WITHOUT_FIGURES)
    report: Report = module.run(folder, quick=quick, **more)
    return report


def _name(place: str) -> str:
    return place.rpartition(".")[2].replace("_", "-")
