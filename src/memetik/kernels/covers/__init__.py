"""Covers: simple solids around the points of a mesh, as small as can be.

solid_sizes            a solid as a row of numbers, the least size that holds points, and the volume of a union
outermost              the points that matter
fit                    where a solid of a kind is smallest
"""
