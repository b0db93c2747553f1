"""Weights on disk: one .npz with what was learned and what it was learned for."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from memetik.errors import FormatError
from memetik.files import path_of, write_whole
from memetik.learn.domain import Domain
from memetik.learn.training import Lesson

VERSION = 1


def save_weights(path: str | Path, kind: str, domain: Domain, lesson: Lesson, arrays: Mapping[str, Any]) -> Path:
    """Write the file and return its path, which gets the suffix .npz if it has none."""
    target = path_of(path, FormatError, "the file for the weights")
    if target.name and target.suffix != ".npz":
        target = target.with_name(target.name + ".npz")
    content: dict[str, Any] = {"kind": np.array(kind), "version": np.array(VERSION), **domain.arrays(), **arrays}
    file = io.BytesIO()
    np.savez(file, lesson=np.array(lesson, dtype=np.float64), **content)
    write_whole(target, file.getvalue())
    return target


def load_weights(path: str | Path, kind: str, names: tuple[str, ...]) -> tuple[Domain, Lesson, dict[str, Any]]:
    """The domain, how training went, and the arrays of these names from a file of this kind."""
    path = path_of(path, FormatError, "the file of weights")
    try:
        with np.load(path, allow_pickle=False) as file:
            content = {name: file[name] for name in file.files}
    except FileNotFoundError:
        raise FormatError(f"there is no file of weights at {str(path)!r}.") from None
    except (OSError, ValueError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise FormatError(f"{str(path)!r} is not a file of weights written by memetik: {error}.") from error
    found, version = str(content.get("kind", "")), int(content.get("version", 0))
    if found != kind or version != VERSION:
        what = f"weights of kind {found!r}, version {version}" if found else "no weights of memetik"
        raise FormatError(f"{str(path)!r} holds {what}; wanted is kind {kind!r}, version {VERSION}.")
    try:
        training, validation, epochs = content["lesson"].tolist()
        lesson = Lesson(float(training), float(validation), int(epochs))
        return Domain.from_arrays(content), lesson, {name: content[name] for name in names}
    except (KeyError, ValueError, TypeError) as error:
        raise FormatError(f"the file of weights {str(path)!r} is incomplete: {error}.") from error
