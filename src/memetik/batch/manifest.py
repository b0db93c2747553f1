"""What a folder of answers is the answer to, so that a job that was stopped goes on and a changed one does not mix in."""

from __future__ import annotations

import hashlib
import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np

from memetik._version import __version__
from memetik.batch.source import Source
from memetik.errors import FormatError, ProblemError
from memetik.kernels.terms import (
    CUSTOM,
    CUSTOM_JOINTS,
    FOLLOWS_START,
    SPRING_DATA,
    SPRING_HIGH,
    SPRING_LOW,
    SPRINGS,
)
from memetik.objectives import Custom, Objective
from memetik.problem import Problem
from memetik.solvers import Budget

NAME = "manifest.json"
FORMAT = 1
_NOTHING = 1e-14  # below it a number counts as zero, which is how machines differ in the sine of a half turn
_WORDS = {
    "problem": "the problem (body, objectives, tolerances, locks or limits)",
    "source": "the file of targets",
    "seed": "the seed",
    "evaluations": "the budget",
    "seconds": "the budget",
    "rows_per_shard": "the number of rows a shard",
    "memetik": "the version of memetik",
    "format": "the form of the answers",
}


def describe(
    problem: Problem, objective: Objective, source: Source, known: dict[str, Any], **options: Any
) -> dict[str, Any]:
    """All that decides the answers; `known` is the manifest that is there already, if one is."""
    budget: Budget = options.pop("budget")
    return {
        "format": FORMAT,
        "memetik": __version__,
        "body": problem.body.name,
        "objectives": [repr(other) for other in problem.objectives],
        "problem": fingerprint(problem, objective),
        "source": source.identity(known.get("source", ())),
        "evaluations": budget.evaluations,
        "seconds": str(budget.seconds),
        **options,
    }


def fingerprint(problem: Problem, objective: Objective) -> str:
    """A digest of the compiled problem, without the target of the objective that each row has its own of."""
    c = problem.compiled
    data = c.data.copy()
    for term in c.terms:
        if term["kind"] == CUSTOM:  # addresses are those of this process
            data[term["numbers"] : term["numbers"] + CUSTOM_JOINTS] = 0.0
        if term["kind"] == SPRINGS and term["other"] == FOLLOWS_START:
            for at in range(int(term["numbers"]), int(term["numbers"] + term["count"] * SPRING_DATA), SPRING_DATA):
                data[[at + SPRING_LOW, at + SPRING_HIGH]] = 0.0
    owner = c.owners[problem.objectives.index(objective)]
    target = int(c.terms[owner.start]["target"])
    data[target : target + 7] = 0.0
    digest = hashlib.blake2b(digest_size=16)
    which = [problem.body.joint_names, sorted(problem.lock.items()), problem.objectives.index(objective)]
    digest.update(json.dumps(which).encode())
    for array in (data, c.bounds, c.limits, c.population, c.active, problem.body.home):
        _add(digest, array)
    for records in (c.nodes, c.frames, c.terms):
        for field in records.dtype.names or ():
            if field not in ("residual", "jacobian", "unused"):
                _add(digest, records[field])
    for other in problem.objectives:
        digest.update(type(other).__name__.encode())
        if isinstance(other, Custom):
            digest.update(_code(other).encode())
    return digest.hexdigest()


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a folder, empty if there is none."""
    path = folder / NAME
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise FormatError(f"{path}: it cannot be read: {error}. Choose another folder, or solve anew.") from error
    return found


def require_same(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Raise if the answers in a folder are answers to something else."""
    changed = [words for key, words in _WORDS.items() if _essence(before.get(key)) != _essence(now[key])]
    if changed:
        raise ProblemError(
            f"files: {folder} holds answers to something else: {' and '.join(dict.fromkeys(changed))} changed. Choose "
            "another folder, or ask to solve everything anew (anew=True, --anew), which deletes them."
        )


def _essence(value: Any) -> Any:
    """Files are the same if their contents are, whatever their names and times."""
    return [(card["digest"], card["rows"]) for card in value] if isinstance(value, list) else value


def _add(digest: Any, array: Any) -> None:
    """Numbers as far as all machines agree on them, which is not to the last bit."""
    numbers = np.ascontiguousarray(array)
    if numbers.dtype.kind == "f":
        with np.errstate(over="ignore"):
            numbers = np.where(np.abs(numbers) < _NOTHING, 0.0, numbers).astype(np.float32)
    digest.update(str(numbers.shape).encode())
    digest.update(numbers.tobytes())


def _code(objective: Custom) -> str:
    """What a user's function says, as far as Python can tell."""
    function = getattr(objective, "relation", objective.function)
    function = getattr(function, "py_func", function)
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return repr(getattr(getattr(function, "__code__", None), "co_code", function))
