"""What came out: the joint vector, whether it is good, and why not."""

from memetik.solution.measures import GUIDE, MISSED, Measure, measures, title
from memetik.solution.report import columns, summary
from memetik.solution.solution import Solution, Status
from memetik.solution.words import count, duration

__all__ = [
    "GUIDE", "MISSED", "Measure", "Solution", "Status", "columns", "count", "duration", "measures", "summary", "title",
]  # fmt: skip
