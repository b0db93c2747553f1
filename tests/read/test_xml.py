"""Safe XML: what is refused, and where the messages point."""

from pathlib import Path

import pytest

from memetik.errors import FormatError
from memetik.read import xml
from tests.timing import ratio

LAUGHS = (
    '<!DOCTYPE r [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(9))
    + ']><robot name="&j;"/>'
)


def test_elements_know_their_line_and_owner():
    root = xml.parse('<robot name="r">\n<joint name="elbow">\n<limit lower="1"/></joint></robot>', "a.urdf")
    limit = root.children[0].children[0]
    assert (root.line, limit.line, limit.attributes) == (1, 3, {"lower": "1"})
    assert limit.place == "a.urdf, line 3, joint 'elbow'"
    assert root.place == "a.urdf, line 1, <robot>"


def test_numbers_and_vectors():
    element = xml.parse('<a n=" -1.5e-3 " z="-0" v="1 .5\n2."/>', "a.urdf")
    assert element.number("n", "metres", "1") == -0.0015
    assert str(element.number("z", "metres", "1")) == "0.0"
    assert element.vector("v", "metres", "0 0 1", 3) == (1.0, 0.5, 2.0)
    assert element.number_or("missing", 7.0) == 7.0


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("abc", "not a number"),
        ("nan", "not a finite number"),
        ("-inf", "not a finite number"),
        ("1e999", "too large"),
        ("2e9", "too large"),
        ("1_000", "not a number"),
        ("٣", "not a number"),
        ("0x10", "not a number"),
        ("1,5", "not a number"),
        ("", "has no lower"),
        ("x" * 10_000, "xxx..."),
    ],
)
def test_bad_numbers(value, says):
    root = xml.parse(f'<robot>\n<joint name="j4"><limit lower="{value}"/></joint></robot>', "panda.urdf")
    with pytest.raises(FormatError) as caught:
        root.children[0].children[0].number("lower", "radians", "-1.57")
    message = str(caught.value)
    assert message.startswith("panda.urdf, line 2, joint 'j4': ") and says in message
    assert 'lower="-1.57"' in message and len(message) < 300


@pytest.mark.parametrize("value", ["1 2", "1 2 3 4", "1, 2, 3", "1 2 nan"])
def test_bad_vectors(value):
    element = xml.parse(f'<axis xyz="{value}"/>', "a.urdf")
    with pytest.raises(FormatError, match='xyz="0 0 1"'):
        element.vector("xyz", "a direction", "0 0 1", 3)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b"<robot>", "not XML"),
        (b"<a></b>", "line 1: this is not XML: mismatched tag"),
        (b"<a b='1' b='2'/>", "duplicate attribute"),
        (b"hello", "XML begins with '<'"),
        (b"\x00\x01\x02", "not XML"),
        (b"<a>&nothing;</a>", "undefined entity"),
        (b"<a b='\xff'/>", "not XML"),
        (b"<?xml version='1.0' encoding='utf-7'?><a/>", "Save the file as UTF-8"),
        (b"<?xml version='1.0' encoding='unicode_escape'?><a/>", "Save the file as UTF-8"),
        ("<a b='\ud800'/>", "surrogate"),
        (b"<a>" * (xml.MAX_DEPTH + 1) + b"</a>" * (xml.MAX_DEPTH + 1), "nested"),
        (b"<a>" + b"<b/>" * xml.MAX_ELEMENTS + b"</a>", "elements"),
        (b" " * (xml.MAX_BYTES + 1), "64 MB"),
    ],
    ids=lambda value: None if isinstance(value, str) and len(value) > 40 else repr(value)[:40],
)
def test_refused(data, says):
    with pytest.raises(FormatError) as caught:
        xml.parse(data, "a.urdf")
    assert "a.urdf" in str(caught.value) and says in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings(encoding):
    text = f"<?xml version='1.0' encoding='{encoding}'?><a b='é'/>"
    assert xml.parse(text.encode(encoding), "a").attributes == {"b": "é"}
    assert xml.parse(text, "a").attributes == {"b": "é"}, "the declaration means nothing for text that is decoded"


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><robot name="&x;"/>',
        '<!DOCTYPE r SYSTEM "http://localhost:1/r.dtd"><robot/>',
        '<!DOCTYPE r [<!ENTITY % x SYSTEM "file:///etc/hostname"> %x;]><robot/>',
        "<!DOCTYPE robot><robot/>",
    ],
    ids=["billion laughs", "external entity", "external type", "parameter entity", "plain doctype"],
)
def test_document_types_are_refused(text):
    with pytest.raises(FormatError, match="document types and entities are not read"):
        xml.parse(text, "a.urdf")


@pytest.mark.timed
def test_entities_are_never_expanded():
    """A billion of them take no longer than a document type without any."""

    def refuse(text):
        with pytest.raises(FormatError, match="document types and entities are not read"):
            xml.parse(text, "a.urdf")

    assert ratio(lambda: refuse(LAUGHS), lambda: refuse("<!DOCTYPE robot><robot/>")) < 20.0


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FormatError, match="is a directory"):
        xml.read(tmp_path)
    with pytest.raises(FormatError, match="there is no file"):
        xml.read(tmp_path / "missing.urdf")
    for name, reason in (("x" * 5000, "File name too long"), ("null\0byte", "embedded null")):
        with pytest.raises(FormatError, match=f"cannot be used as a path: .*{reason}"):
            xml.read(tmp_path / name)


def test_a_file_that_may_not_be_opened(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "a.urdf").write_text("<robot/>")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FormatError, match=r"a\.urdf cannot be read: Permission denied"):
        xml.read(tmp_path / "a.urdf")
