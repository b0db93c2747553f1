"""The page in a real browser: it loads, a dragged gizmo moves the body, and the controls do what they say."""

import time
import types
from functools import partial

import numpy as np
import pytest

import memetik as mk
from memetik import bodies, scenes
from memetik_studio.jobs import compare, evolve
from memetik_studio.server import Studio, scene_from
from memetik_studio.session import Session
from tests.browser import chromium, until
from tests.scenes.samples import among_obstacles
from tests.studio.patience import patient
from tests.studio.visit import on_screen, visit
from tests.timing import processor_seconds, yardstick


@pytest.fixture(scope="module")
def studio():
    """A running one; what the tests solve by has been compiled before, so that none of them waits for it."""
    session = Session(patient("arm reach"))
    text, start = scenes.dumps(session.scene), session.start.tolist()
    compare(text, start, (), ["memetic", "bioik", "dls", "ccd"])
    evolve(text, start, (), mk.solvers.BioIK(population=10, elites=2), 3)
    session.move("hand", (3.0, 0.0, 0.4))
    for name in scenes.READY:
        Session(patient(name))
    with Studio(patient("arm reach"), port=0) as running:
        yield running


@pytest.fixture(scope="module")
def new_tab():
    with chromium(900, 450) as open_tab:
        yield open_tab


@pytest.fixture(scope="module")
def visited(new_tab, studio):
    tab, page = visit(studio, new_tab)
    page.act(
        lambda: page.stage.seen.update({"body": False, "skeleton": True})
    )  # lines are quick without a graphics card
    return tab, page


@pytest.fixture
def tab(visited):
    return visited[0]


@pytest.fixture
def page(visited):
    """The server's side, back at the first scene and without a past."""
    page = visited[1]
    page.act(lambda: page.session.open(patient("arm reach")))
    return page


def hand(page):
    pose = page.session.body.forward(page.session.q)["panda_hand"]
    return pose[:3, 3] + 0.1 * pose[:3, 2]


def test_obstacles_of_the_world_are_seen_and_follow_the_scene(page):
    page.act(lambda: page.session.open(among_obstacles()))
    assert page.gizmos._blocks.keys() == {"table", "cup", "ball"}  # the post is switched off
    page.act(lambda: page.session.move_block("cup", (0.5, -0.5, 0.05), (1.0, 0.0, 0.0, 0.0)))
    np.testing.assert_allclose(page.gizmos._blocks["cup"].position, (0.5, -0.5, 0.05))
    page.act(lambda: page.session.open(patient("arm reach")))
    assert not page.gizmos._blocks


def test_a_gizmo_dragged_with_the_mouse_takes_the_hand_along(tab, page):
    tab.screenshot()  # returns when the scene has been drawn; before there is nothing to grab
    gizmo = page.gizmos._targets["hand"]
    before = np.array(gizmo.position)
    for _ in range(5):  # a grab that misses turns the camera instead
        page.stage.look()
        time.sleep(0.3)
        x, y = on_screen(page, tab, before - (0.0, 0.0, 0.45 * gizmo.scale))  # the gizmo's z points down
        tab.mouse.move(x, y)
        time.sleep(0.3)
        tab.mouse.move(x + 1, y)
        tab.mouse.down()
        for k in range(1, 9):
            tab.mouse.move(x, y + 3 * k)
        tab.mouse.up()
        time.sleep(0.5)
        if not np.allclose(gizmo.position, before, atol=0.01):
            break
    until(lambda: not page.gizmos.dragging and page.gizmos.late is None)
    target = page.session.scene.wish("hand").values["position"]
    assert np.linalg.norm(target - before) > 0.01 and abs(target[0] - before[0]) < 1e-6
    np.testing.assert_allclose(target, gizmo.position, atol=1e-9)
    np.testing.assert_allclose(hand(page), target, atol=1e-4)
    assert page.session.undo(), "the whole drag is one step"
    np.testing.assert_allclose(page.session.scene.wish("hand").values["position"], before)


def test_buttons_open_every_ready_scene_and_undo_goes_back(tab, page):
    tab.get_by_role("tab", name="Scene").click()
    for name in scenes.READY:
        tab.get_by_role("button", name=name, exact=True).click()
        until(lambda name=name: page.session.scene == scenes.ready(name), what=name)
        with page.session.lock:
            assert page.trouble == ""
            with_gizmo = [wish.name for wish in page.session.scene.wishes if page.session.gizmo(wish.name) is not None]
            assert list(page.gizmos._targets) == with_gizmo
    tab.get_by_role("button", name="undo").click()
    until(lambda: page.session.scene == scenes.ready("quadruped"))
    tab.get_by_role("button", name="redo").click()
    until(lambda: page.session.scene == scenes.ready("100-joint snake"))


@pytest.mark.parametrize("name", scenes.READY)
def test_every_ready_scene_is_reached(page, name):
    assert page.act(lambda: page.session.open(patient(name)))
    assert page.session.reached and page.trouble == ""


def test_every_bundled_body_opens(tab, page):
    for name in (*bodies.names(), "planar:3", "snake:12"):
        assert page.act(lambda name=name: page.session.open(scene_from(name)[0])), page.trouble
    tab.get_by_role("tab", name="Joints").click()
    tab.get_by_text("joint_12", exact=True).or_(tab.get_by_text("joint_1", exact=True)).first.wait_for()


def test_the_method_is_chosen_in_the_page(tab, page):
    tab.get_by_role("tab", name="Solver").click()
    for method in ("bioik", "ccd"):
        tab.get_by_label("method", exact=True).click()
        tab.get_by_role("option", name=method, exact=True).click()
        until(lambda method=method: page.session.scene.solving.method == method)
        until(lambda method=method: page.session.solution.method == method)
        assert page.session.reached
        tab.get_by_text("REACHED").first.wait_for()


def test_an_evolution_is_run_stepped_and_played(tab, page):
    tab.get_by_role("tab", name="Evolution").click()
    tab.get_by_role("button", name="evolve").click()
    evolution = page.panels[-1]
    until(lambda: evolution._crowd is not None)
    until(lambda: len(page.stage._crowd) == 1, what="the first generation, which has no elites")
    tab.get_by_role("button", name="step").click()
    until(lambda: evolution._slider.value == 1 and len(page.stage._crowd) == 2 and page.stage._best is not None)
    tab.locator("img[src^='data:image/png']").nth(6).wait_for()
    assert tab.locator("img[src^='data:image/png']").count() == 7
    tab.get_by_role("button", name="play").click()
    until(lambda: evolution._slider.value == evolution._last > 2 and not evolution._playing, what="the last generation")
    tab.get_by_role("button", name="back").click()
    until(lambda: evolution._slider.value == evolution._last - 1)
    page.act(lambda: page.session.set("hand", position=[0.4, 0.1, 0.5]))
    until(lambda: evolution._crowd is None, what="the end of an evolution about another problem")
    assert page.stage._best is None


def test_methods_are_compared_in_the_page(tab, page):
    tab.get_by_role("tab", name="Compare").click()
    tab.get_by_role("button", name="compare").click()
    tab.get_by_text("evaluations, reached").first.wait_for()
    until(lambda: len(page.stage._ghosts) == 2 * 4)
    tab.get_by_role("button", name="clear").first.click()
    until(lambda: not page.stage._ghosts)


def test_an_objective_is_switched_off_in_the_page(tab, page):
    tab.get_by_role("tab", name="Objectives").click()
    tab.get_by_label("enabled").first.click()
    until(lambda: not page.session.scene.wish("hand").enabled)
    assert "hand" not in page.gizmos._targets
    tab.get_by_text("off", exact=True).wait_for()
    tab.get_by_label("enabled").first.click()
    until(lambda: page.session.scene.wish("hand").enabled)
    until(lambda: "hand" in page.gizmos._targets)


def test_a_joint_is_locked_in_the_page(tab, page):
    tab.get_by_role("tab", name="Joints").click()
    tab.get_by_label("lock").first.click()
    until(lambda: "panda_joint1" in page.session.scene.lock)


def upload(tab, name, content):
    with tab.expect_file_chooser() as chooser:
        tab.get_by_role("button", name="upload").click()
    chooser.value.set_files({"name": name, "mimeType": "text/plain", "buffer": content})


def fold(tab, title, inside, shown):
    """Click on a folder until the button in it is shown or not: on a busy machine a click can go beside what moves."""
    button = tab.get_by_role("button", name=inside)
    for _ in range(5):
        tab.get_by_text(title, exact=True).click()
        for _ in range(50):
            if button.is_visible() == shown:
                return
            tab.wait_for_timeout(200)
    raise AssertionError(f"folder {title!r} does not {'open' if shown else 'close'}")


def test_files_go_out_and_come_in_and_bad_ones_are_told(tab, page, monkeypatch):
    tab.get_by_role("tab", name="Scene").click()
    fold(tab, "File", "save scene", shown=True)
    page.act(lambda: page.session.set("hand", position=[0.45, -0.1, 0.5]))
    with tab.expect_download() as download:
        tab.get_by_role("button", name="save scene").click()
    saved = download.value.path().read_bytes()
    page.act(lambda: page.session.open(patient("parallel five-bar")))
    upload(tab, "mine.json", saved)
    until(lambda: page.session.scene.title == "arm reach")
    np.testing.assert_allclose(hand(page), (0.45, -0.1, 0.5), atol=1e-4)
    before = page.session.scene
    upload(tab, "bad.urdf", b"<robot><link")
    tab.get_by_text("this is not XML").first.wait_for()
    monkeypatch.setattr("memetik_studio.guard.MOST_BYTES", 2**20)
    upload(tab, "large.urdf", b" " * (2**20 + 1))
    tab.get_by_text("large.urdf is larger than 1 MB").first.wait_for()
    assert page.session.scene is before and not page._client.gui._current_file_upload_states
    fold(tab, "File", "save scene", shown=False)


def test_settings_of_the_solver_come_from_the_page(tab, page):
    tab.get_by_role("tab", name="Solver").click()
    seed = tab.get_by_role("textbox", name="seed")
    seed.fill("7")
    seed.press("Enter")
    until(lambda: page.session.scene.solving.seed == 7)
    page.act(page.session.undo)
    until(lambda: seed.input_value() == "0")


@pytest.mark.timed
def test_a_target_out_of_reach_is_explained_while_the_page_lives(tab, page):
    """The explanation takes seconds, but not the page's: what a drag needs is free most of the time."""
    page.session.move("hand", (3.0, 0.0, 0.4))
    page._frame()
    tab.get_by_role("tab", name="Solver").click()
    waited, begin = 0.0, time.monotonic()
    while not page.session.explanation and time.monotonic() < begin + 300.0:
        asked = time.monotonic()
        with page.session.lock:
            waited += time.monotonic() - asked
        time.sleep(0.01)
    assert "the chain from there reaches at most" in page.session.explanation
    assert waited < 0.5 * (time.monotonic() - begin)
    tab.get_by_text("the chain from there reaches at most").first.wait_for()


def test_a_mouse_that_runs_ahead_of_slow_frames_is_caught_up_with(page):
    slow, calls = page.session.move, []

    def move(*arguments):
        calls.append(arguments)
        time.sleep(0.05)
        return slow(*arguments)

    page.session.move = move
    try:
        gizmo = page.gizmos._targets["hand"]
        (listener,) = gizmo._impl_aux.update_cb
        for k in range(20):
            gizmo.position = (0.5, 0.1 + 0.001 * k, 0.4)
            phase = "start" if k == 0 else "end" if k == 19 else "update"
            with pytest.raises(StopIteration):  # it never waits
                listener(types.SimpleNamespace(phase=phase)).send(None)
        until(lambda: page.gizmos.late is None)
        with page.session.lock:
            np.testing.assert_allclose(page.session.scene.wish("hand").values["position"], (0.5, 0.119, 0.4))
        assert len(calls) < 10, "not every step of the mouse is solved"
    finally:
        page.session.move = slow


@pytest.mark.timed
def test_frames_of_the_humanoid_take_about_a_millisecond(page):
    """From the drag to the posture that is sent, against a piece of plain Python that takes about a millisecond."""
    page.stage.seen.update({"body": True, "skeleton": False})
    page.act(lambda: page.session.open(patient("humanoid")))
    position, wxyz = page.session.gizmo("rightPalm")
    shifts = 0.05 * np.sin(0.1 * np.arange(200))

    def drag(shift):
        with page.session.lock:
            page.session.move("rightPalm", position + shift, wxyz)
            page._frame()
        assert page.session.reached

    spent = [(processor_seconds(partial(drag, shift)), processor_seconds(yardstick)) for shift in shifts]
    page.stage.seen.update({"body": False, "skeleton": True})
    frame, measure = np.median(spent, axis=0)
    assert frame < 2.5 * measure, f"{1e3 * frame:.2f} ms, {1e3 * measure:.2f} ms"


def test_tabs_do_not_disturb_each_other(studio, new_tab, page):
    other_tab, other = visit(studio, new_tab)
    other.session.move("hand", (0.4, 0.3, 0.5))
    assert other.session is not page.session and page.session.scene == patient("arm reach")
    other_tab.close()
    until(lambda: other not in studio.pages.values(), what="the end of the other page")
    until(lambda: not other._pulse.is_alive(), what="the end of its thread")
    assert page._pulse.is_alive()
