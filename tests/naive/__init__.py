"""Slow, obvious twins of the kernels: plain 4x4 matrices and loops, nothing shared with what they check."""
