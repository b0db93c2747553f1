"""The command line as people expect it: help, typos, completion, and one name for one option."""

import argparse
import json
import shutil
import subprocess

import pytest

import memetik as mk
from memetik import bodies
from memetik.cli import main
from memetik.cli.completion import SHELLS, levels
from memetik.cli.main import _parser
from memetik.cli.parser import families

pytestmark = pytest.mark.quick


def ended(capsys, *arguments):
    """How a command ends that the parser ends: code, stdout, stderr."""
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    printed = capsys.readouterr()
    return end.value.code or 0, printed.out, printed.err


def parsers(parser=None):
    """All parsers by what is typed for them."""
    parser = _parser() if parser is None else parser
    yield parser.prog, parser
    for child in families(parser).values():
        yield from parsers(child)


# ---- Help and typos --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [[], ["--help"], ["help"]])
def test_help_lists_all_commands(capsys, asked):
    code, out, err = ended(capsys, *asked)
    assert (code, err) == (0, "")
    assert out.startswith("usage: memetik") and "memetik demo" in out
    assert all(name in out for name in families(_parser()))


@pytest.mark.parametrize("asked", [["motion"], ["motion", "--help"], ["help", "motion"]])
def test_help_of_a_family(capsys, asked):
    code, out, _ = ended(capsys, *asked)
    assert code == 0 and out.startswith("usage: memetik motion") and "convert" in out


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (["slove"], "memetik: no command 'slove'. Did you mean 'solve'"),
        (["xyzzy"], "memetik: no command 'xyzzy'. There are: demo, bodies,"),
        (["motion", "shwo"], "memetik motion: no command 'shwo'. Did you mean 'show'"),
        (["solve", "panda", "--tipp", "x"], "memetik solve: no option --tipp. Did you mean --tip?"),
        (["solve", "panda", "--pozition=3"], "memetik solve: no option --pozition. Did you mean --position"),
        (["warm", "--al"], "memetik warm: no option --al. Did you mean --all?"),
        (["solve", "panda", "--off", "0"], "memetik solve: no option --off. Did you mean --offset or --offset-rpy?"),
        (["doctor", "--xyzzy"], "memetik doctor: no option --xyzzy. See memetik doctor --help."),
        (["show", "panda", "wolf"], "memetik show: 'wolf': one argument too many."),
        (["completion", "bahs"], "argument SHELL: not 'bahs'. Did you mean 'bash'?"),
        (["cover", "panda", "--of", "visuals"], "argument --of: not 'visuals'. Did you mean 'visual'?"),
        (["show"], "memetik show: the following arguments are required: BODY. See memetik show --help."),
    ],
)
def test_a_typo_gets_one_line_and_a_suggestion(capsys, typed, says):
    code, out, err = ended(capsys, *typed)
    assert (code, out) == (2, "")
    assert says in err and err.count("\n") == 1


def test_ctrl_c_ends_with_a_word(capsys, monkeypatch):
    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr(bodies, "names", stopped)
    assert main(["bodies"]) == 130
    assert capsys.readouterr().err == "memetik: stopped.\n"


# ---- One name for one option -----------------------------------------------------------------------------------


def test_an_option_is_the_same_wherever_it_is():
    """Those that take a value take the same number of them; and what several commands share is said in the same words."""
    known = {}
    for command, parser in parsers():
        for action in parser._actions:
            for flag in action.option_strings:
                known.setdefault(flag, {})[command] = action
    own = {"--look-at", "--tip"}  # `motion edit` names the link with the point; some commands take several tips
    for flag, uses in known.items():
        if flag not in own:
            assert len({action.nargs for action in uses.values()} - {"?"}) <= 1, flag
    for flag in (
        "--srdf",
        "--root",
        "--chain",
        "--lock",
        "--threads",
        "--json",
        "--position-tolerance",
        "--up",
        "--scale",
    ):
        assert len(known[flag]) > 1 and len({action.help for action in known[flag].values()}) == 1, flag


def test_every_command_with_a_body_takes_what_says_which():
    for command, parser in parsers():
        flags = {flag for action in parser._actions for flag in action.option_strings}
        if any(action.dest == "body" for action in parser._actions) and command != "memetik studio":
            assert {"--base", "--srdf", "--root"} <= flags, command
        if "--out" in flags:
            assert "-o" in flags, command


def test_every_option_has_help_and_says_what_it_takes():
    for command, parser in parsers():
        for action in parser._actions:
            assert action.help or isinstance(action, argparse._SubParsersAction), (command, action.dest)
            takes = (
                action.nargs != 0 and action.option_strings and not isinstance(action, argparse.BooleanOptionalAction)
            )
            assert not takes or action.metavar or action.choices, (command, action.option_strings)


# ---- Completion ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_knows_all_commands_and_options(capsys, shell):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for level in levels(_parser()):
        assert all(name in script for name in level.commands)
        for option in level.options:
            assert all(flag.lstrip("-") in script for flag in option.flags)
    assert all(name in script for name in [*bodies.names(), *(method.name for method in mk.methods())])


@pytest.mark.parametrize(
    "shell",
    [pytest.param(shell, marks=pytest.mark.only_if(shutil.which(shell) is not None, shell)) for shell in SHELLS],
)
def test_a_shell_finds_no_fault(capsys, shell, tmp_path):
    main(["completion", shell])
    path = tmp_path / f"memetik.{shell}"
    path.write_text(capsys.readouterr().out)
    done = subprocess.run([shell, "-n", path], capture_output=True, text=True, timeout=20)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.only_if(shutil.which("bash") is not None, "bash")
@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("so", {"solve"}),
        ("motion sh", {"show"}),
        ("solve val", {"valkyrie"}),
        ("solve panda --off", {"--offset", "--offset-rpy"}),
        ("solve panda --method bio", {"bioik"}),
        ("solve panda --base f", {"fixed", "floating"}),
        ("motion show walk.bvh --layout ", {"strip", "path", "film"}),
        ("solve --scene on", {"one.json"}),
        ("motion show on", {"one.json"}),
        ("completion z", {"zsh"}),
        ("solve panda --tip ", set()),
    ],
)
def test_bash_completes(capsys, tmp_path, typed, found):
    main(["completion", "bash"])
    (tmp_path / "one.json").touch()
    script = capsys.readouterr().out + (
        'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _memetik; ((${#COMPREPLY[@]})) && printf "%s\\n" "${COMPREPLY[@]}"; true'
    )
    words = ["memetik", *typed.split(" ")]
    done = subprocess.run(["bash", "-c", script, "-", *words], capture_output=True, text=True, cwd=tmp_path, timeout=20)
    assert done.stderr == "" and set(done.stdout.split()) == found


# ---- Tables ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [["bodies"], ["methods"], ["bench", "list"], ["show", "panda"]])
def test_tables_fit_the_terminal(capsys, monkeypatch, tmp_path, asked):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert main(asked) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines and max(map(len, lines)) <= 70


def test_lists_for_machines(capsys):
    main(["bodies", "--json"])
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == list(bodies.names())
    main(["methods", "--json"])
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == [method.name for method in mk.methods()]
