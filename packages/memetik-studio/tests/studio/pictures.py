"""The pictures of docs/studio.md, by hand: python -m tests.studio.pictures [NAME ...]"""

import io
import sys
from pathlib import Path

import numpy as np
from PIL import Image

import memetik as mk
from memetik import scenes
from memetik_studio.server import Studio
from tests.browser import chromium, until
from tests.studio.visit import visit

FOLDER = Path(__file__).parents[4] / "docs" / "pictures"

# The tab that is open, the target that moves on a small circle, and what else is seen.
TURNED = {"arm around a sphere": 1.9, "hand grasp": 0.7}  # rad that the camera goes around the body
VIEWS = {
    "arm reach": ("Solver", "hand", {"joint axes": True}),
    "humanoid": ("Objectives", "rightPalm", {}),
    "hand grasp": ("Joints", "rh_fftip", {}),
    "arm around a sphere": ("Objectives", "panda_hand", {"start ghost": True}),
    "foot on terrain": ("Objectives", "left foot here", {}),
    "parallel five-bar": ("Solver", "reach", {"skeleton": True}),
    "quadruped": ("Objectives", "trunk", {"start ghost": True}),
    "100-joint snake": ("Solver", "head", {}),
}


def main(names):
    """Draw each ready scene after a little drag, an evolution and a comparison."""
    with Studio(scenes.ready("arm reach"), port=0) as studio, chromium(1000, 640) as new_tab:
        tab, page = visit(studio, new_tab)
        for name in names:
            {"evolution": evolution, "comparison": comparison}.get(name, ready)(tab, page, name)
            tab.wait_for_timeout(1_500)
            picture = Image.open(io.BytesIO(tab.screenshot(timeout=120_000))).convert("RGB")
            path = FOLDER / f"studio_{name.replace(' ', '_')}.png"
            path.write_bytes(small(picture))
            print(path.name, path.stat().st_size // 1000, "kB,", page.session.solution.status.name)


def small(picture):
    """The picture as a PNG of less than 100 kB, with some colours kept for what is small and bright: marks, gizmos, lines."""
    pixels = np.asarray(picture).reshape(-1, 3)
    bright = pixels[np.ptp(pixels, axis=1) > 60]
    bright = Image.fromarray(bright[: len(bright) // 2 * 2].reshape(-1, 2, 3))
    for many, few in ((168, 88), (128, 64), (96, 48), (64, 32)):
        colours = [*picture.quantize(many).getpalette()[: 3 * many], *bright.quantize(few).getpalette()[: 3 * few]]
        palette = Image.new("P", (1, 1))
        palette.putpalette(colours)
        stream = io.BytesIO()
        picture.quantize(palette=palette, dither=Image.Dither.NONE).save(stream, "PNG", optimize=True)
        if len(stream.getvalue()) < 98_000:
            break
    return stream.getvalue()


def ready(tab, page, name):
    """A ready scene whose target has gone along a small arc."""
    title, target, seen = VIEWS[name]
    page.stage.seen.update({"joint axes": False, "start ghost": False, "skeleton": False, **seen})
    page.act(lambda: page.session.open(scenes.ready(name)))
    position, wxyz = page.session.gizmo(target)
    for angle in np.linspace(0.0, 2.0 * np.pi, 60)[:50]:
        circle = np.array([0.0, np.cos(angle) - 1.0, np.sin(angle)])
        circle *= (1.0, 1.0, 0.0) if name == "parallel five-bar" else (1.0, 1.0, 1.0)
        with page.session.lock:
            page.session.move(target, position + 0.04 * page.stage.size * circle, wxyz)
            page._frame()
            page.stage.trail()
    page.show()
    camera, turn = page._client.camera, mk.euler(TURNED.get(name, 0.0), order="z")
    middle = np.array(camera.look_at)
    back = 1.25 if name in TURNED else 1.0
    camera.position = tuple(back * turn @ (camera.position - middle) + middle)
    camera.look_at = tuple(middle)
    tab.get_by_role("tab", name=title).click()


def evolution(tab, page, name):
    """Some generations of the arm."""
    page.act(lambda: page.session.open(scenes.ready("arm reach")))
    tab.get_by_role("tab", name="Evolution").click()
    tab.get_by_role("button", name="evolve").click()
    panel = page.panels[-1]
    until(lambda: panel._crowd is not None)
    for k in range(1, 5):
        tab.get_by_role("button", name="step").click()
        until(lambda k=k: panel._slider.value == k)


def comparison(tab, page, name):
    """Four methods on the humanoid."""
    page.stage.seen.update({"joint axes": False, "start ghost": False, "skeleton": False})
    page.act(lambda: page.session.open(scenes.ready("humanoid")))
    tab.get_by_role("tab", name="Compare").click()
    tab.get_by_role("button", name="compare").click()
    until(lambda: page.stage._ghosts)


if __name__ == "__main__":
    main(sys.argv[1:] or [*VIEWS, "evolution", "comparison"])
