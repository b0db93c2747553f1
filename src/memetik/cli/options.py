"""What commands share: the options that several have, the body that is meant, and where they write."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import memetik as mk
from memetik.scenes import CHAINS

OUT = Path("memetik-out")

_COMMON: dict[str, dict[str, Any]] = {
    "--lock": {"action": "append", "default": [], "metavar": "JOINT=VALUE", "help": "hold a joint; repeatable"},
    "--threads": {"type": int, "metavar": "N", "help": "of this machine (default: one for each core)"},
}


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], about: str, description: str | None = None
) -> argparse.ArgumentParser:
    """A command that `run` carries out, and returns its exit code."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=about, description=description)
    command.set_defaults(run=run)
    return command


def add_common(command: argparse.ArgumentParser, flag: str) -> None:
    """An option that means the same in several commands."""
    command.add_argument(flag, **_COMMON[flag])


def add_number(
    command: argparse.ArgumentParser, flag: str, default: float, text: str = "", unit: str | None = None
) -> None:
    """An option with a number of the type of its default, which the help names."""
    about = f"{text} (default: %(default)s)".lstrip()
    command.add_argument(flag, type=type(default), default=default, metavar=unit, help=about)


def add_body(command: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """The arguments that say which body is meant; `load_body` reads them. `nargs` "?" lets it be left out."""
    kinds = "a bundled name, a path to a .urdf or .xacro file, or planar:N or snake:N joints"
    command.add_argument("body", nargs=nargs, help=kinds)
    command.add_argument("--base", default="fixed", help="the root: fixed, xyz, planar or floating (default: fixed)")


def load_body(options: argparse.Namespace) -> mk.Body:
    """The body that was named."""
    kind, _, joints = options.body.partition(":")
    if kind in CHAINS and joints.isdecimal():
        made: mk.Body = getattr(mk, CHAINS[kind])(int(joints))
        return made.with_base(options.base)
    return mk.load(options.body, base=options.base)


def ends(body: mk.Body) -> list[str]:
    """The tips of the chains that the body names, else of all its branches."""
    named = [tip for chain in body.chains.values() for tip in chain.tips]
    parents = {joint.parent for joint in body.joints.values()}
    return list(dict.fromkeys(named)) or [link for link in body.links if link not in parents]


def assignments(texts: Sequence[str], option: str) -> dict[str, float]:
    """joint=value, several times."""
    values = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            values[name.strip()] = float(number)
        except ValueError:
            raise mk.ProblemError(
                f"{option}: {text!r} is not of the form joint=value, for example {option} j1=0.5."
            ) from None
    return values
