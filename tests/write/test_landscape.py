"""The pictures of an evolution: what they show, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import memetik as mk
from memetik.write import evolved, landscape
from tests.naive.bodies import serial_arm


@pytest.fixture(scope="module")
def evolution():
    """An arm that reaches for a position in small steps, watched by three elites."""
    body = serial_arm(5)
    target = body.forward(body.sample(np.random.default_rng(3)))["link5"][:3, 3]
    problem = mk.Problem(body, mk.Position("link5", target, tolerance=1e-9))
    solver = mk.solvers.BioIK(population=20, elites=3, steps=2)
    return body, target, solver.evolve(problem, budget=mk.Budget(evaluations=400))[1]


@pytest.fixture
def drawn(monkeypatch):
    """The figures that would be saved."""
    figures = []
    for module in (landscape, evolved):
        monkeypatch.setattr(module, "save", lambda figure, path: figures.append(figure) or path)
    return figures


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_pictures_are_written(evolution, tmp_path, suffix):
    body, target, history = evolution
    paths = [tmp_path / f"landscape{suffix}", tmp_path / f"postures{suffix}"]
    assert mk.write.draw_landscape(history, paths[0], title="arm") == paths[0]
    assert mk.write.draw_evolved(body, history, paths[1], targets=[target], title="arm") == paths[1]
    for path in paths:
        assert path.stat().st_size > 10_000


def test_all_individuals_and_both_parents_are_in_the_landscape(evolution, drawn):
    history = evolution[2]
    mk.write.draw_landscape(history, "unused.png", joints=["joint2", "joint0"])
    plots = np.array(drawn[0].axes[:6]).reshape(3, 2)
    assert [plot.get_title() for plot in plots[0]] == ["joint2", "joint0"]
    points = plots[0, 0].collections[0].get_offsets()
    assert len(points) == len(history)
    assert sorted(points[:, 1]) == sorted(history.genes[:, 2])
    born = (history.parents[:, 0] >= 0).sum()
    assert len(plots[1, 0].collections[0].get_segments()) == 2 * born
    colors = {line.get_color() for line in plots[2, 0].lines}
    assert len(colors) == len(history.founders()) >= 2
    lower, upper = plots[0, 0].get_ylim()
    assert lower < history.lower[2] < history.upper[2] < upper


def test_joints_unless_named_are_those_in_which_elites_differ(evolution, drawn):
    history = evolution[2]
    mk.write.draw_landscape(history, "unused.png")
    titles = [plot.get_title() for plot in drawn[0].axes[: landscape.COLUMNS]]
    late = history.elite & (history.generation >= history.generations // 2)
    assert history.joints[int(history.shares[late].std(axis=0).argmin())] not in titles


def test_the_fittest_postures_come_first_and_elites_are_framed(evolution, drawn):
    body, _, history = evolution
    mk.write.draw_evolved(body, history, "unused.png", count=8)
    plots = [plot for plot in drawn[0].axes if plot.get_title()]
    rows = history.rows(history.last_whole)
    expected = np.sort(history.fitness[rows])[:8]
    assert [plot.get_title() for plot in plots] == [f"{fitness:.2g}" for fitness in expected]
    framed = [plot.axison for plot in plots]
    order = rows[np.argsort(history.fitness[rows], kind="stable")][:8]
    assert framed == history.elite[order].tolist()
    assert any(framed) and not all(framed)


def test_an_unknown_joint_is_named(evolution, tmp_path):
    with pytest.raises(mk.errors.ProblemError, match=r"no joint 'elbow' took part .* joint0, joint1"):
        mk.write.draw_landscape(evolution[2], tmp_path / "x.png", joints=["elbow"])


def test_a_strange_ending_is_refused(evolution, tmp_path):
    with pytest.raises(mk.errors.FormatError, match=r"x\.doc: the picture cannot be written"):
        mk.write.draw_landscape(evolution[2], tmp_path / "x.doc")
