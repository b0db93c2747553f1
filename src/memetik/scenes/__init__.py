"""Scenes: a body, what is wanted of it and how it is solved, as plain data that a small JSON file keeps."""

from memetik.scenes import fields
from memetik.scenes.build import (
    CHAINS,
    block_shape,
    is_built,
    load_body,
    marked,
    objectives,
    problem,
    problem_for,
    root,
    solver,
    start,
    world_of,
)
from memetik.scenes.code import python_code
from memetik.scenes.fields import Field, frame_of, surface_of
from memetik.scenes.file import MOST_BYTES, dumps, loads, read_scene
from memetik.scenes.kinds import KINDS, Kind
from memetik.scenes.ready import READY, blank, ready
from memetik.scenes.scene import Block, BodySource, Motion, Scene, Solving, Wish

__all__ = [
    "CHAINS", "KINDS", "MOST_BYTES", "READY", "Block", "BodySource", "Field", "Kind", "Motion", "Scene", "Solving", "Wish",
    "blank", "block_shape", "dumps", "fields", "frame_of", "is_built", "load_body", "loads", "marked", "objectives", "problem",
    "problem_for", "python_code", "read_scene", "ready", "root", "solver", "start", "surface_of", "world_of",
]  # fmt: skip
