"""Names that were replaced by standard terms (docs/engineering/glossary.md) do not return."""

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("packages/*/src/**/*.py")])
GLOSSARY = ROOT / "docs/engineering/glossary.md"
# What may not be a name, nor a part of one between underscores, by its row of the glossary.
AVOIDED = {
    "rival": "rival", "Bare": "Bare", "roomy": "roomy", "only_calm": "only calm", "doubts": "doubts", "is_usual": "usual start",
    "blame": "blame", "foresee": "foresee", "lead_on": "lead on", "hand_down": "hand down", "on_card": "card, on card",
    "shelf": "shelf", "second_look": "second look", "between_plan": "between plan", "jit_glue": "glue", "company": "company",
}  # fmt: skip
WORD = re.compile("|".join(rf"(?:^|_){re.escape(word)}(?:_|$)" for word in AVOIDED))


def names(text: str) -> set[str]:
    """All names of a program."""
    return {
        token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.NAME
    }


def test_the_check_finds_names_and_parts_of_names():
    assert [name for name in sorted(names("has_rival = rivals = arrival = blame(x)")) if WORD.search(name)] == [
        "blame",
        "has_rival",
    ]


@pytest.mark.skipif(not SOURCES, reason="the sources are not beside the tests")
def test_replaced_names_do_not_return():
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        for name in names(path.read_text("utf-8"))
        if WORD.search(name)
    }
    assert not found, f"docs/engineering/glossary.md lists the terms to use instead: {sorted(found)}"


def test_the_glossary_says_what_to_write_instead():
    words = GLOSSARY.read_text("utf-8").partition("## Words to avoid")[2]
    assert not [row for row in AVOIDED.values() if f"| {row} |" not in words]
