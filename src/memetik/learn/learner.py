"""What all learned solvers share: the checks of what they are given, and weights on disk.

A file of weights is one .npz with what was learned and what it was learned for.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from memetik.errors import FormatError, ProblemError, shown
from memetik.files import arrays_in, path_of, write_whole
from memetik.geometry.checks import real_array, whole_number
from memetik.learn.domain import Domain
from memetik.learn.training import Lesson
from memetik.problem import Problem
from memetik.types import Array

VERSION = 1
MOST_BYTES = 2**28  # of a file of weights, unpacked
MOST_WEIGHTS = 2**24  # training keeps seven arrays of this size
MOST_OUTPUTS = 2**28  # of all units for all samples, 2 GiB
COUNTS = {  # what training is given, and the least and most of it
    "epochs": (0, 10**9),
    "patience": (1, 10**9),
    "hidden": (1, 2**20),
    "samples": (1, 10**7),
    "paths": (1, 10**7),
    "steps": (2, 10**7),
}

L = TypeVar("L", bound="Learner")


class Learner:
    """A trained solver. Its subclasses name their arrays, in the order in which their constructors take them."""

    kind: ClassVar[str]  # what a file of weights says it is
    saved: ClassVar[tuple[str, ...]]

    def __init__(self, domain: object, lesson: object) -> None:
        if not (isinstance(domain, Domain) and isinstance(lesson, Lesson)):
            who, wrong = type(self).__name__, shown(lesson if isinstance(domain, Domain) else domain)
            raise ProblemError(
                f"{who}: {wrong} does not come from training. Use mk.learn.{who}.train(problem) or mk.learn.{who}.load(path)."
            )
        self.domain, self.lesson = domain, lesson

    def save(self, path: str | Path) -> Path:
        """Write the weights to an .npz file, and return its path, which gets that suffix if it has none."""
        target = path_of(path, FormatError, "the file for the weights")
        if target.name and target.suffix != ".npz":
            target = target.with_name(target.name + ".npz")
        content: dict[str, Any] = {name: np.array(getattr(self, name)) for name in self.saved}
        content.update(self.domain.arrays(), kind=np.array(self.kind), version=np.array(VERSION))
        file = io.BytesIO()
        np.savez(file, lesson=np.array(self.lesson, dtype=np.float64), **content)
        write_whole(target, file.getvalue())
        return target

    @classmethod
    def load(cls: type[L], path: str | Path) -> L:
        """Read what `save` wrote."""
        path = path_of(path, FormatError, "the file of weights")
        try:
            content = arrays_in(path, MOST_BYTES)
            found, version = str(content.get("kind", "")), int(content.get("version", 0))
        except FileNotFoundError:
            raise FormatError(f"there is no file of weights at {str(path)!r}.") from None
        except FormatError:
            raise
        except Exception as error:  # a damaged archive raises whatever its part of Python does
            raise FormatError(f"{str(path)!r} is not a file of weights written by memetik: {error}.") from error
        if found != cls.kind or version != VERSION:
            what = f"weights of kind {found!r}, version {version}" if found else "no weights of memetik"
            raise FormatError(f"{str(path)!r} holds {what}; wanted is kind {cls.kind!r}, version {VERSION}.")
        try:
            training, validation, epochs = content["lesson"].tolist()
            lesson = Lesson(float(training), float(validation), int(epochs))
            domain, arrays = Domain.from_arrays(content), [content[name] for name in cls.saved]
        except (KeyError, ValueError, TypeError) as error:
            raise FormatError(f"the file of weights {str(path)!r} is incomplete: {error}.") from error
        constructor: Any = cls
        made: L = constructor(domain, *(array if array.ndim else array.item() for array in arrays), lesson)
        return made

    def _vectors(self, problem: Problem, start: ArrayLike | None, postures: Array) -> Array:
        """Joint vectors with these values of the joints that targets concern, a row each; the others as in `start`."""
        vectors = np.tile(problem.start(start), (len(postures), 1))
        vectors[:, problem.compiled.active] = postures
        return vectors


def counts_of(who: str, **given: object) -> list[int]:
    """What training is given, by the names in COUNTS, as whole numbers."""
    return [
        whole_number(value, ProblemError, f"{who}: {name}", least=COUNTS[name][0], most=COUNTS[name][1])
        for name, value in given.items()
    ]


def require_fits(weights: int, outputs: int, who: str) -> None:
    """Raise if training would not fit into memory; `outputs` is the number of units times that of samples."""
    if weights > MOST_WEIGHTS or outputs > MOST_OUTPUTS:
        raise ProblemError(
            f"{who}: {weights:,} weights and {outputs:,} outputs of units are too many to train; at most {MOST_WEIGHTS:,} and "
            f"{MOST_OUTPUTS:,} fit. Give fewer hidden units or samples."
        )


def numbers_of(value: object, shape: tuple[int, ...], who: str, what: str) -> Array:
    """Finite numbers in an array of this shape, where -1 stands for any length."""
    array = np.ascontiguousarray(real_array(value, ProblemError, f"{who}: {what}"))
    fits = array.ndim == len(shape) and all(
        wanted in (-1, size) for size, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits or not np.isfinite(array).all():
        wanted = " x ".join("any" if size < 0 else str(size) for size in shape)
        raise ProblemError(f"{who}: {what} have shape {array.shape}; {wanted} finite numbers are needed.")
    return array
