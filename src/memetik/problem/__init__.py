"""Problem = body + objectives + limits + locked joints, and its compilation into flat arrays."""

from memetik.problem.columns import target_columns
from memetik.problem.fitness import fitness
from memetik.problem.notice import announce_compilation
from memetik.problem.problem import Problem, require_problem
from memetik.problem.seed import checked_seed

__all__ = ["Problem", "checked_seed", "fitness", "require_problem", "target_columns"]

announce_compilation()
