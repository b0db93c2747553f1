"""The code that docs/scale.md shows runs as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import memetik as mk
from memetik.cli import main

PAGE = (Path(__file__).parents[2] / "docs/scale.md").read_text()
BLOCKS = re.findall(r"^```\w+\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
INLINE = re.findall(r"`(mk\.[^`]*)`", PAGE)


@pytest.fixture(scope="module")
def given():
    """The names that the page takes for granted."""
    body, rng = mk.load("panda"), np.random.default_rng(0)
    q = np.array([body.sample(rng) for _ in range(18)])
    poses = np.array([body.forward(row)["panda_hand"] for row in q])
    return {"mk": mk, "body": body, "T": poses, "Q": q}


def test_the_batch(given, capsys):
    (code,) = (block for block in BLOCKS if "mk.solve_batch" in block and "torch" not in block)
    names = dict(given)
    exec(code, names)
    assert names["batch"].success.all() and "18" in capsys.readouterr().out


def test_the_files(given, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    turns = [mk.geometry.to_quaternion(pose[:3, :3]) for pose in given["T"]]
    columns = [*given["T"][:, :3, 3].T, *np.array(turns).T]
    pq.write_table(pa.table(columns, names=["x", "y", "z", "qw", "qx", "qy", "qz"]), "targets.parquet")
    (command,) = (block for block in BLOCKS if block.startswith("memetik batch panda") and "--cluster" not in block)
    assert main(shlex.split(command)[1:]) == 0
    assert "18 rows in 1 shards" in capsys.readouterr().out
    note = re.search(r"`(json\.loads\(pyarrow[^`]*)`", PAGE)[1]
    names = {"json": __import__("json"), "pyarrow": pa, "path": "out/solutions/000000.parquet"}
    assert eval(note, names)["rows"] == 18
    names = {**given, "problem": mk.Problem(given["body"], mk.Pose("panda_hand", np.eye(4)))}
    eval(next(call for call in INLINE if call.startswith("mk.batch.solve_files(")).replace('"out"', '"new"'), names)


def test_the_objectives(given):
    """Calls in the text, as they are written there."""
    assert [repr(eval(call, dict(given))) for call in INLINE if call.startswith("mk.SelfDistance")]
