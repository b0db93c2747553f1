"""The reference: pages of public names from their docstrings and signatures, and the command line from its parser."""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

from tools.docs.costs import FILE as COSTS
from tools.docs.diagrams import DIAGRAMS

import memetik as mk
from memetik.cli.main import _parser

# Every public name stands in one group; tests/test_reference.py holds the list to `mk.__all__`.
GROUPS: dict[str, tuple[str, str, str]] = {
    "bodies": (
        "Bodies",
        "What moves: a tree of links and joints, from a file, a table or a few lines of Python.",
        "load Body build.Joint build.Link Frame body.Chain build.Mimic build.Loop Shape body.LinkPoses body.OFKT "
        "body.Group build.BodyBuilder build.planar_chain build.serial_chain build.snake build.hand build.five_bar "
        "build.stewart_platform build.delta_robot build.from_dh read.from_mujoco read.from_pinocchio "
        "read.from_usd read.from_yourdfpy",
    ),
    "geometry": (
        "Rotations and transforms",
        "A rotation is a 3x3 matrix, a transform a 4x4 matrix `world_from_frame`; quaternions are (w, x, y, "
        "z), angles radians.",
        "transform translation euler rpy axis_angle quaternion geometry.rotation_matrix geometry.look_rotation "
        "geometry.random_rotation geometry.to_quaternion geometry.to_euler geometry.to_axis_angle "
        "geometry.fabrik_points geometry.elbow_angles",
    ),
    "objectives": (
        "Objectives",
        "What is wanted. The weight drives the search, the tolerance alone decides success; without a "
        "tolerance an objective guides.",
        "Objective objective Position Orientation Pose Direction LookAt Cone Line Plane Side Touch Projection "
        "MinDistance MaxDistance Distance SelfDistance Balance GravityTorque Manipulability Displacement "
        "JointValue CenterJoints AvoidLimits FunctionalRelation objectives.close_loops objectives.PoseErrors "
        "objectives.Ground objectives.HeightField objectives.TriangleMesh objectives.PointCloud",
    ),
    "solving": (
        "Problems and solutions",
        "A body and objectives make a problem; a call solves it; a solution says what was reached.",
        "Problem solve solve_all bind solvers.Step Budget Solution Status methods solvers.Method solver "
        "solvers.Solver solvers.History solvers.minimise solvers.Minimum",
    ),
    "methods": (
        "Methods",
        "Every method as a class with its parameters; by name they are `mk.solver(name, ...)`.",
        "solvers.Memetic solvers.BioIK solvers.DampedLeastSquares solvers.SelectivelyDampedLeastSquares "
        "solvers.SVDDampedLeastSquares solvers.Pseudoinverse solvers.Interpolated solvers.Transpose "
        "solvers.GaussNewton solvers.LevenbergMarquardt solvers.LBFGSB solvers.CCD solvers.FABRIK solvers.GA "
        "solvers.DE solvers.PSO solvers.HGSA solvers.Analytic solvers.Learned solvers.Portfolio learn.FeedForward "
        "learn.Elman learn.ExtremeLearning learn.SupportVectors",
    ),
    "motion": (
        "Motion",
        "Everything over time: paths, trajectories, control loops, clips, retargeting.",
        "track motion.Track plan motion.Plan motion.straight_line motion.arc motion.waypoints motion.smooth_poses "
        "motion.Trajectory motion.Follower Servo motion.Teleoperator motion.Calibration motion.read_stream "
        "motion.write_stream Motion read_motion motion.edit motion.Span motion.gait motion.place_feet "
        "motion.FootPlacer retarget motion.retarget_each motion.retarget_plan motion.RetargetPlan "
        "motion.BoneMatch motion.Retargeted motion.RetargetReport",
    ),
    "collision": (
        "Collisions",
        "Obstacles, pairs of links, shapes around meshes, and proofs that a motion is free.",
        "World collision.Obstacle collision.find_collision_pairs collision.CollisionPairs collision.LinkPair "
        "motion.check_motion motion.MotionCheck motion.Meeting collision.cover collision.Cover collision.hull "
        "collision.SignedDistanceGrid",
    ),
    "batch": (
        "Many at once",
        "One problem, many targets: on all cores, on a graphics card, from files, over a cluster.",
        "solve_batch batch.BatchSolution batch.DeviceBatchSolution batch.DeviceArray batch.solve_files "
        "batch.FilesReport batch.reachability batch.Reachability batch.load_reachability",
    ),
    "pictures": (
        "Pictures",
        "SVG and PNG without a window.",
        "draw view write.draw_many write.draw_motion write.draw_cover write.draw_evolved write.draw_landscape "
        "write.draw_reachability",
    ),
    "errors": (
        "Errors and their remedies",
        "Every error that a user can cause is a child of `mk.MemetikError`, and its message says what is "
        "wrong, where, and how to mend it.",
        "MemetikError errors.BodyError errors.FormatError errors.GeometryError errors.ProblemError "
        "errors.RefusedError errors.TruthError errors.UnknownNameError errors.MissingExtraError MemetikWarning",
    ),
}  # fmt: skip

REMEDIES = [  # a call, what is raised, and what to write instead; tests/test_reference.py runs them
    ('mk.load("pandda")', "UnknownNameError",
     'the name as `memetik bodies` lists it, `mk.load("panda")`, or a path that exists'),
    ('mk.Problem(mk.load("ur5"), mk.Position("hand", (0.4, 0, 0.3)))', "UnknownNameError",
     "a link of the body; `print(body)` lists them"),
    ('mk.Position("tool0", (0.4, 0.1))', "ProblemError", "three numbers, in metres"),
    ('mk.Orientation("tool0", [[1, 0, 0], [0, 2, 0], [0, 0, 1]])', "ProblemError",
     "a rotation: `mk.euler(...)`, `mk.quaternion(w, x, y, z)`"),
    ('mk.solve(mk.Problem(mk.load("ur5"), []))', "ProblemError", "at least one objective"),
    ('mk.solve(mk.Problem(mk.load("ur5"), mk.CenterJoints()), method="fabrik")', "RefusedError",
     "a method that takes it: the table of methods"),
    ("mk.quaternion(1, 1, 0, 0)", "GeometryError", "a unit quaternion (w, x, y, z); divide by its length"),
    ("bool(mk.Status.REACHED)", "TruthError", "`if solution:` or `status == mk.Status.REACHED`"),
    ('mk.solve(mk.Problem(mk.load("ur5"), mk.Position("tool0", (0.4, 0, 0.3))), start=[0.0] * 5)', "ProblemError",
     "a start with `body.dof` values, or a dict through `body.vector({...})`"),
    ('mk.build.Joint("elbow", "hinge", "a", "b")', "BodyError", "a kind from the docstring of `mk.build.Joint`"),
]  # fmt: skip

COST_OF_OBJECTIVES = (
    "**Cost** is the processor time of a solve on a Panda from random starts, in microseconds: of the objective alone "
    "or, with *, of a `Position` with it. `python -m tools.docs costs` measures it, and says how many evaluations that took."
)
COST_OF_METHODS = (
    "**Cost** is the median of the processor time of `mk.solve` on a Panda, in microseconds, from its home posture to random "
    "poses that can be reached (0.1 mm, 1 mrad, at most 10,000 evaluations); **reached** is the share of these. "
    "`python -m tools.docs costs` measures both."
)


def public(name: str) -> Any:
    """What a public name stands for: "solve" for mk.solve, "build.Link" for mk.build.Link."""
    return attrgetter(name)(mk)


PLACES = {name: page for page, (_, _, names) in GROUPS.items() for name in names.split()}
NAMES = sorted(PLACES, key=lambda name: name.rpartition(".")[2].lower())
FULL = {name.rpartition(".")[2]: name for name in PLACES}  # by the last word, which is what texts often say
OBJECTIVES = [
    name
    for name in GROUPS["objectives"][2].split()
    if inspect.isclass(public(name)) and issubclass(public(name), mk.Objective) and name != "Objective"
]

WORDS = {"objective", "hand", "cover", "edit", "track", "plan", "solver"}  # names of things other than ours as well
INLINE = re.compile(r"(`[^`\n]+`)")


def write(folder: Path) -> None:
    """Write all pages of the reference into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for page, (title, about, names) in GROUPS.items():
        parts = [f"# {title}", about, *TABLES.get(page, lambda: [])()]
        parts += [part for name in names.split() for part in entry(name)]
        (folder / f"{page}.md").write_text("\n\n".join(parts) + "\n")
    rows = [f"| [`mk.{name}`]({PLACES[name]}.md#{anchor(name)}) | {first_sentence(public(name))} |" for name in NAMES]
    (folder / "names.md").write_text("\n".join(["# All names", "", "| name | what it is |", "|---|---|", *rows]) + "\n")
    (folder / "commands.md").write_text("\n\n".join(commands()) + "\n")


def anchor(name: str) -> str:
    """Of the heading of a name. Labels know no capitals, but `mk.track` and `mk.motion.Track` are two things."""
    last = name.rpartition(".")[2]
    return f"{'class' if last[0].isupper() else 'mk'}-{last.lower()}"


# ---- A name ------------------------------------------------------------------------------------------------------


def entry(name: str) -> Iterator[str]:
    """The heading of a public name, how it is called, what it says, its parameters and its members."""
    thing = public(name)
    yield f"({anchor(name)})=\n## `mk.{name}`"
    yield signature(f"mk.{name}", thing)
    yield markdown(inspect.getdoc(thing) or "", parameters(thing))
    last = name.rpartition(".")[2]
    if last in DIAGRAMS:
        yield f"![{DIAGRAMS[last][0]}](../pictures/reference/{last}.svg)"
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        fields = list(field_rows(thing))
        if fields:
            yield "\n".join(["| field | type | default | |", "|---|---|---|---|", *fields])
        yield from (text for member in members(thing) for text in described(name, *member))


def signature(shown: str, thing: Any) -> str:
    """A call with all defaults, a parameter a line where one line is too long."""
    try:
        of = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    written = annotations(thing)
    parameters = [
        each.replace(annotation=written.get(each.name, each.annotation))
        for each in of.parameters.values()
        if each.name != "self"
    ]
    texts = [_parameter(each) for each in parameters]
    returned = written.get("return", of.return_annotation)
    returns = "" if returned in (inspect.Signature.empty, "None", None) else f" -> {returned}"
    starred = _with_stars(parameters, texts)
    line = f"{shown}({', '.join(starred)}){returns if not inspect.isclass(thing) else ''}"
    if len(line) > 100:
        line = f"{shown}(\n    " + ",\n    ".join(starred) + f",\n){returns if not inspect.isclass(thing) else ''}"
    return f"```text\n{line}\n```"


def _parameter(each: inspect.Parameter) -> str:
    """`name: type = default`, where a default that is made for each object is three dots."""
    stars = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "")
    kind = "" if each.annotation is each.empty else f": {each.annotation}"
    default = "" if each.default is each.empty else f" = {each.default!r}".replace("<factory>", "...")
    return f"{stars}{each.name}{kind}{default}"


def annotations(thing: Any) -> dict[str, str]:
    """The types of parameters as the source names them, not as Python unfolds them."""
    function = thing.__init__ if inspect.isclass(thing) else thing
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    except (OSError, TypeError, SyntaxError):
        return {}
    if not isinstance(tree, ast.FunctionDef):
        return {}
    named = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    types = {each.arg: ast.unparse(each.annotation) for each in named if each.annotation is not None}
    return types | ({"return": ast.unparse(tree.returns)} if tree.returns else {})


def _with_stars(parameters: list[inspect.Parameter], texts: list[str]) -> list[str]:
    starred, stands = [], any(each.kind is each.VAR_POSITIONAL for each in parameters)
    for each, text in zip(parameters, texts, strict=True):
        if each.kind is each.KEYWORD_ONLY and not stands:
            starred.append("*")
            stands = True
        starred.append(text)
    return starred


def parameters(thing: Any) -> set[str]:
    """The names that a docstring may explain in lines `name: what it is`."""
    named = set()
    if callable(thing):
        with contextlib.suppress(TypeError, ValueError):
            named |= set(inspect.signature(thing).parameters)
    if inspect.isclass(thing):
        named |= {name for name in dir(thing) if not name.startswith("_")}
        named |= set(getattr(thing, "__annotations__", {}))
    return named | {"weight", "tolerance", "priority"}


def field_rows(thing: type) -> Iterator[str]:
    """The fields of a record, with what stands beside each in its source."""
    if not dataclasses.is_dataclass(thing):
        return
    try:
        source = inspect.getsource(thing)
    except OSError:
        return
    beside = _from_parents(thing) | dict(re.findall(r"^    (\w+):[^#\n]*#\s*(.+)$", source, re.MULTILINE))
    for field in dataclasses.fields(thing):
        if field.name.startswith("_"):
            continue
        default = "" if field.default is dataclasses.MISSING else f"`{field.default!r}`"
        kind = str(field.type).replace("|", "\\|")
        yield f"| `{field.name}` | `{kind}` | {default} | {escaped(beside.get(field.name, '')).replace('|', chr(92) + '|')} |"


def _from_parents(thing: type) -> dict[str, str]:
    """What the classes above say of fields, in lines `name: what it is`; they may have no entry of their own."""
    found: dict[str, str] = {}
    for owner in reversed(thing.__mro__[1:]):
        if owner.__module__.startswith("memetik"):
            doc = inspect.cleandoc(owner.__doc__ or "")
            found |= {
                name: " ".join(text.split()) for name, text in re.findall(r"^(\w+): (.+(?:\n(?!\w+: ).+)*)", doc, re.M)
            }
    return found


def members(thing: type) -> Iterator[tuple[str, Any]]:
    """Public properties and methods, those of private parents included, in the order of the source."""
    seen = set()
    for owner in thing.__mro__:
        if not owner.__module__.startswith("memetik"):
            continue
        for name, member in vars(owner).items():
            is_member = isinstance(member, (property, classmethod, staticmethod)) or inspect.isfunction(member)
            if name.startswith("_") or name in seen or not is_member:
                continue
            seen.add(name)
            if thing is not mk.Objective and issubclass(thing, mk.Objective) and hasattr(mk.Objective, name):
                continue
            yield name, member


def described(owner: str, name: str, member: Any) -> Iterator[str]:
    """A property or method of a class."""
    if isinstance(member, property):
        yield f"**`.{name}`**: {markdown(inspect.getdoc(member) or '', set()).strip()}"
        return
    function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
    if not inspect.getdoc(function):
        return
    yield f"### `{owner}.{name}`"
    yield signature(
        f".{name}" if not isinstance(member, (classmethod, staticmethod)) else f"mk.{owner}.{name}", function
    )
    yield markdown(inspect.getdoc(function) or "", parameters(function))


# ---- Docstrings --------------------------------------------------------------------------------------------------


def first_sentence(thing: Any) -> str:
    """Of a docstring, for tables."""
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return linked(re.split(r"(?<=[.:]) (?=[A-Z]|$)", text)[0].rstrip(":")).replace("|", "\\|")


def markdown(doc: str, named: set[str]) -> str:
    """A docstring as Markdown: indented lines are code, lines `name: ...` a list of parameters."""
    out: list[str] = []
    inside = ""  # the fence we are in, as it was opened
    for line in doc.splitlines():
        stripped = line.strip()
        if stripped.startswith("```"):
            inside = "" if inside else "```"
            out.append(line)
        elif inside == "```":
            out.append(line)
        elif line.startswith("    ") and (inside == "code" or not out or out[-1] == ""):
            if inside != "code":
                out += [f"```{language(doc, line)}"]
                inside = "code"
            out.append(line[4:])
        else:
            if inside == "code":
                if not stripped:
                    out.append("")
                    continue
                while out and out[-1] == "":
                    out.pop()
                out += ["```", ""]
                inside = ""
            found = re.match(r"((?:\w+)(?:, \w+)*)( [^:]*)?: (.+)", stripped)
            if found and set(found[1].split(", ")) <= named:
                names = ", ".join(f"`{name}`" for name in found[1].split(", "))
                if out and out[-1] and not out[-1].startswith(("- ", "  ")):
                    out.append("")
                out.append(f"- {names}{found[2] or ''}: {linked(found[3])}")
            elif out and out[-1].startswith(("- ", "  ")) and stripped and not stripped.startswith("- "):
                out.append(f"  {linked(stripped)}")
            else:
                out.append(linked(stripped))
    if inside == "code":
        out.append("```")
    return "\n".join(out)


def language(doc: str, line: str) -> str:
    """Of an indented block: Python if it calls something, text if it is a formula."""
    return "python" if re.search(r"\bmk\.|^\s+\w+ = \w+\.|servo\.|follower\.|import ", line) else "text"


def escaped(text: str) -> str:
    """Text outside code, with what Markdown and HTML would take for their own."""
    for mark in ("\\", "<", "$", "*", "_", "["):
        text = text.replace(mark, "&lt;" if mark == "<" else f"\\{mark}")
    return text


def linked(text: str) -> str:
    """Names of the library in code become links to their entries; all else is escaped."""
    parts = []
    for part in INLINE.split(text):
        if part.startswith("`") and part.endswith("`") and len(part) > 2:
            found = re.fullmatch(r"`(?:mk\.)?([\w.]+)`", part)
            known = FULL.get(found[1], found[1]) if found and found[1] not in WORDS else ""
            parts.append(f"[{part}]({PLACES[known]}.md#{anchor(known)})" if known in PLACES else part)
        else:
            parts.append(re.sub(r"\bmk\.(\w[\w\\]*(?:\.\w[\w\\]*)?)", _reference, escaped(part)))
    return "".join(parts)


def _reference(found: re.Match[str]) -> str:
    name = found[1].replace("\\", "")
    return f"[`mk.{name}`]({PLACES[name]}.md#{anchor(name)})" if name in PLACES else found[0]


# ---- Tables ------------------------------------------------------------------------------------------------------


def objective_table() -> list[str]:
    """What each objective takes, when it is satisfied, its defaults, and what it costs."""
    rows = ["| objective | takes | satisfied when | tolerance | priority | cost [µs] |", "|---|---|---|---|---|---|"]
    costs = json.loads(COSTS.read_text())["objectives"]
    for name in OBJECTIVES:
        given = inspect.signature(public(name)).parameters
        takes = ", ".join(f"`{each.name}`" for each in given.values() if each.kind is each.POSITIONAL_OR_KEYWORD)
        tolerances = [
            f"{each.default}"
            for key, each in given.items()
            if key.endswith("tolerance") and each.default is not each.empty
        ]
        tolerance = ", ".join("guide" if value == "None" else value for value in tolerances) or "none: a guide"
        priority = given["priority"].default if "priority" in given else 0
        cost = f"{costs[name]['us']:g}{' *' if costs[name]['beside'] else ''}"
        said = first_sentence(public(name))
        rows.append(f"| [`{name}`](#{anchor(name)}) | {takes} | {said} | {tolerance} | {priority} | {cost} |")
    guarantee = (
        "What holds for all of them: `solution.success` says that every objective with a tolerance is within it, measured "
        "anew on the joint vector that is returned; a guide never decides it; derivatives are exact, and tests hold them "
        "against finite differences."
    )
    return ["\n".join(rows), COST_OF_OBJECTIVES, guarantee]


def method_table() -> list[str]:
    """What each method takes and keeps, and what it costs."""
    rows = [
        "| method | cost [µs] | reached | family | takes | tips | limits | priorities | after |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    costs = json.loads(COSTS.read_text())["methods"]
    for method in mk.methods():
        owner, cost = method.place.rpartition(".")[2], costs[method.name]
        measured = f"{cost['us']:,.0f} | {100 * cost['reached']:.0f} %" if "us" in cost else "after training | "
        rows.append(
            f"| [`{method.name}`](#{anchor(owner)}) | {measured} | {method.family} | {method.takes} | {method.tips} "
            f"| {method.limits} | {method.priorities} | {method.reference} |"
        )
    guarantee = (
        "What holds for all of them: they are deterministic (the same call gives the same bits, unless the budget's seconds end "
        "it), keep the limits in what they return, and have their answer verified by the same kernel, so `solution.success` "
        "means the same for each. What they cost on a body of yours, `memetik compare BODY` measures; on six arms, "
        "[the benchmarks](../benchmarks.md)."
    )
    return ["\n".join(rows), COST_OF_METHODS, guarantee]


def error_list() -> list[str]:
    """Calls that fail, what they say, and what to write instead."""
    return [
        f"`{call}`\n: raises `{error}`: {escaped(said(call))}\n\n  **Write** {remedy}."
        for call, error, remedy in REMEDIES
    ]


def said(call: str) -> str:
    """The message of a call that fails."""
    try:
        eval(call, {"mk": mk})
    except mk.MemetikError as error:
        return " ".join(str(error).split())
    raise AssertionError(f"{call} does not fail")


TABLES = {"objectives": objective_table, "methods": method_table, "errors": error_list}


# ---- The command line ---------------------------------------------------------------------------------------------


def commands() -> Iterator[str]:
    """What `memetik COMMAND --help` says, of all commands."""
    yield "# Command line"
    yield "Written by the parsers themselves: this is what `--help` prints. Lengths are metres, angles radians, times seconds."
    yield from _commands(_parser())


def _commands(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, child in action.choices.items():
                child.formatter_class = _wide(child.formatter_class)
                yield f"{'##' if parser.prog == 'memetik' else '###'} `{parser.prog} {name}`"
                yield f"```text\n{child.format_help().strip()}\n```"
                yield from _commands(child)


def _wide(kind: Any) -> Any:
    """The formatter of a parser at a width that pages have room for, whatever the terminal."""
    return lambda prog: kind(prog, width=100)
