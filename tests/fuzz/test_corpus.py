"""A short run of the fuzzer: every input that is kept, and some new ones of each reader."""

import pytest

from memetik.errors import MemetikError
from tests.fuzz.mutated import READERS, corpus, fuzz, trouble

CASES = [(reader, path) for reader in READERS for path in corpus(reader)]


@pytest.mark.parametrize(("reader", "path"), CASES, ids=lambda value: value if isinstance(value, str) else value.name)
def test_the_corpus_is_read_or_refused(reader, path):
    data = path.read_bytes()
    assert trouble(reader, data) == "" or trouble(reader, data) == ""  # the first may take long, to compile kernels


@pytest.mark.parametrize("reader", READERS)
def test_mutated_inputs_are_read_or_refused(reader):
    assert fuzz(reader, 150, seed=1) == []


@pytest.mark.parametrize("reader", READERS)
def test_some_input_of_a_corpus_is_read(reader):
    """Mutations of what is refused anyway would test little."""
    for path in corpus(reader):
        try:
            READERS[reader](path.read_bytes())
        except MemetikError:
            continue
        return
    raise AssertionError(f"nothing in the corpus of {reader} is read")
