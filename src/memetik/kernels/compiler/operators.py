"""The types of arithmetic, worked out once.

Numba types `a + b` by trying in turn all that `+` may mean, NumPy's functions among it, and does so twice for each operation:
before it makes code of it, and then. Here it is told what it found the first time, of operators on numbers and arrays. Kernels
that mostly compute (kernels/search/pose_step.py) compile in a sixth less processor time, all that a first pose needs in a
tenth less (MEMETIK_SECOND_COMPILER=0, with an empty NUMBA_CACHE_DIR). Only kernels are compiled so; whatever else a process
compiles with Numba goes its own way.
"""

import contextlib
import operator
from collections.abc import Iterator
from types import BuiltinFunctionType
from typing import Any

from numba.core import types
from numba.core.types.functions import BaseFunction

_OPERATORS = frozenset(function for function in vars(operator).values() if isinstance(function, BuiltinFunctionType))
_OPERANDS = (types.Number, types.Boolean, types.Array)

_ask = BaseFunction.get_call_type
# The type of an operator, which is kept alive, and the signature; by typing context, type and operands. Numba's types are
# slow to hash, and those of operators remember what was found for them: so by identity.
_known: dict[tuple[int, int, tuple[Any, ...]], tuple[Any, Any]] = {}


def _remember(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """As Numba's, which is asked once for each operator and types of operands."""
    if kws or self.typing_key not in _OPERATORS or not all(isinstance(kind, _OPERANDS) for kind in args):
        return _ask(self, context, args, kws)
    key = id(context), id(self), tuple(args)
    known = _known.get(key)
    if known is None:
        known = _known[key] = self, _ask(self, context, args, kws)
    return known[1]


@contextlib.contextmanager
def known_operators() -> Iterator[None]:
    """In this block, operators are typed once. Only for who has Numba's lock for compilation, so that nobody else compiles."""
    before = BaseFunction.get_call_type
    BaseFunction.get_call_type = _remember  # type: ignore[method-assign]
    try:
        yield
    finally:
        BaseFunction.get_call_type = before  # type: ignore[method-assign]
