"""Problem = body + objectives + limits + locked joints, and its compilation into flat arrays."""

from memetik.problem.notice import announce_compilation
from memetik.problem.problem import Problem, require_problem

__all__ = ["Problem", "require_problem"]

announce_compilation()
