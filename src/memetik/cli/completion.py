"""`memetik completion`: scripts by which shells complete commands, options and names, written from the parser."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import memetik as mk
from memetik import bodies
from memetik.body import BASES
from memetik.cli.options import add_command
from memetik.cli.parser import families


def add_commands(commands: Any) -> None:
    """Add `completion`."""
    command = add_command(
        commands, "completion", _completion, "print a script for the completion of your shell",
        "Print a script by which a shell completes commands, options, bundled bodies, methods and files. bash: memetik "
        "completion bash > ~/.local/share/bash-completion/completions/memetik. zsh: memetik completion zsh > a file _memetik "
        "in a folder of $fpath. fish: memetik completion fish > ~/.config/fish/completions/memetik.fish.",
    )  # fmt: skip
    command.add_argument("shell", choices=tuple(SHELLS), metavar="SHELL", help="bash, zsh or fish")


def _completion(options: argparse.Namespace) -> int:
    from memetik.cli.main import _parser  # which imports this module

    print(SHELLS[options.shell](list(levels(_parser()))), end="")
    return 0


# ---- What there is to complete -------------------------------------------------------------------------------


class Option(NamedTuple):
    """An option as it is typed."""

    flags: tuple[str, ...]
    about: str
    takes: int  # how many words follow; 1 where it may be left out
    words: tuple[str, ...]  # what these may be
    files: bool


class Level(NamedTuple):
    """What may follow one command."""

    path: tuple[str, ...]  # the commands up to here, without memetik itself
    commands: dict[str, str]  # and what they do
    options: list[Option]
    words: tuple[str, ...]  # arguments that are known by name
    files: bool


def levels(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[Level]:
    """The parser and all commands below it."""
    formatter = parser._get_formatter()
    children = families(parser)
    about: dict[str, str] = {}
    options: list[Option] = []
    words: list[str] = []
    files = False
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            about = {choice.dest: choice.help or "" for choice in action._choices_actions}
        elif action.option_strings:
            text = " ".join((formatter._expand_help(action) if action.help else "").split())
            takes = action.nargs if isinstance(action.nargs, int) else 1
            options.append(Option(tuple(action.option_strings), text, takes, *_known(action)))
        else:
            known, is_file = _known(action)
            words += known
            files |= is_file
    yield Level(path, {name: about[name] for name in children}, options, tuple(words), files)
    for name, child in children.items():
        yield from levels(child, (*path, name))


def _known(action: argparse.Action) -> tuple[tuple[str, ...], bool]:
    """The words that an argument may be, and whether it may be a file."""
    if action.choices is not None:
        return tuple(map(str, action.choices)), False
    if action.dest == "body":
        return (*bodies.names(), "planar:", "snake:"), True
    if action.dest == "base":
        return BASES, False
    if action.dest in ("method", "methods"):
        return tuple(method.name for method in mk.methods()), False
    return (), action.type is Path or action.dest == "clip"


# ---- Shells --------------------------------------------------------------------------------------------------


def _paths(everything: list[Level]) -> str:
    """All commands as one pattern of `case`, in bash and zsh."""
    return "|".join(f'"{" ".join(level.path)}"' for level in everything if level.path)


def _cases(everything: list[Level], offer: Callable[[tuple[str, ...], bool], str]) -> list[str]:
    """What `case "$here:$before"` does after each option that takes a value, in bash and zsh; `offer` is how a shell offers."""
    return [
        f'        "{" ".join(level.path)}:{flag}") {offer(option.words, option.files)}; return ;;'
        for level in everything
        for option in level.options
        if option.takes
        for flag in option.flags
    ]


def bash(everything: list[Level]) -> str:
    """A script for bash; needs nothing of the package bash-completion."""
    paths, cases, ends = _paths(everything), _cases(everything, _reply), []
    for level in everything:
        flags = [flag for option in level.options for flag in option.flags]
        plain = _reply((*level.commands, *level.words), level.files)
        ends.append(
            f'        "{" ".join(level.path)}") if [[ $word == -* ]]; then {_reply(tuple(flags), False)}; else {plain}; fi ;;'
        )
    return "\n".join([
        "# bash completion of memetik, printed by `memetik completion bash`",
        "_memetik() {",
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} here= k",
        "    for ((k = 1; k < COMP_CWORD; k++)); do",
        '        case "${here:+$here }${COMP_WORDS[k]}" in',
        f"            {paths}) here=\"${{here:+$here }}${{COMP_WORDS[k]}}\" ;;",
        "        esac",
        "    done",
        "    COMPREPLY=()",
        '    case "$here:$before" in', *cases, "    esac",
        '    case "$here" in', *ends, "    esac",
        "}",
        "complete -o filenames -F _memetik memetik", "",
    ])  # fmt: skip


def _reply(words: tuple[str, ...], files: bool) -> str:
    """The bash command that sets COMPREPLY."""
    kinds = [*(["-f"] if files else []), *([f"-W {shlex.quote(' '.join(words))}"] if words else [])]
    return f'COMPREPLY=($(compgen {" ".join(kinds)} -- "$word"))' if kinds else ":"


def zsh(everything: list[Level]) -> str:
    """A script for zsh, with a word on each option."""
    paths, cases, ends = _paths(everything), _cases(everything, _shown), []
    for level in everything:
        flags = " ".join(_item(flag, option.about) for option in level.options for flag in option.flags)
        commands = " ".join(_item(name, about) for name, about in level.commands.items())
        plain = f"items=({commands}); _describe command items" if commands else _shown(level.words, level.files)
        named = f"items=({flags}); _describe option items"
        ends.append(f'        "{" ".join(level.path)}") if [[ $word == -* ]]; then {named}; else {plain}; fi ;;')
    return "\n".join([
        "#compdef memetik",
        "# zsh completion of memetik, printed by `memetik completion zsh`",
        "_memetik() {",
        "    local word=${words[CURRENT]} before=${words[CURRENT-1]} here= each",
        "    local -a items",
        '    for each in "${(@)words[2,CURRENT-1]}"; do',
        '        case "${here:+$here }$each" in',
        f"            {paths}) here=\"${{here:+$here }}$each\" ;;",
        "        esac",
        "    done",
        '    case "$here:$before" in', *cases, "    esac",
        '    case "$here" in', *ends, "    esac",
        "}",
        'if [[ $funcstack[1] == _memetik ]]; then _memetik "$@"; else compdef _memetik memetik; fi', "",
    ])  # fmt: skip


def _item(word: str, about: str) -> str:
    """A word and what it does, as _describe takes them."""
    return shlex.quote(f"{word}:{about}".replace("\\", "") if about else word)


def _shown(words: tuple[str, ...], files: bool) -> str:
    """The zsh commands that offer words and files."""
    named = f"compadd -- {' '.join(map(shlex.quote, words))}" if words else ""
    return "; ".join(filter(None, [named, "_files" if files else ""])) or ":"


def fish(everything: list[Level]) -> str:
    """A script for fish, with a word on each command and option."""
    lines = [
        "# fish completion of memetik, printed by `memetik completion fish`",
        "function __memetik_here",
        "    set -l here",
        "    for each in (commandline -opc)[2..-1]",
        '        switch "$here $each"',
        f"            case {' '.join(_quoted(' ' + ' '.join(level.path)) for level in everything if level.path)}",
        '                set here "$here $each"',
        "        end",
        "    end",
        '    test "$here" = "$argv[1]"',
        "end",
        "complete -c memetik -f",
    ]
    for level in everything:
        here = "".join(f" {name}" for name in level.path)
        start = f"complete -c memetik -n {_quoted(f'__memetik_here {_quoted(here)}')}"
        lines += [f"{start} -a {name} -d {_quoted(about)}" for name, about in level.commands.items()]
        if level.words:
            lines.append(f"{start} -a {_quoted(' '.join(level.words))}")
        if level.files:
            lines.append(f"{start} -F")
        for option in level.options:
            flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
            wanted = "" if not option.takes else " -r -F" if option.files else " -x"
            named = f" -a {_quoted(' '.join(option.words))}" if option.words else ""
            lines.append(f"{start} {flags}{wanted}{named} -d {_quoted(option.about)}")
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    """In single quotes, as fish reads them."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: dict[str, Callable[[list[Level]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
