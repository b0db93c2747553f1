"""One problem as straight-line code, traced (trace.py) from the kernels that do the same for any problem: what a thread of
bodies.py calls.

The code is in C, for the compiler of CUDA: it reads in four seconds ten thousand lines that Numba would type one by one.
Targets, scales, tolerances and limits are read when it runs, all else of the problem is in the code.
"""

import types
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from memetik.kernels.body.motion import write_axes
from memetik.kernels.cuda.straight_line_functions import SIGNATURES, StraightLineCode, definition
from memetik.kernels.cuda.trace import Numbers, Symbol, Trace, UntraceableError, c_code, text_of
from memetik.kernels.math.linear import factorise, substitute
from memetik.kernels.math.sincos import FAR, sincos_lanes
from memetik.kernels.problem.evaluate import place, term_error
from memetik.kernels.problem.quick_error import quick_error, unmasked
from memetik.kernels.search.population_poses import add_angles, add_distances, begins_limb, seen_from
from memetik.kernels.terms.function_pointers import call_residual
from memetik.kernels.terms.pose import target_pose
from memetik.kernels.terms.records import POINT, ROTATION

MOST_TERMS, MOST_VARIABLES = 31, 63  # marks for all of them are the bits of a number
SEEN = 8  # numbers for a term of a limb: its target as seen from there, and its squared error
POSE = 7


def straight_line_code(problem: Any, kernels: Sequence[tuple[Any, Any]], population: int) -> StraightLineCode | None:
    """The code of a problem, or None if it has something that straight-line code cannot do.

    `kernels` are the residual and the Jacobian of each term, `population` is how many postures there are to start from.
    """
    few = problem.terms.size <= MOST_TERMS and problem.variables.size <= MOST_VARIABLES
    plain = problem.balls.size + problem.mounts.size == 0 and not problem.terms["soft"].any()
    if not few or not plain or None in (residual for residual, _ in kernels):
        return None
    straight = _Tracer(problem, kernels, population)
    if straight.m > straight.n:  # steps go by the variables then
        return None
    try:
        return straight.code()
    except UntraceableError:
        return None


class _Rows(list[Any]):
    """Records as kernels read them."""

    @property
    def size(self) -> int:
        return len(self)


class _Tracer:
    """Traces one problem."""

    def __init__(self, problem: Any, kernels: Sequence[tuple[Any, Any]], population: int) -> None:
        self.problem, self.kernels, self.population = problem, kernels, population
        self.n, self.m = int(problem.variables.size), int((problem.terms["row"] + problem.terms["rows"]).max())
        self.nodes, self.frames = _rows(problem.nodes), _rows(problem.frames)
        self.affects = [_bits(np.flatnonzero(row)) for row in problem.affects]
        self.limbs = [i for i in range(len(self.nodes)) if Trace()(begins_limb)(self.nodes, i)]
        self.wanted = _targets(problem)  # where in the data

    # ---- What kernels are given ----------------------------------------------------------------------------------------

    def _data(self, trace: Trace, name: str = "data", at: Callable[[int], int] = int) -> Numbers:
        wanted = set(self.wanted)
        return Numbers(trace, [
            trace.symbol(f"{name}[{at(k)}]") if k in wanted else float(value)
            for k, value in enumerate(self.problem.data)
        ])  # fmt: skip

    def _panel(self, trace: Trace) -> Numbers:
        """The data as `post` leaves them for all lanes."""
        return self._data(trace, "panel", self.wanted.index)

    def _terms(self, trace: Trace) -> _Rows:
        terms = _rows(self.problem.terms)
        for t, term in enumerate(terms):
            term.scale = trace.symbol(f"parameters[{t}]")
            term.tolerance = trace.symbol(f"parameters[{len(terms) + t}]")
        return terms

    def _vector(self, trace: Trace, name: str, *shape: int) -> Numbers:
        names = [trace.symbol(f"{name}[{k}]") for k in range(int(np.prod(shape)))]
        return Numbers(trace, np.array(names, dtype=object).reshape(shape))

    def _limit(self, which: int, k: int) -> str:
        return f"parameters[{2 * len(self.kernels) + which * self.n + k}]"

    # ---- The functions -----------------------------------------------------------------------------------------------

    def evaluate(self) -> str:
        trace = Trace()
        x, data, terms = self._vector(trace, "x", self.n), self._data(trace), self._terms(trace)
        poses, world = self._placed(trace, x)
        residual, judged = self._judged(trace, x, data, terms, world)
        total: Any = 0.0
        for term in terms:
            square: Any = 0.0
            for i in range(term.row, term.row + term.rows):
                square = square + residual[i] * residual[i]
            total = total + square * (term.scale * term.scale)
        return "\n".join([
            c_code(trace), *_stores("poses", poses), *_stores("world", world), *_stores("residual", residual),
            f"  *error = {text_of(total)};", _missed(judged),
        ])  # fmt: skip

    def judge(self) -> str:
        trace = Trace()
        x, data, terms = self._vector(trace, "x", self.n), self._data(trace), self._terms(trace)
        _, world = self._placed(trace, x)
        _, judged = self._judged(trace, x, data, terms, world)
        errors = [f"  errors[{t}] = {text_of(error)};" for t, (error, _) in enumerate(judged)]
        return "\n".join([c_code(trace), *errors, _missed(judged)])

    def _judged(self, trace: Trace, x: Any, data: Any, terms: Any, world: Any) -> tuple[Numbers, list[tuple[Any, Any]]]:
        """Residuals, and of every term the error and whether it is satisfied."""
        residual, judged = Numbers(trace, np.zeros(self.m)), []
        for term, (residual_of, _) in zip(terms, self.kernels, strict=True):
            trace(residual_of)(term, data, world, x, residual)
            judged.append(trace(term_error)(term, data, x, residual))
        return residual, judged

    def place(self) -> str:
        trace = Trace()
        poses, world = self._placed(trace, self._vector(trace, "x", self.n))
        return "\n".join([c_code(trace), *_stores("poses", poses), *_stores("world", world), "  return 0;"])

    def _placed(self, trace: Trace, x: Numbers) -> tuple[Numbers, Numbers]:
        poses = Numbers(trace, np.zeros((len(self.nodes), POSE)))
        world = Numbers(trace, np.zeros((len(self.frames), POSE)))
        trace(place)(self.nodes, self.frames, x, poses, world)
        return poses, world

    def advance(self) -> str:
        """`linear_model`, `bounded_step` and `take_step` of kernels/problem/least_squares.py."""
        trace, n, m = Trace(), self.n, self.m
        x, data, terms = self._vector(trace, "x", n), self._data(trace), self._terms(trace)
        poses = self._vector(trace, "poses", len(self.nodes), POSE)
        world = self._vector(trace, "world", len(self.frames), POSE)
        axes, jacobian = Numbers(trace, np.zeros((len(self.nodes), 3))), Numbers(trace, np.zeros((n, m)))
        trace(write_axes)(self.nodes, poses, axes)
        for term, (_, jacobian_of) in zip(terms, self.kernels, strict=True):
            trace(jacobian_of)(term, data, world, x, self.nodes, self.frames, poses, axes, term.scale, jacobian)
        columns = [{i: text_of(v) for i, v in enumerate(row) if isinstance(v, Symbol)} for row in jacobian.values]
        lines = [c_code(trace), f"  double rest[{m}], free[{n}], trial[{n}], step[{n}], share = 1.0;"]
        for term in terms:
            rows = range(term.row, term.row + term.rows)
            lines += [f"  rest[{i}] = residual[{i}] * {text_of(term.scale)};" for i in rows]
        for k, column in enumerate(columns):
            uphill = " + ".join(f"{value} * rest[{i}]" for i, value in column.items()) or "0.0"
            lower, upper = self._limit(0, k), self._limit(1, k)
            lines.append(
                f"  {{ const double uphill = {uphill};\n    free[{k}] = (x[{k}] <= {lower} && uphill >= 0.0)"
                f" || (x[{k}] >= {upper} && uphill <= 0.0) ? 0.0 : 1.0; trial[{k}] = 0.0; }}"
            )
        lines += ["  for (int round = 0; round < 2; ++round) {", *self._damped_step(columns)]
        lines += [f"  double most = 0.0;{_most(n)}", "  share = most > longest ? longest / most : 1.0;"]
        lines += ["  if (round == 1) break;", "  bool stopped = false;"]
        for k, column in enumerate(columns):
            lower, upper = self._limit(0, k), self._limit(1, k)
            moved = " ".join(f"rest[{i}] += {value} * move;" for i, value in column.items())
            lines.append(
                f"  {{ const double to = x[{k}] + share * step[{k}];\n"
                f"    if (free[{k}] != 0.0 && !({lower} <= to && to <= {upper})) {{\n"
                f"      const double move = fmin(fmax(to, {lower}), {upper}) - x[{k}];\n"
                f"      free[{k}] = 0.0; trial[{k}] = move; stopped = true; {moved} }} }}"
            )
        lines += ["  if (!stopped) break;", "  }"]
        for k in range(n):
            lines.append(
                f"  x[{k}] = fmin(fmax(x[{k}] + share * step[{k}], {self._limit(0, k)}), {self._limit(1, k)});"
            )
        return "\n".join([*lines, "  return 0;"])

    def _damped_step(self, columns: list[dict[int, str]]) -> list[str]:
        """`step_by_residuals` without springs, after the moves of the variables that were stopped before."""
        trace, m = Trace("w"), self.m
        system = Numbers(trace, np.zeros((m, m)))
        values = [{i: trace.symbol(text) for i, text in column.items()} for column in columns]
        for k, column in enumerate(values):
            for i, a in column.items():
                a = trace.symbol(f"free[{k}]") * a
                for j, b in column.items():
                    if j <= i:
                        system[i, j] = system[i, j] + a * b
        for i in range(m):
            system[i, i] = system[i, i] + trace.symbol("damping")
        right = self._vector(trace, "rest", m)
        trace(factorise)(system, m)
        trace(substitute)(system, m, right)
        steps = []
        for k, column in enumerate(values):
            s: Any = 0.0
            for i, a in column.items():
                s = s + a * right[i]
            steps.append(trace.symbol(f"trial[{k}]") - trace.symbol(f"free[{k}]") * s)
        return [c_code(trace), *(f"  step[{k}] = {text_of(s)};" for k, s in enumerate(steps))]

    def blamed(self) -> str:
        marks = (f"(terms >> {t} & 1 ? {affects}LL : 0LL)" for t, affects in enumerate(self.affects))
        return f"  return {' | '.join(marks)};"

    def replaced(self) -> str:
        marks = (f"({affects}LL & ~variables ? 0 : {1 << t})" for t, affects in enumerate(self.affects))
        return f"  return {' | '.join(marks)};"

    def post(self) -> str:
        lines = [f"  panel[{i}] = data[{k}];" for i, k in enumerate(self.wanted)]
        return "\n".join([*lines, "  return 0;"])

    def score(self) -> str:
        lines = ["  double total = 0.0;"]
        for t, (residual_of, _) in enumerate(self.kernels):
            trace = Trace()
            trace.replace(call_residual, lambda address, *given: trace(residual_of)(*given))  # noqa: B023 it is called below
            term, data = self._terms(trace)[t], self._panel(trace)
            world = Numbers(trace, [self._posture(trace, "poses", f) for f in range(len(self.frames))])
            x = Numbers(trace, [trace.symbol(f"genes[{self.n} * (long long)c + {k}]") for k in range(self.n)])
            error = term.scale * term.scale * trace(quick_error)(term, data, world, x, Numbers(trace, np.zeros(self.m)))
            lines += [f"  if (terms >> {t} & 1) {{", c_code(trace), f"  total += {text_of(error)}; }}"]
        return "\n".join([*lines, "  return total;"])

    def _posture(self, trace: Trace, name: str, frame: int) -> list[Any]:
        """The pose of a frame in posture c."""
        return [trace.symbol(f"{name}[{(POSE * frame + k) * self.population} + c]") for k in range(POSE)]

    # ---- Limbs -------------------------------------------------------------------------------------------------------

    def _terms_of(self, limb: int, terms: Iterable[Any], data: Numbers) -> list[tuple[int, Any]]:
        """The terms by which limbs are chosen (`choose_limbs` of kernels/search/search.py)."""
        return [
            (t, term) for t, term in enumerate(terms)
            if limb <= self.frames[term.frame].node <= self.nodes[limb].last
            and term.goal in (POINT, ROTATION) and term.other < 0 and Trace()(unmasked)(term, data)
        ]  # fmt: skip

    def post_limbs(self) -> str:
        trace = Trace()
        x, data, terms = self._vector(trace, "x", self.n), self._data(trace), self._terms(trace)
        poses = self._vector(trace, "poses", len(self.nodes), POSE)
        world = self._vector(trace, "world", len(self.frames), POSE)
        lines = []
        for limb in self.limbs:
            for t, term in self._terms_of(limb, terms, data):
                target = trace(target_pose)(term, data, world)
                target = trace(seen_from)(self.nodes[limb].parent, target, poses)
                now = term.scale * term.scale * trace(quick_error)(term, data, world, x, None)
                seen = (*target, now)
                lines += [f"  panel[{SEEN * t + k}] = {text_of(value)};" for k, value in enumerate(seen)]
        return "\n".join([c_code(trace), *lines, "  return 0;"])

    def _by_limb(self, write: Callable[[int], str]) -> str:
        cases = (f"  case {at}: {{\n{write(limb)}\n  }}" for at, limb in enumerate(self.limbs))
        return "\n".join(["  switch (limb) {", *cases, "  }", "  return 0;"])

    def limb_score(self) -> str:
        def of(limb: int) -> str:
            lines = ["  double total = 0.0;"]
            plain = Trace()
            for t, _ in self._terms_of(limb, self._terms(plain), self._data(plain)):
                trace = Trace()
                term, score = self._terms(trace)[t], Numbers(trace, [0.0])
                posture = Numbers(trace, [[value] for value in self._posture(trace, "poses", term.frame)])
                target = tuple(trace.symbol(f"panel[{SEEN * t + k}]") for k in range(POSE))
                add = trace(add_distances if term.goal == POINT else add_angles)
                add(posture, target, term.scale * term.scale, score)
                lines += [f"  if (terms >> {t} & 1) {{", c_code(trace), f"  total += {text_of(score[0])}; }}"]
            return "\n".join([*lines, "  return total;"])

        return self._by_limb(of)

    def limb_error(self) -> str:
        def of(limb: int) -> str:
            plain = Trace()
            found = self._terms_of(limb, self._terms(plain), self._data(plain))
            errors = (f"(terms >> {t} & 1 ? panel[{SEEN * t + POSE}] : 0.0)" for t, _ in found)
            return f"  return {' + '.join(['0.0', *errors])};"

        return self._by_limb(of)

    def limb_variables(self) -> str:
        def of(limb: int) -> str:
            nodes = self.nodes[limb : self.nodes[limb].last + 1]
            return f"  return {_bits({node.variable for node in nodes})}LL;"

        return self._by_limb(of)

    # ---- All of it ---------------------------------------------------------------------------------------------------

    def code(self) -> StraightLineCode:
        """All functions."""
        parts = [_PRELUDE % _sin_and_cos()]
        bodies = {name: getattr(self, name)() for name in SIGNATURES}
        suffix = sha256("".join(bodies.values()).encode()).hexdigest()[:16]
        parts += [definition(name, suffix, body) for name, body in bodies.items()]
        panel = max(len(self.wanted), SEEN * len(self.kernels))
        return StraightLineCode(suffix, "\n".join(parts), len(self.limbs), panel)


_PRELUDE = """
#pragma nv_diag_suppress 177  // what only a path that is never taken needs is left where it is
#define INFINITE __longlong_as_double(0x7ff0000000000000LL)
#define NOT_A_NUMBER __longlong_as_double(0x7ff8000000000000LL)
%s
"""


def _sin_and_cos() -> str:
    """`sincos` of kernels/math/sincos.py."""
    trace = Trace()
    s, c = (text_of(value) for value in trace(sincos_lanes)(trace.symbol("angle")))
    return f"""__device__ __forceinline__ void sin_and_cos(double angle, double* sine, double* cosine) {{
  if (!(fabs(angle) <= {FAR!r})) {{ sincos(angle, sine, cosine); return; }}
{c_code(trace)}
  *sine = {s};
  *cosine = {c};
}}"""


def _rows(array: Any) -> _Rows:
    return _Rows(types.SimpleNamespace(**{name: row[name].item() for name in array.dtype.names}) for row in array)


def _targets(problem: Any) -> list[int]:
    """Where in the data the targets are: each up to where something else begins."""
    terms, end = problem.terms, problem.data.size
    starts = sorted({*terms["target"].tolist(), *terms["numbers"].tolist(), end})
    return sorted({
        k for target in terms["target"].tolist() for k in range(target, starts[starts.index(target) + 1])
    })  # fmt: skip


def _bits(numbers: Iterable[Any]) -> int:
    return sum(1 << int(k) for k in numbers)


def _stores(name: str, array: Numbers) -> list[str]:
    return [f"  {name}[{k}] = {text_of(value)};" for k, value in enumerate(array.values.ravel())]


def _missed(judged: Sequence[tuple[Any, Any]]) -> str:
    """The bits of the terms that are not satisfied."""
    bits = (f"({text_of(good)} ? 0 : {1 << t})" for t, (_, good) in enumerate(judged))
    return f"  return {' | '.join(bits)};"


def _most(n: int) -> str:
    return "".join(f" most = fmax(most, fabs(step[{k}]));" for k in range(n))
