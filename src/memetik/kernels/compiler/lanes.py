"""Numbers in the lanes of a vector register: LANES of them at once, each lane computing as if it were alone.

A kernel written for numbers takes Lanes instead, as long as it asks nothing of them: + - * / with Lanes or numbers, abs, min,
max, math.sqrt and math.atan2 work lane by lane. A comparison gives a Mask, `&` and `|` join masks, and where a kernel for
numbers has an `if`, one for lanes has `select`, which takes numbers, too: a kernel that uses it serves both. `take` and
`put` read and write arrays whose last axis has LANES entries.

The compiler would turn plain loops over lanes into the same instructions only if it could prove that no two of the arrays
overlap, which it cannot. Without the compiler there is one lane, and Lanes are numbers.
"""

import math
import operator
from collections.abc import Callable
from typing import Any, TypeAlias

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.core.datamodel import models
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic as untyped_intrinsic
from numba.extending import lower_builtin, register_model

from memetik.kernels.compiler.jit import COMPILED

# One register of AVX-512, two of AVX2, four of NEON: independent work that hides how long each operation takes.
LANES = 8 if COMPILED else 1

intrinsic: Any = untyped_intrinsic  # its types would have kernels pass the context of typing


class _Lanes(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"Lanes({LANES})")


class _Mask(types.Type):
    def __init__(self) -> None:
        super().__init__(name=f"Mask({LANES})")


Code: TypeAlias = Callable[..., Any]  # makes instructions with a builder of LLVM

lanes, mask = _Lanes(), _Mask()
_VECTOR, _BITS = ir.VectorType(ir.DoubleType(), LANES), ir.VectorType(ir.IntType(1), LANES)


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


@register_model(_Mask)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _BITS)


# ---- Operators ---------------------------------------------------------------------------------------------


def _spread(builder: Any, value: Any, kind: Any) -> Any:
    """The same number in all lanes."""
    if kind == lanes:
        return value
    single = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(single, ir.Constant(_VECTOR, ir.Undefined), places)


def _declare(function: Any, result: Any, *kinds: tuple[Any, ...]) -> Callable[[Code], Code]:
    """Teach Numba's type inference a function, and say how its code is made: `code(builder, *vectors)`."""

    def declare(code: Code) -> Code:
        def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            vectors = [
                value if kind == mask else _spread(builder, value, kind)
                for value, kind in zip(args, sig.args, strict=True)
            ]
            return code(builder, *vectors)

        for kind in kinds:
            lower_builtin(function, *kind)(lower)
        cases = [signature(result, *kind) for kind in kinds]
        infer_global(function)(type("Template", (ConcreteTemplate,), {"key": function, "cases": cases}))
        return code

    return declare


_PAIRS = ((lanes, lanes), (lanes, types.float64), (types.float64, lanes))

_declare(operator.add, lanes, *_PAIRS)(lambda builder, a, b: builder.fadd(a, b))
_declare(operator.sub, lanes, *_PAIRS)(lambda builder, a, b: builder.fsub(a, b))
_declare(operator.mul, lanes, *_PAIRS)(lambda builder, a, b: builder.fmul(a, b))
_declare(operator.truediv, lanes, *_PAIRS)(lambda builder, a, b: builder.fdiv(a, b))
_declare(operator.iadd, lanes, *_PAIRS)(lambda builder, a, b: builder.fadd(a, b))
_declare(operator.isub, lanes, *_PAIRS)(lambda builder, a, b: builder.fsub(a, b))
_declare(operator.neg, lanes, (lanes,))(lambda builder, a: builder.fneg(a))
_declare(operator.lt, mask, *_PAIRS)(lambda builder, a, b: builder.fcmp_ordered("<", a, b))
_declare(operator.le, mask, *_PAIRS)(lambda builder, a, b: builder.fcmp_ordered("<=", a, b))
_declare(operator.gt, mask, *_PAIRS)(lambda builder, a, b: builder.fcmp_ordered(">", a, b))
_declare(operator.ge, mask, *_PAIRS)(lambda builder, a, b: builder.fcmp_ordered(">=", a, b))
_declare(operator.and_, mask, (mask, mask))(lambda builder, a, b: builder.and_(a, b))
_declare(operator.or_, mask, (mask, mask))(lambda builder, a, b: builder.or_(a, b))


# As Numba has them for numbers, so that a number that is none goes the same way.
@_declare(max, lanes, *_PAIRS)
def _max(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", b, a), b, a)


@_declare(min, lanes, *_PAIRS)
def _min(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", b, a), b, a)


def _call(builder: Any, name: str, *values: Any) -> Any:
    """Call a function of LLVM that works on whole vectors."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * len(values))
    name = f"llvm.{name}.v{LANES}f64"
    function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
    return builder.call(function, values)


_declare(abs, lanes, (lanes,))(lambda builder, a: _call(builder, "fabs", a))
_declare(math.sqrt, lanes, (lanes,))(lambda builder, a: _call(builder, "sqrt", a))


@_declare(math.atan2, lanes, (lanes, lanes))
def _atan2(builder: Any, y: Any, x: Any) -> Any:
    """The C library's, lane after lane."""
    kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()] * 2)
    function = builder.module.globals.get("atan2") or ir.Function(builder.module, kind, "atan2")
    result = ir.Constant(_VECTOR, ir.Undefined)
    for k in range(LANES):
        place = ir.Constant(ir.IntType(32), k)
        angle = builder.call(function, [builder.extract_element(y, place), builder.extract_element(x, place)])
        result = builder.insert_element(result, angle, place)
    return result


# ---- What only lanes have ----------------------------------------------------------------------------------

if COMPILED:

    def _address(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> Any:
        """Where a row of LANES numbers begins, in an array of any number of axes."""
        data = context.make_array(kind)(context, builder, array).data
        start = builder.mul(row, ir.Constant(row.type, LANES))
        return builder.bitcast(builder.gep(data, [start]), _VECTOR.as_pointer())

    @intrinsic
    def take(typing, array, row):
        """The LANES numbers of a row; rows are counted over all axes but the last."""

        def code(context, builder, sig, args):
            return builder.load(_address(context, builder, array, args[0], args[1]), align=64)

        return lanes(array, types.intp), code

    @intrinsic
    def put(typing, array, row, value):
        """Write LANES numbers into a row."""

        def code(context, builder, sig, args):
            value_of = _spread(builder, args[2], value)
            builder.store(value_of, _address(context, builder, array, args[0], args[1]), align=64)
            return context.get_dummy_value()

        return types.void(array, types.intp, value), code

    @intrinsic
    def select(typing, condition, yes, no):
        """`yes` where the mask holds, `no` elsewhere; of numbers, `yes` if the condition holds."""
        result = lanes if condition == mask else typing.unify_types(types.unliteral(yes), types.unliteral(no))

        def code(context, builder, sig, args):
            if condition == mask:
                return builder.select(args[0], _spread(builder, args[1], yes), _spread(builder, args[2], no))
            either = (context.cast(builder, args[k], sig.args[k], result) for k in (1, 2))
            return builder.select(args[0], *either)

        return result(condition, yes, no), code

    @intrinsic
    def bits(typing, condition):
        """The mask as an integer, lane k in bit k."""

        def code(context, builder, sig, args):
            return builder.zext(builder.bitcast(args[0], ir.IntType(LANES)), ir.IntType(64))

        return types.int64(condition), code

    @intrinsic
    def spread(typing, value):
        """The same number in all lanes."""

        def code(context, builder, sig, args):
            return _spread(builder, args[0], value)

        return lanes(value), code

    @intrinsic
    def sum_lanes(typing, value):
        """The sum of all lanes, by halves."""

        def code(context, builder, sig, args):
            total, half = args[0], LANES // 2
            while half:
                places = [(k + half) % LANES for k in range(LANES)]
                turned = builder.shuffle_vector(total, total, ir.Constant(ir.VectorType(ir.IntType(32), LANES), places))
                total, half = builder.fadd(total, turned), half // 2
            return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))

        return types.float64(value), code

    @intrinsic
    def fused(typing, a, b, c):
        """a b + c, rounded once where the processor can."""

        def code(context, builder, sig, args):
            values = [_spread(builder, value, kind) for value, kind in zip(args, sig.args, strict=True)]
            return _call(builder, "fmuladd", *values)

        return lanes(a, b, c), code

    @intrinsic
    def bit(typing, value, k):
        """Where bit k of a whole number is set; it is below 2**31 in magnitude."""

        def code(context, builder, sig, args):
            kind = ir.VectorType(ir.IntType(32), LANES)
            whole = builder.fptosi(args[0], kind)
            place = builder.trunc(args[1], ir.IntType(32))
            single = builder.insert_element(ir.Constant(kind, ir.Undefined), place, ir.Constant(ir.IntType(32), 0))
            places = builder.shuffle_vector(single, single, ir.Constant(kind, [0] * LANES))
            return builder.trunc(builder.ashr(whole, places), _BITS)

        return mask(lanes, types.intp), code

else:

    def take(array, row):
        """The LANES numbers of a row; rows are counted over all axes but the last."""
        return float(array.reshape(-1)[row])

    def put(array, row, value):
        """Write LANES numbers into a row."""
        array.reshape(-1)[row] = value

    def select(condition, yes, no):
        """`yes` where the mask holds, `no` elsewhere."""
        return yes if condition else no

    def bits(condition):
        """The mask as an integer, lane k in bit k."""
        return int(condition)

    def spread(value):
        """The same number in all lanes."""
        return value

    def sum_lanes(value):
        """The sum of all lanes, by halves."""
        return value

    def fused(a, b, c):
        """a b + c, rounded once where the processor can."""
        return a * b + c

    def bit(value, k):
        """Where bit k of a whole number is set; it is below 2**31 in magnitude."""
        return int(value) >> k & 1 == 1
