"""The list of published tables and figures is whole, names experiments that exist."""

import re
from collections import Counter

import pytest

import memetik_lab as lab
from memetik.cli import main
from memetik.cli.main import _parser
from memetik_lab.published import DOCUMENTS, PUBLISHED

# How many tables and figures each document has, by chapter where it numbers them so, counted in the documents.
TABLES = {"thesis": {2: 1, 3: 3, 4: 2, 5: 4}, "ofkt": 1, "nao": 4}
FIGURES = {"thesis": {1: 1, 2: 14, 3: 4, 4: 17, 5: 36}, "ofkt": 3, "nao": 4}


def numbered(kind, counts):
    if isinstance(counts, int):
        return [f"{kind} {k}" for k in range(1, counts + 1)]
    return [f"{kind} {chapter}.{k}" for chapter, count in counts.items() for k in range(1, count + 1)]


def rows_of(key):
    return [row for row in PUBLISHED if row.document == key]


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
    assert set(row.experiments) <= set(lab.experiments())
    if row.see.startswith("memetik "):
        _parser().parse_args(row.see.split()[1:])


def test_what_experiments_say_they_measure_stands_in_the_list():
    by_label = {(row.document, label): row for row in PUBLISHED for label in row.single_labels()}
    documents = {"of the thesis": "thesis", "of the OFKT paper": "ofkt"}
    found = 0
    for name, purpose in lab.experiments().items():
        for kind, first, last, words in re.findall(
            r"(Table|Fig\.) ([\d.]*\d)(?: (?:to|and) ([\d.]*\d))? (of the \w+(?: paper)?)", purpose
        ):
            for number in filter(None, (first, last)):
                assert name in by_label[documents[words], f"{kind} {number}"].experiments, (name, kind, number)
                found += 1
    assert found >= 20


def test_the_command_prints_all_of_it(capsys):
    assert main(["bench", "list"]) == 0
    out = capsys.readouterr().out
    for row in PUBLISHED:
        words = f"{row.label} {row.status()} {row.shows}"
        assert any(" ".join(line.split()).startswith(words) for line in out.splitlines()), words
        assert row.remark() in out
    for document in DOCUMENTS:
        assert document.cited in out and document.without in out
