"""Solid bodies: covers of meshes by simple shapes, pairs of links that can meet, worlds of obstacles."""

from memetik.collision.body_cover import Cover, cover
from memetik.collision.sources import Source, find_sources

__all__ = ["Cover", "Source", "cover", "find_sources"]
