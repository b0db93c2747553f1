"""The experiments about Bio IK itself, with tiny sizes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from memetik.build.chains import planar_chain, snake
from memetik.objectives import Pose, Position
from memetik.problem import Problem, fitness
from memetik.solvers import Budget
from memetik_lab.ofkt_paper import cost, counts
from memetik_lab.thesis import ablation, convergence, generations, landscapes, losses, population
from memetik_lab.thesis.convergence import Robot
from memetik_lab.thesis.landscape_plots import landscape
from memetik_lab.thesis.valkyrie import SETUPS

SCENES = landscapes.scenes()


def saved(folder, name):
    content = json.loads((folder / f"{name}.json").read_text())
    assert content["name"] == name and len(content["protocol"]) > 100
    assert all(list(row) == list(content["rows"][0]) for row in content["rows"])
    return content["rows"], content["remarks"]


def test_fitness_is_the_loss_of_the_thesis():
    """Eq. 4.3 to 4.5 by hand: an arm of one metre that points along x, and a target beyond it that is turned."""
    body = planar_chain([0.5, 0.5])
    target = np.eye(4)
    target[:3, 3] = (1.3, 0.0, 0.0)
    position = np.pi * 0.3 / np.sqrt((1.0 + 0.3) * (1.0 + 0.3))
    straight, turned = fitness(Problem(body, Pose("tip", target)), [[0.0, 0.0], [0.2, -0.2]])
    assert straight == pytest.approx(np.sqrt(0.5 * position**2))
    assert turned > straight
    assert fitness(Problem(body, Position("tip", (1.0, 0.0, 0.0))), [0.0, 0.0])[0] == 0.0


def test_losses_are_compared_with_the_parameters_of_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(losses, "BUDGET", Budget(seconds=0.5))  # no deadline that a busy machine could miss
    losses.run(tmp_path, count=4, setups=(SETUPS[1], SETUPS[4]))
    rows, remarks = saved(tmp_path, "losses")
    assert [(row["individuals"], row["elites"], row["variant"], row["loss"]) for row in rows] == [
        (*sizes, variant, loss)
        for sizes in ((75, 2), (130, 3)) for variant in ("default", "as published") for loss in ("root mean square", "mean")
    ]  # fmt: skip
    assert rows[0]["solved [%]"] == 100.0
    assert [row["published mean [ms]"] for row in rows] == 2 * [0.63, 1.48] + 2 * [2.67, 6.53]
    assert any("As published, with the root mean square" in remark for remark in remarks)
    assert any("Root mean square: fewer solved" in remark for remark in remarks)
    assert (tmp_path / "losses.svg").exists()


def test_populations_are_normalised_for_each_chain(tmp_path):
    grid = population.Grid((6, 8), (10, 20), (1, 3))
    population.run(tmp_path, count=3, grid=grid)
    rows, remarks = saved(tmp_path, "population")
    assert len(rows) == 8 and len(remarks) == 3
    for joints in grid.joints:
        mine = [row for row in rows if row["joints"] == joints]
        assert max(row["efficiency"] for row in mine) == 1.0
        assert min(row["time to solve"] for row in mine) == 1.0
    assert (tmp_path / "population.png").exists()


def test_convergence_counts_generations(tmp_path):
    convergence.run(tmp_path, count=5, only=[Robot("chain of 8", snake(8), "tip")])
    rows, _ = saved(tmp_path, "convergence")
    assert [row["gradient"] for row in rows] == ["plain", "OFKT", "chain rule"]
    for row in rows:
        shares = [row[f"within {g} [%]"] for g in convergence.MARKS]
        assert shares == sorted(shares) and shares[-1] <= row["solved [%]"] == 100.0
        assert 1.0 <= row["mean generations"] <= row["most"]
    assert rows[0]["time / plain"] == 1.0
    assert (tmp_path / "convergence.png").exists()


@pytest.mark.timed
def test_counted_transformations_are_those_of_the_paper(tmp_path):
    report = counts.run(tmp_path, quick=True, joints=(5, 30))
    rows, remarks = saved(tmp_path, "counts")
    assert remarks[0] == "All counts are those of the table."
    by_name = {(row["scenario"], row["joints"]): row for row in rows}
    assert by_name[counts.ONE, 30]["OFKT"] == 5 and by_name[counts.ONE, 30]["standard"] == 61
    assert by_name[counts.EACH, 30]["OFKT"] == 525 and by_name[counts.EACH, 30]["standard"] == 1830
    assert by_name[counts.TIPS, 27]["OFKT"] == 59 and by_name[counts.TIPS, 27]["standard"] == 115
    assert by_name[counts.ONE, 30]["faster"] > 2.0
    report.rows[0]["OFKT"] += 1.0
    assert "differ" in counts.verdict(report.rows)[0]


def test_the_cost_of_a_generation(tmp_path):
    cost.run(tmp_path, quick=True, count=3, joints=(5, 30))
    rows, remarks = saved(tmp_path, "cost")
    for row in rows:
        assert row["fewer"] == pytest.approx(cost._fewer(row["of one gene [%]"] / 100.0, row["joints"]))
    assert rows[1]["fewer"] > rows[0]["fewer"] > 1.0
    assert cost._fewer(cost._share_for(8.0, 30), 30) == pytest.approx(8.0)
    assert any("published about 8" in remark for remark in remarks)
    assert (tmp_path / "cost.png").exists()


def full_evaluations(rows):
    """What the default spends, which two tables have."""
    return next(row["evaluations"] for row in rows if row["without"] == "nothing" and row["steps"] == 300)


def test_exploitation_is_worth_most(tmp_path, monkeypatch):
    monkeypatch.setattr(ablation, "EVALUATIONS", 2_000)
    ablation.run(tmp_path, count=4, only=ablation.cases()[:1])
    rows, remarks = saved(tmp_path, "ablation")
    assert [row["without"] for row in rows[:10]] == 2 * ["nothing", *ablation.PHASES]
    assert [row["steps"] for row in rows[:10]] == 5 * [300] + 5 * [ablation.SHORT]
    assert [row["without"] for row in rows[10:]] == ["nothing", *ablation.DEVIATIONS, ablation.STEPS, ablation.ALL]
    assert rows[10]["evaluations"] == full_evaluations(rows) and "as published" in remarks[-1]
    full, without = rows[:2]
    assert full["solved [%]"] > without["solved [%]"]
    assert without["times as many"] == without["evaluations"] / full["evaluations"] > 2.0
    assert sum(row["contribution [%]"] for row in rows[:5]) == pytest.approx(100.0)
    assert remarks[0].startswith("Shadow hand, 300 iterations: most by exploitation")
    assert (tmp_path / "ablation.png").exists()


def test_generations_by_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(generations, "BUDGET", Budget(evaluations=1_000))
    generations.run(tmp_path, count=3, elites=(1, 3))
    rows, remarks = saved(tmp_path, "generations")
    assert [row["elites"] for row in rows] == [1, 3]
    for row in rows:
        assert row["faster"] == row["one thread [ms]"] / row["threads [ms]"] > 0.0
        assert row["generations"] >= 1.0
    assert remarks[0].startswith("Threads gain most")
    assert "Slower" in generations.verdict([{"elites": 2, "faster": 0.5}])[1]
    assert (tmp_path / "generations.png").exists()


def test_landscapes_of_one_elite_and_of_more(tmp_path, monkeypatch):
    monkeypatch.setattr(landscapes, "BUDGET", Budget(evaluations=1_500))
    arms = [scene for scene in SCENES if scene.label in ("planar arm", "valkyrie arm")]
    landscapes.run(tmp_path, quick=True, count=2, only=arms)
    rows, _ = saved(tmp_path, "landscapes")
    assert [(row["body"], row["elites"]) for row in rows] == [
        (scene.label, elites) for scene in arms for elites in (1, 3, 6)
    ]
    assert all(row["niches"] == 1.0 for row in rows if row["elites"] == 1)
    assert all(row["solved [%]"] == 100.0 for row in rows if row["body"] == "planar arm")
    for name in ("landscapes_planar_arm", "histories_valkyrie_arm", "postures_valkyrie_arm"):
        assert (tmp_path / f"{name}.png").exists()


def test_a_map_has_its_least_at_the_answer():
    """The fitness on the grid is that of the postures, and the answer is where it is lowest."""
    scene = SCENES[0]
    run = landscapes._evolve(scene, 3, 1)[0]
    across, along, found = landscape(run, points=41)
    row, column = np.unravel_index(found.argmin(), found.shape)
    assert found[row, column] == pytest.approx(fitness(run.problem, [across[column], along[row]])[0])
    assert fitness(run.problem, run.answer)[0] < found.min()
