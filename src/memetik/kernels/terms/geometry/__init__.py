"""Closest points, signed distances and rays, for terms about solids and surfaces.

closest                closest points of segments and boxes
rays                   rays and surfaces
solids                 signed distances of solids
triangles              a tree of triangles
"""
