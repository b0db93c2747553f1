"""Wrong types, wrong ranges and damaged files given to solve_files, reachability and load_reachability: our own errors."""

from __future__ import annotations

import math
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import memetik as mk
from memetik.batch import reach
from memetik.cli import main
from memetik.errors import FormatError, MemetikError, MissingExtraError, ProblemError

NO_INTEGERS = [None, True, 1.5, math.nan, math.inf, "3", b"3", [3], {}, 1j, np.array([1, 2]), object()]
NO_PATHS = [None, 3, 1.5, b"x", [], {}, "", "a\0b", "x" * 5_000, object()]
NO_NUMBERS = [None, True, math.nan, "1", b"1", [1.0], {}, 1j, np.array([1.0, 2.0]), object()]


@pytest.fixture(scope="module")
def body():
    return mk.build.planar_chain([0.5, 0.3])


@pytest.fixture(scope="module")
def problem(body):
    return mk.Problem(body, mk.Position("tip", np.zeros(3)))


@pytest.fixture
def path(tmp_path):
    pq.write_table(pa.table({"x": [0.5] * 4, "y": [0.1] * 4, "z": [0.0] * 4}), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


# ---- solve_files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["rows_per_shard", "seed", "threads"])
def test_integers_of_files(name, problem, path, tmp_path):
    wrong = [value for value in NO_INTEGERS if name != "threads" or value is not None]
    for value in [*wrong, 2**63, -(2**63) - 1] + [0, -1] * (name != "seed"):
        with pytest.raises(ProblemError, match=f"files: {name} is "):
            mk.batch.solve_files(problem, path, tmp_path / "out", **{name: value})
    assert not (tmp_path / "out").exists()
    assert mk.batch.solve_files(problem, path, tmp_path / "out", **{name: np.int64(3)}).total.rows == 4


def test_everything_else_of_files(problem, path, tmp_path):
    for value in NO_PATHS:
        with pytest.raises(ProblemError, match="files: source is "):
            mk.batch.solve_files(problem, value, tmp_path / "out")
        with pytest.raises(ProblemError, match="files: out is "):
            mk.batch.solve_files(problem, path, value)
    for name, value in (
        ("budget", 100), ("budget", None), ("objective", "tip"),
        ("objective", np.zeros(3)), ("cluster", 3), ("cluster", ""), ("overwrite", "yes"), ("overwrite", np.zeros(2)),
        ("progress", 3), ("progress", len), ("progress", lambda: None), ("progress", int), ("seed", -1),
    ):  # fmt: skip
        with pytest.raises(ProblemError, match=f"{name}|address|is not a Pose or Position"):
            mk.batch.solve_files(problem, path, tmp_path / "out", **{name: value})
    for value in (None, 3, "panda", [problem]):
        with pytest.raises(ProblemError, match=r"files: .* is not a problem"):
            mk.batch.solve_files(value, path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_integers_that_float64_cannot_hold_are_rounded(problem, tmp_path):
    columns = {"x": pa.array([0, 2**60 + 1]), "y": pa.array([0.6, 0.0], type=pa.float32()), "z": pa.array([0, 0])}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert mk.batch.solve_files(problem, tmp_path / "t.parquet", tmp_path / "out").total.reached == 1


def test_damaged_sources(problem, path, tmp_path, rng):
    """Whatever is flipped in a Parquet file, it is read or refused by an error of our own."""
    data = path.read_bytes()
    for trial in range(150):
        damaged = bytearray(data)
        for place in rng.integers(len(data), size=3):
            damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            report = mk.batch.solve_files(problem, path, tmp_path / f"out{trial}")
        except MemetikError:
            continue
        assert report.total.rows == 4


def test_a_folder_that_cannot_be_written_to(problem, path, tmp_path, monkeypatch):
    """Said before the targets are counted, fingerprinted or solved."""

    def read_only(*arguments, **options):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("memetik.files.tempfile.TemporaryFile", read_only)
    monkeypatch.setattr("memetik.batch.files.describe", lambda *_: pytest.fail("work was done"))
    with pytest.raises(FormatError, match=r"to the folder '.*out': Read-only file system. Name another"):
        mk.batch.solve_files(problem, path, tmp_path / "out")


# ---- reachability ------------------------------------------------------------------------------------------


def test_numbers_of_reachability(body):
    for name in ("voxel", "position_tolerance", "orientation_tolerance"):
        for value in [*NO_NUMBERS, 0.0, -1.0, math.inf]:
            with pytest.raises(ProblemError, match=f"reachability: {name} is "):
                mk.batch.reachability(body, "tip", **{name: value})
    for name, wrong in (
        ("orientations", [*NO_INTEGERS, 0, -1, 10**9]),
        ("seed", [*NO_INTEGERS, 2**63]),
        ("threads", [*NO_INTEGERS[1:], 0, -1, 10**9]),
    ):
        for value in wrong:
            with pytest.raises(ProblemError, match=f"reachability: {name} is "):
                mk.batch.reachability(body, "tip", **{name: value})
    for voxel in (1e-300, 1e-310):
        with pytest.raises(ProblemError, match=r"x 1 voxels of 1e-3\d0 m are more than 4,000,000"):
            mk.batch.reachability(body, "tip", voxel=voxel)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"body": "panda"}, r"body is 'panda'. Give a Body"),
        ({"tip": None}, r"tip is None"),
        ({"tip": ["tip"]}, r"tip is \['tip'\]. Give the name of a link"),
        ({"also": 3}, r"also is 3. Give a list of objectives"),
        ({"also": ["tip"]}, r"also is \['tip'\]"),
        ({"lock": 3}, r"lock is 3; it gives a value to each joint"),
        ({"lock": {1: 2.0}}, r"no free joint named 1"),
        ({"lock": {"joint_1": "a"}}, r"lock of joint 'joint_1' is 'a', which is not a number"),
        ({"lock": {"joint_1": math.nan}}, r"joint_1"),
        ({"limits": {"joint_1": 3}}, r"limits of joint 'joint_1' are 3. Give two numbers"),
        (
            {"limits": {"joint_1": (0.0, math.nan)}},
            r"limits of joint 'joint_1': 0.0 is above nan, or one is not a number",
        ),
        ({"budget": 1_000}, r"reachability: budget is 1000; write mk.Budget"),
        ({"progress": "yes"}, r"progress is 'yes'"),
    ],
)
def test_everything_else_of_reachability(changes, says, body):
    with pytest.raises(MemetikError, match=says):
        mk.batch.reachability(**{"body": body, "tip": "tip", **changes})


def test_a_body_keeps_out_of_itself(body):
    """What the documentation shows."""
    arm = mk.load("ur5")
    options = {"voxel": 0.6, "orientations": 1, "threads": 1}
    free = mk.batch.reachability(arm, "tool0", **options)
    apart = mk.batch.reachability(arm, "tool0", also=[mk.SelfDistance(arm)], **options)
    assert apart.position.sum() <= free.position.sum() and not (apart.position & ~free.position).any()


# ---- Saved reachabilities ----------------------------------------------------------------------------------


@pytest.fixture
def small():
    fraction = np.linspace(0.0, 1.0, 24).reshape(2, 3, 4)
    return mk.batch.Reachability("arm", "tip", 0.1, np.array([0.0, -0.1, 0.2]), fraction > 0.2, fraction, 8)


def test_paths_of_reachabilities(small, tmp_path):
    for value in NO_PATHS:
        with pytest.raises(ProblemError, match="path is "):
            mk.batch.load_reachability(value)
        with pytest.raises(ProblemError, match="path is "):
            small.save(value)
    for value in (tmp_path, tmp_path / "nothing.npz"):
        with pytest.raises(FormatError, match=r"this is no saved reachability: (Is a directory|No such file)"):
            mk.batch.load_reachability(value)
    for value in (tmp_path, "."):
        with pytest.raises(FormatError, match=r"is a folder. Name a file in it"):
            small.save(value)
    for value in (-1, 3, 1.0, "x", None):
        with pytest.raises(ProblemError, match="dimension is "):
            small.centers(value)


def test_what_is_drawn_is_a_reachability(small, tmp_path):
    with pytest.raises(FormatError, match=r"None is not a reachability. Give mk.batch.reachability"):
        mk.write.draw_reachability(None, tmp_path / "r.png")
    for value in NO_PATHS:
        with pytest.raises(FormatError, match="the path of the picture is "):
            mk.write.draw_reachability(small, value)


def test_damaged_reachabilities(small, tmp_path, rng):
    path = small.save(tmp_path / "r.npz")
    data = path.read_bytes()
    for trial in range(300):
        damaged = bytearray(data if trial % 3 else data[: rng.integers(len(data))])
        for place in rng.integers(max(len(damaged), 1), size=2) if damaged else ():
            damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            again = mk.batch.load_reachability(path)
        except FormatError:
            continue
        assert (again.fraction == small.fraction).all()  # only what says nothing was flipped


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"voxel": np.array(math.nan)}, "voxel is nan"),
        ({"voxel": np.array(-1.0)}, "voxel is -1.0"),
        ({"voxel": np.zeros(2)}, "damaged"),
        ({"corner": np.array([0.0, math.nan, 0.0])}, "corner is .* three finite numbers"),
        ({"corner": np.zeros(2)}, "corner is an array of float64 with shape"),
        ({"position": np.ones((2, 3, 5), dtype=bool)}, "fraction is .* of the shape of position"),
        ({"position": np.ones((2, 3, 4))}, "position is an array of float64 .* of bool"),
        ({"fraction": np.full((2, 3, 4), math.nan)}, "fraction is .* from 0 to 1"),
        ({"fraction": np.full((2, 3, 4), 1.5)}, "fraction is .* from 0 to 1"),
        ({"fraction": np.full((2, 3, 4), None)}, "damaged"),
        ({"about": np.array("{")}, "damaged"),
        ({"about": np.array("[" * 100_000)}, "damaged"),
        ({"about": np.array("[]")}, "damaged"),
        ({"about": np.array('{"body": 1, "tip": "a", "orientations": 8}')}, "body is 1, not a name"),
        ({"about": np.array('{"body": "a", "tip": "a", "orientations": NaN}')}, "orientations is nan"),
        ({"about": np.array('{"body": "a", "tip": "a"}')}, "damaged"),
    ],
)
def test_reachabilities_that_cannot_be(changes, says, small, tmp_path):
    with np.load(small.save(tmp_path / "r.npz")) as saved:
        arrays = {**saved, **changes}
    np.savez(tmp_path / "r.npz", **arrays)
    with pytest.raises(FormatError, match=f"this is no saved reachability: .*{says}"):
        mk.batch.load_reachability(tmp_path / "r.npz")


def test_an_array_alone(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(FormatError, match="damaged, or a file of another kind"):
        mk.batch.load_reachability(tmp_path / "a.npy")


# ---- Before the work begins --------------------------------------------------------------------------------


@pytest.fixture
def idle(monkeypatch):
    """`memetik reach` without its work, which would be lost where an end is missing."""
    monkeypatch.setattr(mk.batch, "reachability", lambda *_, **__: pytest.fail("work was done"))
    monkeypatch.setattr(reach, "solve_batch", lambda *_, **__: pytest.fail("work was done"))


def test_reach_looks_for_matplotlib_first(idle, small, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["reach", "ur5", "--tip", "tool0", "--out", str(tmp_path / "r.npz")]) == 2
    assert "memetik[plots]" in capsys.readouterr().err
    with pytest.raises(MissingExtraError):
        mk.write.draw_reachability(small, tmp_path / "r.png")


def test_reach_looks_at_its_files_first(idle, tmp_path, monkeypatch, capsys):
    for name in ("r.npz", "s.png"):
        (tmp_path / name).mkdir()
        assert main(["reach", "ur5", "--tip", "tool0", "--out", str((tmp_path / name).with_suffix(".npz"))]) == 2
        assert "is a folder. Name a file in it" in capsys.readouterr().err
    if os.geteuid():  # root writes anywhere
        (tmp_path / "closed").mkdir(mode=0o500)
        assert main(["reach", "ur5", "--tip", "tool0", "--out", str(tmp_path / "closed/r.npz")]) == 2
        assert "nothing can be written to" in capsys.readouterr().err
