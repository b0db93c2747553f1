"""What this installation is made of, where its kernels come from, and what is missing: plain facts for people and machines."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import platform
import shutil
import subprocess
import webbrowser
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from llvmlite import binding  # type: ignore[import-untyped]

import memetik as mk
from memetik import plugins
from memetik.batch.device import require_cuda
from memetik.kernels.compiler.cache import FOLDERS, is_whole
from memetik.kernels.compiler.jit import COMPILED
from memetik.kernels.compiler.prebuilt import prebuilt
from memetik.kernels.compiler.processor import lacking, level
from memetik.solution import duration

__all__ = ["EXTRAS", "PURPOSES", "examine", "lines"]

EXTRAS = {  # what each optional extra brings, by the names of the modules
    "bench": ("memetik_lab", "matplotlib"),
    "cluster": ("ray", "pyarrow"),
    "cuda": ("numba_cuda",),
    "descriptions": ("robot_descriptions",),
    "docs": ("sphinx", "furo", "myst_parser", "latex2mathml"),
    "learn": ("sklearn",),
    "meshes": ("trimesh", "collada", "scipy"),
    "mujoco": ("mujoco",),
    "plots": ("matplotlib", "PIL"),
    "ros": ("memetik_serve", "zenoh", "cyclonedds", "rosbags"),
    "serve": ("memetik_serve", "starlette", "uvicorn", "websockets", "httptools"),
    "studio": ("memetik_studio", "viser", "trimesh", "PIL"),
    "usd": ("pxr",),
    "xacro": ("xacro",),
}
PURPOSES = {  # what each is for
    "bench": "published experiments and other solvers",
    "cluster": "files of targets, on this machine or by Ray",
    "cuda": "batches on a graphics card",
    "descriptions": "models by robot_descriptions:NAME",
    "docs": "building the site",
    "learn": "learned guesses",
    "meshes": "meshes and the shapes that cover them",
    "mujoco": "MuJoCo's models",
    "plots": "plots of reachability and evolution; pictures as .png and .gif",
    "ros": "ROS 2 and bags",
    "serve": "answers over HTTP and WebSocket",
    "studio": "the page in 3D",
    "usd": "USD stages",
    "xacro": "trusted models as .xacro, and YAML in any",
}
PACKAGES = ("numpy", "numba", "llvmlite")
DISTRIBUTIONS = {  # of modules that are installed by another name than their own
    "PIL": "pillow", "collada": "pycollada", "pxr": "usd-core", "sklearn": "scikit-learn", "zenoh": "eclipse-zenoh",
}  # fmt: skip
TEXT_BROWSERS = ("www-browser", "links", "elinks", "lynx", "w3m")
SLOW = 10.0  # s after which a driver that does not answer is given up

Facts = dict[str, Any]


def examine(thorough: bool = False) -> Facts:
    """All of it, as JSON takes it. Whatever is wrong here is a finding, not an error.

    thorough: import what extras bring, instead of only looking whether it is there, and solve a first problem.
    """
    facts: Facts = {
        "versions": {"memetik": mk.__version__, "python": platform.python_version(), **_versions(PACKAGES)},
        "system": f"{platform.system()} {platform.release()}",
        "processor": _processor(),
        "prebuilt": _prebuilt(),
        "cache": _cache(),
        "extras": {extra: _missing(modules) for extra, modules in EXTRAS.items()},
        "packages": _packages(),
        "graphics": _graphics(),
        "browser": _browser(),
    }
    if thorough:
        facts |= {"broken": _broken(facts["extras"]), "solved": _solved()}
    return facts


def lines(facts: Facts) -> list[str]:
    """The same in words."""
    named = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    absent = {extra: names for extra, names in facts["extras"].items() if names}
    broken = facts.get("broken", {})
    present = [extra for extra in facts["extras"] if extra not in absent and extra not in broken]
    found = "works" if "broken" in facts else "here"  # a look alone does not tell whether it can be imported
    every = f'  for all   pip install "memetik[{",".join(absent)}]"'
    return [
        f"versions    {named}",
        f"system      {facts['system']}",
        f"processor   {_said_of_processor(facts['processor'])}",
        f"prebuilt    {_said_of_prebuilt(facts['prebuilt'])}",
        *(f"  damaged   {name}" for name in facts["prebuilt"]["damaged"]),
        f"cache       {_said_of_cache(facts['cache'])}",
        *(f"  damaged   {name}" for name in facts["cache"]["damaged"]),
        f"extras      {len(present)} of {len(facts['extras'])} are here",
        *(f"  {found:9} {extra}: {PURPOSES[extra]} ({_said_of_packages(extra, facts)})" for extra in present),
        *(f"  broken    {extra}: {PURPOSES[extra]}; {why}" for extra, why in broken.items()),
        *(
            f'  without   {extra}: {PURPOSES[extra]}; no {", ".join(names)} (pip install "memetik[{extra}]"{_in_clone(extra)})'
            for extra, names in absent.items()
        ),
        *([every] if len(absent) > 1 else []),
        f"graphics    {_said_of_graphics(facts['graphics'])}",
        f"browser     {_said_of_browser(facts['browser'])}",
        *([f"solving     {facts['solved']}"] if "solved" in facts else []),
    ]  # fmt: skip


# ---- Findings ----------------------------------------------------------------------------------------------


class Files(NamedTuple):
    """Files of machine code."""

    kernels: int  # signatures that kernels are compiled for
    bytes: int
    damaged: list[str]


def _versions(names: Iterable[str]) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # not installed by an installer that says so
            found[name] = "unknown"
    return found


def _processor() -> Facts:
    wanted = level()
    return {
        "name": binding.get_host_cpu_name(),
        "machine": platform.machine(),
        "level": None if wanted is None else wanted.name,
        "lacks": [] if wanted is None else lacking(wanted),
    }


def _prebuilt() -> Facts:
    source = prebuilt()
    found = _files([source.folder])
    why_not = "kernels are not compiled at all (NUMBA_DISABLE_JIT)" if not COMPILED else source.why_not
    return {"used": not why_not, "why_not": why_not, "folder": str(source.folder), "for": source.key, **found._asdict()}


def _cache() -> Facts:
    """Kernels tell where they are kept when they are made, after a look whether the folder can be written."""
    for row in mk.methods():
        row.solver  # noqa: B018 - imports its kernels
    folders = sorted(FOLDERS)
    return {"writable": bool(folders), "folders": folders, **_files(map(Path, folders))._asdict()}


def _files(folders: Iterable[Path]) -> Files:
    kernels, size, damaged = 0, 0, []
    for path in (path for folder in folders for path in sorted(folder.glob("*.nb?"))):
        try:
            content = path.read_bytes()
        except OSError as error:
            damaged.append(f"{path} ({error.strerror})")
            continue
        kernels, size = kernels + (path.suffix == ".nbc"), size + len(content)
        if not is_whole(path.name, content):
            damaged.append(str(path))
    return Files(kernels, size, damaged)


def _missing(modules: Iterable[str]) -> list[str]:
    return [module for module in modules if importlib.util.find_spec(module) is None]


def _packages() -> dict[str, str]:
    """The versions of what extras bring and is here, by module."""
    found = {}
    for module in sorted({module for modules in EXTRAS.values() for module in modules}):
        with contextlib.suppress(PackageNotFoundError):
            found[module] = version(DISTRIBUTIONS.get(module, module))
    return found


def _broken(extras: dict[str, list[str]]) -> dict[str, str]:
    """Why what is installed cannot be imported, by extra."""
    found = {}
    for extra in (extra for extra, missing in extras.items() if not missing):
        for module in EXTRAS[extra]:
            try:
                importlib.import_module(module)
            except Exception as error:  # whatever a package that does not fit may raise
                found[extra] = f"{module} cannot be imported: {type(error).__name__}: {error}"
    return found


def _solved() -> str:
    """How a first problem goes."""
    body = mk.load("panda")
    problem = mk.Problem(
        body, mk.Pose("panda_hand", body.forward(body.home)["panda_hand"] @ mk.translation(0.0, 0.1, 0.0))
    )
    first = mk.solve(problem)
    again = mk.solve(problem)
    ready = f", after {duration(first.compile_seconds)} for compiling or loading" if first.compile_seconds else ""
    return f"{again.status.name}, a pose of a panda's hand in {duration(again.seconds)}{ready}"


def _browser() -> Facts:
    """The browser that `memetik studio` would open."""
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return {"name": None}
    return {"name": Path(str(getattr(found, "name", type(found).__name__))).name}


def _graphics() -> Facts:
    """Cards as the driver lists them, and whether kernels can run on one."""
    try:
        require_cuda()
        why_not = ""
    except mk.MemetikError as error:
        why_not = str(error)
    except Exception as error:  # whatever a driver that does not fit may raise
        why_not = f"{type(error).__name__}: {error}"
    return {"usable": not why_not, "why_not": why_not, "cards": _cards()}


def _cards() -> list[Facts]:
    command = shutil.which("nvidia-smi")
    if command is None:
        return []
    query = [command, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=SLOW, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [[cell.strip() for cell in line.split(",")] for line in done.stdout.splitlines()]
    return [dict(zip(("name", "driver", "memory"), row, strict=True)) for row in rows if len(row) == 3]


# ---- Words -------------------------------------------------------------------------------------------------


def _said_of_processor(found: Facts) -> str:
    text = f"{found['name']} ({found['machine']})"
    if found["level"] is None:
        return f"{text}, of a kind for which no kernels are prebuilt"
    return f"{text}, {'lacks ' + ', '.join(found['lacks']) + ' of' if found['lacks'] else 'has'} level {found['level']}"


def _said_of_prebuilt(found: Facts) -> str:
    if not found["used"]:
        return f"not used: {found['why_not']}"
    return f"{_amount(found)} in {found['folder']} for {found['for']['processor']}"


def _said_of_cache(found: Facts) -> str:
    if not found["writable"]:
        return (
            "no folder for it can be written, so kernels are compiled in every process; NUMBA_CACHE_DIR names another"
        )
    folders = found["folders"]
    where = folders[0] if len(folders) == 1 else f"{len(folders)} folders such as {folders[0]}"
    return f"{_amount(found)} in {where}, which can be written"


def _amount(found: Facts) -> str:
    return f"{found['kernels']} kernels, {found['bytes'] / 1e6:.1f} MB"


def _in_clone(extra: str) -> str:
    """How plain pip installs an extra that is a package of this project."""
    paths = {package.path for package in plugins.PACKAGES.values() if package.extra == extra}
    return "".join(f"; in a clone: pip install . {path}" for path in paths)


def _said_of_packages(extra: str, facts: Facts) -> str:
    return ", ".join(f"{module} {facts['packages'].get(module, '')}".rstrip() for module in EXTRAS[extra])


def _said_of_browser(found: Facts) -> str:
    elsewhere = (
        "`memetik studio --no-open` prints an address; from another machine: ssh -L 8080:localhost:8080 THIS_MACHINE"
    )
    if found["name"] is None:
        return f"none that could be opened here; {elsewhere}"
    if found["name"] in TEXT_BROWSERS:
        return f"{found['name']}, which shows no 3D; {elsewhere}"
    return f"{found['name']} opens pages"


def _said_of_graphics(found: Facts) -> str:
    cards = "; ".join(f"{card['name']}, driver {card['driver']}, {card['memory']}" for card in found["cards"])
    if found["usable"]:
        return f"usable: {cards or 'a card that the driver does not name'}"
    return f"not usable: {found['why_not']}" + (f" The driver lists: {cards}." if cards else "")
