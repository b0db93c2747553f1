"""Closest points, signed distances and rays, of solids and surfaces placed in the world.

closest                closest points of segments and boxes
epa                    how deep convex solids are in each other
function_pointers      signed distances that are called by address
gjk                    the distance between convex solids
grids                  signed distances from grids of samples
heights                signed distances from height fields
hulls                  signed distances of hulls
rays                   rays and surfaces
solids                 signed distances of solids
support                how far a solid reaches in a direction
triangles              a tree of triangles
"""
