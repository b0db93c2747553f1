"""What a folder of answers is the answer to, so that a job that was stopped goes on and a changed one does not mix in."""

from __future__ import annotations

import hashlib
import inspect
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memetik._version import __version__
from memetik.batch.checksum import digest_of, read_seal
from memetik.batch.shards import ANSWERS, numbered
from memetik.batch.source import Source
from memetik.errors import FormatError, ProblemError
from memetik.files import write_whole
from memetik.kernels.terms.records import (
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
HOW_TO_MEND = "Choose another folder, or ask to solve everything anew (anew=True, --anew), which deletes them."
FORMAT = 2
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
    manifest = {
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
    return {**manifest, "job": digest_of([_essence(manifest[key]) for key in _WORDS])}


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
    for array in (data, problem.body.home):
        _add(digest, array)
    for records in (c.nodes, c.frames, c.terms, c.variables, c.limits):
        for field in records.dtype.names or ():
            if field not in ("residual", "jacobian", "unused"):
                _add(digest, records[field])
    for other in problem.objectives:
        digest.update(type(other).__name__.encode())
        if isinstance(other, Custom):
            digest.update(_code(other).encode())
    return digest.hexdigest()


class Found(NamedTuple):
    """The manifest of a folder."""

    manifest: dict[str, Any]  # empty if there is none that can be trusted
    fault: str  # why it cannot; empty if it can


def read_manifest(folder: Path) -> Found:
    """The manifest of a folder, if it is as it was written."""
    path = folder / NAME
    try:
        text = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Found({}, "it is missing")
    except OSError as error:
        raise FormatError(f"{path}: it cannot be read: {error.strerror}. Choose another folder.") from error
    try:
        manifest = json.loads(text)
        sealed = {key: value for key, value in manifest.items() if key != "checksum"}
        sound = manifest.get("checksum") == digest_of(sealed)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, nested too deeply
        return Found({}, "it is cut off or garbled")
    except AttributeError:
        return Found({}, "it is no manifest")
    if manifest.get("format") == 1 and "checksum" not in manifest:
        raise ProblemError(f"files: {folder} holds answers of an earlier version of memetik. {HOW_TO_MEND}")
    return Found(sealed, "") if sound else Found({}, "it was changed")


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest of a folder, with a checksum of itself."""
    text = json.dumps({**manifest, "checksum": digest_of(manifest)}, indent=1)
    write_whole(folder / NAME, text.encode() + b"\n")


def require_ours(folder: Path, job: str, fault: str) -> bool:
    """Whether a folder without a sound manifest has been used before; raise if it was used by another job."""
    shards = list(numbered(folder / ANSWERS))
    owners = {_owner(path) for path in shards}
    if owners - {""} and job not in owners:
        raise ProblemError(
            f"files: {folder / NAME}: {fault}, and the shards beside it are those of another job. {HOW_TO_MEND}"
        )
    there = (folder / NAME).exists()
    if owners == {""} and not there:
        raise ProblemError(
            f"files: {folder} has no {NAME}, and nothing says what the files in {ANSWERS} are answers to. {HOW_TO_MEND}"
        )
    return there or bool(shards)


def _owner(path: Path) -> str:
    """The job that a shard says it belongs to; empty if it says nothing."""
    try:
        return str(read_seal(path.read_bytes()).note.get("job", ""))
    except OSError as error:
        raise FormatError(f"{path}: it cannot be read: {error.strerror}. Move it out of the way.") from error


def require_same(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    """Raise if the answers in a folder are answers to something else."""
    changed = [words for key, words in _WORDS.items() if _essence(before.get(key)) != _essence(now[key])]
    if changed:
        raise ProblemError(
            f"files: {folder} holds answers to something else: {' and '.join(dict.fromkeys(changed))} changed. "
            f"{HOW_TO_MEND}"
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
