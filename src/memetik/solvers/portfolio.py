"""Portfolio: several methods for one problem, because none is the best for all (as TRAC-IK does, Beeson and Ames 2015).

TRAC-IK lets two methods race that fail for different reasons, Newton steps with random restarts and sequential quadratic
programming, and takes the answer of the first that is through. Here they are any methods, and they

    take turns    in the order of the list, each with its share of the budget; what one leaves over the next ones get
    race          each in a thread of its own with its share of the evaluations, all with the whole time

The first that reaches its target ends the search. In a race that depends on the clock, so unless told otherwise the
portfolio then still waits for those that stand earlier in the list, and takes the earliest that reached: the same call
gives the same answer. Where none reaches, the answer is the one that misses least.

Where it shines: problems of unknown kind, where one method hardly ever fails but sometimes does, and another one is slow
but fails elsewhere. Where it fails: a budget that is too small for one method is smaller still for two. A race needs cores
to run on and about a third of a millisecond to set up, so it pays for problems that take longer than that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import ProblemError, RefusedError, shown
from memetik.geometry.checks import real_number, several
from memetik.kernels.compiler.compile_time import split_time
from memetik.kernels.problem.budget import ATTEMPTS, EVALUATIONS, MOVED, OUTCOME, TIMED_OUT
from memetik.problem import Problem
from memetik.problem.cancel import CancelToken
from memetik.sharing import cached_property
from memetik.solution import Solution, Status
from memetik.solvers.budget import DEFAULT, Budget, require_task
from memetik.solvers.registry import Solver, chosen, solver
from memetik.solvers.seeded import Seeded

LEAST = 1e-9  # s, for the method that runs though the time is over
NO_TIME = "no time was left"


class Run(NamedTuple):
    """What one method of a portfolio did. Without a status it gave no answer, and the note says why."""

    method: str
    status: Status | None
    seconds: float  # without what its kernels took to compile [s]
    evaluations: int
    note: str = ""
    compile_seconds: float = 0.0  # what its kernels took besides to compile or load [s]


class PortfolioSolution(Solution):
    """The answer of the method that won. Its seconds and evaluations are those of all methods together."""

    __slots__ = ("runs",)

    runs: tuple[Run, ...]  # of every method, in the order of the list


class _Entry(NamedTuple):
    """A method on the list."""

    name: str
    solver: Solver
    share: float


@dataclass(frozen=True, kw_only=True)
class Portfolio(Seeded):
    """Several methods, one after another or in a race.

    methods: names (see mk.methods()) or solvers with parameters of their own. One that cannot take the problem is passed
    over, and the report says so.
    shares: the share of the budget of each method; equal unless given.
    race: all at once, each in a thread of its own.
    deterministic: of several that reach their target in a race the earliest in the list wins, not the quickest.

    The solution has `runs`: what each method did.
    """

    seed: int = 0
    methods: Sequence[str | Solver] = ("memetic", "de")
    shares: Sequence[float] | None = None
    race: bool = False
    deterministic: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        methods = several(self.methods, ProblemError, "portfolio: methods", "['memetic', 'de']")
        if not methods:
            raise ProblemError("portfolio: there is no method on the list. Name one at least; mk.methods() lists all.")
        object.__setattr__(self, "methods", methods)
        if self.shares is not None:
            object.__setattr__(self, "shares", _shares(self.shares, len(methods)))
        self._entries  # noqa: B018 - a name that does not exist is said now

    def solve(self, problem: Problem, start: ArrayLike | None = None, budget: Budget = DEFAULT) -> PortfolioSolution:
        """The answer of the method that reached its target, else the one that misses least."""
        require_task(problem, budget, "portfolio")
        begin = time.perf_counter()
        problem.start(start)  # what is wrong with it is said by the problem, not by each method
        if self.race:
            outcomes = _race(problem, self._entries, start, budget, deterministic=self.deterministic)
        else:
            outcomes = _take_turns(problem, self._entries, start, budget, begin)
        answers = [solution for _, solution in outcomes if solution is not None]
        if not answers:
            reasons = " ".join(run.note for run, _ in outcomes)
            raise RefusedError(f"no method of the portfolio can take the problem. {reasons}")
        winner = min(answers, key=_badness)  # of equals the earliest
        runs = tuple(run for run, _ in outcomes)
        took, compiling = split_time(begin)
        if self.race:  # in other threads, while this one waited
            others = max(run.compile_seconds for run in runs)
            took, compiling = took - others, compiling + others
        numbers = np.concatenate([np.zeros(OUTCOME), winner.term_errors, winner.term_satisfied])
        numbers[EVALUATIONS] = sum(run.evaluations for run in runs)
        numbers[ATTEMPTS] = sum(answer.attempts for answer in answers)
        # Where time ended a method, or kept one from its turn, the answer may be another one next time.
        numbers[TIMED_OUT] = any(answer.timed_out for answer in answers) or any(run.note == NO_TIME for run in runs)
        numbers[MOVED] = winner.start_moved
        method = f"portfolio ({winner.method})"
        answer = PortfolioSolution(problem, winner.q, winner.status, numbers, took, method, compiling)
        answer.runs = runs
        return answer

    @cached_property
    def _entries(self) -> tuple[_Entry, ...]:
        shares = self.shares or [1.0] * len(self.methods)
        return tuple(
            _Entry(method, solver(method, seed=self.seed), share)
            if isinstance(method, str)
            else _Entry(type(method).__name__, chosen(method, 0, "portfolio"), share)
            for method, share in zip(self.methods, shares, strict=True)
        )


def _shares(given: object, count: int) -> tuple[float, ...]:
    """One number above zero for each method, the largest of them 1, so that no sum of them is too large."""
    listed = several(given, ProblemError, "portfolio: shares", "[3.0, 1.0]")
    shares = [real_number(share, ProblemError, "portfolio: a share") for share in listed]
    if len(shares) != count or not all(0.0 < share < math.inf for share in shares):
        raise ProblemError(
            f"portfolio: shares are {shown(listed)}; give {count} finite numbers above zero, one for each method."
        )
    return tuple(share / max(shares) for share in shares)


Outcome = tuple[Run, Solution | None]


def _take_turns(
    problem: Problem, entries: Sequence[_Entry], start: ArrayLike | None, budget: Budget, begin: float
) -> list[Outcome]:
    """One method after another until one reaches its target. The first that can take the problem runs in any case."""
    outcomes: list[Outcome] = []
    left = budget.evaluations
    for k, entry in enumerate(entries):
        share = entry.share / sum(later.share for later in entries[k:])
        seconds = budget.seconds - split_time(begin)[0]
        answers = [solution for _, solution in outcomes if solution is not None]
        if not answers or (left >= 1 and seconds > 0.0 and not answers[-1].success):
            share_of_time = max(seconds * share, LEAST)
            part = replace(budget, evaluations=max(round(left * share), 1), seconds=share_of_time)
            outcomes.append(_run(entry, problem, start, part))
            left -= outcomes[-1][0].evaluations
        else:
            note = "not needed" if answers[-1].success else "no evaluations were left" if left < 1 else NO_TIME
            outcomes.append((Run(entry.name, None, 0.0, 0, note), None))
    return outcomes


def _race(
    problem: Problem, entries: Sequence[_Entry], start: ArrayLike | None, budget: Budget, *, deterministic: bool
) -> list[Outcome]:
    """Every method in a thread of its own: start all, stop those that cannot win any more, and wait for the rest."""
    whole, tokens = sum(entry.share for entry in entries), [CancelToken() for _ in entries]
    futures: list[Future[Outcome]] = []
    beaten: set[int] = set()
    with ThreadPoolExecutor(len(entries)) as pool:
        try:
            for entry, token in zip(entries, tokens, strict=True):
                most = max(round(budget.evaluations * entry.share / whole), 1)
                part = Budget(evaluations=most, seconds=budget.seconds, token=token)
                futures.append(pool.submit(_run, entry, problem, start, part))
            while not all(future.done() for future in futures):
                first = next((k for k, future in enumerate(futures) if _reached(future)), None)
                running = [k for k, future in enumerate(futures) if not future.done()]
                if first is not None:
                    beaten.update(k for k in running if k > first or not deterministic)
                for k in beaten:
                    tokens[k].cancel()
                wait([futures[k] for k in running], return_when=FIRST_COMPLETED)
        except BaseException:
            for token in tokens:  # or Ctrl-C would wait for all of them
                token.cancel()
            raise
    outcomes = [future.result() for future in futures]
    for k in beaten:  # what was told to stop counts no more, whatever it found by then
        outcomes[k] = outcomes[k][0]._replace(status=None, note="stopped, another one had won"), None
    return outcomes


def _reached(future: Future[Outcome]) -> bool:
    if not future.done() or future.exception() is not None:
        return False
    solution = future.result()[1]
    return solution is not None and solution.success


def _run(entry: _Entry, problem: Problem, start: ArrayLike | None, budget: Budget) -> Outcome:
    begin = time.perf_counter()
    try:
        solution = entry.solver.solve(problem, start, budget)
    except RefusedError as refusal:
        took, compiling = split_time(begin)
        return Run(entry.name, None, took, 0, str(refusal), compiling), None
    numbers = solution.status, solution.seconds, solution.evaluations
    return Run(entry.name, *numbers, compile_seconds=solution.compile_seconds), solution


def _badness(solution: Solution) -> tuple[int, float]:
    """Status first; then what is missed, the sum of squares of the errors, weighed as the problem weighs them."""
    if solution.success:
        return 0, 0.0
    terms = solution.problem.compiled.terms
    missed = np.where(terms["soft"] == 0, terms["scale"] * solution.term_errors, 0.0)
    return int(solution.status), float(missed @ missed)
