"""What every input of the geometry goes through: numbers, directions, rotations, or an error that says how to mend it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from memetik.errors import GeometryError, MemetikError, said, shown, warn
from memetik.types import Array

T = TypeVar("T", bound=np.generic)
K = TypeVar("K")

INPUT_TOLERANCE = 1e-6  # how far from a rotation an input may be: generous to float32 and to typed decimals
CLEAN_TOLERANCE = 1e-12  # inputs closer than this are kept bit for bit

THREE_NUMBERS = "three numbers (x, y, z)"


def real_array(value: object, error: type[MemetikError], what: str) -> Array:
    """`value` as float64 numbers of any shape, NaN and infinity among them; an error that begins with `what` otherwise.

    It is `value` itself, not a copy, where that is such an array.
    """
    try:
        raw = np.asarray(value)
        if raw.dtype.kind == "c":
            raise TypeError("complex numbers have no place here")
        return np.asarray(raw, dtype=np.float64)
    except Exception as reason:  # whatever the conversion of a stranger's object raises
        raise error(f"{what}: {said(reason)}.") from reason


def real_number(value: object, error: type[MemetikError], what: str) -> float:
    """`value` as a Python float, perhaps NaN or infinite; a number is one number, not a list, a text or True."""
    try:
        raw = np.asarray(value)
        if raw.ndim == 0 and raw.dtype.kind in "iufO":  # O: fractions and all that know how to be a float
            return float(raw.item())
    except Exception as reason:  # as above
        raise error(f"{what} is {shown(value)}, which is not a number: {said(reason)}.") from reason
    raise error(f"{what} is {shown(value)}, which is not a number.")


def whole_number(value: object, error: type[MemetikError], what: str, *, least: int, most: int = 2**62) -> int:
    """`value` as a Python int from `least` to `most`; the default is what a kernel can count."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= value <= most:
        return int(value)
    and_most = f" and at most {most}" if most < 2**62 else ""
    raise error(f"{what} is {shown(value)}. Give a whole number, at least {least}{and_most}.")


def flag(value: object, error: type[MemetikError], what: str) -> bool:
    """`value` as a Python bool; 0 and 1 will do."""
    if isinstance(value, (bool, np.bool_, int, np.integer)) and value in (0, 1):
        return bool(value)
    raise error(f"{what} is {shown(value)}; it must be True or False.")


def several(value: object, error: type[MemetikError], what: str, example: str) -> tuple[Any, ...]:
    """The items of a list, tuple or other iterable; not the letters of a text or the keys of a dict."""
    try:
        if not isinstance(value, (str, bytes, bytearray, memoryview, Mapping)):
            return tuple(value)  # type: ignore[arg-type]
    except Exception:  # not iterable, or it fails half way
        pass
    raise error(f"{what} is {shown(value)}. Give a list, for example {example}.")


def instance(value: object, kind: type[K], error: type[MemetikError], what: str) -> K:
    """`value` if it is of this class; an error that ends in `what` otherwise: it is not a body. Give mk.load(...)."""
    if isinstance(value, kind):
        return value
    raise error(f"{shown(value)} is not {what}")


def mapping(value: object, error: type[MemetikError], what: str, example: str) -> dict[Any, Any]:
    """The items of a dict or other mapping; None stands for none."""
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return dict(value)
    raise error(f"{what} is {shown(value)}. Give a dict, for example {example}.")


def text(value: object, error: type[MemetikError], what: str) -> str:
    """`value` if it is a text that is not empty."""
    if isinstance(value, str) and value:
        try:
            value.encode()
        except UnicodeEncodeError:  # half a character, with which no message about it could be printed
            raise error(f"{what} is {shown(value)}, which has half a character in it.") from None
        return value
    raise error(f"{what} is {shown(value)}. Give a text.")


def three_finite(value: object, error: type[MemetikError], what: str) -> Array:
    """`value` as a fresh array of three finite numbers; an error that begins with `what` otherwise."""
    asked = f"{what} must be three finite numbers"
    array = np.array(real_array(value, error, asked))
    if array.shape != (3,) or not np.isfinite(array).all():
        raise error(f"{asked}, not {shown(value)}.")
    return array


def frozen(array: npt.NDArray[T]) -> npt.NDArray[T]:
    """The same array, closed to writing: a body never changes, so neither may the numbers it hands out."""
    array.setflags(write=False)
    return array


def finite_array(value: object, name: str, expected: str, *shapes: tuple[int, ...]) -> Array:
    """A fresh float64 copy of `value` with one of `shapes` (any if none is named), all entries finite."""
    try:
        raw = np.asarray(value)
    except Exception as error:  # whatever the conversion of a stranger's object raises
        raise GeometryError(f"{name} must be {expected}; it cannot be read as an array: {said(error)}") from error
    if raw.dtype.kind not in "iuf":
        kind = type(value).__name__
        raise GeometryError(f"{name} must be {expected}; got {kind}, which does not hold plain real numbers")
    if shapes and raw.shape not in shapes:
        raise GeometryError(f"{name} must be {expected}; got an array of shape {raw.shape}")
    array = raw.astype(np.float64)
    if not np.all(np.isfinite(array)):
        index = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        entry = name + "".join(f"[{i}]" for i in index)
        raise GeometryError(f"{entry} is {array[index]}; give a finite number there")
    return array


def doubt_degrees(angles: Sequence[float]) -> None:
    """Warn if angles in radians look like degrees: whole numbers, as one types them, and one beyond a full turn."""
    if max(map(abs, angles)) > math.tau and all(angle.is_integer() for angle in angles):
        given = ", ".join(f"{angle:g}" for angle in angles)
        warn(f"the angles ({given}) are taken as radians, but look like degrees. If they are, add degrees=True.")


def finite_number(value: float, name: str) -> float:
    """`value` as a finite Python float."""
    return float(finite_array(value, name, "one number", ()))


def direction(vector: npt.ArrayLike, name: str) -> Array:
    """The unit vector along `vector`, which may be of any length but zero."""
    array = finite_array(vector, name, THREE_NUMBERS, (3,))
    largest = np.max(np.abs(array))
    if largest == 0.0:
        raise GeometryError(f"{name} is the zero vector and has no direction; give any other vector")
    array /= largest  # squares of very long or very short vectors would overflow or vanish
    return array / math.hypot(*array)


def unit_quaternion(values: Array, name: str) -> Array:
    norm = math.hypot(*values)
    if not abs(norm - 1.0) <= INPUT_TOLERANCE:
        raise GeometryError(
            f"{name} has norm {norm:.9g}, but a quaternion must have norm 1; divide it by its norm, and "
            "check the order: (w, x, y, z) is expected, while scipy's as_quat() gives (x, y, z, w)"
        )
    return values / norm


def checked_matrix(R: Array, name: str) -> Array:
    """R itself if it is a rotation to rounding, the nearest rotation if it is one to `INPUT_TOLERANCE`."""
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()  # nine floats are quicker than any array operation
    deviation = max(
        abs(a * a + d * d + g * g - 1.0),
        abs(b * b + e * e + h * h - 1.0),
        abs(c * c + f * f + i * i - 1.0),
        abs(a * b + d * e + g * h),
        abs(a * c + d * f + g * i),
        abs(b * c + e * f + h * i),
    )
    if not deviation <= INPUT_TOLERANCE:
        raise GeometryError(
            f"{name} is not a rotation: its columns must be of length 1 and at right angles, but R^T R "
            f"differs from the identity by {deviation:.3g}; take scale and shear out of it"
        )
    if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0.0:
        raise GeometryError(
            f"{name} is left-handed (determinant -1): it mirrors as well as turns; negate one of its "
            "columns, or bring the axes it came from into a right-handed order"
        )
    if deviation <= CLEAN_TOLERANCE:
        return R
    u, _, vt = np.linalg.svd(R)
    return np.asarray(u @ vt)


def check_name(name: object) -> None:
    """Raise unless it is a text, what error messages call an argument."""
    if not isinstance(name, str):
        raise GeometryError(f"name is {shown(name)}; give a text, what error messages should call the argument")


def check_bottom_row(T: Array, name: str) -> None:
    x, y, z, one = T[3].tolist()
    if not max(abs(x), abs(y), abs(z), abs(one - 1.0)) <= INPUT_TOLERANCE:
        raise GeometryError(
            f"{name} is not a rigid transform: its bottom row is {T[3].tolist()} but must be [0, 0, 0, 1]; "
            "if the position stands in the bottom row, transpose the matrix"
        )
