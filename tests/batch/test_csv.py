"""Targets in CSV files: the same answers as from Parquet, and sentences about what is wrong in them."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

import memetik as mk
from memetik.batch import readers, source
from memetik.errors import FormatError


@pytest.fixture(scope="module")
def problem():
    return mk.Problem(mk.build.planar_chain([0.5, 0.3]), mk.Position("tip", np.zeros(3)))


def table(count):
    angles = np.linspace(0.0, 3.0, count)
    return pa.table(
        {
            "x": 0.6 * np.cos(angles),
            "y": 0.6 * np.sin(angles),
            "z": np.zeros(count),
            "joint_1": np.linspace(-0.5, 0.5, count),
            "id": [f"{k:03}" for k in range(count)],
            "note": ["not, read"] * count,
        }
    )


def answers(out):
    return pq.read_table(out / "solutions").sort_by("row").to_pylist()


def test_answers_are_those_of_the_same_parquet_file(problem, tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "BLOCK", 1_000)
    assert "joint_1" in problem.body.joint_names
    rows = table(100)
    pc.write_csv(rows, tmp_path / "t.csv")
    pq.write_table(rows, tmp_path / "t.parquet")
    reports = [
        mk.batch.solve_files(problem, tmp_path / f"t.{kind}", tmp_path / kind, rows_per_shard=30)
        for kind in ("csv", "parquet")
    ]
    assert reports[0].total == reports[1].total and reports[0].total.reached == 100
    assert reports[0].unread == ("note",)
    assert answers(tmp_path / "csv") == answers(tmp_path / "parquet")
    assert answers(tmp_path / "csv")[7]["id"] == "007"
    (tmp_path / "csv/solutions/000002.parquet").unlink()
    again = mk.batch.solve_files(problem, tmp_path / "t.csv", tmp_path / "csv", rows_per_shard=30)
    assert again.solved.rows == 30 and answers(tmp_path / "csv") == answers(tmp_path / "parquet")


@pytest.mark.parametrize("block", [40, 100, 10_000])
@pytest.mark.parametrize("wanted", [(0, 1, 2, 3, 4), (1, 4), (3,)])
def test_pieces_across_blocks(block, wanted, tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "BLOCK", block)
    pc.write_csv(pa.table({"x": np.arange(97), "y": np.arange(97)}), tmp_path / "t.csv")
    pieces = source.open_files(tmp_path / "t.csv").counted(["x"]).pieces(20)
    asked = [pieces[k] for k in wanted]
    found = list(source.read(asked, ["x"]))
    assert [piece for piece, _ in found] == asked
    for piece, rows in found:
        assert rows["x"].to_pylist() == list(range(piece.first, piece.first + piece.rows))


def test_a_folder_of_csv_files(problem, tmp_path):
    (tmp_path / "in").mkdir()
    rows = table(12)
    pc.write_csv(rows.slice(5), tmp_path / "in/b.csv")
    pc.write_csv(rows.slice(0, 5), tmp_path / "in/a.csv")
    mk.batch.solve_files(problem, tmp_path / "in", tmp_path / "out")
    assert [row["id"] for row in answers(tmp_path / "out")] == [f"{k:03}" for k in range(12)]
    pq.write_table(rows, tmp_path / "in/c.parquet")
    with pytest.raises(FormatError, match=r"there are .parquet and .csv files in this folder. Leave one kind"):
        mk.batch.solve_files(problem, tmp_path / "in", tmp_path / "out")


def test_how_numbers_may_be_written(problem, tmp_path):
    """Missing numbers reject their row, as in Parquet; ids are text as it stands."""
    lines = [
        "x,y,z,id",
        "0.5, 0.1 ,0,NA",
        "5e-1,.1,0.,",
        '"+0.5","0.1","0","a, b"',
        ",0.1,0,null",
        "0.5,NA,0,1",
        "nan,0,0,2",
    ]
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*lines, "0.5,0,inf,3", ""]).encode())
    report = mk.batch.solve_files(problem, tmp_path / "t.csv", tmp_path / "out")
    assert report.total.reached == 3 and report.total.rejected == 4
    assert [row["id"] for row in answers(tmp_path / "out")] == ["NA", "", "a, b", "null", "1", "2", "3"]
    reasons = pq.read_table(tmp_path / "out/rejects")["reason"].to_pylist()
    assert reasons == ["x is nan", "y is nan", "x is nan", "z is inf"]


def test_a_header_alone(problem, tmp_path):
    (tmp_path / "t.csv").write_text("x,y,z\n")
    assert mk.batch.solve_files(problem, tmp_path / "t.csv", tmp_path / "out").total.rows == 0


GOOD = "x,y,z\n0.5,0.1,0\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD + "0.5,abc,0\n", r"t.csv, row 1: column 'y' holds 'abc', not a number"),
        (GOOD + "0.5,0x10,0\n", r"row 1: column 'y' holds '0x10', not a number"),
        (GOOD * 1 + "0.5,0.1,0\n" * 500 + "0.5,1_0,0\n", r"row 501: column 'y' holds '1_0', not a number"),
        (GOOD + "0.5,0.1\n", r"t.csv, row 1: it has 2 fields, but the header names 3: '0.5,0.1'"),
        (GOOD + "0.5,0.1,0\n" * 500 + "0,5,0,1,0\n", r"row 501: it has 5 fields, but the header names 3"),
        ("x,y\n1,2\n", r"t.csv: there is no column z. .*A Position needs x y z"),
        ("x, y, z\n1,2,3\n", r"there is no column y, z. Did you mean ' y'|There are: x,  y,  z"),
        ("x;y;z\n1;2;3\n", r"its columns are separated by ';'. Separate them by commas"),
        ("x\ty\tz\n1\t2\t3\n", r"its columns are separated by '\\t'"),
        ("x,x,y,z\n1,1,2,3\n", r"2 columns named 'x'"),
        ("hello\nworld\n", r"there is no column x, y, z"),
        ("", r"t.csv: the file is empty. Targets are read from Parquet and from CSV"),
        ("\n \n", r"the file is empty"),
        ('{"x": 1}', r"this looks like JSON. Targets are read from Parquet and from CSV"),
        (" [1, 2]", r"this looks like JSON"),
        ("<html>", r"this looks like XML or HTML"),
        (b"PK\x03\x04" + b"\0" * 99, r"this looks like a zip archive"),
        (gzip.compress(b"x,y,z\n", mtime=0), r"this looks like a gzip archive; unpack it"),
        (GOOD.encode("utf-16"), r"this looks like text in UTF-16; save it as UTF-8"),
        (b"\x01\x02\x00\x03" * 9, r"this looks like binary data of an unknown kind"),
        (b"PAR1" + b"\x01" * 99, r"this is not a complete Parquet file .* cut off"),
        (b"x,y,z,id\n0,0,0,\xff\xfe\n", r"the rows from 0 on cannot be read: .*invalid UTF8"),
        ('x,y,z\n0,0,"0\n' + "1,1,1\n" * 9, r"t.csv, row 0: column 'z' holds '0\\n1,1,1"),
        (
            'x,y,z,id\n0,0,0,"a\n' + "1,1,1,b\n" * 9,
            r"10 lines below the header make 1 rows: a quotation mark is not closed",
        ),
        (
            'x,y,z,n\n0,0,0,"a\n' + "1,1,1,b\n" * 9 + '0,0,0,"a\n',
            r"11 lines below the header make \d rows: a quotation",
        ),
        ("x,y,z\n0,0," + "1" * 5_000 + "\n", r"the rows from 0 on cannot be read"),
    ],
)
def test_mistakes(text, says, problem, tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "BLOCK", 1_000)
    (tmp_path / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError, match=says):
        mk.batch.solve_files(problem, tmp_path / "t.csv", tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.parquet"))  # found before any row was solved


def test_a_file_that_shrinks_meanwhile(tmp_path):
    (tmp_path / "t.csv").write_text("x\n" + "1\n" * 10)
    pieces = source.open_files(tmp_path / "t.csv").counted(["x"]).pieces(10)
    (tmp_path / "t.csv").write_text("x\n" + "1\n" * 5)
    with pytest.raises(FormatError, match="has become shorter since its rows were counted"):
        list(source.read(pieces, ["x"]))
