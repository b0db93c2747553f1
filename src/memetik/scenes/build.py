"""Scene -> Body, Problem and solver."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

import memetik as mk
from memetik import bodies
from memetik.errors import FormatError, ProblemError, UnknownNameError, shown
from memetik.read import parse_urdf
from memetik.scenes.kinds import KINDS
from memetik.scenes.scene import Block, BodySource, Scene, Solving
from memetik.types import Array

Roots = Iterable[str | PathLike[str]]


def load_body(source: BodySource, roots: Roots = (), *, cached: bool = True) -> mk.Body:
    """The body of a scene. Files and the meshes of bodies are looked up inside `roots` only.

    The latest are kept, to be had again at once, unless `cached` is false: for a caller that keeps them, and counts them, itself.
    """
    if source.kind == "file":
        return _with_base(mk.load(_inside(source.value, roots), roots=roots), source)
    load = _load if cached else _load.__wrapped__
    return load(source, tuple(Path(root) for root in roots))


@lru_cache(maxsize=32)
def _load(source: BodySource, roots: tuple[Path, ...]) -> mk.Body:
    if source.kind == "bundled":
        if source.value not in bodies.names():
            raise UnknownNameError("bundled body", source.value, bodies.names())
        body = mk.load(source.value)
    elif source.kind == "urdf":
        body = parse_urdf(source.value, file="the uploaded URDF", roots=roots)
    elif source.kind == "built":
        body = _build(source.value)
    else:
        raise FormatError(f"body: kind is {source.kind!r}. Write bundled, file, urdf or built.")
    return _with_base(body, source)


def objectives(scene: Scene, body: mk.Body, world: mk.World | None = None) -> dict[str, mk.Objective]:
    """The objectives of the wishes that count, by name; `world` is that of the scene, made again unless given."""
    around = world_of(scene) if world is None else world
    return {wish.name: KINDS[wish.kind].objective(wish, body, around) for wish in scene.wishes if wish.enabled}


def block_shape(block: Block) -> mk.Shape:
    """The shape of an obstacle, in its own frame."""
    return mk.Shape(block.shape, block.size, values=np.array(block.values) if block.values else None)


def world_of(scene: Scene) -> mk.World:
    """The obstacles of a scene."""
    world = mk.World(capacity=max(len(scene.world), 1))
    for block in scene.world:
        shape = block_shape(block)
        world.add(block.name, shape, mk.transform(block.position, block.wxyz), touching=block.touching)
        world.enable(block.name, block.enabled)
    return world


def problem(scene: Scene, body: mk.Body) -> mk.Problem:
    """The problem that a scene poses."""
    wanted = list(objectives(scene, body).values())
    if not wanted:
        raise ProblemError(f"scene {scene.title!r} asks for nothing. Add or enable an objective.")
    return mk.Problem(body, wanted, lock=scene.lock, root=root(scene))


def root(scene: Scene) -> Array | None:
    """world_from_root of a scene, if it has one."""
    return None if scene.root is None else mk.transform(scene.root[:3], scene.root[3:])


def problem_for(
    method: mk.solvers.Solver,
    body: mk.Body,
    wanted: Iterable[mk.Objective],
    lock: Mapping[str, float],
    root: Array | None = None,
) -> mk.Problem:
    """The problem as far as a method can take it: one that refuses guides, which never block, gets it without them.

    Raises ProblemError where the rest is too much for it as well.
    """
    whole = mk.Problem(body, list(wanted), lock=lock, root=root)
    try:
        method.solve(whole, None, mk.Budget(evaluations=1))
    except ProblemError:
        compiled = whole.compiled
        owners = zip(whole.objectives, compiled.owners, strict=True)
        needed = [objective for objective, own in owners if not compiled.terms["soft"][own].all()]
        if not needed or len(needed) == len(whole.objectives):
            raise
        part = mk.Problem(body, needed, lock=lock, root=root)
        method.solve(part, None, mk.Budget(evaluations=1))
        return part
    return whole


def start(scene: Scene, body: mk.Body) -> Array:
    """The posture that a scene starts from, within the limits."""
    return np.clip(body.vector(scene.start), body.lower, body.upper)


def marked(scene: Scene) -> list[Array]:
    """The targets as a picture marks them: poses and points in the world."""
    marks: list[Array] = []
    for wish in scene.wishes:
        kind = KINDS[wish.kind]
        if wish.enabled and kind.place and wish.values.get("relative_to") is None:
            place = np.array(wish.values[kind.place])
            marks.append(mk.transform(place, np.array(wish.values[kind.turn])) if kind.turn else place)
    return marks


def solver(solving: Solving) -> mk.solvers.Solver:
    """The method with its parameters."""
    for row in mk.methods():
        if row.name == solving.method:
            kinds = {field.name: str(field.type) for field in fields(row.solver)}
            for name, value in solving.parameters.items():
                if name == "seed":
                    raise UnknownNameError("parameter", name, sorted(kinds.keys() - {"seed"}), f"method {row.name!r}")
                if name in kinds:
                    _require_type(value, kinds[name], f"solving, parameter {name!r}")
    return mk.solver(solving.method, **{"seed": solving.seed, **solving.parameters})


_PARAMETERS: dict[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "true or false"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
}


def _require_type(value: Any, wanted: str, where: str) -> None:
    """Raise if a parameter is not of its type, as the class of the method writes it: "int", "float | None", "bool"."""
    kind = wanted.partition(" | ")[0]
    if kind in _PARAMETERS and type(value) not in _PARAMETERS[kind][0]:
        raise FormatError(f"{where} is {shown(value)}; write {_PARAMETERS[kind][1]}.")
    if kind not in (*_PARAMETERS, "str") and not kind.startswith("Literal"):
        raise FormatError(f"{where} cannot be set in a scene. Leave it out.")


def _five_bar() -> mk.Body:
    """Two arms of a crank and a rod each, whose tips a wish holds together."""
    builder = mk.build.BodyBuilder("five_bar")
    turn: dict[str, Any] = {"axis": (0, 0, 1), "lower": -3, "upper": 3}
    for side, x, motor, elbow in (("left", -0.15, 2.0, -1.0), ("right", 0.15, 1.0, 1.0)):
        crank, rod = f"{side}_crank", f"{side}_rod"
        motors = {**turn, "origin": (x, 0, 0), "home": motor, "shapes": [_bar(0.3)]}
        elbows = {**turn, "origin": (0.3, 0, 0), "home": elbow, "shapes": [_bar(0.35)]}
        builder.add("base", f"{side}_motor", "revolute", crank, **motors)
        builder.add(crank, f"{side}_elbow", "revolute", rod, **elbows)
        builder.add(rod, f"{side}_end", "fixed", f"{side}_tip", origin=(0.35, 0, 0))
    return builder.build()


def _bar(length: float) -> mk.Shape:
    along_x = mk.euler(0.0, math.pi / 2.0, 0.0)
    return mk.Shape("capsule", (0.015, length), mk.transform((length / 2.0, 0.0, 0.0), along_x))


BUILDERS: dict[str, Callable[[], mk.Body]] = {
    "five_bar": _five_bar,
    "hand": mk.build.hand,
    "snake_100": lambda: mk.build.snake(100, length=2.0),
}


CHAINS = {"planar": "planar_chain", "snake": "snake"}  # builders in Python that take a number of joints
MOST_JOINTS = 1_000


def is_built(name: str) -> bool:
    """Whether a name is that of a builder, such as "hand" or "snake:30"."""
    kind, _, joints = name.partition(":")
    return name in BUILDERS or (kind in CHAINS and joints.isdecimal())


def _build(name: str) -> mk.Body:
    if not is_built(name):
        raise UnknownNameError("builder", name, [*BUILDERS, *(f"{kind}:N" for kind in CHAINS)])
    if name in BUILDERS:
        return BUILDERS[name]()
    kind, _, joints = name.partition(":")
    if len(joints) > 9 or not 1 <= int(joints) <= MOST_JOINTS:
        raise FormatError(f"body: {name!r} has to have 1 to {MOST_JOINTS} joints.")
    made: mk.Body = getattr(mk.build, CHAINS[kind])(int(joints))
    return made


def _with_base(body: mk.Body, source: BodySource) -> mk.Body:
    limit = source.base_limit
    return body.with_base(source.base) if limit is None else body.with_base(source.base, lower=-limit, upper=limit)


def _inside(name: str, roots: Roots) -> Path:
    """The path of a model file, if it lies inside a folder that may be read."""
    for root in roots:
        inside = Path(root).resolve()
        try:
            path = (inside / name).resolve()
        except (OSError, ValueError, RuntimeError):  # too long, a null byte, a circle of links
            continue
        if path.is_relative_to(inside) and path.is_file():
            return path
    raise FormatError(f"body: there is no file {name!r} in the folders that may be read. Add its folder with --root.")
