"""solve_files started again on a folder in which files were damaged, exchanged, lost or added."""

from __future__ import annotations

import json
import os
import shutil
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import memetik as mk
from memetik.batch.checksum import read_seal
from memetik.errors import FormatError, MemetikWarning, ProblemError

ROWS, SHARD = 40, 5
SHARDS = ROWS // SHARD
BAD = (7, 8, 31)  # rows that are rejected, in shards 1 and 6


@pytest.fixture(scope="module")
def problem():
    return mk.Problem(mk.build.planar_chain([0.5, 0.3]), mk.Position("tip", np.zeros(3)))


def write_targets(path, seed=0):
    """Points in reach of the chain, save for some that are no numbers."""
    rng = np.random.default_rng(seed)
    angles, radii = rng.uniform(-np.pi, np.pi, ROWS), rng.uniform(0.25, 0.75, ROWS)
    x = radii * np.cos(angles)
    x[list(BAD)] = np.nan
    columns = {"x": x, "y": radii * np.sin(angles), "z": np.zeros(ROWS), "id": [f"id {k}" for k in range(ROWS)]}
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_targets(tmp_path_factory.mktemp("targets") / "t.parquet")


@pytest.fixture(scope="module")
def whole(problem, path, tmp_path_factory):
    """The folder of a job that nobody touched."""
    out = tmp_path_factory.mktemp("whole") / "out"
    mk.batch.solve_files(problem, path, out, rows_per_shard=SHARD, threads=1)
    return out


@pytest.fixture
def out(whole, tmp_path):
    """A copy of that folder, to be damaged."""
    return shutil.copytree(whole, tmp_path / "out")


@pytest.fixture
def again(problem, path, out):
    """Start the job again; the report, and what the warnings said."""

    def start(**changes):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            report = mk.batch.solve_files(problem, path, out, **{"rows_per_shard": SHARD, "threads": 1, **changes})
        assert all(issubclass(warning.category, MemetikWarning) for warning in caught)
        assert all("\n" not in str(warning.message) for warning in caught)
        return report, " | ".join(str(warning.message) for warning in caught)

    return start


def shard(out, number, part="solutions"):
    return out / part / f"{number:06d}.parquet"


def rows_of(out):
    """Every answer and reject, from the files of the job alone."""
    tables = {
        "solutions": [pq.read_table(shard(out, k)) for k in range(SHARDS)],
        "rejects": [pq.read_table(shard(out, k, "rejects")) for k in sorted({row // SHARD for row in BAD})],
    }
    return {part: repr([table.to_pylist() for table in found]) for part, found in tables.items()}


# ---- What a shard says of itself ---------------------------------------------------------------------------


def test_the_note_in_a_shard(whole):
    note = json.loads(pq.read_metadata(shard(whole, 6)).metadata[b"memetik"])
    manifest = json.loads((whole / "manifest.json").read_text())
    assert note.pop("checksum") != "0" * 32 and len(note["job"]) == 32 and note["evaluations"] > 0
    assert note == {
        "job": manifest["job"], "part": "solutions", "shard": 6, "first": 30, "rows": 5, "reached": 4, "closest": 0,
        "invalid": 0, "minimum": 0, "rejected": 1, "evaluations": note["evaluations"],
    }  # fmt: skip
    assert json.loads(pq.read_metadata(shard(whole, 6, "rejects")).metadata[b"memetik"])["part"] == "rejects"


def test_every_byte_counts(whole):
    data = shard(whole, 0).read_bytes()
    assert read_seal(data).intact
    for place in range(0, len(data), 7):
        damaged = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        assert not read_seal(damaged).intact
    assert not read_seal(data + b" ").intact and not read_seal(b"").intact


# ---- Shards ------------------------------------------------------------------------------------------------


def test_nothing_is_done_where_all_verifies(again, out, whole):
    report, said = again()
    assert report.solved.rows == 0 and report.total.rows == ROWS and said == ""
    assert rows_of(out) == rows_of(whole)


def flip(path, place=-200):
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


def swap(one, other):
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)


DAMAGES = {
    "flipped": (lambda out: flip(shard(out, 2), 20), 5, "solutions/000002.parquet does not match its checksum"),
    "cut off": (lambda out: shard(out, 2).write_bytes(shard(out, 2).read_bytes()[:-9]), 5, "000002.parquet does not match"),
    "cut in half": (lambda out: shard(out, 2).write_bytes(shard(out, 2).read_bytes()[:400]), 5, "is cut off or no shard"),
    "empty": (lambda out: shard(out, 2).write_bytes(b""), 5, "solutions/000002.parquet is cut off or no shard"),
    "another table": (lambda out: pq.write_table(pa.table({"x": [1.0]}), shard(out, 2)), 5, "is cut off or no shard"),
    "swapped": (lambda out: swap(shard(out, 2), shard(out, 3)), 10, "solutions/000002.parquet is shard 3 of the solutions"),
    "in another folder": (
        lambda out: swap(shard(out, 1), shard(out, 1, "rejects")), 5, "solutions/000001.parquet is shard 1 of the rejects"
    ),
    "duplicated": (
        lambda out: shutil.copy(shard(out, 4), shard(out, 2)), 5, "solutions/000002.parquet is shard 4 of the solutions"
    ),
    "rejects are lost": (lambda out: shard(out, 6, "rejects").unlink(), 5, "rejects/000006.parquet is missing"),
    "rejects are damaged": (lambda out: flip(shard(out, 6, "rejects")), 5, "rejects/000006.parquet"),
    "rejects are exchanged": (
        lambda out: swap(shard(out, 6, "rejects"), shard(out, 1, "rejects")), 10, "000006.parquet is shard 1 of the rejects"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_shard_is_solved_again(name, again, out, whole):
    damage, rows, words = DAMAGES[name]
    damage(out)
    report, said = again()
    assert words in said and report.solved.rows == rows and report.total.rows == ROWS
    assert "did not verify" in str(report)
    assert rows_of(out) == rows_of(whole)
    assert again()[0].solved.rows == 0


def test_a_lost_shard_is_solved_without_a_word(again, out, whole):
    shard(out, 2).unlink()
    report, said = again()
    assert report.solved.rows == 5 and said == "" and rows_of(out) == rows_of(whole)


def test_a_shard_of_another_job(again, out, whole, problem, path, tmp_path):
    mk.batch.solve_files(problem, path, tmp_path / "other", rows_per_shard=SHARD, seed=1)
    shutil.copy(shard(tmp_path / "other", 2), shard(out, 2))
    report, said = again()
    assert "solutions/000002.parquet is of another job" in said and report.solved.rows == 5
    assert rows_of(out) == rows_of(whole)


def test_strays_are_named_and_left_alone(again, out, whole):
    strays = {
        out / "solutions/notes.txt": b"mine",
        out / "solutions/copy of 000002.parquet": shard(out, 2).read_bytes(),
        out / "solutions/000008.parquet": shard(out, 2).read_bytes(),
        out / "rejects/000002.parquet": shard(out, 1, "rejects").read_bytes(),
        out / "rejects/mine.tmp": b"half",
        out / "solutions/.mine.tmp": b"half",
    }
    for file, data in strays.items():
        file.write_bytes(data)
    report, said = again()
    assert report.solved.rows == 0 and report.total.rows == ROWS
    for file in list(strays)[:-1]:
        assert f"{file.parent.name}/{file.name}" in said and f"{file.parent.name}/{file.name}" in report.strays
    assert "solutions/notes.txt" in str(report) and "not part of the answers" in str(report)
    again(overwrite=True)
    kept = {file for file in strays if not file.stem.isdigit()}  # --overwrite deletes what is named as a shard
    assert all(file.read_bytes() == strays[file] for file in kept)
    assert rows_of(out) == rows_of(whole)


def test_a_folder_in_place_of_a_shard(again, out):
    shard(out, 3).unlink()
    shard(out, 3).mkdir()
    with pytest.raises(FormatError, match=r"000003.parquet: it cannot be read: Is a directory. Move it out of the way"):
        again()


# ---- Manifests ---------------------------------------------------------------------------------------------


def edited(**changes):
    return lambda text: json.dumps({**json.loads(text), **changes}).encode()


MANIFESTS = {
    "empty": lambda text: b"",
    "cut off": lambda text: text[: len(text) // 2],
    "garbage": lambda text: bytes(range(256)),
    "nested": lambda text: b"[" * 100_000,
    "nested objects": lambda text: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "null": lambda text: b"null",
    "a list": lambda text: b"[1, 2]",
    "a number": lambda text: b"NaN",
    "nothing in it": lambda text: b"{}",
    "a long integer": lambda text: b'{"seed": ' + b"9" * 5_000 + b"}",
    "lone surrogate": lambda text: b'{"checksum": "\\ud800", "seed": "\\ud800"}',
    "NaN": edited(seed=float("nan")),
    "another seed": edited(seed=1),
    "sources of wrong types": edited(source=[1, None]),
    "a source without digest": edited(source=[{}]),
    "source is a number": edited(source=3),
    "checksum is a list": edited(checksum=[]),
    "one key less": lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "problem"}).encode(),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_damaged_manifest_is_written_again(name, again, out, whole):
    manifest = out / "manifest.json"
    text = manifest.read_bytes()
    manifest.write_bytes(MANIFESTS[name](text))
    report, said = again()
    assert "manifest.json: it " in said and "It is written again" in said
    assert report.solved.rows == 0 and manifest.read_bytes() == text  # the shards say themselves whose they are
    assert rows_of(out) == rows_of(whole)


def test_a_lost_manifest(again, out):
    (out / "manifest.json").unlink()
    report, said = again()
    assert "it is missing. It is written again" in said and report.solved.rows == 0


@pytest.mark.parametrize("manifest", [b"{", None])
def test_a_folder_of_another_job_is_refused_without_its_manifest(manifest, again, out):
    (out / "manifest.json").unlink()
    if manifest is not None:
        (out / "manifest.json").write_bytes(manifest)
    before = {file: file.read_bytes() for file in (out / "solutions").iterdir()}
    with pytest.raises(ProblemError, match=r"the shards beside it are those of another job. .*--overwrite"):
        again(seed=1)
    assert before == {file: file.read_bytes() for file in (out / "solutions").iterdir()}
    assert again(seed=1, overwrite=True)[0].solved.rows == ROWS


def test_files_of_nobody_are_refused(again, out):
    (out / "manifest.json").unlink()
    for number in range(SHARDS):
        pq.write_table(pa.table({"x": [1.0]}), shard(out, number))
    with pytest.raises(ProblemError, match=r"no manifest.json, and nothing says what .* are answers to"):
        again()
    (out / "manifest.json").write_bytes(b"{")  # some job of ours was here
    assert again()[0].solved.rows == ROWS


def test_answers_of_an_earlier_version_are_refused(again, out):
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["checksum"], manifest["job"]
    (out / "manifest.json").write_text(json.dumps({**manifest, "format": 1}))
    with pytest.raises(ProblemError, match=r"answers of an earlier version of memetik. Choose another folder"):
        again()


def test_a_folder_in_place_of_the_manifest(again, out):
    (out / "manifest.json").unlink()
    (out / "manifest.json").mkdir()
    with pytest.raises(FormatError, match=r"manifest.json: it cannot be read: Is a directory"):
        again()


def test_targets_are_never_written_over(problem, out):
    for part in ("solutions", "rejects"):
        before = shard(out, 1, part).read_bytes()
        table = pa.table({"x": [0.5], "y": [0.1], "z": [0.0]})
        pq.write_table(table, out / part / "t.parquet")
        with pytest.raises(ProblemError, match="lie where the answers go"):
            mk.batch.solve_files(problem, out / part / "t.parquet", out, overwrite=True)
        assert shard(out, 1, part).read_bytes() == before


# ---- A thousand damages ------------------------------------------------------------------------------------


class Vandal:
    """Damages a folder of answers at random."""

    def __init__(self, out, other, seed):
        self.out, self.other, self.rng = out, other, np.random.default_rng(seed)
        self.strays = {}
        self.ways = [
            self.flip, self.flip, self.truncate, self.garble, self.swap, self.delete, self.duplicate, self.foreign, self.stray,
            self.damage_manifest,
        ]  # fmt: skip

    def damage(self):
        """Damage it once; ways that happen to change nothing, such as a file exchanged with itself, do not count."""
        before = self.contents()
        while self.contents() == before:
            self.ways[self.rng.integers(len(self.ways))]()

    def contents(self):
        return {file: file.read_bytes() for file in self.out.rglob("*") if file.is_file()}

    def file(self):
        """One of the files that the job wrote and nobody deleted; a manifest survives them all."""
        files = [file for file in sorted(self.out.rglob("*.parquet")) if file not in self.strays]
        return files[self.rng.integers(len(files))]

    def flip(self):
        file = self.file()
        data = bytearray(file.read_bytes())
        for place in self.rng.integers(len(data), size=self.rng.integers(1, 5)) if data else ():
            data[place] ^= 1 << self.rng.integers(8)
        file.write_bytes(data)

    def truncate(self):
        file = self.file()
        data = file.read_bytes()
        file.write_bytes(data[: self.rng.integers(len(data) + 1)])

    def garble(self):
        self.file().write_bytes(self.rng.bytes(self.rng.integers(2_000)))

    def swap(self):
        swap(self.file(), self.file())

    def delete(self):
        if len(list((self.out / "solutions").glob("00000?.parquet"))) > SHARDS // 2:
            self.file().unlink()

    def duplicate(self):
        data, part = self.file().read_bytes(), ("solutions", "rejects")[self.rng.integers(2)]
        self.put(shard(self.out, self.rng.integers(2 * SHARDS), part), data)

    def foreign(self):
        number = self.rng.integers(SHARDS)
        shard(self.out, number).write_bytes(shard(self.other, number).read_bytes())

    def stray(self):
        name = ("notes.txt", "copy.parquet", "part.csv", "x.tmp", "0.parquet")[self.rng.integers(5)]
        self.put(self.out / ("solutions", "rejects")[self.rng.integers(2)] / name, self.rng.bytes(20))

    def put(self, file, data):
        file.write_bytes(data)
        number = int(file.stem) if len(file.stem) == 6 else SHARDS
        if number >= SHARDS:
            self.strays[file] = data

    def damage_manifest(self):
        file = self.out / "manifest.json"
        data = bytearray(file.read_bytes()) if file.exists() else bytearray(b"{}")
        way = self.rng.integers(4)
        if way == 0 and data:
            data[self.rng.integers(len(data))] ^= 1 << self.rng.integers(8)
        elif way == 1:
            data = data[: self.rng.integers(len(data) + 1)]
        elif way == 2:
            data = bytearray(self.rng.bytes(100))
        elif file.exists():
            file.unlink()
            return
        file.write_bytes(data)


def test_a_thousand_damages(again, out, whole, problem, path, tmp_path, monkeypatch):
    """After each restart every row is that of the undamaged job; no damage is trusted, none is fatal."""
    monkeypatch.setattr(os, "fsync", lambda file: None)  # most of the time, and nobody cuts the power here
    mk.batch.solve_files(problem, path, tmp_path / "other", rows_per_shard=SHARD, seed=1)
    expected, untouched = rows_of(whole), mk.batch.solve_files(problem, path, whole, rows_per_shard=SHARD).total
    solved = 0
    for trial in range(125):
        vandal = Vandal(out, tmp_path / "other", trial)
        for _ in range(8):
            vandal.damage()
        report, _ = again()
        assert report.total == untouched, trial
        assert rows_of(out) == expected, trial
        for file, data in vandal.strays.items():
            assert file.read_bytes() == data and f"{file.parent.name}/{file.name}" in report.strays, trial
        solved += report.solved.rows
        for file in report.strays:
            (out / file).unlink()
    assert solved > 100 * SHARD  # so much was damaged and not trusted
