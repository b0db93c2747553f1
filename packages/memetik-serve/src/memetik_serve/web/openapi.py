"""What the routes take and give, as OpenAPI 3.1 says it; the kinds of objectives are those of scenes."""

from __future__ import annotations

from functools import cache
from typing import Any

import memetik as mk
from memetik.scenes import KINDS, Field, Kind
from memetik_serve.codes import Code
from memetik_serve.core import MOST_ATTEMPTS, MOST_OBJECTIVES
from memetik_serve.web.limits import Limits

Plain = dict[str, Any]


def _numbers(count: int, about: str) -> Plain:
    return {"type": "array", "items": {"type": "number"}, "minItems": count, "maxItems": count, "description": about}


_NUMBER, _TEXT, _FLAG = {"type": "number"}, {"type": "string"}, {"type": "boolean"}
_BY_NAME = {"type": "object", "additionalProperties": {"type": "number"}, "description": "values by joint [rad or m]"}
_FRAME: Plain = {
    "oneOf": [
        {"type": "string", "description": "a link"},
        {
            "type": "object",
            "properties": {
                "link": _TEXT,
                "position": _numbers(3, "in the link [m]"),
                "wxyz": _numbers(4, "in the link"),
            },
            "required": ["link"],
        },
    ]
}
_ROWS = {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
_TYPES: dict[str, Plain] = {
    "frame": _FRAME, "point": _numbers(3, "x, y, z [m]"), "direction": _numbers(3, "any length but zero"),
    "rotation": _numbers(4, "quaternion w, x, y, z"), "number": _NUMBER, "whole": {"type": "integer"}, "text": _TEXT,
    "joint": {"type": "string", "description": "a joint"}, "links": {"type": "array", "items": _TEXT}, "flag": _FLAG,
    "weights": _BY_NAME, "posture": _BY_NAME, "points": _ROWS, "spheres": _ROWS, "surface": {"type": "object"},
}  # fmt: skip


@cache
def description(limits: Limits) -> Plain:
    """The whole description."""
    request: Plain = {
        "type": "object",
        "required": ["objectives"],
        "properties": {
            "objectives": {
                "type": "array", "minItems": 1, "maxItems": MOST_OBJECTIVES,
                "items": {"oneOf": [{"$ref": f"#/components/schemas/{kind}"} for kind in KINDS]},
            },
            "group": {"type": "string", "description": "the named chain whose joints may move; all if empty"},
            "state": {**_BY_NAME, "description": "where to start, by joint [rad or m]; home for the rest"},
            "fixed_joints": {"type": "array", "items": _TEXT},
            "approximate": {"type": "boolean", "description": "the closest posture is a success, too"},
            "timeout": {"type": "number", "minimum": 0, "maximum": limits.timeout, "description": "of the search [s]"},
            "attempts": {"type": "integer", "minimum": 1, "maximum": MOST_ATTEMPTS},
            "avoid_collisions": _FLAG,
            "method": {"type": "string", "enum": ["", *(row.name for row in mk.methods())]},
            "seed": {"type": "integer", "minimum": 0},
        },
    }  # fmt: skip
    reply: Plain = {
        "type": "object",
        "properties": {
            "success": _FLAG,
            "code": {"type": "integer", "enum": [code.value for code in Code], "description": "as in MoveIt"},
            "status": {"type": "string", "enum": [code.name for code in Code]},
            "message": _TEXT,
            "reached": {"type": "boolean", "description": "every objective is within its tolerance"},
            "q": _BY_NAME,
            "seconds": _NUMBER,
            "evaluations": {"type": "integer"},
            "fitness": _NUMBER,
            "objectives": {"type": "array", "items": {"type": "object"}, "description": "errors, where not reached"},
        },
    }
    fault = {"type": "object", "properties": {"success": {"const": False}, "message": _TEXT}}
    targets = {"type": "object", "description": "objective -> field -> value"}
    schemas: Plain = {
        "Request": request, "Reply": reply, "Fault": fault, **{name: _kind(kind) for name, kind in KINDS.items()},
        "TrackRequest": {
            "allOf": [_ref("Request")],
            "properties": {
                "targets": {"type": "object", "description": "objective -> field -> rows, one for each step"},
                "rate": _NUMBER, "velocity": _NUMBER, "acceleration": _NUMBER,
            },
        },
        "Track": {
            "type": "object",
            "properties": {
                "success": _FLAG, "joint_names": {"type": "array", "items": _TEXT}, "q": _ROWS,
                "times": {"type": "array", "items": _NUMBER}, "reached": {"type": "array", "items": _FLAG},
                "jumped": {"type": "array", "items": _FLAG}, "seconds": _NUMBER,
            },
        },
        "SceneRequest": {
            "type": "object",
            "properties": {"targets": targets, "state": _BY_NAME, "approximate": _FLAG, "timeout": _NUMBER},
        },
        "ForwardRequest": {
            "type": "object", "properties": {"state": _BY_NAME, "links": {"type": "array", "items": _TEXT}},
        },
        "Any": {"type": "object"},
    }  # fmt: skip
    paths: Plain = {
        "/health": {"get": _operation("whether the server answers", None, "Any")},
        "/body": {"get": _operation("joints with limits, links and groups", None, "Any")},
        "/solve": {"post": _operation("find a posture", "Request", "Reply")},
        "/explain": {"post": _operation("in sentences what a request misses and why", "Request", "Any")},
        "/forward": {"post": _operation("where links are: position and wxyz of each", "ForwardRequest", "Any")},
        "/track": {"post": _operation("a posture for each of many targets", "TrackRequest", "Track")},
        "/scenes": {"get": _operation("the names of the scenes", None, "Any")},
        "/scenes/{name}": {
            "parameters": [_NAME],
            "put": _operation("keep a scene, a file as `memetik studio` writes it", "Any", "Any", 201),
            "get": _operation("a scene", None, "Any"),
            "delete": _operation("forget a scene", None, "Any"),
        },
        "/scenes/{name}/solve": {
            "parameters": [_NAME],
            "post": _operation("find a posture for a scene, with some targets changed", "SceneRequest", "Reply"),
        },
        "/ws": {
            "get": _socket("requests as for /solve one after the other, each may have an id that its reply has, too")
        },
        "/servo": {"get": _socket("first a request with a rate, then targets; postures within limits of velocity")},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "memetik",
            "version": mk.__version__,
            "description": "Inverse kinematics. Metres, radians, seconds; quaternions are w, x, y, z.",
        },
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
    }


_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}


def _ref(schema: str) -> Plain:
    return {"$ref": f"#/components/schemas/{schema}"}


def _content(schema: str) -> Plain:
    return {"content": {"application/json": {"schema": _ref(schema)}}}


def _operation(about: str, takes: str | None, gives: str, status: int = 200) -> Plain:
    faults = {
        "400": "not understood", "401": "no token", "413": "too large", "422": "understood, and impossible",
        "429": "too many requests", "503": "too many searches wait",
    }  # fmt: skip
    found: Plain = {
        "summary": about,
        "responses": {
            str(status): {"description": "the answer", **_content(gives)},
            **{code: {"description": words, **_content("Fault")} for code, words in faults.items()},
        },
    }
    return found if takes is None else {**found, "requestBody": {"required": True, **_content(takes)}}


def _socket(about: str) -> Plain:
    return {"summary": f"WebSocket: {about}", "responses": {"101": {"description": "the connection is a WebSocket"}}}


def _kind(kind: Kind) -> Plain:
    own: Plain = {
        "kind": {"const": kind.name},
        "name": {"type": "string", "description": "its own in the request"},
        "enabled": _FLAG,
        "secondary": {"type": "boolean", "description": "a guide, which never blocks"},
    }
    needed = [field.name for field in kind.fields if field.default is None and not field.optional]
    return {
        "type": "object",
        "description": kind.about,
        "required": ["kind", *needed],
        "properties": {**own, **{field.name: _field(field) for field in kind.fields}},
        "additionalProperties": False,
    }


def _field(field: Field) -> Plain:
    schema = dict(_TYPES[field.type])
    if field.choices:
        schema["enum"] = list(field.choices)
    if field.default is not None:
        schema["default"] = field.default
    return {"anyOf": [schema, {"type": "null"}]} if field.optional else schema
