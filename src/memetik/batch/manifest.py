"""A folder of answers: what it is the answer to, which of its shards are done, and what in it is not ours.

The manifest of a folder says what decides the answers, so that a job that was stopped goes on and a changed one does not mix
in. A shard counts as done if its checksum is that of its contents and it says itself that it is this shard of this job. A
name alone proves nothing: files are cut off, overwritten, exchanged and copied from other folders.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from memetik._version import __version__
from memetik.batch.checksum import digest_of, digest_of_data, read_if_there, read_note, read_seal
from memetik.batch.shards import ANSWERS, REJECTS, Job, Tally
from memetik.batch.source import Piece, Source
from memetik.errors import ProblemError, warn
from memetik.files import write_whole
from memetik.kernels.terms.custom import CUSTOM_JOINTS
from memetik.kernels.terms.records import FOLLOWS_START, FROM_KIND, kind_of
from memetik.kernels.terms.springs import SPRING_DATA, SPRING_HIGH, SPRING_LOW
from memetik.objectives import Custom, Objective
from memetik.problem import Problem
from memetik.solvers import Budget

NAME = "manifest.json"
HOW_TO_MEND = (
    "Choose another folder, or ask to solve everything again (overwrite=True, --overwrite), which deletes them."
)
FORMAT = 2
_MOVE = "Move it out of the way."
_NAMED = 8  # files that a warning names
_SHARD = re.compile(r"\d{6,}\.parquet")
_HALF = re.compile(r"\.(\d{6,}\.parquet|manifest\.json)\.[0-9a-f]+\.tmp")  # as memetik/files.py names them
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
    return {**manifest, "job": digest_of_data([_essence(manifest[key]) for key in _WORDS])}


def fingerprint(problem: Problem, objective: Objective) -> str:
    """A digest of the compiled problem, without the target of the objective that each row has its own of."""
    c = problem.compiled
    data = c.data.copy()
    for term in c.terms:
        if kind_of(term).calls_python:  # addresses are those of this process
            data[term["numbers"] : term["numbers"] + CUSTOM_JOINTS] = 0.0
        if term["other"] == FOLLOWS_START:
            for at in range(int(term["numbers"]), int(term["numbers"] + term["count"] * SPRING_DATA), SPRING_DATA):
                data[[at + SPRING_LOW, at + SPRING_HIGH]] = 0.0
    owner = c.owners[problem.objectives.index(objective)]
    target = int(c.terms[owner.start]["target"])
    data[target : target + 7] = 0.0
    which = [problem.body.joint_names, sorted(problem.lock.items()), problem.objectives.index(objective)]
    parts = [json.dumps(which).encode()]
    for array in (data, problem.body.home, c.priorities):
        parts += _bytes(array)
    for records in (c.nodes, c.frames, c.terms, c.variables, c.limits):
        for field in records.dtype.names or ():
            if field not in FROM_KIND:
                parts += _bytes(records[field])
    for other in problem.objectives:
        parts.append(type(other).__name__.encode())
        if isinstance(other, Custom):
            parts.append(_code(other).encode())
    return digest_of(parts)


class Found(NamedTuple):
    """The manifest of a folder."""

    manifest: dict[str, Any]  # empty if there is none that can be trusted
    fault: str  # why it cannot; empty if it can


def read_manifest(folder: Path) -> Found:
    """The manifest of a folder, if it is as it was written."""
    text = read_if_there(folder / NAME, "Choose another folder.")
    if text is None:
        return Found({}, "it is missing")
    try:
        manifest = json.loads(text)
        sealed = {key: value for key, value in manifest.items() if key != "checksum"}
        sound = manifest.get("checksum") == digest_of_data(sealed)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, nested too deeply
        return Found({}, "it is cut off or garbled")
    except AttributeError:
        return Found({}, "it is no manifest")
    if manifest.get("format") == 1 and "checksum" not in manifest:
        raise ProblemError(f"files: {folder} holds answers of an earlier version of memetik. {HOW_TO_MEND}")
    return Found(sealed, "") if sound else Found({}, "it was changed")


class State(NamedTuple):
    """How far a job is."""

    done: Tally
    missing: list[Piece]  # what is left to solve
    distrusted: list[str]  # of what is left: files that are there but do not verify, and why
    strays: list[str]  # files among the answers that this job did not write


def resume(job: Job, pieces: Sequence[Piece], found: Found, manifest: dict[str, Any], *, overwrite: bool) -> State:
    """Make the folder one of this job, and say what is left to solve."""
    folder = job.out
    if found.manifest:
        _require_same(folder, found.manifest, manifest)
    elif not overwrite and _used_by(folder, job.identity, found.fault):
        warn(f"files: {folder / NAME}: {found.fault}. It is written again; what its shards hold is verified.")
    clean(folder, everything=overwrite)
    text = json.dumps({**manifest, "checksum": digest_of_data(manifest)}, indent=1)
    write_whole(folder / NAME, text.encode() + b"\n")
    state = _survey(job, pieces)
    if state.distrusted:
        warn(f"files: {folder}: solved again, because {some(state.distrusted)}.")
    if state.strays:
        warn(f"files: {folder}: not written by this job, so not counted: {some(state.strays)}. Move it away.")
    return state


def require_ours(job: Job, pieces: Sequence[Piece]) -> None:
    """Raise if a shard is not of this job when all are written, whatever has written it. Contents are not verified."""
    paths = [job.path(ANSWERS, piece) for piece in pieces]
    foreign = [_name(path) for path in paths if read_note(path).get("job") != job.identity]
    if foreign:
        raise ProblemError(
            f"files: {job.out}: another run has written into the folder meanwhile: {some(foreign)}. Start this one again; "
            "what is of another job is then solved again."
        )


def clean(folder: Path, *, everything: bool = False) -> None:
    """Remove what a stopped run left half written, or all answers. Files that no job writes stay."""
    for parent in (folder, folder / ANSWERS, folder / REJECTS):
        for path in parent.iterdir():
            if _HALF.fullmatch(path.name) and path.is_file():
                path.unlink(missing_ok=True)  # a machine that was thought lost may end its work
    if everything:
        for path in (*_numbered(folder / ANSWERS), *_numbered(folder / REJECTS)):
            path.unlink(missing_ok=True)


def _numbered(folder: Path) -> Iterator[Path]:
    """The files of a folder that are named as shards are."""
    return (path for path in sorted(folder.glob("*.parquet")) if _SHARD.fullmatch(path.name) and not path.is_dir())


def some(names: Sequence[str]) -> str:
    """The first names of a list that may be long."""
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _used_by(folder: Path, job: str, fault: str) -> bool:
    """Whether a folder without a sound manifest has been used before; raise if it was used by another job."""
    contents = [read_if_there(path, _MOVE) or b"" for path in _numbered(folder / ANSWERS)]
    owners = {str(read_seal(data).note.get("job", "")) for data in contents}  # empty where a shard says nothing
    if owners - {""} and job not in owners:
        raise ProblemError(
            f"files: {folder / NAME}: {fault}, and the shards beside it are those of another job. {HOW_TO_MEND}"
        )
    there = (folder / NAME).exists()
    if owners == {""} and not there:
        raise ProblemError(
            f"files: {folder} has no {NAME}, and nothing says what the files in {ANSWERS} are answers to. {HOW_TO_MEND}"
        )
    return there or bool(contents)


def _require_same(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
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


def _bytes(array: Any) -> list[bytes]:
    """Numbers as far as all machines agree on them, which is not to the last bit."""
    numbers = np.ascontiguousarray(array)
    if numbers.dtype.kind == "f":
        with np.errstate(over="ignore"):
            numbers = np.where(np.abs(numbers) < _NOTHING, 0.0, numbers).astype(np.float32)
    return [str(numbers.shape).encode(), numbers.tobytes()]


def _code(objective: Custom) -> str:
    """What a user's function says, as far as Python can tell."""
    function = getattr(objective, "relation", objective.function)
    function = getattr(function, "py_func", function)
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return repr(getattr(getattr(function, "__code__", None), "co_code", function))


# ---- Which shards are done ---------------------------------------------------------------------------------


class _Verdict(NamedTuple):
    """Whether a file is what its name says."""

    tally: Tally | None  # None unless it is
    fault: str  # why it is not; empty if it is not there


def _survey(job: Job, pieces: Sequence[Piece]) -> State:
    """Verify every shard, by reading it once."""
    done, ours = Tally(), set[Path]()
    missing: list[Piece] = []
    distrusted: list[str] = []
    for piece in pieces:
        tally, *faults = _verify(job, piece, ANSWERS)
        ours.add(job.path(ANSWERS, piece))
        if tally is None or tally.rejected:
            rejects, path = _verify(job, piece, REJECTS), job.path(REJECTS, piece)
            ours.add(path)
            faults.append(rejects.fault)
            if tally is not None and rejects.tally != tally:
                if not rejects.fault:
                    what = "is missing" if rejects.tally is None else "has other counts than its shard"
                    faults.append(f"{_name(path)} {what}")
                tally = None
        if tally is None:
            missing.append(piece)
            distrusted += filter(None, faults)
        else:
            done = done.plus(tally)
    found = [path for part in (ANSWERS, REJECTS) for path in sorted((job.out / part).iterdir())]
    # Hidden files, such as a file system's own, are left alone.
    strays = [_name(path) for path in found if path not in ours and not path.name.startswith(".")]
    return State(done, missing, distrusted, strays)


def _verify(job: Job, piece: Piece, part: str) -> _Verdict:
    path = job.path(part, piece)
    data = read_if_there(path, _MOVE)
    if data is None:
        return _Verdict(None, "")
    (note, intact), expected = read_seal(data), job.note(piece, part)
    if not note:
        return _Verdict(None, f"{_name(path)} is cut off or no shard of memetik")
    if not intact:
        return _Verdict(None, f"{_name(path)} does not match its checksum")
    if note.get("job") != expected["job"]:
        return _Verdict(None, f"{_name(path)} is of another job")
    if any(note.get(key) != value for key, value in expected.items()):
        return _Verdict(None, f"{_name(path)} is shard {note.get('shard')} of the {note.get('part')}")
    return _Verdict(Tally(*(note.get(key, 0) for key in Tally._fields)), "")


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
