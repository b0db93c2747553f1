"""The reference is whole: every public name stands in it, explains itself, and says its unit or formula if it measures."""

import inspect
import re

import pytest
from tools.docs import reference

import memetik as mk
from memetik.cli.main import _parser

UNIT = re.compile(r"\[[^\]]*\b(m|rad|s|kg|Hz|µs)\b[^\]]*\]|metres?\b|radians?\b|degrees\b|seconds?\b")
FORMULA = re.compile(r"[<>=]=|[^=]=[^=]|\^|\bsqrt\b|\|.+\||sum|\(\w+, \d+, \d+\)|\d ?x ?\d|\b\d+x\d+\b|\(w, x, y, z\)")
PUBLIC = sorted(set(mk.__all__) - {"__version__"})
MEASURES_NOTHING = {  # what names, holds or passes on, and what draws a rotation from no range
    "Chain", "Cover", "LinkPair", "cover", "edit", "find_collision_pairs", "from_mujoco", "from_pinocchio", "from_yourdfpy",
    "random_rotation", "retarget_plan", "with_hulls", "write_urdf",
}  # fmt: skip
GEOMETRIC = [
    name
    for page in ("geometry", "objectives", "motion", "collision", "bodies")
    for name in reference.GROUPS[page][2].split()
    if name not in MEASURES_NOTHING
]


def explained(name):
    """The docstring of a name, with those of its members and what stands beside its fields."""
    thing = getattr(mk, name)
    texts = [inspect.getdoc(thing) or ""]
    if inspect.isclass(thing):
        texts += [inspect.getdoc(member) or "" for _, member in reference.members(thing)]
        texts += list(reference.field_rows(thing))
    return "\n".join(texts)


def test_every_public_name_stands_in_one_group():
    listed = [name for _, _, names in reference.GROUPS.values() for name in names.split()]
    assert sorted(listed) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_a_name_and_its_members_explain_themselves(name):
    thing = getattr(mk, name)
    assert inspect.getdoc(thing), name
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        without = [member for member, value in reference.members(thing) if not inspect.getdoc(value)]
        assert without == []


@pytest.mark.parametrize("name", GEOMETRIC)
def test_what_measures_says_its_unit_or_formula(name):
    text = explained(name)
    assert UNIT.search(text) or FORMULA.search(text), name


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
    assert {method.name for method in mk.methods() if f"| `{method.name}` |" not in methods} == set()


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
