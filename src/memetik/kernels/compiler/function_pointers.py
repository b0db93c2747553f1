"""Late-bound calls: kernels call objectives and local searches by address, so each is compiled alone and at need.

A direct call would compile every objective into every solver, whether used or not. An address costs a few nanoseconds
a call, keeps the time to the first solution short, and lets users add objectives without anything being compiled again.
"""

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from memetik.kernels.compiler.interruptible import interruptible
from memetik.kernels.compiler.jit import COMPILED

_python: list[Any] = [None]  # without the compiler, an address is an index into this list; none is at zero
_lasting: dict[tuple[Any, int], int] = {}  # addresses by kernel and signature


def address(kernel: Any, signature: Any) -> int:
    """Compile a kernel for a signature and return where its machine code is."""
    if not COMPILED:
        if kernel not in _python:
            _python.append(kernel)
        return _python.index(kernel)
    kernel.compile(signature.args)
    result = kernel.overloads[signature.args]
    if result.signature.return_type not in (signature.return_type, types.none):
        raise TypeError(
            f"{kernel.py_func.__name__} returns {result.signature.return_type}, not {signature.return_type}"
        )
    return int(interruptible(result.library.get_pointer_to_function, result.fndesc.llvm_func_name))


def lasting_address(kernel: Any, signature: Any) -> int:
    """The same for a kernel and a signature that live as long as the process.

    Numba takes 0.2 ms to say it again, and 0.01 ms to hash a signature: as long as many a solve.
    """
    key = kernel, id(signature)
    if key not in _lasting:
        _lasting[key] = address(kernel, signature)
    return _lasting[key]


def way_in(kernel: Any, signature: Any) -> Any:
    """The kernel for Python to call with arguments of just these types, which nobody looks at again.

    Numba's own way in finds out for which types of arguments it is called: half of the time that a call of five takes.
    """
    if not COMPILED:
        return kernel
    if signature.args not in kernel.overloads:
        kernel.compile(signature.args)
    return kernel.overloads[signature.args].entry_point


def caller(signature: Any) -> Any:
    """A function for kernels, (address, *arguments) -> what the kernel at the address returns."""
    if not COMPILED:
        return lambda address, *arguments: _python[address](*arguments)
    returns = types.none if signature.return_type == types.void else signature.return_type
    arguments = types.Tuple(signature.args)

    def code(context, builder, _, args):
        """A call in Numba's own calling convention."""
        kind = context.call_conv.get_function_type(returns, signature.args)
        target = builder.inttoptr(args[0], kind.as_pointer())
        values = cgutils.unpack_tuple(builder, args[1])
        _, value = context.call_conv.call_function(builder, target, returns, signature.args, values)
        return context.get_dummy_value() if returns == types.none else value

    @intrinsic
    def call(typing, address, *given):
        return signature.return_type(types.int64, arguments), code

    return call
