"""Solid bodies: covers of meshes by simple shapes, pairs of links that can meet, worlds of obstacles."""

from memetik.collision.body_cover import Cover, cover
from memetik.collision.hulls import hull, hull_of, with_hulls
from memetik.collision.link_cover import Style, cover_surface
from memetik.collision.pairs import always_touching
from memetik.collision.sources import Source, find_sources
from memetik.read.shapes import OF

__all__ = [
    "OF", "Cover", "Source", "Style", "always_touching", "cover", "cover_surface", "find_sources", "hull", "hull_of",
    "with_hulls",
]  # fmt: skip
