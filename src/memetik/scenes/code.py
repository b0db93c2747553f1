"""Scene -> Python: a script that poses the same problem and solves it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memetik.scenes.build import CHAINS
from memetik.scenes.fields import Field
from memetik.scenes.kinds import KINDS, Kind
from memetik.scenes.scene import Block, BodySource, Scene, Wish

_BUILT = {"hand": "mk.build.hand()", "snake_100": "mk.build.snake(100, length=2.0)"}


def python_code(scene: Scene) -> str:
    """A script; printed numbers are rounded to a micrometre and a microradian."""
    lines = ["import memetik as mk", ""]
    lines += _body(scene.body)
    if any(wish.values.get("world") for wish in scene.wishes if wish.enabled):
        lines += [
            "",
            f"world = mk.World(capacity={max(len(scene.world), 1)})",
            *(_block(block) for block in scene.world),
        ]
    lines += ["", "objectives = ["]
    lines += [f"    {_objective(wish)}," for wish in scene.wishes if wish.enabled]
    lines += ["]"]
    lock = f", lock={_literal(scene.lock)}" if scene.lock else ""
    root = "" if scene.root is None else f", root=mk.transform({scene.root[:3]}, {scene.root[3:]})"
    lines += [f"problem = mk.Problem(body, objectives{lock}{root})"]
    lines += [f"start = body.vector({_literal(scene.start)})"]
    lines += [f"solution = {_solve(scene)}", "print(solution)"]
    return "\n".join(lines) + "\n"


def _body(source: BodySource) -> list[str]:
    limit = source.base_limit
    if source.kind in ("bundled", "file"):
        base = "" if source.base == "fixed" else f", base={source.base!r}"
        base += "" if limit is None else f", base_lower={-limit:g}, base_upper={limit:g}"
        return [f"body = mk.load({source.value!r}{base})"]
    if source.kind == "urdf":
        lines = ["from memetik.read import parse_urdf", "", f"body = parse_urdf({source.value!r})"]
    elif source.value in _BUILT:
        lines = [f"body = {_BUILT[source.value]}"]
    elif source.value.partition(":")[0] in CHAINS:
        kind, _, joints = source.value.partition(":")
        lines = [f"body = mk.build.{CHAINS[kind]}({joints})"]
    else:
        made = f"scenes.load_body(scenes.BodySource('built', {source.value!r}, {source.base!r}, {limit!r}))"
        return ["from memetik import scenes", "", f"body = {made}"]
    if source.base != "fixed":
        limits = "" if limit is None else f", lower={-limit:g}, upper={limit:g}"
        lines.append(f"body = body.with_base({source.base!r}{limits})")
    return lines


def _objective(wish: Wish) -> str:
    kind = KINDS[wish.kind]
    given = {name: _argument(kind.field(name), value) for name, value in kind.unusual(wish).items()}
    first: list[str] = []
    if wish.kind == "Pose":
        pose = f"mk.transform({given.pop('position', '(0, 0, 0)')}, {given.pop('wxyz', '(1, 0, 0, 0)')})"
        first = [given.pop("frame"), pose]
    elif wish.kind == "Distance":
        every = "[link.name for link in body.links.values() if link.shapes and link.name != body.root]"
        obstacles = given.pop("obstacles", _argument(kind.field("obstacles"), kind.field("obstacles").default))
        first = [given.pop("links", every), "world" if given.pop("world", None) else obstacles]
    elif wish.kind == "SelfDistance":
        first = ["body"]
    elif wish.kind == "FunctionalRelation":
        ratio, offset = given.pop("ratio", "1"), given.pop("offset", "0")
        first = [given.pop("joint"), f"lambda value: {ratio} * value + {offset}"]
        given["of"] = f"[{given['of']}]"
    else:  # what the objective wants in any case, though it is the usual value here
        for field in kind.fields:
            if field.name in ("target", "point", "normal", "direction", "distance", "half_angle", "surface", "polygon"):
                given.setdefault(field.name, _argument(field, wish.values[field.name]))
    given["name"] = repr(wish.name)
    return f"mk.{wish.kind}({', '.join([*first, *(f'{_parameter(kind, name)}={value}' for name, value in given.items())])})"


def _parameter(kind: Kind, name: str) -> str:
    """The parameter of the constructor that a field of a scene fills."""
    return next((field.parameter for field in kind.fields if field.name == name and field.parameter), name)


def _block(block: Block) -> str:
    place = f"mk.transform({_literal(block.position)}, {_literal(block.wxyz)})"
    touching = f", touching={list(block.touching)!r}" if block.touching else ""
    values = f", values={_literal(block.values)}" if block.values else ""
    added = f"world.add({block.name!r}, mk.Shape({block.shape!r}, {_literal(block.size)}{values}), {place}{touching})"
    return added if block.enabled else f"{added}\nworld.disable({block.name!r})"


def _argument(field: Field, value: Any) -> str:
    if field.type == "frame" and isinstance(value, Mapping):
        turn = f", {_literal(value['wxyz'])}" if "wxyz" in value else ""
        return f"body.frame({value['link']!r}, mk.transform({_literal(value.get('position', (0, 0, 0)))}{turn}))"
    if field.type == "surface":
        if value["kind"] == "ground":
            return f"mk.objectives.Ground({_literal(value.get('point', (0, 0, 0)))}, {_literal(value.get('normal', (0, 0, 1)))})"
        spacing, origin = _literal(value["spacing"]), _literal(value["origin"])
        return f"mk.objectives.HeightField({_literal(value['heights'])}, spacing={spacing}, origin={origin})"
    if field.type == "posture":
        return f"body.vector({_literal(value)})"
    return _literal(value)


def _literal(value: Any) -> str:
    if isinstance(value, float):
        return repr(round(value, 9)) if abs(value) >= 1e-6 or value == 0.0 else repr(value)
    if isinstance(value, (list, tuple)):
        inside = ", ".join(_literal(each) for each in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_literal(each)}" for key, each in value.items()) + "}"
    return repr(value)


def _solve(scene: Scene) -> str:
    solving = scene.solving
    budget = f"mk.Budget(evaluations={max(solving.evaluations, 20_000)})"
    if not solving.parameters:
        method = f"method={solving.method!r}, budget={budget}, seed={solving.seed}"
        return f"mk.solve(problem, start, {method})"
    parameters = ", ".join(f"{name}={value!r}" for name, value in {"seed": solving.seed, **solving.parameters}.items())
    return f"mk.solve(problem, start, method=mk.solver({solving.method!r}, {parameters}), budget={budget})"
