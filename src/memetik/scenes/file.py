"""Scenes as JSON: small, readable, and read strictly, for they come from strangers too."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from memetik.body.link import FIELDS, SHAPE_SIZES, Shape
from memetik.errors import BodyError, FormatError, shown
from memetik.scenes.fields import MOST_NUMBERS, by_name, flag, keys, number, numbers, quaternion, text, texts
from memetik.scenes.kinds import KINDS
from memetik.scenes.scene import Block, BodySource, Motion, Scene, Solving, Wish

T = TypeVar("T", Solving, Motion)

FORMAT = "memetik scene 1"
MOST_BYTES = 8 * 2**20
MOST_WISHES = 500
MOST_BLOCKS = 500
SHAPES = {kind: sizes for kind, sizes in SHAPE_SIZES.items() if kind not in ("mesh", "hull")}
MOST_PARAMETER, MOST_THREADS = 10_000, 64  # a population of millions would be the end of a server
BODY_KINDS = ("bundled", "file", "urdf", "built")


def dumps(scene: Scene) -> str:
    """The scene as JSON; what has its usual value is left out."""
    body = {scene.body.kind: scene.body.value, "base": scene.body.base, "base_limit": scene.body.base_limit}
    usual = BodySource("bundled", "")
    plain: dict[str, Any] = {
        "format": FORMAT,
        "title": scene.title,
        "body": {key: value for key, value in body.items() if value != getattr(usual, key, ...)},
        "objectives": [_plain_wish(wish) for wish in scene.wishes],
        "lock": dict(scene.lock),
        "start": dict(scene.start),
        "solving": _unusual(scene.solving, Solving()),
        "motion": _unusual(scene.motion, Motion()),
        "root": None if scene.root is None else list(scene.root),
        "world": [_plain_block(block) for block in scene.world],
    }
    return _lines({key: value for key, value in plain.items() if value or key in ("title", "objectives")})


def loads(source: str | bytes, name: str = "the scene") -> Scene:
    """The scene in JSON text; messages call it `name`."""
    data = source.encode(errors="surrogatepass") if isinstance(source, str) else source
    if len(data) > MOST_BYTES:
        raise FormatError(f"{name} is larger than {MOST_BYTES >> 20} MB, more than any scene needs.")
    try:
        plain = json.loads(
            data.decode(), parse_constant=_refuse, object_pairs_hook=_once,
            parse_float=lambda text: float(text), parse_int=lambda text: int(text),  # other threads go on in between
        )  # fmt: skip
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise FormatError(f"{name} is not a scene in JSON: {reason}.") from error
    try:
        return _scene(plain)
    except FormatError as error:
        raise FormatError(f"{name}: {error}") from error


def read_scene(path: str | Path) -> Scene:
    """The scene in a file."""
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        reason = getattr(error, "strerror", None) or error
        raise FormatError(f"the scene {str(path)!r} cannot be read: {reason}.") from error
    return loads(data, Path(path).name)


# ---- Reading -------------------------------------------------------------------------------------------------


def _scene(plain: Any) -> Scene:
    given = keys(
        plain,
        "a scene",
        ("format", "title", "body", "objectives", "lock", "start", "solving", "motion", "root", "world"),
    )
    if given.get("format") != FORMAT:
        raise FormatError(f'"format" is {shown(given.get("format"))}; this version reads {FORMAT!r}.')
    wishes = given.get("objectives", [])
    if not isinstance(wishes, list) or len(wishes) > MOST_WISHES:
        raise FormatError(f"objectives is {shown(wishes)}; write a list of at most {MOST_WISHES}.")
    made = tuple(_wish(wish, k + 1) for k, wish in enumerate(wishes))
    names = [wish.name for wish in made]
    for name in names:
        if names.count(name) > 1:
            raise FormatError(f"two objectives are called {name!r}. Give each a name of its own.")
    return Scene(
        title=text(given.get("title", "untitled"), "title"),
        body=_body(given.get("body")),
        wishes=made,
        lock=by_name(given.get("lock", {}), "lock"),
        start=by_name(given.get("start", {}), "start"),
        solving=_solving(_settings(given.get("solving", {}), "solving", Solving)),
        motion=_motion(_settings(given.get("motion", {}), "motion", Motion)),
        root=_root(given.get("root")),
        world=_world(given.get("world", [])),
    )


def _root(plain: Any) -> tuple[float, ...] | None:
    """Place [m] and unit quaternion (w, x, y, z) of the root in the world."""
    if plain is None:
        return None
    found = numbers(plain, "root", 7)
    if abs(math.hypot(*found[3:]) - 1.0) > 1e-6:
        raise FormatError(f"root is {shown(plain)}; its last four numbers are a quaternion w, x, y, z of length 1.")
    return tuple(found)


def _world(plain: Any) -> tuple[Block, ...]:
    """Obstacles: each a name, a shape and its size, and where it stands."""
    if not isinstance(plain, list) or len(plain) > MOST_BLOCKS:
        raise FormatError(f"world is {shown(plain)}; write a list of at most {MOST_BLOCKS} obstacles.")
    blocks = tuple(_block(block, f"obstacle {k + 1} of the world") for k, block in enumerate(plain))
    names = [block.name for block in blocks]
    for name in names:
        if names.count(name) > 1:
            raise FormatError(f"two obstacles of the world are called {name!r}. Give each a name of its own.")
    return blocks


def _block(plain: Any, where: str) -> Block:
    given = keys(plain, where, [field.name for field in dataclasses.fields(Block)])
    shape = given.get("shape")
    if not isinstance(shape, str) or shape not in SHAPES:
        raise FormatError(f"{where}: shape is {shown(shape)}. Write one of {', '.join(SHAPES)}.")
    size = numbers(given.get("size"), f"{where}, size", len(SHAPES[shape]))
    if min(size) < 0.0:
        raise FormatError(f"{where}: size is {shown(size)}; a {shape} has {', '.join(SHAPES[shape])}, none below zero.")
    return Block(
        text(given.get("name"), f"{where}, name"),
        shape,
        tuple(size),
        tuple(numbers(given.get("position", [0, 0, 0]), f"{where}, position", 3)),
        tuple(quaternion(given.get("wxyz", [1, 0, 0, 0]), f"{where}, wxyz")),
        flag(given.get("enabled", True), f"{where}, enabled"),
        tuple(texts(given.get("touching", []), f"{where}, touching")),
        _values(given.get("values", ()), shape, tuple(size), where),
    )


def _values(plain: Any, shape: str, size: tuple[float, ...], where: str) -> tuple[Any, ...]:
    """The heights or signed distances of an obstacle, in rows, as plain numbers."""
    if shape not in FIELDS:
        if plain != () and plain != []:
            raise FormatError(f"{where}: a {shape} has no values. Leave them out.")
        return ()
    try:
        numbers_of = np.array(plain, dtype=object)
        if numbers_of.size > MOST_NUMBERS:
            raise FormatError(
                f"{where}: values are {numbers_of.size:,} numbers; a scene may have up to {MOST_NUMBERS:,}."
            )
        checked = Shape(shape, size, values=plain).values
    except (BodyError, ValueError) as error:
        raise FormatError(f"{where}: {error}") from error
    assert checked is not None
    return _as_tuples(checked.tolist())


def _as_tuples(rows: list[Any]) -> tuple[Any, ...]:
    return tuple(_as_tuples(row) if isinstance(row, list) else row for row in rows)


def _body(plain: Any) -> BodySource:
    given = keys(plain, "body", (*BODY_KINDS, "base", "base_limit"))
    kinds = [kind for kind in BODY_KINDS if kind in given]
    if len(kinds) != 1:
        raise FormatError(f"body must have exactly one of {', '.join(BODY_KINDS)}.")
    value = given[kinds[0]]
    if not isinstance(value, str):
        raise FormatError(f"body: {kinds[0]} is {shown(value)}; write a text.")
    limit = given.get("base_limit")
    return BodySource(
        kinds[0],
        value,
        text(given.get("base", "fixed"), "body, base"),
        None if limit is None else number(limit, "body, base_limit"),
    )


def _wish(plain: Any, place: int) -> Wish:
    if not isinstance(plain, dict):
        raise FormatError(
            f'objective {place} is {shown(plain)}; write an object with "kind" and the fields of that kind.'
        )
    given = dict(plain)
    wanted = given.pop("kind", None)
    if not isinstance(wanted, str) or wanted not in KINDS:
        raise FormatError(f"objective {place}: kind is {shown(wanted)}. Write one of {', '.join(KINDS)}.")
    kind = KINDS[wanted]
    name = text(given.pop("name", f"{kind.name} {place}"), f"objective {place}, name")
    enabled = flag(given.pop("enabled", True), f"objective {name!r}, enabled")
    return kind.check(Wish(kind.name, name, given, enabled))


def _settings(plain: Any, where: str, kind: type[T]) -> T:
    """Settings of a kind, each checked as its type says, and as usual where none is given."""
    types = {field.name: str(field.type) for field in dataclasses.fields(kind)}
    given = keys(plain, where, list(types))
    return kind(**{name: _CHECKS[types[name]](value, f"{where}, {name}") for name, value in given.items()})


def _solving(solving: Solving) -> Solving:
    if solving.evaluations < 1 or not 0.0 < solving.seconds <= 60.0 or solving.seed < 0:
        raise FormatError("solving: evaluations must be at least 1, seed at least 0, seconds above 0 and up to 60.")
    return solving


def _motion(motion: Motion) -> Motion:
    if not (motion.velocity > 0.0 and motion.acceleration > 0.0 and 0.0 <= motion.smoothing < 1.0):
        raise FormatError("motion: velocity and acceleration must be above 0, smoothing from 0 to below 1.")
    return motion


def _parameters(value: Any, where: str) -> dict[str, Any]:
    """Those of a method; scenes/build.py knows which it has."""
    if not isinstance(value, dict):
        raise FormatError(f'solving: parameters is {shown(value)}; write {{"parameter": number, ...}}.')
    for name, given in value.items():
        most = MOST_THREADS if name == "threads" else MOST_PARAMETER
        if not isinstance(given, bool) and abs(number(given, f"solving, parameter {name!r}")) > most:
            raise FormatError(f"solving: parameter {name!r} is {given}; a scene may have up to {most}.")
    return value


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 2**31:
        raise FormatError(f"{where} is {shown(value)}; write a whole number up to 2**31.")
    return value


# By the type of a setting, as its class writes it.
_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "str": text, "int": _whole, "float": number, "bool": flag, "Mapping[str, Any]": _parameters,
}  # fmt: skip


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


# ---- Writing -------------------------------------------------------------------------------------------------


def _plain_wish(wish: Wish) -> dict[str, Any]:
    enabled = {} if wish.enabled else {"enabled": False}
    return {"kind": wish.kind, "name": wish.name, **enabled, **KINDS[wish.kind].unusual(wish)}


def _plain_block(block: Block) -> dict[str, Any]:
    usual = Block("", "", ())
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in dataclasses.asdict(block).items()
        if value != getattr(usual, name)
    }


def _unusual(settings: Any, usual: Any) -> dict[str, Any]:
    fields = (field.name for field in dataclasses.fields(settings))
    return {name: getattr(settings, name) for name in fields if getattr(settings, name) != getattr(usual, name)}


def _lines(plain: dict[str, Any]) -> str:
    """JSON with one line for each entry and each objective, which diffs well and reads like a table."""
    parts = []
    for key, value in plain.items():
        if key == "objectives":
            rows = ",\n    ".join(json.dumps(row, allow_nan=False) for row in value)
            parts.append(f'"objectives": [\n    {rows}\n  ]' if value else '"objectives": []')
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}")
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"
