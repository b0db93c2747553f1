"""The functions in C that straight-line code (straight_line.py) consists of, for those who write them and those who call them."""

from typing import NamedTuple


class StraightLineCode(NamedTuple):
    """Functions in C, all with this suffix to their names; pointers are to numbers that a thread has for itself, but for those of
    the population and the parameters.

    evaluate(x, data, parameters, poses, world, residual, error)
        Poses, residuals and the squared error at x. Returns the terms that are not satisfied, a bit each.
    advance(x, data, parameters, poses, world, residual, damping, longest)
        A bounded step from there, in place.
    judge(x, data, parameters, errors)
        The error of every term. Returns the same bits.
    place(x, poses, world)
        Forward kinematics alone.
    blamed(terms), replaced(variables)
        The variables that move one of these terms, and the terms that only these variables move.
    post(data, panel), score(c, poses, genes, parameters, panel, terms)
        What is wanted, for all lanes to see, and how far posture c of a population is from it in these terms.
    post_limbs(data, poses, world, x, parameters, panel), limb_score(limb, c, poses, parameters, panel, terms)
        The same for a limb, as seen from where it begins.
    limb_error(limb, panel, terms), limb_variables(limb)
        How far a limb is from that now, and the variables that move it.

    `parameters` are scales and tolerances of the terms, then lower and upper limits of the variables.
    """

    suffix: str
    source: str
    limbs: int
    panel: int  # numbers


# What each function returns and is given: "in" and "out" are pointers to numbers.
_C_TYPES = {"in": "const double* __restrict__", "out": "double* __restrict__", "int": "int", "long": "long long",
            "double": "double"}  # fmt: skip
SIGNATURES: dict[str, tuple[str, dict[str, str]]] = {
    "evaluate": ("int", {
        "x": "in", "data": "in", "parameters": "in", "poses": "out", "world": "out", "residual": "out", "error": "out",
    }),
    "advance": ("int", {
        "x": "out", "data": "in", "parameters": "in", "poses": "in", "world": "in", "residual": "in", "damping": "double",
        "longest": "double",
    }),
    "judge": ("int", {"x": "in", "data": "in", "parameters": "in", "errors": "out"}),
    "place": ("int", {"x": "in", "poses": "out", "world": "out"}),
    "blamed": ("long long", {"terms": "int"}),
    "replaced": ("int", {"variables": "long"}),
    "post": ("int", {"data": "in", "panel": "out"}),
    "score": ("double", {"c": "int", "poses": "in", "genes": "in", "parameters": "in", "panel": "in", "terms": "int"}),
    "post_limbs": ("int", {
        "data": "in", "poses": "in", "world": "in", "x": "in", "parameters": "in", "panel": "out",
    }),
    "limb_score": ("double", {
        "limb": "int", "c": "int", "poses": "in", "parameters": "in", "panel": "in", "terms": "int",
    }),
    "limb_error": ("double", {"limb": "int", "panel": "in", "terms": "int"}),
    "limb_variables": ("long long", {"limb": "int"}),
}  # fmt: skip


def definition(name: str, suffix: str, body: str) -> str:
    """A function of the table with its body, in C."""
    returned, given = SIGNATURES[name]
    parameters = ", ".join(f"{_C_TYPES[kind]} {parameter}" for parameter, kind in given.items())
    return f'extern "C" __device__ {returned} {name}_{suffix}({parameters}) {{\n{body}\n}}\n'
