"""What other packages add to memetik, found by their entry points when it is asked for.

    group              name                      value
    memetik.commands   of the command            a function that takes the subparsers of `memetik` and adds the command
    memetik.methods    of the method             a Method; its `place` is "package.module:Class", a dataclass with a `seed`
    memetik.readers    suffix without the dot    a function that takes a path and `roots` (of meshes) and returns a mk.Body
    memetik.pages      "view"                    the function that makes the page of mk.view

The names that memetik has itself are taken: an entry point of such a name is not loaded.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from memetik.errors import MissingExtraError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

__all__ = ["COMMANDS", "METHODS", "PACKAGES", "PAGES", "READERS", "Package", "added", "missing"]

COMMANDS, METHODS, READERS, PAGES = "memetik.commands", "memetik.methods", "memetik.readers", "memetik.pages"


class Package(NamedTuple):
    """A package of this project that is installed on its own."""

    name: str
    extra: str  # of memetik, which brings it
    path: str  # in a clone of the repository


LAB = Package("memetik-lab", "bench", "packages/memetik-lab")
STUDIO = Package("memetik-studio", "studio", "packages/memetik-studio")
SERVE = Package("memetik-serve", "serve", "packages/memetik-serve")
ROS = Package("memetik-serve", "ros", "'packages/memetik-serve[ros]'")

PACKAGES = {  # by what they bring
    "compare": LAB, "bench": LAB, "studio": STUDIO, "view": STUDIO, "serve": SERVE, "ros1": ROS, "ros2": ROS,
}  # fmt: skip


@cache
def _installed(group: str) -> EntryPoints:
    from importlib.metadata import entry_points  # takes milliseconds to import, and tens to look through all packages

    return entry_points(group=group)


def added(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name."""
    return {point.name: point for point in _installed(group)}


def missing(what: str, purpose: str) -> MissingExtraError:
    """Return the error that says which package of this project brings `what`, and how to install it."""
    package = PACKAGES[what]
    how = (
        f'Install it with: pip install "memetik[{package.extra}]"; in a clone of the repository: '
        f"uv run --extra {package.extra} memetik ..., or pip install . {package.path}"
    )
    return MissingExtraError(package.name, purpose, how=how)
