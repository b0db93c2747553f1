"""What came out: the joint vector, whether it is good, and why not."""

from memetik.solution.solution import Solution, Status

__all__ = ["Solution", "Status"]
