"""Numba only: scalars and arrays in, arrays out, no allocation, workspace passed in.

A pose is seven numbers (w, x, y, z, px, py, pz): a unit quaternion and a position [m]. Inside kernels it travels as a
tuple; in memory it is a row of a float64 array. See records.py for the flat form of a body.
"""
