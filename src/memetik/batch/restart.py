"""What a run that was stopped left behind: which shards are done, which must be solved again, and what is not ours.

A shard counts as done if its checksum is that of its contents and it says itself that it is this shard of this job. A name
alone proves nothing: files are cut off, overwritten, exchanged and copied from other folders.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memetik.batch.checksum import read_seal
from memetik.batch.shards import ANSWERS, REJECTS, Job, Tally
from memetik.batch.source import Piece
from memetik.errors import FormatError

_WHICH = ("part", "shard", "first", "rows")


class State(NamedTuple):
    """How far a job is."""

    done: Tally
    missing: list[Piece]  # what is left to solve
    distrusted: list[str]  # of what is left: files that are there but do not verify, and why
    strays: list[str]  # files among the answers that this job did not write


class _Verdict(NamedTuple):
    """Whether a file is what its name says."""

    tally: Tally | None  # None unless it is
    fault: str  # why it is not; empty if it is not there


def survey(job: Job, pieces: Sequence[Piece]) -> State:
    """Verify every shard, by reading it once."""
    done, ours = Tally(), set[Path]()
    missing: list[Piece] = []
    distrusted: list[str] = []
    for piece in pieces:
        answers, rejects = job.answers(piece.shard), job.rejects(piece.shard)
        verdict = _judge(job, piece)
        ours.add(answers)
        if verdict.tally is None:
            missing.append(piece)
            faults = {verdict.fault, _verify(job, piece, rejects).fault}
            distrusted += sorted(faults - {""}, reverse=True)
        else:
            done = done.plus(verdict.tally)
        if verdict.tally is None or verdict.tally.rejected:
            ours.add(rejects)
    return State(done, missing, distrusted, _strays(job.out, ours))


def _judge(job: Job, piece: Piece) -> _Verdict:
    """A shard and, where rows were rejected, the file of these."""
    answers = _verify(job, piece, job.answers(piece.shard))
    if answers.tally is None or not answers.tally.rejected:
        return answers
    rejects = _verify(job, piece, job.rejects(piece.shard))
    if rejects.tally is None and not rejects.fault:
        return _Verdict(None, f"{REJECTS}/{job.rejects(piece.shard).name} is missing")
    if rejects.tally is not None and rejects.tally != answers.tally:
        return _Verdict(None, f"{REJECTS}/{job.rejects(piece.shard).name} has other counts than its shard")
    return rejects


def _verify(job: Job, piece: Piece, path: Path) -> _Verdict:
    name = f"{path.parent.name}/{path.name}"
    try:
        note, intact = read_seal(path.read_bytes())
    except FileNotFoundError:
        return _Verdict(None, "")
    except OSError as error:
        raise FormatError(f"{path}: it cannot be read: {error.strerror}. Move it out of the way.") from error
    expected = job.note(piece, path.parent.name)
    if not note:
        return _Verdict(None, f"{name} is cut off or no shard of memetik")
    if not intact:
        return _Verdict(None, f"{name} does not match its checksum")
    if note.get("job") != expected["job"]:
        return _Verdict(None, f"{name} is of another job")
    if any(note.get(key) != expected[key] for key in _WHICH):
        return _Verdict(None, f"{name} is {_words(note)}")
    return _Verdict(Tally(*(note[key] for key in Tally._fields)), "")


def _words(note: dict[str, Any]) -> str:
    return f"shard {note.get('shard')} of the {note.get('part')}"


def _strays(out: Path, ours: set[Path]) -> list[str]:
    """What else lies among the answers; hidden files, such as a file system's own, are left alone."""
    found = [path for part in (ANSWERS, REJECTS) for path in sorted((out / part).iterdir())]
    return [f"{path.parent.name}/{path.name}" for path in found if path not in ours and not path.name.startswith(".")]
