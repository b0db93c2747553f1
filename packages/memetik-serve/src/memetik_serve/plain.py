"""Requests and replies as JSON takes them, read strictly: they come from strangers."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

import memetik as mk
from memetik.errors import shown
from memetik.scenes import KINDS, Wish, fields
from memetik_serve.core import LONGEST, MOST_ATTEMPTS, MOST_OBJECTIVES
from memetik_serve.request import Reply, Request

REQUEST = (
    "objectives", "group", "state", "fixed_joints", "approximate", "timeout", "attempts", "avoid_collisions", "method", "seed",
)  # fmt: skip


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


# Made once: json.loads and json.dumps with options make new ones at every call.
_decode = json.JSONDecoder(parse_constant=_refuse).decode
# The same for long texts: functions of Python's own for numbers let other threads go on in between.
_decode_long = json.JSONDecoder(
    parse_constant=_refuse, parse_float=lambda text: float(text), parse_int=lambda text: int(text)
).decode
LONG = 2**15  # characters
_encoder = json.JSONEncoder(allow_nan=False)
dumps = _encoder.encode
TOLERANCES = ("tolerance", "position_tolerance", "orientation_tolerance")


def dumps_long(value: dict[str, Any]) -> str:
    """The same text as `dumps`, made by Python's own functions, so that other threads go on in between."""
    return "".join(_encoder.iterencode(value))


def loads(data: bytes | str) -> dict[str, Any]:
    """The JSON object in a text."""
    try:
        text = data if isinstance(data, str) else data.decode()
        found = (_decode if len(text) < LONG else _decode_long)(text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise mk.errors.FormatError(f"this is not JSON: {reason}.") from error
    if not isinstance(found, dict):
        raise mk.errors.FormatError(f'this is {shown(found)}; write an object such as {{"objectives": [...]}}.')
    return found


def check_values(data: bytes, most: int) -> None:
    """Refuse JSON with more lists and objects than `most`, or ten times as many numbers and texts.

    To make them stops all threads of the process: 70 ms for 50,000 objects.
    """
    codes = np.frombuffer(data, np.uint8)  # of which others need not wait for as for bytes.count
    quotes = codes == ord('"')
    texts = np.count_nonzero(quotes) - np.count_nonzero(quotes[1:] & (codes[:-1] == ord("\\")))
    lists = np.count_nonzero((codes == ord("[")) | (codes == ord("{")))
    if lists > most or np.count_nonzero(codes == ord(",")) + texts // 2 > 10 * most:
        raise mk.errors.FormatError(
            f"the message has more than {most} lists and objects, or more than {10 * most} numbers."
        )


def request(given: Mapping[str, Any], also: Sequence[str] = ()) -> Request:
    """The request in a JSON object, which may have other keys that the caller reads itself."""
    for key in given:
        if key not in REQUEST and key not in also:
            raise mk.errors.FormatError(f"{shown(key)} is unknown. A request can have: {', '.join((*REQUEST, *also))}.")
    objectives = given.get("objectives", [])
    if not isinstance(objectives, list) or not 1 <= len(objectives) <= MOST_OBJECTIVES:
        raise mk.errors.FormatError(f"objectives is {shown(objectives)}; write a list of 1 to {MOST_OBJECTIVES}.")
    wishes = tuple([wish(each, k + 1) for k, each in enumerate(objectives)])
    if len({each.name for each in wishes}) < len(wishes):
        raise mk.errors.FormatError("two objectives have the same name. Give each a name of its own.")
    if len(given) == 1:
        return Request(wishes)
    return Request(
        wishes,
        group=name(given, "group"),
        state=fields.by_name(given.get("state", {}), "state"),
        fixed_joints=tuple(fields.texts(given.get("fixed_joints", []), "fixed_joints")),
        approximate=fields.flag(given.get("approximate", False), "approximate"),
        timeout=between(given, "timeout", 0.0, LONGEST, 0.0),
        attempts=int(between(given, "attempts", 1, MOST_ATTEMPTS, 1, whole=True)),
        avoid_collisions=fields.flag(given.get("avoid_collisions", False), "avoid_collisions"),
        method=name(given, "method"),
        seed=int(between(given, "seed", 0, fields.LARGEST, 0, whole=True)),
    )


def wish(given: Any, place: int = 1) -> Wish:
    """An objective as in a scene: kind, perhaps a name and enabled, and its values. `secondary` makes a guide of it.

    Its values are checked by the core, which knows those that it has seen before."""
    if not isinstance(given, dict):
        raise mk.errors.FormatError(f'objective {place} is {shown(given)}; write an object with "kind" and its fields.')
    values = dict(given)
    kind = values.pop("kind", None)
    if not isinstance(kind, str) or kind not in KINDS:
        raise mk.errors.FormatError(f"objective {place}: kind is {shown(kind)}. Write one of {', '.join(KINDS)}.")
    title = values.pop("name", None)
    title = f"{kind} {place}" if title is None else fields.text(title, f"objective {place}, name")
    enabled = values.pop("enabled", True)
    secondary = values.pop("secondary", False)
    if fields.flag(secondary, f"objective {title!r}, secondary"):
        values.update({field.name: None for field in KINDS[kind].fields if field.name in TOLERANCES})
    return Wish(kind, title, values, fields.flag(enabled, f"objective {title!r}, enabled"))


def reply(answer: Reply, names: Sequence[str]) -> dict[str, Any]:
    """A reply for JSON; `names` are those of the joints."""
    plain: dict[str, Any] = {"success": answer.code == 1, "code": int(answer.code), "status": answer.code.name}
    if answer.message:
        plain["message"] = answer.message
    if answer.q is None:
        return plain
    plain["reached"] = answer.reached
    plain["q"] = dict(zip(names, answer.q.tolist(), strict=True))
    plain["seconds"], plain["evaluations"] = answer.seconds, answer.evaluations
    if not answer.reached:
        plain["fitness"] = finite(answer.fitness)
        plain["objectives"] = [{**asdict(row), "error": finite(row.error)} for row in answer.measured]
    return plain


def name(given: Mapping[str, Any], key: str) -> str:
    """A name, or nothing where there is none."""
    value = given.get(key, "")
    return "" if value == "" else fields.text(value, key)


def between(
    given: Mapping[str, Any], key: str, least: float, most: float, usual: float, *, whole: bool = False
) -> float:
    """A number of a request within its bounds."""
    value = (fields.whole if whole else fields.number)(given.get(key, usual), key)
    if not least <= value <= most:
        raise mk.errors.FormatError(f"{key} is {value:g}; write a number from {least:g} to {most:g}.")
    return value


def finite(value: float) -> float | None:
    """JSON has no NaN."""
    return value if math.isfinite(value) else None
