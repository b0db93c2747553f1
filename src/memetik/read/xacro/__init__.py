"""xacro -> Body.

reader      a file as a Body, expanded here or, if it is trusted, by the package `xacro`
expand      the macros: a tree of elements in, another one out
scope       properties and macros by name
files       what a model includes
functions   what xacro adds to expressions, and YAML
expression  expressions, evaluated without Python
values      the functions of expressions, and how large values may be
"""

from memetik.read.xacro.reader import read_xacro

__all__ = ["read_xacro"]
