"""Skeletons and clips of glTF 2.0 and VRM, read without any other package.

container   the document, its buffers and its tree of nodes
tracks      animations: keys, and what is between them
vrm         which node is which part of a person
reader      nodes -> Body and joint vectors
"""

from memetik.read.gltf.reader import read_gltf, read_gltf_body

__all__ = ["read_gltf", "read_gltf_body"]
