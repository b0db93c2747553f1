"""Vectors of three numbers, as tuples.

A product may be fused with the sum that it goes into (compiler/jit.py), and which one is can differ between a formula
that is written out and the same one by these functions, the last bits with it.
"""

import math

from memetik.kernels.compiler.jit import jit


@jit
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jit
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@jit
def plus(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@jit
def minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@jit
def times(k, a):
    return k * a[0], k * a[1], k * a[2]


@jit
def length(a):
    return math.sqrt(dot(a, a))
