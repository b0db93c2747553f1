"""The pages about the founding documents have the list of published tables and figures that `memetik bench list` prints."""

import re
from pathlib import Path

import pytest

from memetik_lab.published import DOCUMENTS, PUBLISHED

ROOT = Path(__file__).parents[1]


def as_markdown(row):
    here = ", ".join(f"`memetik bench {name}`" for name in row.experiments) or row.status()
    if row.experiments and row.missing:
        here += ", in part"
    remark = re.sub(r"see (.*)", lambda see: f"see {linked(see[1])}", row.remark())
    return f"| {row.label} | {row.shows} | {'; '.join(filter(None, (here, remark)))} |"


def linked(place):
    if place.startswith("docs/"):
        return f"[{place.removeprefix('docs/')}](../{place.removeprefix('docs/')})"
    return f"`{place}`"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.key)
def test_its_page_has_the_same_table(document):
    page = (ROOT / "docs" / document.page).read_text()
    lines = [line for line in page.splitlines() if re.match(r"\| (Table|Fig\.) ", line)]
    assert lines == [as_markdown(row) for row in PUBLISHED if row.document == document.key]
    assert document.cited.partition(":")[2].split(".")[0].split(",")[0].strip() in page  # the title


@pytest.mark.parametrize(
    "place", sorted({row.see for row in PUBLISHED if row.see and not row.see.startswith("memetik ")})
)
def test_what_a_row_points_to_is_there(place):
    assert (ROOT / place).exists()
