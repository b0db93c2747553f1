"""Solid bodies: covers of meshes by simple shapes, pairs of links that can meet, worlds of obstacles."""

from memetik.collision.body_cover import Cover, cover
from memetik.collision.hulls import hull, hull_of, with_hulls
from memetik.collision.link_cover import Style, cover_surface
from memetik.collision.obstacles import Obstacle
from memetik.collision.pairs import CollisionPairs, LinkPair, always_touching, find_collision_pairs
from memetik.collision.signed_distance import SignedDistanceGrid
from memetik.collision.sources import Source, find_sources
from memetik.collision.world import World
from memetik.read.shapes import OF

__all__ = [
    "OF", "CollisionPairs", "Cover", "LinkPair", "Obstacle", "SignedDistanceGrid", "Source", "Style", "World",
    "always_touching", "cover", "cover_surface", "find_collision_pairs", "find_sources", "hull", "hull_of", "with_hulls",
]  # fmt: skip
