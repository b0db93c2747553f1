"""What commands share: the options that several have, the body that is meant, and where they write."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import memetik as mk
from memetik.body import BASES
from memetik.cli.parser import names, one_of
from memetik.scenes import CHAINS

Options = argparse._ActionsContainer  # a command, or a group of its options
OUT = Path("memetik-out")
# The endings of pictures: of a posture, of a film, and of either.
STILL, FILM, MOVING = (".svg", ".png"), (".svg", ".gif"), (".svg", ".png", ".gif")

# Options that mean the same in several commands, so that they are called the same and say the same.
_COMMON: dict[str, dict[str, Any]] = {
    "--chain": {"metavar": "NAME", "help": "only this named chain of the body, see `memetik show BODY`"},
    "--json": {"action": "store_true", "help": "print one JSON object, for machines"},
    "--lock": {"action": "append", "default": [], "metavar": "JOINT=VALUE", "help": "hold a joint; repeatable"},
    "--root": {
        "action": "append",
        "type": Path,
        "default": [],
        "metavar": "FOLDER",
        "help": "a folder of meshes or packages, besides those around the model; repeatable",
    },
    "--srdf": {
        "type": Path,
        "metavar": "FILE",
        "help": "named chains, home and links that may touch, for your own model",
    },
    "--threads": {"type": int, "metavar": "N", "help": "of this machine (default: one for each core)"},
}


def add_command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], about: str, description: str | None = None
) -> argparse.ArgumentParser:
    """A command that `run` carries out, and returns its exit code."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=about, description=description)
    command.set_defaults(run=run)
    return command


def add_common(command: Options, flag: str) -> None:
    """An option that means the same in several commands."""
    command.add_argument(flag, **_COMMON[flag])


def add_number(command: Options, flag: str, default: float, text: str = "", unit: str = "N") -> None:
    """An option with a number of the type of its default, which the help names."""
    about = f"{text} (default: %(default)s)".lstrip()
    command.add_argument(flag, type=type(default), default=default, metavar=unit, help=about)


def add_names(command: argparse.ArgumentParser, flag: str, what: str, text: str) -> None:
    """An option that takes several names, with commas or repeated."""
    listed = f"{what},..."
    command.add_argument(flag, action="extend", type=names, default=[], metavar=listed, help=text)


def add_tolerances(command: Options, turns: str = "of orientations") -> None:
    """How near is near enough."""
    add_number(command, "--position-tolerance", 1e-4, "of positions", "M")
    add_number(command, "--orientation-tolerance", 1e-3, turns, "RAD")


def add_out(command: argparse.ArgumentParser, text: str, default: Path | None = None, what: str = "FILE") -> None:
    """Where the results go."""
    about = text if default is None else f"{text} (default: %(default)s)"
    command.add_argument("-o", "--out", type=Path, default=default, metavar=what, help=about)


def add_draw(command: argparse.ArgumentParser, what: str, suffixes: Sequence[str]) -> None:
    """A picture besides the results."""
    command.add_argument("--draw", type=Path, metavar="FILE", help=f"draw {what} ({one_of(suffixes)})")


def add_address(command: argparse.ArgumentParser, port: int) -> None:
    """Where to listen."""
    command.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="the address to listen on (default: this machine only)"
    )
    add_number(command, "--port", port, "0 takes any that is free", "N")


def add_body(command: argparse.ArgumentParser, nargs: str | None = None) -> None:
    """The arguments that say which body is meant; `load_body` reads them. `nargs` "?" lets it be left out."""
    kinds = (
        "a bundled name, see `memetik bodies`; a model (.urdf, .xacro, MuJoCo's .xml, .usd) or the skeleton of a .bvh, .glb or "
        ".vrm; robot_descriptions:NAME; planar:N or snake:N joints"
    )
    command.add_argument("body", nargs=nargs, metavar="BODY", help=kinds)
    add_base(command)


def add_base(command: argparse.ArgumentParser, default: str = "fixed") -> None:
    """What else there is to say of a body."""
    group = command.add_argument_group("the body")
    roots = f"how its root moves: {', '.join(BASES)} (default: %(default)s)"
    group.add_argument("--base", default=default, metavar="KIND", help=roots)
    add_common(group, "--srdf")
    add_common(group, "--root")
    trust = "let a .xacro file run Python, the environment and any file in it; without, it is expanded as data"
    group.add_argument("--trust", action="store_true", help=trust)


def add_skeleton(command: argparse.ArgumentParser) -> None:
    """How a .bvh is to be read, which says nothing of that itself."""
    up = "the vertical axis of a .bvh: x, y or z (default: guessed, and shown)"
    command.add_argument("--up", choices=("x", "y", "z"), metavar="AXIS", help=up)
    scale = "length of a unit of a .bvh [m] (default: guessed, and shown)"
    command.add_argument("--scale", type=float, metavar="M", help=scale)


def load_body(options: argparse.Namespace) -> mk.Body:
    """The body that was named."""
    kind, _, joints = options.body.partition(":")
    if kind in CHAINS and joints.isdecimal():
        if options.srdf is not None:
            raise mk.errors.ProblemError(
                f"--srdf says something of a model in a file, and {options.body} is none. Leave it out."
            )
        made: mk.Body = getattr(mk.build, CHAINS[kind])(int(joints))
        return made.with_base(options.base)
    return mk.load(options.body, base=options.base, srdf=options.srdf, roots=options.root, trust=options.trust)


def ends(body: mk.Body) -> list[str]:
    """The tips of the chains that the body names, else of all its branches."""
    named = [tip for chain in body.chains.values() for tip in chain.tips]
    parents = {joint.parent for joint in body.joints.values()}
    return list(dict.fromkeys(named)) or [link for link in body.links if link not in parents]


def only_tip(body: mk.Body, given: str | None) -> str:
    """The tip that was named, or the only one of the body."""
    if given is not None:
        return given
    known = ends(body)
    if len(known) != 1:
        some = f"{', '.join(known[:6])}{' ...' if len(known) > 6 else ''}"
        raise mk.errors.ProblemError(
            f"body {body.name!r} has {len(known)} tips. Say which one is meant, --tip LINK: {some}."
        )
    return known[0]


def assignments(texts: Sequence[str], option: str) -> dict[str, float]:
    """joint=value, several times."""
    values = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            values[name.strip()] = float(number)
        except ValueError:
            raise mk.errors.ProblemError(
                f"{option}: {text!r} is not of the form joint=value, for example {option} j1=0.5."
            ) from None
    return values
