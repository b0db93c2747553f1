"""The map of solved and missed poses: what counts as reachable, and who solves it."""

import json

import numpy as np

from memetik.solvers import Budget
from memetik_lab.harness import pyplot
from memetik_lab.thesis import workspace


def test_every_method_is_judged_on_both_clouds(tmp_path, monkeypatch):
    monkeypatch.setattr(
        workspace, "TASK", workspace.TASK._replace(seconds=10.0)
    )  # no deadline a busy machine could miss
    monkeypatch.setattr(workspace, "PATIENCE", Budget(evaluations=2_000))
    workspace.run(tmp_path, count=20, across=2)
    rows = json.loads((tmp_path / "workspace.json").read_text())["rows"]
    assert [(row["goals"], row["method"]) for row in rows] == [
        (goals, method) for goals in (workspace.BOX, workspace.RANDOM) for method in workspace.METHODS
    ]
    random = {row["method"]: row for row in rows if row["goals"] == workspace.RANDOM}
    assert all(row["reachable"] == 20 for row in random.values())
    assert random["memetic"]["solved [%]"] == 100.0 > random["dls, one try"]["solved [%]"]
    assert (tmp_path / "workspace.png").exists() and (tmp_path / "workspace.svg").exists()


def test_the_map_counts_reachable_goals_in_depth_only():
    """Of two goals behind each other one is out of reach: the map shows the other one alone."""
    targets = np.tile(np.eye(4), (8, 1, 1))
    targets[:, :3, 3] = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1).reshape(-1, 3)
    reachable = np.array([True, True, False, False, True, False, False, True])
    hits = np.array([True, False, False, False, False, False, False, True])
    cloud = workspace.Cloud(workspace.BOX, targets, np.zeros((8, 1)))
    axis = pyplot().subplots()[1]
    shown = workspace._depths(axis, cloud, workspace.Outcome({}, {}, reachable), hits).get_array()
    # Rows are z, columns y: goals 0 and 4, 2 and 6; then 1 and 5, 3 and 7.
    np.testing.assert_array_equal(np.ma.filled(shown, np.nan), [[0.5, np.nan], [0.0, 1.0]])
