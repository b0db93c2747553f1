"""The notebook of the examples runs, and every kind of thing shows itself in it."""

import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import memetik as mk
from memetik.progress import Progress, in_notebook
from memetik.write.notebook import html

NOTEBOOK = Path(__file__).parents[1] / "examples" / "28_notebook.ipynb"
# What the cell that ends with this shows, as text and in its HTML or SVG.
SHOWN = {
    "\narm": ("<Body 'panda'", "<svg"),
    "\nproblem": ("<Problem", "tolerance"),
    "\nsolution": ("<Solution REACHED", "panda_joint4"),
    "to_frame()": ("panda_joint4", "<table"),
    "size=(360, 360), targets=[reach.target])": ("<Picture", "<svg"),
    "\ntrack": ("<Track: 40 of 40", "<polyline"),
    "\nbatch": ("<BatchSolution: 40 of 40", "40 problems on"),
    "mk.view(arm, track.q, targets=[reach.target])": ("<View", "<iframe srcdoc="),
    "orientations=8)": ("<Reachability", "to the right"),
    "\nhistory": ("<History", "generation"),
    'name="sideways")': ("<Motion", "<svg"),
}


@pytest.fixture(scope="module")
def cells():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_it_holds_no_outputs():
    assert all(not cell.get("outputs") for cell in nbformat.read(NOTEBOOK, as_version=4).cells)


def test_every_thing_shows_itself(cells):
    for ending, (text, rich) in SHOWN.items():
        cell = next(cell for cell in cells if cell.source.endswith(ending))
        shown = next(output.data for output in cell.outputs if output.output_type == "execute_result")
        assert text in shown["text/plain"], ending
        assert rich in shown.get("text/html", shown.get("image/svg+xml", "")), ending


def test_nothing_is_asked_of_the_network(cells):
    for cell in cells:
        for output in cell.outputs:
            assert output.output_type != "error"
            page = output.get("data", {}).get("text/html", "")
            assert "<script src=" not in page and "<link href=" not in page


def test_long_texts_fold_and_names_are_escaped():
    chain = mk.build.serial_chain([0.1] * 70, "zy", name="<long> & thin")
    shown = html(chain)
    assert "&lt;long&gt; &amp; thin" in shown and "<details><summary>" in shown and "<long>" not in shown
    assert html(3) == "<pre>3</pre>"


def test_what_failed_is_shown_without_a_picture():
    body = mk.build.planar_chain(2)
    problem = mk.Problem(body, mk.Position("tip", (0.5, 0.5, 0.0)), lock={"joint_1": 0.2}, root=mk.translation(1, 0, 0))
    assert "locked: joint_1 = 0.2" in html(problem) and "<svg" not in html(problem)
    assert "INVALID" in html(mk.Solution.of(problem, (0.0, float("nan"))))


def test_progress_is_a_bar_in_a_notebook(monkeypatch):
    assert not in_notebook()
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html)

    fake, display = type(sys)("IPython"), type(sys)("IPython.display")
    fake.get_ipython = lambda: type("Shell", (), {"kernel": object()})()
    display.HTML, display.display = str, lambda html, display_id: Handle()
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    line = Progress(10, "walking <far>")
    line.show(4)
    line.close()
    assert 'value="0.4000"' in shown[0] and "walking &lt;far&gt;: 40 %" in shown[0] and shown[1] == ""
