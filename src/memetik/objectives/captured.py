"""Numbers that a function captured, as arguments: functions made in a loop then share one machine code.

To Numba what a function captured is constant, so that another number would be another compilation. Here the compiler
gets a pass of its own: the first argument becomes a pair of itself and the captured numbers, which are read from there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

from numba.core import ir, ir_utils
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import FixupArgs

Number = float | tuple[float, ...]


def captured_numbers(function: Callable[..., Any]) -> dict[str, Number]:
    """The floats and tuples of floats in the closure of a function, by name; integers often must be constants."""
    if not isinstance(function, FunctionType) or not _is_plain(function.__code__):
        return {}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    try:
        return {name: cell.cell_contents for name, cell in cells if _is_number(cell.cell_contents)}
    except ValueError:  # the cell of a variable that has no value yet
        return {}


def flat(numbers: Sequence[Number]) -> list[float]:
    """The numbers one after the other."""
    return [part for number in numbers for part in (number if isinstance(number, tuple) else (number,))]


def _is_plain(code: CodeType) -> bool:
    """Whether the first argument has a name of its own, and no function inside captures the numbers in turn."""
    inner = any(isinstance(constant, CodeType) for constant in code.co_consts)
    return code.co_argcount > 0 and not code.co_flags & inspect.CO_VARARGS and not inner


def _is_number(value: object) -> bool:
    if type(value) is tuple:
        return bool(value) and all(type(part) is float for part in value)
    return type(value) is float


@register_pass(mutates_CFG=False, analysis_only=False)
class _ReadCaptured(FunctionPass):
    """Reads captured numbers from the second half of the first argument, in the order of captured_numbers."""

    _name = "memetik_read_captured"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        blocks, names = state.func_ir.blocks, list(captured_numbers(state.func_id.func))
        numbers = self._split_first_argument(blocks[min(blocks)])
        for block in blocks.values():
            for assignment in block.find_insts(ir.Assign):
                seen = assignment.value
                if isinstance(seen, ir.FreeVar) and seen.name in names:
                    assignment.value = _item(numbers, names.index(seen.name), seen.loc)
        state.func_ir._definitions = ir_utils.build_definitions(blocks)
        return True

    def _split_first_argument(self, block: Any) -> Any:
        """Let the first argument be the first half of what is given; the variable with the second half."""
        pair, numbers = (block.scope.redefine(name, block.loc) for name in ("$pair", "$numbers"))
        at, first = next(
            (k, line)
            for k, line in enumerate(block.body)
            if isinstance(line, ir.Assign) and isinstance(line.value, ir.Arg) and line.value.index == 0
        )
        block.body[at : at + 1] = [
            ir.Assign(first.value, pair, first.loc),
            ir.Assign(_item(pair, 0, first.loc), first.target, first.loc),
            ir.Assign(_item(pair, 1, first.loc), numbers, first.loc),
        ]
        return numbers


def _item(variable: Any, index: int, loc: Any) -> Any:
    return ir.Expr.static_getitem(variable, index, None, loc)


class WithCaptured(CompilerBase):
    """Numba's compiler for functions that get what they captured."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_ReadCaptured, FixupArgs)
        passes.finalize()
        return [passes]
