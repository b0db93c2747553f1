"""Problem = body + objectives + limits + locked joints, and its compilation into flat arrays."""

from memetik.problem.notice import announce_compilation
from memetik.problem.problem import Problem, require_problem
from memetik.problem.seed import checked_seed

__all__ = ["Problem", "checked_seed", "require_problem"]

announce_compilation()
