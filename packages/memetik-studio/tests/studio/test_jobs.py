"""Jobs of the worker: what comes back is true, and nothing is raised."""

import numpy as np
import pytest

import memetik as mk
from memetik import scenes
from memetik_studio.generations import HIGH, PAPER, VIEWS, WIDE, Crowd, Landscape, colours, quality
from memetik_studio.jobs import compare, evolve, search
from memetik_studio.lines import Lines
from memetik_studio.widgets import METHODS

SOLVER = mk.solvers.BioIK(population=30, elites=3, steps=2)


def asked(name, **values):
    scene = scenes.ready(name)
    body = scenes.load_body(scene.body)
    for wish, change in values.items():
        scene = scene.with_wish(scene.wish(wish).with_values(**change))
    return scenes.dumps(scene), scenes.start(scene, body).tolist(), (), body


def test_methods_are_compared_on_the_same_problem():
    text, q, roots, body = asked("arm reach", hand={"position": [0.4, 0.2, 0.5]})
    ghosts = compare(text, q, roots, [row.name for row in METHODS])
    assert [ghost.method for ghost in ghosts] == [row.name for row in METHODS]
    for ghost in ghosts[:2]:
        assert ghost.success and ghost.seconds > 0.0 and ghost.evaluations > 0, ghost.method
        pose = body.forward(ghost.q)["panda_hand"]
        np.testing.assert_allclose(pose[:3, 3] + 0.1 * pose[:3, 2], (0.4, 0.2, 0.5), atol=1e-4)
    assert all(ghost.success or ghost.remark or ghost.evaluations for ghost in ghosts)
    assert compare(text, q, roots, ["magic"])[0].remark.startswith("no method named")


def test_a_broken_scene_is_an_answer_too():
    for answer in (search("{}", [], ()).explanation, evolve("{}", [], (), SOLVER, 5).remark):
        assert "this version reads" in answer


@pytest.fixture(scope="module")
def evolution():
    text, q, roots, body = asked("arm reach")
    return evolve(text, q, roots, SOLVER, 60), body, np.array(q)


def test_an_evolution_has_every_generation(evolution):
    run, _, _ = evolution
    history = run.history
    assert run.success and run.remark == "" and 2 < history.generations <= 61
    assert (np.bincount(history.generation)[:-1] == SOLVER.population).all()
    assert evolve(*asked("arm reach")[:3], SOLVER, 5).history.generations <= 6


def test_a_generation_is_seen_as_skeletons(evolution):
    run, body, start = evolution
    history = run.history
    crowd, bones = Crowd(body, history), len(Lines(body, 1.0).bones(body.forward(start).array))
    seen = crowd.generation(1)
    assert len(seen.elites) == SOLVER.elites * bones
    assert len(seen.others) == (SOLVER.population - SOLVER.elites) * bones
    assert seen.others.shape == seen.other_colours.shape and np.isfinite(seen.others).all()
    rows = np.flatnonzero(history.generation == 1)
    best = rows[np.argmin(history.fitness[rows])]
    names = list(history.joints)
    for joint, value in zip(body.joint_names, seen.best, strict=True):
        assert value == (history.genes[best, names.index(joint)] if joint in names else 0.04), "the finger is locked"


def test_a_landscape_has_a_dot_where_an_individual_is(evolution):
    history = evolution[0].history
    landscape = Landscape(history)
    for joint in (0, 3):
        pictures = {view: landscape.picture(joint, view) for view in VIEWS}
        drawn = {view: (picture != PAPER).any(axis=2) for view, picture in pictures.items()}
        for row in range(len(history)):
            across = round(float(landscape.across(history.generation[row])) * WIDE)
            down = round(3 + (1.0 - history.shares[row, joint].clip(0, 1)) * (HIGH - 7))
            near = np.s_[max(down - 2, 0) : down + 3, max(across - 2, 0) : across + 3]
            assert drawn["individuals"][near].any()
            assert not history.elite[row] or drawn["elites"][near].any()
        assert drawn["elites"].sum() < drawn["individuals"].sum()
        assert drawn["parents"].sum() > drawn["individuals"].sum(), "lines cover more than dots"


def test_the_best_is_green_and_the_worst_is_red():
    share = quality(np.array([1e-3, 1.0, np.inf, 0.03, np.nan]))
    assert share[0] == 1.0 and share[1] == share[2] == share[4] == 0.0 and 0.4 < share[3] < 0.6
    (good_red, good_green, _), (bad_red, bad_green, _) = colours(share)[:2].astype(int)
    assert good_green > good_red and bad_red > bad_green
    np.testing.assert_array_equal(quality(np.zeros(3)).shape, 3)
