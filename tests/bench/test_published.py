"""The list of published tables and figures is whole, names experiments that exist, and is what the pages say."""

import re
from collections import Counter
from pathlib import Path

import pytest

from memetik import bench
from memetik.bench.published import DOCUMENTS, PUBLISHED
from memetik.cli import main
from memetik.cli.main import _parser

ROOT = Path(__file__).parents[2]
# How many tables and figures each document has, by chapter where it numbers them so, counted in the documents.
TABLES = {"thesis": {2: 1, 3: 3, 4: 2, 5: 4}, "ofkt": 1, "nao": 4}
FIGURES = {"thesis": {1: 1, 2: 14, 3: 4, 4: 17, 5: 36}, "ofkt": 3, "nao": 4}


def numbered(kind, counts):
    if isinstance(counts, int):
        return [f"{kind} {k}" for k in range(1, counts + 1)]
    return [f"{kind} {chapter}.{k}" for chapter, count in counts.items() for k in range(1, count + 1)]


def rows_of(key):
    return [row for row in PUBLISHED if row.document == key]


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


@pytest.mark.parametrize("key", TABLES)
def test_every_table_and_figure_stands_in_the_list_once(key):
    listed = Counter(label for row in rows_of(key) for label in row.single_labels())
    assert listed == Counter(numbered("Table", TABLES[key]) + numbered("Fig.", FIGURES[key]))


def test_documents_without_results_say_why():
    for document in DOCUMENTS:
        assert bool(document.without) == (not rows_of(document.key))


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: f"{row.document} {row.label}")
def test_a_row_says_who_measures_it_or_why_nobody_does(row):
    assert row.experiments or row.missing or row.nothing
    assert not (row.experiments and row.nothing)
    assert set(row.experiments) <= set(bench.experiments())
    if row.see.startswith("memetik "):
        _parser().parse_args(row.see.split()[1:])
    elif row.see:
        assert (ROOT / row.see).exists()


def test_what_experiments_say_they_measure_stands_in_the_list():
    by_label = {(row.document, label): row for row in PUBLISHED for label in row.single_labels()}
    documents = {"of the thesis": "thesis", "of the OFKT paper": "ofkt"}
    found = 0
    for name, purpose in bench.experiments().items():
        for kind, first, last, words in re.findall(
            r"(Table|Fig\.) ([\d.]*\d)(?: (?:to|and) ([\d.]*\d))? (of the \w+(?: paper)?)", purpose
        ):
            for number in filter(None, (first, last)):
                assert name in by_label[documents[words], f"{kind} {number}"].experiments, (name, kind, number)
                found += 1
    assert found >= 20


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.key)
def test_its_page_has_the_same_table(document):
    page = (ROOT / "docs" / document.page).read_text()
    lines = [line for line in page.splitlines() if re.match(r"\| (Table|Fig\.) ", line)]
    assert lines == [as_markdown(row) for row in rows_of(document.key)]
    assert document.cited.partition(":")[2].split(".")[0].split(",")[0].strip() in page  # the title


def test_the_command_prints_all_of_it(capsys):
    assert main(["bench", "list"]) == 0
    out = capsys.readouterr().out
    for row in PUBLISHED:
        words = f"{row.label} {row.status()} {row.shows}"
        assert any(" ".join(line.split()).startswith(words) for line in out.splitlines()), words
        assert row.remark() in out
    for document in DOCUMENTS:
        assert document.cited in out and document.without in out
