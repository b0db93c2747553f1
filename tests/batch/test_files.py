"""solve_files on one machine: what is read, what is written, and what happens when it is stopped or changed."""

from __future__ import annotations

import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.batch import files, manifest, readers, shards, source
from memetik.batch.manifest import fingerprint
from memetik.errors import FormatError, MissingExtraError, ProblemError

QUATERNION = ("qw", "qx", "qy", "qz")


@pytest.fixture(scope="module")
def panda():
    return mk.load("panda")


@pytest.fixture
def pose():
    return mk.Pose("panda_hand", np.eye(4), position_tolerance=1e-5, orientation_tolerance=1e-5)


@pytest.fixture
def problem(panda, pose):
    return mk.Problem(panda, pose)


def targets(body, count, seed=0):
    """Columns of reachable poses of the hand, and the poses."""
    rng = np.random.default_rng(seed)
    poses = np.array([body.forward(body.sample(rng))["panda_hand"] for _ in range(count)])
    turns = np.array([mk.geometry.to_quaternion(pose[:3, :3]) for pose in poses])
    return {**dict(zip("xyz", poses[:, :3, 3].T, strict=True)), **dict(zip(QUATERNION, turns.T, strict=True))}, poses


def write(path, columns, **options):
    pq.write_table(pa.table(columns), path, **options)
    return path


def answers(out):
    return pq.read_table(out / "solutions").sort_by("row")


def joints(table, body):
    return np.column_stack([table.column(name).to_numpy() for name in body.joint_names])


# ---- What is written ---------------------------------------------------------------------------------------


def test_answers_are_those_of_a_batch(problem, pose, panda, tmp_path):
    columns, poses = targets(panda, 50)
    columns["panda_joint1"] = np.linspace(-1.0, 1.0, 50)  # a start for one joint, the others start at home
    columns["id"] = [f"pose {k}" for k in range(50)]
    columns["note"] = ["not read"] * 50
    path = write(tmp_path / "t.parquet", columns)
    report = mk.batch.solve_files(problem, path, tmp_path / "out", rows_per_shard=20)
    table = answers(tmp_path / "out")
    starts = np.tile(panda.home, (50, 1))
    starts[:, 0] = columns["panda_joint1"]
    batch = mk.solve_batch(problem, {pose: poses}, starts)
    assert_allclose(joints(table, panda), batch.q, atol=1e-6)  # poses went through quaternions
    assert table.column_names == [
        "row", "id", *panda.joint_names, "status", "position_error", "orientation_error", "evaluations"
    ]  # fmt: skip
    assert table["row"].to_pylist() == list(range(50)) and table["id"].to_pylist() == columns["id"]
    assert set(table["status"].to_pylist()) == {"REACHED"}
    assert 0.0 < table["position_error"].to_numpy().max() <= 1e-5
    assert table["evaluations"].to_numpy().min() >= 1
    for k in range(0, 50, 7):
        found = panda.forward(joints(table, panda)[k])["panda_hand"]
        assert_allclose(found, poses[k], atol=3e-5)
    assert sorted(path.name for path in (tmp_path / "out/solutions").iterdir()) == [
        f"{k:06d}.parquet" for k in range(3)
    ]
    assert report.total == report.solved and report.total.rows == report.total.reached == 50
    assert "columns that were not read: note" in str(report) and "50 rows in 3 shards" in str(report)


def test_positions_only(panda, tmp_path):
    columns, poses = targets(panda, 8)
    place = mk.Position("panda_hand", (0, 0, 0))
    problem = mk.Problem(panda, [place, mk.CenterJoints(), mk.JointValue("panda_joint5", 0.1, tolerance=None)])
    path = write(tmp_path / "t.parquet", {name: columns[name] for name in "xyz"})
    mk.batch.solve_files(problem, path, tmp_path / "out")
    table = answers(tmp_path / "out")
    batch = mk.solve_batch(problem, {place: poses[:, :3, 3]})
    assert_array_equal(joints(table, panda), batch.q)
    assert_array_equal(table["position_error"].to_numpy(), batch.errors[place])
    assert_array_equal(table["JointValue_error"].to_numpy(), batch.errors[problem.objectives[2]])
    assert "orientation_error" not in table.column_names and "CenterJoints_error" in table.column_names


def test_columns_of_errors_have_names_of_their_own(panda, pose):
    more = [mk.JointValue("panda_joint5", 0.1), mk.JointValue("panda_joint4", -1.0), mk.Pose("panda_link5", np.eye(4))]
    problem = mk.Problem(panda, [pose, *more])
    names = shards.error_columns(problem, pose)
    assert names[pose] == ("position_error", "orientation_error")
    assert names[more[0]] == ("JointValue_error",) and names[more[1]] == ("JointValue_2_error",)
    assert names[more[2]] == ("Pose_position_error", "Pose_orientation_error")


def test_numbers_of_any_type(problem, panda, tmp_path):
    columns, _ = targets(panda, 3)
    columns = {name: pa.array(values, type=pa.float32()) for name, values in columns.items()}
    columns["panda_finger_joint1"] = pa.array([0, 0, 0], type=pa.int8())
    path = write(tmp_path / "t.parquet", columns)
    assert mk.batch.solve_files(problem, path, tmp_path / "out").total.reached == 3


def test_bad_rows_are_rejected_with_a_reason(problem, panda, tmp_path):
    columns, _ = targets(panda, 9)
    columns["x"][1], columns["qy"][2] = np.nan, np.inf
    columns["qw"][3] *= 1.5
    columns["panda_joint2"] = pa.array([0.0] * 4 + [None] + [0.0] * 4)
    for name in QUATERNION:
        columns[name][5] = 0.0
    columns["id"] = np.arange(100, 109)
    path = write(tmp_path / "t.parquet", columns)
    report = mk.batch.solve_files(problem, path, tmp_path / "out", rows_per_shard=4)
    table = answers(tmp_path / "out")
    assert table["row"].to_pylist() == list(range(9)) and table["id"].to_pylist() == list(range(100, 109))
    rejected = [name == "REJECTED" for name in table["status"].to_pylist()]
    assert rejected == [False, True, True, True, True, True, False, False, False]
    assert [value is None for value in table["panda_joint1"].to_pylist()] == rejected
    rejects = pq.read_table(tmp_path / "out/rejects").sort_by("row")
    assert rejects["row"].to_pylist() == [1, 2, 3, 4, 5] and rejects["id"].to_pylist() == [101, 102, 103, 104, 105]
    reasons = rejects["reason"].to_pylist()
    assert reasons[0] == "x is nan" and reasons[1] == "qy is inf" and reasons[3] == "panda_joint2 is nan"
    assert reasons[2].startswith("the quaternion has length 1.") and reasons[4] == "the quaternion has length 0, not 1"
    assert np.isnan(rejects["x"].to_pylist()[0]) and rejects["panda_joint2"].to_pylist()[3] is None
    assert report.total.rejected == 5 and report.total.reached == 4
    assert "why rows were rejected" in str(report)
    assert not (tmp_path / "out/rejects/000002.parquet").exists()


def test_a_folder_of_files(problem, panda, tmp_path):
    (tmp_path / "in").mkdir()
    columns, _ = targets(panda, 12)
    for name, part in (("b", slice(5, 12)), ("a", slice(0, 5))):
        write(tmp_path / "in" / f"{name}.parquet", {key: values[part] for key, values in columns.items()})
    mk.batch.solve_files(problem, tmp_path / "in", tmp_path / "out", rows_per_shard=4)
    whole = write(tmp_path / "whole.parquet", columns)
    mk.batch.solve_files(problem, whole, tmp_path / "same")
    one, other = answers(tmp_path / "out"), answers(tmp_path / "same")
    assert one["row"].to_pylist() == list(range(12))
    assert_array_equal(joints(one, panda), joints(other, panda))
    assert len(list((tmp_path / "out/solutions").iterdir())) == 2 + 2


@pytest.mark.parametrize("group", [1, 7, 64, 1000])
@pytest.mark.parametrize("wanted", [(0, 1, 2, 3, 4), (1, 4), (3,)])
def test_pieces_across_row_groups(group, wanted, tmp_path, monkeypatch):
    monkeypatch.setattr(readers, "AT_A_TIME", 10)
    path = write(tmp_path / "t.parquet", {"x": np.arange(97), "y": np.arange(97)}, row_group_size=group)
    pieces = source.open_files(path).counted(["x"]).pieces(20)
    assert [(piece.first, piece.rows) for piece in pieces] == [(0, 20), (20, 20), (40, 20), (60, 20), (80, 17)]
    asked = [pieces[k] for k in wanted]
    found = list(source.read(asked, ["x"]))
    assert [piece for piece, _ in found] == asked
    for piece, table in found:
        assert table.column_names == ["x"]
        assert table["x"].to_pylist() == list(range(piece.first, piece.first + piece.rows))


def test_an_empty_file(problem, tmp_path):
    empty = {name: pa.array([], type=pa.float64()) for name in (*"xyz", *QUATERNION)}
    report = mk.batch.solve_files(problem, write(tmp_path / "t.parquet", empty), tmp_path / "out")
    assert report.total.rows == 0 and "0 rows in 0 shards" in str(report)


def test_progress_counts_all_rows(problem, panda, tmp_path):
    columns, _ = targets(panda, 30)
    path = write(tmp_path / "t.parquet", columns)
    seen = []
    mk.batch.solve_files(problem, path, tmp_path / "out", rows_per_shard=10, progress=lambda *told: seen.append(told))
    assert seen[0] == (0, 30) and seen[-1] == (30, 30) and seen == sorted(seen)
    assert {(10, 30), (20, 30)} <= set(seen)


# ---- Stopped and changed -----------------------------------------------------------------------------------


def test_a_second_run_does_no_work(problem, panda, tmp_path, monkeypatch):
    path = write(tmp_path / "t.parquet", targets(panda, 30)[0])
    first = mk.batch.solve_files(problem, path, tmp_path / "out", rows_per_shard=10)

    def refuse(*arguments):
        raise AssertionError("solved again")

    monkeypatch.setattr(files, "solve_shard", refuse)
    second = mk.batch.solve_files(problem, path, tmp_path / "out", rows_per_shard=10)
    assert second.total == first.total and second.solved.rows == 0
    assert "30 rows were solved before" in str(second)


def test_a_stopped_run_goes_on(problem, panda, tmp_path):
    path = write(tmp_path / "t.parquet", targets(panda, 40)[0])
    out, seen = tmp_path / "out", []

    def stop(done, total):
        seen.append(done)
        if done >= 25:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mk.batch.solve_files(problem, path, out, rows_per_shard=10, progress=stop)
    there = sorted(file.name for file in (out / "solutions").iterdir())
    assert there == ["000000.parquet", "000001.parquet"]
    (out / "solutions/.000002.parquet.0123.tmp").write_bytes(b"half")
    before = (out / "solutions/000000.parquet").stat().st_mtime_ns
    report = mk.batch.solve_files(problem, path, out, rows_per_shard=10)
    assert report.solved.rows == 20 and report.total.rows == 40
    assert (out / "solutions/000000.parquet").stat().st_mtime_ns == before
    assert not list((out / "solutions").glob(".*"))
    mk.batch.solve_files(problem, path, tmp_path / "whole")
    assert_array_equal(joints(answers(out), panda), joints(answers(tmp_path / "whole"), panda))


def test_half_a_file_is_never_seen(problem, panda, tmp_path, monkeypatch):
    path = write(tmp_path / "t.parquet", targets(panda, 5)[0])

    mk.batch.solve_files(problem, path, tmp_path / "out")
    (tmp_path / "out/solutions/000000.parquet").unlink()

    def full(file):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        patch.setattr(manifest, "write_whole", lambda *_: None)  # of the manifest
        with pytest.raises(FormatError, match=r"000000.parquet: it cannot be written: No space left on device"):
            mk.batch.solve_files(problem, path, tmp_path / "out")
    assert not list((tmp_path / "out/solutions").iterdir())


def test_what_a_lost_machine_had_half_written_goes_in_the_end(problem, panda, tmp_path):
    path = write(tmp_path / "t.parquet", targets(panda, 4)[0])
    left = tmp_path / "out/solutions/.000001.parquet.ab.tmp"
    mk.batch.solve_files(problem, path, tmp_path / "out", rows_per_shard=2, progress=lambda *_: left.touch())
    assert sorted(file.name for file in left.parent.iterdir()) == ["000000.parquet", "000001.parquet"]


def test_a_changed_problem_is_refused_or_solved_anew(problem, pose, panda, tmp_path):
    path, out = write(tmp_path / "t.parquet", targets(panda, 20)[0]), tmp_path / "out"
    mk.batch.solve_files(problem, path, out)
    for changes, said in (
        ({"seed": 1}, "the seed changed"),
        ({"rows_per_shard": 7}, "the number of rows a shard changed"),
        ({"budget": mk.Budget(evaluations=9)}, "the budget changed"),
        ({"seed": 1, "budget": mk.Budget(seconds=1.0)}, "the seed and the budget changed"),
    ):
        with pytest.raises(ProblemError, match=said):
            mk.batch.solve_files(problem, path, out, **changes)
    pose.position_tolerance = 1e-3
    with pytest.raises(ProblemError, match=r"the problem \(body, objectives, .*\) changed.*--overwrite"):
        mk.batch.solve_files(problem, path, out)
    report = mk.batch.solve_files(problem, path, out, rows_per_shard=15, overwrite=True)
    assert report.solved.rows == 20 and len(list((out / "solutions").iterdir())) == 2
    assert mk.batch.solve_files(problem, path, out, rows_per_shard=15).solved.rows == 0


def test_a_changed_file_is_refused(problem, panda, tmp_path):
    columns, _ = targets(panda, 20)
    path, out = write(tmp_path / "t.parquet", columns), tmp_path / "out"
    mk.batch.solve_files(problem, path, out)
    state = path.stat()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 10**9))  # touched, not changed
    renamed = path.rename(tmp_path / "renamed.parquet")
    assert mk.batch.solve_files(problem, renamed, out).solved.rows == 0
    columns["x"][7] += 1e-3
    write(renamed, columns)
    with pytest.raises(ProblemError, match="the file of targets changed"):
        mk.batch.solve_files(problem, renamed, out)


def wish(frame):
    return frame.position[2] - 0.3


def test_what_a_fingerprint_knows(panda):
    def of(**changes):
        options = {"tolerance": 1e-5, "lock": {}, "weight": 1.0, "objectives": [], "tip": "panda_hand", **changes}
        pose = mk.Pose(options["tip"], np.eye(4), position_tolerance=options["tolerance"], weight=options["weight"])
        problem = mk.Problem(panda, [pose, *options["objectives"]], lock=options["lock"])
        return fingerprint(problem, pose), problem, pose

    same, problem, pose = of()
    pose.priority = 1
    assert fingerprint(problem, pose) != same
    pose.priority = 0
    pose.target = mk.translation(0.3, 0.2, 0.5)  # every row has its own
    mk.solve(problem)
    assert fingerprint(problem, pose) == same == of()[0]
    height = [mk.objective(reads=["panda_link5"], tolerance=None)(wish)]
    calm = [mk.Displacement()]
    others = [
        of(tolerance=1e-6), of(tolerance=1e-10), of(tolerance=1e-11), of(weight=2.0), of(tip="panda_link7"),
        of(lock={"panda_joint2": 0.1}), of(lock={"panda_joint2": 0.2}), of(lock={"panda_finger_joint1": 0.01}),
        of(objectives=calm), of(objectives=height),
        of(objectives=[mk.objective(reads=["panda_link5"], tolerance=None)(lambda frame: frame.position[2] - 0.4)]),
    ]  # fmt: skip
    assert len({same, *(other[0] for other in others)}) == 1 + len(others)
    follower, start = others[8][1], np.linspace(-1.0, 0.0, panda.dof)
    mk.solve(follower, start)  # its springs rest at the start now
    assert fingerprint(follower, follower.objectives[0]) == others[8][0]
    assert of(objectives=height)[0] == others[9][0]  # addresses do not count


# ---- Mistakes ----------------------------------------------------------------------------------------------


def test_wrong_columns(problem, panda, tmp_path):
    columns, _ = targets(panda, 3)
    out = tmp_path / "out"
    wrong = {("w" if name == "qw" else name): values for name, values in columns.items()}
    with pytest.raises(FormatError, match=r"no column qw. Did you mean .*A Pose needs x y z qw qx qy qz"):
        mk.batch.solve_files(problem, write(tmp_path / "a.parquet", wrong), out)
    with pytest.raises(FormatError, match=r"column 'y' holds string, not numbers"):
        mk.batch.solve_files(problem, write(tmp_path / "b.parquet", {**columns, "y": ["a", "b", "c"]}), out)
    twice = pa.table([*columns.values(), columns["x"]], names=[*columns, "x"])
    pq.write_table(twice, tmp_path / "c.parquet")
    with pytest.raises(FormatError, match="2 columns named 'x'"):
        mk.batch.solve_files(problem, tmp_path / "c.parquet", out)
    (tmp_path / "in").mkdir()
    write(tmp_path / "in/a.parquet", columns)
    write(tmp_path / "in/b.parquet", {**columns, "more": [1, 2, 3]})
    with pytest.raises(FormatError, match=r"b.parquet: its columns differ from those of a.parquet"):
        mk.batch.solve_files(problem, tmp_path / "in", out)
    assert not out.exists()


def test_files_that_are_none(problem, panda, tmp_path):
    path = write(tmp_path / "t.parquet", targets(panda, 1000)[0])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match=r"not a complete Parquet file .* cut off"):
        mk.batch.solve_files(problem, path, tmp_path / "out")
    path.write_bytes(whole[:4] + b"\xff" * 40 + whole[44:])  # the end is there, the beginning is not
    with pytest.raises(FormatError, match=r"the rows from 0 on cannot be read"):
        mk.batch.solve_files(problem, path, tmp_path / "out")
    with pytest.raises(FormatError, match="there is no such file"):
        mk.batch.solve_files(problem, tmp_path / "nowhere.parquet", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match=r"no .parquet and no .csv files in this folder"):
        mk.batch.solve_files(problem, tmp_path / "empty", tmp_path / "out")


def test_wrong_options(problem, panda, pose, tmp_path):
    path = write(tmp_path / "t.parquet", targets(panda, 3)[0])
    with pytest.raises(ProblemError, match="rows_per_shard is 0"):
        mk.batch.solve_files(problem, path, tmp_path / "out", rows_per_shard=0)
    with pytest.raises(ProblemError, match="is not a Pose or Position of this problem"):
        mk.batch.solve_files(problem, path, tmp_path / "out", objective=mk.Pose("panda_hand", np.eye(4)))
    two = mk.Problem(panda, [pose, mk.Position("panda_link5", (0, 0, 0))])
    with pytest.raises(ProblemError, match=r"has 2 objectives of the kinds Pose and Position. Say whose"):
        mk.batch.solve_files(two, path, tmp_path / "out")
    (tmp_path / "file").touch()
    with pytest.raises(FormatError, match=r"nothing can be written to the folder .*file.: File exists"):
        mk.batch.solve_files(problem, path, tmp_path / "file")
    clash = mk.Body(
        "clash", [mk.build.Link("a"), mk.build.Link("tip")], [mk.build.Joint("row", "prismatic", "a", "tip", upper=1.0)]
    )
    with pytest.raises(ProblemError, match="joint 'row' of body 'clash' has the name of a column"):
        mk.batch.solve_files(mk.Problem(clash, mk.Position("tip", (0, 0, 0))), path, tmp_path / "out")


@pytest.mark.parametrize(("package", "cluster"), [("pyarrow", None), ("ray", "auto")])
def test_a_package_that_is_missing(problem, panda, tmp_path, monkeypatch, package, cluster):
    path = write(tmp_path / "t.parquet", targets(panda, 3)[0])
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"'{package}'.*memetik\[cluster\]"):
        mk.batch.solve_files(problem, path, tmp_path / "out", cluster=cluster)
    assert not (tmp_path / "out").exists()  # noticed before any work
