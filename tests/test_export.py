"""Solutions, batches, tracks and motions for other programs: every format is read back by what others wrote."""

import builtins
import json
import sys
import types

import numpy as np
import pandas
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import memetik as mk
from memetik.errors import FormatError, MissingExtraError, ProblemError
from memetik.export import data_frame, joint_trajectory

POINTS = np.linspace((0.4, 0.2, 0.3), (0.4, 0.3, 0.3), 6)


@pytest.fixture(scope="module")
def reach():
    return mk.Pose("tool0", mk.transform(POINTS[0], mk.euler(180, 0, 0, degrees=True)))


@pytest.fixture(scope="module")
def problem(reach):
    return mk.Problem(mk.load("ur5"), reach)


@pytest.fixture(scope="module")
def poses(reach):
    return np.array([mk.transform(point, reach.target[:3, :3]) for point in POINTS])


@pytest.fixture(scope="module")
def batch(problem, reach, poses):
    return mk.solve_batch(problem, {reach: poses}, threads=1)


@pytest.fixture(scope="module")
def track(problem, reach, poses):
    return mk.track(problem, {reach: poses}, rate=50.0)


def test_a_solution_as_json_and_back(problem):
    solution = mk.solve(problem)
    given = json.loads(solution.to_json(indent=2))
    assert given == json.loads(json.dumps(solution.to_dict()))
    assert given["status"] == "REACHED" and given["success"] is True and given["body"] == "ur5"
    assert given["objectives"][0]["objective"] == "Pose of tool0" and given["objectives"][0]["unit"] == "m"
    again = mk.Solution.of(problem, problem.body.vector(given["q"]))
    assert_array_equal(again.q, solution.q)


def test_what_is_not_finite_is_null(problem):
    bad = mk.Solution.of(problem, np.full(6, np.nan))
    assert json.loads(bad.to_json())["q"]["elbow_joint"] is None
    wide = mk.Problem(problem.body, mk.Position("tool0", POINTS[0], tolerance=(0.1, 0.1, np.inf)))
    assert json.loads(mk.solve(wide).to_json())["objectives"][0]["tolerance"] == [0.1, 0.1, None]


def test_a_solution_as_a_frame(problem):
    solution = mk.solve(problem)
    frame = solution.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["joint"].tolist() == list(problem.body.joint_names)
    assert_array_equal(frame["value"], solution.q)
    assert set(frame["unit"]) == {"rad"}


def test_a_batch(batch, tmp_path):
    frame = batch.to_frame()
    assert len(frame) == len(batch) and frame["success"].all() and set(frame["status"]) == {"REACHED"}
    names = list(batch.problem.body.joint_names)
    assert_array_equal(frame[names], batch.q)
    assert (frame["error of Pose of tool0, position"] <= 1e-4).all()
    read = pandas.read_csv(batch.save(tmp_path / "batch.csv"), dtype=str)  # its numbers may differ in the last digit
    assert read.columns.tolist() == frame.columns.tolist()
    assert_array_equal(read[names].astype(float), batch.q)
    table = pyarrow.parquet.read_table(batch.save(tmp_path / "batch.parquet"))
    assert_array_equal(table["elbow_joint"], batch.q[:, 2])
    arrays = np.load(batch.save(tmp_path / "batch.npz"))
    assert_array_equal(arrays["elbow_joint"], batch.q[:, 2])


def test_a_track(track, tmp_path):
    frame = track.to_frame()
    assert_allclose(frame["time"], np.arange(6) / 50.0)
    assert frame["reached"].all() and not frame["jumped"].any()
    read = pandas.read_csv(track.save(tmp_path / "track.csv"), dtype=str)
    assert_array_equal(read["elbow_joint"].astype(float), track.q[:, 2])
    assert "Track: 6 of 6" in repr(track)


def test_joint_trajectories(track):
    message = track.to_joint_trajectory()
    assert message["joint_names"] == list(track.problem.body.joint_names)
    assert message["points"][1]["positions"] == track.q[1].tolist()
    assert message["points"][1]["velocities"] == [] == message["points"][1]["effort"]
    assert message["points"][1]["time_from_start"] == {"sec": 0, "nanosec": 20_000_000}
    trajectory = track.retime(velocity=1.0, acceleration=1.0)
    timed = trajectory.to_joint_trajectory(track.problem.body.joint_names)
    assert len(timed["points"][0]["velocities"]) == len(timed["points"][0]["accelerations"]) == 6
    assert json.loads(json.dumps(timed)) == timed
    with pytest.raises(ProblemError, match="2 names for 6 joints"):
        trajectory.to_joint_trajectory(["a", "b"])


def test_stamps_are_whole_nanoseconds():
    stamps = joint_trajectory(["a"], np.array([0.0, 1.0 - 1e-10, 2.5]), np.zeros((3, 1)))["points"]
    assert [point["time_from_start"] for point in stamps] == [
        {"sec": 0, "nanosec": 0}, {"sec": 1, "nanosec": 0}, {"sec": 2, "nanosec": 500_000_000},
    ]  # fmt: skip


def test_a_motion():
    body = mk.build.planar_chain(2)
    clip = mk.Motion(body, (0.0, 0.5), [(0.0, 0.1), (0.2, 0.3)])
    assert clip.to_frame()["joint_2"].tolist() == [0.1, 0.3]
    assert clip.to_joint_trajectory()["points"][1]["positions"] == [0.2, 0.3]


def test_names_with_commas_are_quoted(tmp_path):
    from memetik.export import save_table

    columns = {'a, "b"': np.array([1.5]), "text": np.array(["x,y"])}
    read = pandas.read_csv(save_table(columns, tmp_path / "table.csv"))
    assert read.columns.tolist() == ['a, "b"', "text"] and read["text"][0] == "x,y"
    with pytest.raises(FormatError, match=r"has to end in \.csv or \.parquet or \.npz"):
        save_table(columns, tmp_path / "table.xlsx")


def test_without_pandas(monkeypatch):
    class Frame:
        def __init__(self, columns):
            self.columns = columns

    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", types.SimpleNamespace(DataFrame=Frame))
    assert data_frame({"a": [1]}).columns == {"a": [1]}
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        data_frame({"a": [1]})


def test_reprs_are_short(problem, batch, track):
    body = problem.body
    things = [
        body, problem, batch, track, body.links["tool0"], body.joints["elbow_joint"], body.frame("tool0", (0, 0, 0.1)),
        body.forward(body.home), mk.Shape("hull", points=np.eye(3)), mk.solve(problem), mk.Motion(body, [0.0], [body.home]),
        mk.batch.reachability(mk.build.planar_chain(2), "tip", voxel=1.0, orientations=2, threads=1, progress=False),
        mk.solvers.BioIK(population=8, elites=2).evolve(problem, None, mk.Budget(evaluations=20))[1],
    ]  # fmt: skip
    for thing in things:
        assert len(repr(thing)) < 130 and "\n" not in repr(thing) and repr(thing).startswith("<"), repr(thing)
    assert builtins.repr(body.joints["elbow_joint"]).startswith("<Joint 'elbow_joint': revolute")
