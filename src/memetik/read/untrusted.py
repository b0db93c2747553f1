"""Folders whose files come from strangers, and MuJoCo at work on such a file: in a process of its own, with limits."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from memetik.errors import FormatError, said
from memetik.read.mjcf_bounds import check_model

MAX_SECONDS = 20.0  # that MuJoCo may take
MAX_MEMORY = 4 * 2**30  # bytes of addresses
MAX_FILE = 2**29  # bytes that the process may write
MAX_PARTS = 20_000  # bodies, joints and sites
_FOLDERS: set[Path] = set()

# What runs first in a process. `resource` is not there on Windows, where only the time is limited.
_LIMIT = """
import json, sys
*given, seconds, memory, size = sys.argv[1:]
try:
    import resource
    for kind, most in (("RLIMIT_CPU", seconds), ("RLIMIT_AS", memory), ("RLIMIT_FSIZE", size), ("RLIMIT_CORE", 0)):
        resource.setrlimit(getattr(resource, kind), (int(most), int(most)))
except ImportError:
    pass
"""
_COMPILE = """
import mujoco
source, target = given
try:
    model = mujoco.MjModel.from_xml_path(source)
    mujoco.mj_saveModel(model, target)
    print(json.dumps({"meshdir": mujoco.MjSpec.from_file(source).meshdir, "parts": model.nbody + model.njnt + model.nsite}))
except Exception as error:
    print(json.dumps({"error": str(error)[:2000]}))
"""


def distrust(folder: Path) -> None:
    """From now on take what is in a folder for files of strangers."""
    _FOLDERS.add(folder.resolve())


def forget(folder: Path) -> None:
    """The folder is gone."""
    _FOLDERS.discard(folder.resolve())
    compiled.cache_clear()


def distrusted(path: Path) -> Path | None:
    """The folder of strangers' files that a path is in, None if it is in none."""
    try:
        found = path.resolve()
    except (OSError, ValueError, RuntimeError):
        return None
    return next((folder for folder in _FOLDERS if found.is_relative_to(folder)), None)


@lru_cache(maxsize=8)
def compiled(path: Path, inside: Path) -> tuple[Any, str]:
    """The model of a stranger's file, which names no file outside of a folder, and its folder of meshes."""
    import mujoco

    if path.suffix.lower() == ".mjb":
        raise FormatError(f"{path.name}: compiled models of strangers are not read. Give the .xml.")
    check_model(path, inside)
    with tempfile.TemporaryDirectory(prefix="memetik_mujoco_") as folder:
        target = Path(folder) / "model.mjb"
        output = run_limited(_COMPILE, [str(path), str(target)], Path(folder))
        if output is None:
            raise FormatError(f"{path.name}: MuJoCo takes longer than {MAX_SECONDS:g} s to read it.")
        told = _told(output)
        if "error" in told or not target.is_file():
            reason = " ".join(str(told.get("error", "it ran out of time or memory")).split())
            raise FormatError(f"{path.name}: MuJoCo cannot read it. {reason}")
        if told["parts"] > MAX_PARTS:
            raise FormatError(f"{path.name}: the model has more than {MAX_PARTS} bodies, joints and sites.")
        try:
            return mujoco.MjModel.from_binary_path(str(target)), str(told["meshdir"])
        except (ValueError, RuntimeError, OSError) as error:
            raise FormatError(f"{path.name}: MuJoCo cannot read it. {said(error)}") from None


def run_limited(code: str, given: list[str], folder: Path) -> bytes | None:
    """What Python code prints in a process of its own with limits; None if it takes too long. `given` are its arguments,
    the list of that name there; `folder` is an empty one, where it runs, because Python imports from where it is."""
    limits = [str(int(each)) for each in (MAX_SECONDS, MAX_MEMORY, MAX_FILE)]
    command = [sys.executable, "-c", _LIMIT + code, *given, *limits]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, timeout=MAX_SECONDS, check=False).stdout
    except subprocess.TimeoutExpired:
        return None


def _told(output: bytes) -> dict[str, Any]:
    """What the process said last; a library may have said something before."""
    try:
        found = json.loads(output.splitlines()[-1])
    except (IndexError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
