"""The kernels of terms on the device, which calls nothing by address: a kernel is compiled for the kinds a problem has."""

from collections.abc import Iterable, Sequence
from typing import Any

import numba.cuda

from memetik.kernels.cuda.translate import Translator
from memetik.kernels.cuda.warp_messages import FLOAT
from memetik.kernels.geometry.function_pointers import call_apart
from memetik.kernels.geometry.hulls import FEW_CORNERS, exactly_apart, scratch_size
from memetik.kernels.geometry.solids import NOWHERE
from memetik.kernels.runtime.cancel import cancelled
from memetik.kernels.runtime.clock import now
from memetik.kernels.terms.distance import HULL_DISTANCE
from memetik.kernels.terms.function_pointers import call_jacobian, call_residual

cuda: Any = numba.cuda  # it has no types

Kinds = tuple[tuple[int, Any, Any], ...]  # kind, residual kernel, Jacobian kernel


def _by_kind(kernels: Iterable[tuple[int, Any]]) -> Any:
    """A device function that calls the kernel of a term's kind."""

    @cuda.jit(device=True)
    def chosen(address, term, *rest):
        pass

    for kind, kernel in kernels:
        chosen = _link(kind, kernel, chosen)
    return chosen


def _link(kind: int, called: Any, otherwise: Any) -> Any:
    @cuda.jit(device=True)
    def chosen(address, term, *rest):
        if term.kind == kind:
            called(term, *rest)
        else:
            otherwise(address, term, *rest)

    return chosen


def _hulls(translate: Translator | None) -> Any:
    """A device function in place of the kernel for hulls; one that is never called where there are none."""
    if translate is None:

        @cuda.jit(device=True)
        def no_hulls(address, data, p, s, q, t, enough):
            return enough, NOWHERE, NOWHERE, NOWHERE

        return no_hulls
    apart, size = translate(exactly_apart), scratch_size(FEW_CORNERS)

    @cuda.jit(device=True)
    def hulls(address, data, p, s, q, t, enough):
        return apart(data, p, s, q, t, enough, cuda.local.array(size, FLOAT), FEW_CORNERS)

    return hulls


@cuda.jit(device=True)
def no_time(clock):
    """Budgets on the device are evaluations."""
    return 0.0


def term_translator(hulls: bool) -> Translator:
    """Translates the kernels of terms, with the kernel for hulls only where there are some."""
    translate = Translator({now: no_time})
    translate.replace(call_apart, _hulls(translate if hulls else None))
    return translate


def terms_by_kind(kinds: Kinds) -> tuple[Any, Any]:
    """Device functions that call the residual and the Jacobian of a term of one of these kinds."""
    translate = term_translator(HULL_DISTANCE.number in (kind for kind, _, _ in kinds))
    residual_of = _by_kind((kind, translate(residual)) for kind, residual, _ in kinds)
    return residual_of, _by_kind((kind, translate(jacobian)) for kind, _, jacobian in kinds)


@cuda.jit(device=True)
def never(clock):
    """The host ends a batch between launches."""
    return False


def search_translator(kinds: Kinds) -> Translator:
    """Translates searches for problems whose terms are of these kinds."""
    residual_of, jacobian_of = terms_by_kind(kinds)
    return Translator({
        now: no_time, cancelled: never, call_residual: residual_of, call_jacobian: jacobian_of,
    })  # fmt: skip


def kinds_of(terms: Any, kernels: Sequence[tuple[Any, Any]]) -> Kinds:
    """The kinds of terms of a problem with their kernels, each once; springs have none."""
    found = {int(kind): pair for kind, pair in zip(terms["kind"], kernels, strict=True) if pair[0] is not None}
    return tuple((kind, *pair) for kind, pair in sorted(found.items(), key=lambda item: item[0]))
