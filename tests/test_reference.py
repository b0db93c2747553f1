"""The reference is whole: every public name stands in it, explains itself, and says its unit and formula if it measures."""

import inspect
import json
import re
from pathlib import Path

import pytest
from tools.docs import reference
from tools.docs.diagrams import DIAGRAMS

import memetik as mk
from memetik.cli.main import _parser

UNIT = re.compile(
    r"\[[^\]]*\b(m|rad|s|kg|Hz|µs)\b[^\]]*\]|\b(metres?|radians?|degrees|seconds?|pixels|share|no unit|without unit)\b"
)
FORMULA = re.compile(r"[<>=]=|[^=]=[^=]|\^|\bsqrt\b|\|.+\||\bsum_i\b")
QUANTITY = re.compile(r"\b(float|ArrayLike|TransformLike|Array)\b")  # types that hold numbers with a unit
NAMESPACES = {name for name in mk.__all__ if inspect.ismodule(getattr(mk, name))}
PUBLIC = reference.NAMES
ROOT = Path(__file__).parents[1]
# Objectives of joint values alone, without geometry to draw; one picture shows three of them.
IN_JOINTS = {"Displacement", "JointValue", "CenterJoints", "FunctionalRelation"}
# Their numbers are those of a network, made by `train` and meant for nobody.
WITHOUT_UNIT = {"learn.Elman", "learn.FeedForward", "learn.SupportVectors"}


def quantities(thing):
    """The parameters of a call that are numbers; a weight never has a unit."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return []
    written = reference.annotations(thing)
    kinds = {each.name: written.get(each.name, str(each.annotation)) for each in parameters}
    return [name for name, kind in kinds.items() if QUANTITY.search(kind) and name != "weight"]


MEASURES = [name for name in PUBLIC if name not in WITHOUT_UNIT and quantities(reference.public(name))]


def explained(name):
    """The docstring of a name, with those of its members and what stands beside its fields."""
    thing = reference.public(name)
    texts = [inspect.getdoc(thing) or ""]
    if inspect.isclass(thing):
        texts += [inspect.getdoc(member) or "" for _, member in reference.members(thing)]
        texts += list(reference.field_rows(thing))
    return "\n".join(texts)


def test_every_public_name_stands_in_one_group():
    listed = [name for _, _, names in reference.GROUPS.values() for name in names.split()]
    assert len(listed) == len(set(listed)) == len({name.rpartition(".")[2] for name in listed})
    assert {name for name in listed if "." not in name} == set(mk.__all__) - NAMESPACES - {"__version__"}
    assert {name.partition(".")[0] for name in listed if "." in name} == NAMESPACES - {"bodies"}


@pytest.mark.parametrize("name", [name for name in PUBLIC if "." in name])
def test_a_namespace_lists_its_names(name):
    namespace, _, last = name.partition(".")
    module = getattr(mk, namespace)
    assert last in getattr(module, "__all__", [last]) and reference.public(name) is getattr(module, last)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_name_and_its_members_explain_themselves(name):
    thing = reference.public(name)
    assert inspect.getdoc(thing), name
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        without = [member for member, value in reference.members(thing) if not inspect.getdoc(value)]
        assert without == []


@pytest.mark.parametrize("name", MEASURES)
def test_what_takes_numbers_says_their_unit(name):
    assert UNIT.search(explained(name)), quantities(reference.public(name))


@pytest.mark.parametrize("name", reference.OBJECTIVES)
def test_an_objective_says_its_formula_and_unit_and_is_drawn_where_it_means_geometry(name):
    doc = inspect.getdoc(reference.public(name))
    assert FORMULA.search(doc) and UNIT.search(doc)
    assert name in DIAGRAMS or name in IN_JOINTS


@pytest.mark.parametrize("name", [*DIAGRAMS])
def test_a_drawing_stands_in_the_reference(name):
    alt, _ = DIAGRAMS[name]
    assert name in reference.FULL and len(alt) > 20
    assert (ROOT / "docs" / "pictures" / "reference" / f"{name}.svg").read_text().startswith("<?xml")
    assert f"![{alt}](../pictures/reference/{name}.svg)" in list(reference.entry(reference.FULL[name]))


def test_tables_have_a_cost_for_everything():
    measured = json.loads(reference.COSTS.read_text())
    assert set(measured["objectives"]) >= set(reference.OBJECTIVES)
    assert set(measured["methods"]) == {method.name for method in mk.methods()}


@pytest.mark.parametrize(
    ("call", "error", "remedy"), reference.REMEDIES, ids=[row[0][:40] for row in reference.REMEDIES]
)
def test_what_fails_says_how_to_mend_it(call, error, remedy):
    with pytest.raises(mk.MemetikError) as raised:
        eval(call, {"mk": mk})
    assert type(raised.value).__name__ == error
    assert len(remedy) > 10


def test_the_pages_hold_all_names_and_commands(tmp_path):
    reference.write(tmp_path)
    names = (tmp_path / "names.md").read_text()
    assert {name for name in PUBLIC if f"`mk.{name}`" not in names} == set()
    commands = (tmp_path / "commands.md").read_text()
    (subparsers,) = (action for action in _parser()._actions if action.choices)
    assert {name for name in subparsers.choices if f"## `memetik {name}`" not in commands} == set()
    methods = (tmp_path / "methods.md").read_text()
    assert {method.name for method in mk.methods() if f"| [`{method.name}`](#" not in methods} == set()


def test_docstrings_become_markdown():
    doc = "Does it.\n\nA formula\n\n    y = x^2\n\nstart: where it begins [m].\nit goes on here.\nother words: not a parameter."
    assert reference.markdown(doc, {"start"}).splitlines() == [
        "Does it.", "", "A formula", "", "```text", "y = x^2", "```", "", "- `start`: where it begins \\[m].",
        "  it goes on here.", "  other words: not a parameter.",
    ]  # fmt: skip


def test_names_in_prose_become_links():
    assert reference.linked("see mk.Pose and `solve`") == (
        "see [`mk.Pose`](objectives.md#class-pose) and [`solve`](solving.md#mk-solve)"
    )
    assert reference.linked("a < b, `a_b`, c_d, mk.no_such") == "a &lt; b, `a_b`, c\\_d, mk.no\\_such"


def test_a_signature_keeps_its_defaults():
    shown = reference.signature("mk.solve", mk.solve)
    assert "method: str | Solver = 'memetic'" in shown and "start: ArrayLike | None = None" in shown
    assert "color: tuple[float, float, float, float] | None = None" in reference.signature("mk.Shape", mk.Shape)
