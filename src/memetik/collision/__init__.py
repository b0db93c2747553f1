"""Solid bodies: covers of meshes by simple shapes, pairs of links that can meet, worlds of obstacles."""
