"""The documentation holds: its Python runs, its command lines are understood, what it names exists.

Each document is one story: its blocks run in order and share their names. `<!--- skip: next "reason" --->` leaves a block out,
`<!--- invisible-code-block: python` sets the stage without being seen (both are Sybil's).
"""

import contextlib
import importlib
import re
import shlex
from pathlib import Path
from unittest import SkipTest
from xml.etree import ElementTree

import pytest
from sybil import Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser
from tools.docs import reference

import memetik as mk
from memetik import scenes
from memetik.cli.main import _parser, _plain
from memetik.plugins import COMMANDS, added

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "SECURITY", "CODE_OF_CONDUCT")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted(ROOT.glob("packages/*/README.md")),
    ROOT / "integrations" / "README.md",
]
MODULES_OF_COMMANDS = {point.module for point in added(COMMANDS).values()}
SOURCES_OF_COMMANDS = [
    *(ROOT / "src/memetik/cli").glob("*.py"),
    *(Path(str(importlib.import_module(module).__file__)) for module in sorted(MODULES_OF_COMMANDS)),
]
OWNERS = {
    getattr(reference.public(name), "__module__", "memetik") for name in reference.NAMES
}  # where public names are defined
MODULES = sorted(str(importlib.import_module(owner).__file__) for owner in OWNERS if owner.startswith("memetik"))

LANGUAGES = {"python", "sh", "json", "xml", "text", "csharp", "cpp", "yaml"}
OTHER_PROGRAMS = {"git", "pip", "python", "pytest", "ray", "uv"}  # of which we know no more than the name

FENCED = re.compile(r"^```(\w*)\n.*?^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")

OPTIONAL = re.search(
    r"^\[project.optional-dependencies\]\n(.*?)^\[", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL
)
EXTRAS = set(re.findall(r"^(\w+) = \[", OPTIONAL[1], re.MULTILINE))


def named(page):
    return str(page.relative_to(ROOT)).removeprefix("docs/")


# ---- Command lines -------------------------------------------------------------------------------------------------


def misunderstood(arguments):
    """What `memetik` has to say against a command line, or nothing."""
    errors = []

    def error(message):
        errors.append(message)
        raise SystemExit

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(SystemExit):
        patch.setattr("memetik.cli.parser.Parser.error", lambda parser, message: error(message))
        _parser().parse_args([_plain(argument) for argument in arguments])
    return "".join(errors)


def commands(line):
    """The commands of a line of a shell, as lists of words, without what `uv run` puts before them."""
    words = shlex.split(line, comments=True)
    while words:
        end = words.index("&&") if "&&" in words else len(words)
        command, words = words[:end], words[end + 1 :]
        if command[:2] == ["uv", "run"]:
            command = command[2:]
            while command[0] == "--extra":
                assert command[1] in EXTRAS, line
                command = command[2:]
        yield [Path(command[0]).name, *command[1:]]


def check_shell(example):
    for line in example.parsed.splitlines():
        for program, *arguments in commands(line):
            if program == "memetik":
                assert not misunderstood(arguments), f"{line}: {misunderstood(arguments)}"
            else:
                assert program in OTHER_PROGRAMS, line


def check_scene(example):
    scene = scenes.loads(example.parsed)
    assert mk.solve(scenes.problem(scene, scenes.load_body(scene.body))).success


def write_model(example):
    """A model file: `<!-- arm.urdf -->` in its first line is the name under which blocks after it find it."""
    name = re.match(r"<!-- ([\w.]+) -->\n", example.parsed)
    ElementTree.fromstring(example.parsed)
    if name:
        Path(name[1]).write_text(example.parsed)


DOCUMENTS = Sybil(
    [
        SkipParser(),
        PythonCodeBlockParser(),
        CodeBlockParser(language="sh", evaluator=check_shell),
        CodeBlockParser(language="json", evaluator=check_scene),
        CodeBlockParser(language="xml", evaluator=write_model),
    ]
)


def run_all(path):
    """Run the blocks of a document, and return how many there were."""
    examples = list(DOCUMENTS.parse(Path(path)).examples())
    for example in examples:
        with contextlib.suppress(SkipTest):  # the reason stands in the document
            example.evaluate()
    return len(examples)


# ---- Documents -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_blocks_of_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_all(page)


def test_blocks_of_docstrings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sum(map(run_all, MODULES)) >= 2


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_block_has_a_language(page):
    """An indented block has none, so nobody would know how to check it."""
    text = COMMENT.sub("", page.read_text())
    assert {found[1] for found in FENCED.finditer(text)} <= LANGUAGES
    assert not re.findall(r"^ {4}.*", FENCED.sub("", text), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_what_a_page_names_exists(page):
    text = page.read_text()
    assert {name for name in re.findall(r"\bmk\.(\w+)", text) if not hasattr(mk, name)} == set()
    assert set(re.findall(r"memetik\[(\w+)\]", text)) <= EXTRAS
    known = "\n".join(path.read_text() for path in SOURCES_OF_COMMANDS)
    for code in INLINE.findall(FENCED.sub("", text)):
        if code.startswith("memetik "):
            complaint = misunderstood(re.sub(r"[\[\]]", "", code).split()[1:])
            assert not complaint or "arguments are required" in complaint, f"{code}: {complaint}"
        elif code.startswith("--"):
            assert f'"{code.split()[0]}"' in known, code


LINK = re.compile(r"\]\(([^)\s]+)\)|<(?:img|a|iframe) [^>]*(?:src|href)=\"([^\"]+)\"")
GENERATED = {*(f"docs/reference/{name}.md" for name in (*reference.GROUPS, "names", "commands")), "docs/gallery.md"}


def slug(heading):
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page):
    text = FENCED.sub("", page.read_text())
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    for found in LINK.finditer(FENCED.sub("", page.read_text())):
        path, _, anchor = (found[1] or found[2]).partition("#")
        target = (page.parent / path).resolve() if path else page
        generated = target.is_relative_to(ROOT) and str(target.relative_to(ROOT)) in GENERATED
        if "://" in path or path.endswith(".html") or generated:
            continue  # other hosts are not asked, and generated pages are checked when the site is built
        assert target.exists(), found[0]
        assert not anchor or anchor in anchors(target), found[0]


# ---- The checks themselves -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "memetik bnch arms",
        "memetik solve panda --tpi hand",
        "uv run memetik bench no_such",
        "memetk demo",
        "pip -V && memetik x",
    ],
)
def test_a_wrong_command_line_is_found(line, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"```sh\n{line}\n```\n")
    with pytest.raises(AssertionError, match=re.escape(line)):
        run_all(page)


def test_wrong_python_is_found_and_a_skipped_block_is_not_run(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nimport memetik as mk\nmk.no_such_name\n```\n")
    with pytest.raises(AttributeError, match="no_such_name"):
        run_all(page)
    page.write_text('<!--- skip: next "it needs a cluster" --->\n\n```python\n1 / 0\n```\n\n```python\nx = 1\n```\n')
    assert run_all(page) == 3
