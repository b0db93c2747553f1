"""The parameters of the public API: one name has one meaning, which the documentation states, and one type, but for a list that
may only get shorter; and no two names that readers would confuse."""

import inspect
import re
from collections import defaultdict
from pathlib import Path

import pytest
from tools.docs import reference

# Types that say the same of an argument: what a call takes is spelled as its own checks need it.
SAME = (
    (r"\bNDArray\[[^\]]*\]|\bArray\b|\bArrayLike\b", "array"),
    (r"\bTransformLike\b|\bRotationLike\b", "array"),
    (r"\bIterable\b|\bSequence\b|\btuple\b|\blist\b", "several"),
    (r"\bFrameLike\b", "str | Frame"),
    (r"\bReport\b|\bCallable\[\[int, int\], None\] \| bool", "progress"),
)

# Parameters for which some calls accept more types than others. Their meaning is the same; the list may only get shorter.
WIDER = {
    "at", "axis", "effort", "feet", "frame", "goal", "hidden", "home", "joints", "limits", "link", "links", "lower", "margin",
    "method", "model", "motion", "name", "objectives", "obstacles", "origin", "other", "path", "points", "poses",
    "postures", "problem", "roots", "rows", "scale", "shape", "shapes", "source", "spacing", "speed", "stream", "target",
    "targets", "tips", "tolerance", "touching", "up", "upper", "values", "vectors", "velocity",
}  # fmt: skip
PAGE = Path(__file__).parents[1] / "docs" / "reference" / "parameters.md"


def callables():
    """(name, function) of everything public that is called: functions, classes and their methods."""
    for name in reference.NAMES:
        thing = reference.public(name)
        if inspect.isclass(thing):
            if not issubclass(thing, Exception):
                yield name, thing
                yield from (
                    (f"{name}.{member}", getattr(value, "__func__", value))
                    for member, value in reference.members(thing)
                    if not isinstance(value, property)
                )
        elif callable(thing):
            yield name, thing


def uses():
    """The public calls that take a parameter, by its name."""
    found = defaultdict(dict)
    for name, call in callables():
        for parameter, kind in reference.annotations(call).items():
            if parameter not in ("return", "self"):
                found[parameter][name] = kind
    return found


def distance(a, b):
    """Letters to change, add or leave out between two words (Levenshtein)."""
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (letter != other))
    return row[-1]


def kinds(of):
    """The kinds of thing that a parameter is, by its annotations."""
    found = set()
    for kind in of.values():
        for written, meant in SAME:
            kind = re.sub(written, meant, kind)
        found.add(kind.replace(" | None", ""))
    return found


def test_a_parameter_takes_the_same_types_wherever_it_is():
    """But for those that are known to differ; what is new keeps to what is there."""
    assert {name for name, of in uses().items() if len(kinds(of)) > 1} == WIDER


def test_the_documentation_gives_each_shared_parameter_one_meaning():
    """Every parameter that two public calls or more take stands once in the table, and no other does."""
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    names = [name for name, _ in rows]
    assert sorted(names) == sorted(name for name, of in uses().items() if len(of) > 1)


@pytest.mark.parametrize("namespace", sorted({name.rpartition(".")[0] for name in reference.NAMES}))
def test_no_two_names_are_easily_confused(namespace):
    """Names that differ by one letter, or only by capitals unless one makes the other: solver and Solver."""
    names = sorted(name.rpartition(".")[2] for name in reference.NAMES if name.rpartition(".")[0] == namespace)
    words = [name.lower().replace("_", "") for name in names]
    pairs = {
        (names[i], names[k])
        for i in range(len(names))
        for k in range(i)
        if len(words[i]) > 3 and words[i] != words[k] and distance(words[i], words[k]) <= 1
    }
    assert pairs <= {("solver", "solve"), ("plan", "Plane")}  # a verb and who does it, and a verb and a surface
    made = [
        name for name in names if name[0].islower() and any(name != each and name == each.lower() for each in names)
    ]
    assert set(made) <= {"cover", "objective", "reachability", "solver", "track"}
