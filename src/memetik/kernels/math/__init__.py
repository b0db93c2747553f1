"""Poses and small linear algebra.

arctan2                the angle of a direction
banded                 Cholesky factorisation within a band
line_search            the line search of Moré and Thuente
linear                 Cholesky factorisation and one damped step
pose                   unit quaternion and position
rotation               rotations of poses, and the derivative of their difference
sincos                 sine and cosine together
svd                    singular values by Jacobi rotations
symmetric              symmetric systems by LDL^T
vector                 three numbers
"""
