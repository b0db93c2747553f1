"""The parameters of the public API: one name, one meaning; and no two names that readers would confuse."""

import inspect
from collections import defaultdict

from tools.docs import reference

# Types that say the same of an argument: what a call takes is spelled as its own checks need it.
SAME = (
    (r"\bNDArray\[[^\]]*\]|\bArray\b|\bArrayLike\b", "array"),
    (r"\bTransformLike\b|\bRotationLike\b", "array"),
    (r"\bIterable\b|\bSequence\b|\btuple\b|\blist\b", "several"),
    (r"\bFrameLike\b", "str | Frame"),
    (r"\bReport\b|\bCallable\[\[int, int\], None\] \| bool", "progress"),
)


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
