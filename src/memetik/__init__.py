"""memetik: inverse kinematics for any articulated body, in Python, at native speed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from memetik._version import __version__

if TYPE_CHECKING:
    from memetik.batch import (
        BatchSolution,
        FilesReport,
        Reachability,
        load_reachability,
        reachability,
        solve_batch,
        solve_files,
    )
    from memetik.body import OFKT, Body, Chain, Frame, Joint, Link, Mimic, Poses, Shape
    from memetik.errors import (
        BodyError,
        FormatError,
        GeometryError,
        MemetikError,
        MemetikWarning,
        MissingExtraError,
        ProblemError,
        RefusedError,
        TruthError,
        UnknownNameError,
    )
    from memetik.geometry import (
        axis_angle,
        euler,
        look_rotation,
        quaternion,
        random_rotation,
        rotation_matrix,
        rpy,
        to_axis_angle,
        to_euler,
        to_quaternion,
        transform,
        translation,
    )
    from memetik.learn import Elman, FeedForward, SupportVectors
    from memetik.motion import Track, track
    from memetik.objectives import (
        AvoidLimits,
        Balance,
        CenterJoints,
        Cone,
        Direction,
        Displacement,
        Distance,
        FunctionalRelation,
        Ground,
        HeightField,
        JointValue,
        Line,
        LookAt,
        MaxDistance,
        MinDistance,
        Objective,
        Orientation,
        Plane,
        Pose,
        PoseError,
        Position,
        Projection,
        SelfDistance,
        Side,
        Touch,
        TriangleMesh,
    )
    from memetik.objectives.custom import objective
    from memetik.problem import Problem
    from memetik.read.builder import BodyBuilder
    from memetik.read.chains import planar_chain, serial_chain, snake
    from memetik.read.dh import from_dh
    from memetik.read.hands import hand
    from memetik.read.load import load
    from memetik.solution import Solution, Status
    from memetik.solvers import Budget, Memetic, Method, Solver, methods, solve, solve_all, solver
    from memetik.solvers.analytic import Analytic
    from memetik.solvers.bio_ik import BioIK
    from memetik.solvers.ccd import CCD
    from memetik.solvers.evolution.de import DE
    from memetik.solvers.evolution.ga import GA
    from memetik.solvers.evolution.hgsa import HGSA
    from memetik.solvers.evolution.pso import PSO
    from memetik.solvers.fabrik import FABRIK
    from memetik.solvers.history import History
    from memetik.solvers.lbfgsb import LBFGSB
    from memetik.solvers.learned import Learned
    from memetik.solvers.portfolio import Portfolio
    from memetik.solvers.stepping.dls import DampedLeastSquares
    from memetik.solvers.stepping.gauss_newton import GaussNewton
    from memetik.solvers.stepping.interpolated import Interpolated
    from memetik.solvers.stepping.levenberg_marquardt import LevenbergMarquardt
    from memetik.solvers.stepping.pseudoinverse import Pseudoinverse
    from memetik.solvers.stepping.sdls import SelectivelyDampedLeastSquares
    from memetik.solvers.stepping.svd_dls import SVDDampedLeastSquares
    from memetik.solvers.stepping.transpose import Transpose
    from memetik.write.evolved import draw_evolved
    from memetik.write.landscape import draw_landscape
    from memetik.write.picture import draw, draw_many
    from memetik.write.reachability import draw_reachability

# Where every public name lives. A name is loaded at its first use: the compiler alone takes a third of a second, and
# a program that only prints its help should not wait for it.
_PLACES = {
    "BatchSolution": "memetik.batch",
    "FilesReport": "memetik.batch",
    "Reachability": "memetik.batch",
    "load_reachability": "memetik.batch",
    "reachability": "memetik.batch",
    "solve_batch": "memetik.batch",
    "solve_files": "memetik.batch",
    "OFKT": "memetik.body",
    "Body": "memetik.body",
    "Chain": "memetik.body",
    "Frame": "memetik.body",
    "Joint": "memetik.body",
    "Link": "memetik.body",
    "Mimic": "memetik.body",
    "Poses": "memetik.body",
    "Shape": "memetik.body",
    "BodyError": "memetik.errors",
    "FormatError": "memetik.errors",
    "GeometryError": "memetik.errors",
    "MemetikError": "memetik.errors",
    "MemetikWarning": "memetik.errors",
    "MissingExtraError": "memetik.errors",
    "ProblemError": "memetik.errors",
    "RefusedError": "memetik.errors",
    "TruthError": "memetik.errors",
    "UnknownNameError": "memetik.errors",
    "axis_angle": "memetik.geometry",
    "euler": "memetik.geometry",
    "look_rotation": "memetik.geometry",
    "quaternion": "memetik.geometry",
    "random_rotation": "memetik.geometry",
    "rotation_matrix": "memetik.geometry",
    "rpy": "memetik.geometry",
    "to_axis_angle": "memetik.geometry",
    "to_euler": "memetik.geometry",
    "to_quaternion": "memetik.geometry",
    "transform": "memetik.geometry",
    "translation": "memetik.geometry",
    "Track": "memetik.motion",
    "track": "memetik.motion",
    "AvoidLimits": "memetik.objectives",
    "Balance": "memetik.objectives",
    "CenterJoints": "memetik.objectives",
    "Cone": "memetik.objectives",
    "Direction": "memetik.objectives",
    "Displacement": "memetik.objectives",
    "Distance": "memetik.objectives",
    "FunctionalRelation": "memetik.objectives",
    "Ground": "memetik.objectives",
    "HeightField": "memetik.objectives",
    "JointValue": "memetik.objectives",
    "Line": "memetik.objectives",
    "LookAt": "memetik.objectives",
    "MaxDistance": "memetik.objectives",
    "MinDistance": "memetik.objectives",
    "Objective": "memetik.objectives",
    "Orientation": "memetik.objectives",
    "Plane": "memetik.objectives",
    "Pose": "memetik.objectives",
    "PoseError": "memetik.objectives",
    "Position": "memetik.objectives",
    "Projection": "memetik.objectives",
    "SelfDistance": "memetik.objectives",
    "Side": "memetik.objectives",
    "Touch": "memetik.objectives",
    "TriangleMesh": "memetik.objectives",
    "objective": "memetik.objectives.custom",
    "Problem": "memetik.problem",
    "load": "memetik.read.load",
    "BodyBuilder": "memetik.read.builder",
    "planar_chain": "memetik.read.chains",
    "serial_chain": "memetik.read.chains",
    "snake": "memetik.read.chains",
    "from_dh": "memetik.read.dh",
    "hand": "memetik.read.hands",
    "Solution": "memetik.solution",
    "Status": "memetik.solution",
    "Budget": "memetik.solvers",
    "Memetic": "memetik.solvers",
    "Method": "memetik.solvers",
    "Solver": "memetik.solvers",
    "methods": "memetik.solvers",
    "solve": "memetik.solvers",
    "solve_all": "memetik.solvers",
    "solver": "memetik.solvers",
    "Analytic": "memetik.solvers.analytic",
    "BioIK": "memetik.solvers.bio_ik",
    "CCD": "memetik.solvers.ccd",
    "DE": "memetik.solvers.evolution.de",
    "DampedLeastSquares": "memetik.solvers.stepping.dls",
    "FABRIK": "memetik.solvers.fabrik",
    "GA": "memetik.solvers.evolution.ga",
    "GaussNewton": "memetik.solvers.stepping.gauss_newton",
    "HGSA": "memetik.solvers.evolution.hgsa",
    "History": "memetik.solvers.history",
    "Interpolated": "memetik.solvers.stepping.interpolated",
    "LBFGSB": "memetik.solvers.lbfgsb",
    "Learned": "memetik.solvers.learned",
    "LevenbergMarquardt": "memetik.solvers.stepping.levenberg_marquardt",
    "PSO": "memetik.solvers.evolution.pso",
    "Portfolio": "memetik.solvers.portfolio",
    "Pseudoinverse": "memetik.solvers.stepping.pseudoinverse",
    "SVDDampedLeastSquares": "memetik.solvers.stepping.svd_dls",
    "SelectivelyDampedLeastSquares": "memetik.solvers.stepping.sdls",
    "Transpose": "memetik.solvers.stepping.transpose",
    "Elman": "memetik.learn",
    "FeedForward": "memetik.learn",
    "SupportVectors": "memetik.learn",
    "draw": "memetik.write.picture",
    "draw_many": "memetik.write.picture",
    "draw_evolved": "memetik.write.evolved",
    "draw_landscape": "memetik.write.landscape",
    "draw_reachability": "memetik.write.reachability",
}

__all__ = [
    "CCD",
    "DE",
    "FABRIK",
    "GA",
    "HGSA",
    "LBFGSB",
    "OFKT",
    "PSO",
    "Analytic",
    "AvoidLimits",
    "Balance",
    "BatchSolution",
    "BioIK",
    "Body",
    "BodyBuilder",
    "BodyError",
    "Budget",
    "CenterJoints",
    "Chain",
    "Cone",
    "DampedLeastSquares",
    "Direction",
    "Displacement",
    "Distance",
    "Elman",
    "FeedForward",
    "FilesReport",
    "FormatError",
    "Frame",
    "FunctionalRelation",
    "GaussNewton",
    "GeometryError",
    "Ground",
    "HeightField",
    "History",
    "Interpolated",
    "Joint",
    "JointValue",
    "Learned",
    "LevenbergMarquardt",
    "Line",
    "Link",
    "LookAt",
    "MaxDistance",
    "Memetic",
    "MemetikError",
    "MemetikWarning",
    "Method",
    "Mimic",
    "MinDistance",
    "MissingExtraError",
    "Objective",
    "Orientation",
    "Plane",
    "Portfolio",
    "Pose",
    "PoseError",
    "Poses",
    "Position",
    "Problem",
    "ProblemError",
    "Projection",
    "Pseudoinverse",
    "Reachability",
    "RefusedError",
    "SVDDampedLeastSquares",
    "SelectivelyDampedLeastSquares",
    "SelfDistance",
    "Shape",
    "Side",
    "Solution",
    "Solver",
    "Status",
    "SupportVectors",
    "Touch",
    "Track",
    "Transpose",
    "TriangleMesh",
    "TruthError",
    "UnknownNameError",
    "__version__",
    "axis_angle",
    "draw",
    "draw_evolved",
    "draw_landscape",
    "draw_many",
    "draw_reachability",
    "euler",
    "from_dh",
    "hand",
    "load",
    "load_reachability",
    "look_rotation",
    "methods",
    "objective",
    "planar_chain",
    "quaternion",
    "random_rotation",
    "reachability",
    "rotation_matrix",
    "rpy",
    "serial_chain",
    "snake",
    "solve",
    "solve_all",
    "solve_batch",
    "solve_files",
    "solver",
    "to_axis_angle",
    "to_euler",
    "to_quaternion",
    "track",
    "transform",
    "translation",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'memetik' has no attribute {name!r}")
    value = getattr(importlib.import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
