"""Safe, strict XML: a small tree of elements that know where they stand in the file.

Model files come from strangers. Document types and entities are refused, nothing outside the file is ever
fetched, and size, depth and the number of elements are bounded, so that the worst a file can do is fail.
"""

from __future__ import annotations

import math
import re
from os import PathLike
from pathlib import Path
from xml.parsers import expat

from memetik.errors import FormatError, shown
from memetik.files import path_of

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 200
MAX_ELEMENTS = 250_000
LARGEST = 1e9  # metres, radians or kilograms; anything beyond is a slip of unit and would overflow in products

# What expat decodes by itself; other codecs of Python would run on the bytes of a stranger.
ENCODINGS = ("utf-8", "utf-16", "utf-16le", "utf-16be", "iso-8859-1", "us-ascii")

# Narrower than float(), which also takes "nan", "1_000" and digits of every script.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Element:
    """One element: its tag, attributes and children, and the line it starts on."""

    __slots__ = ("attributes", "children", "file", "line", "parent", "tag")

    def __init__(
        self, tag: str, attributes: dict[str, str], file: str, line: int, parent: Element | None = None
    ) -> None:
        self.tag, self.attributes, self.file, self.line, self.parent = tag, attributes, file, line, parent
        self.children: list[Element] = []

    # Where it stands

    @property
    def owner(self) -> str:
        """The child of the root that this is or belongs to, such as "joint 'elbow'"; of the root, its tag."""
        part = self
        while part.parent is not None and part.parent.parent is not None:
            part = part.parent
        name = part.attributes.get("name") if part.parent is not None else None
        return f"<{part.tag}>" if name is None else f"{part.tag} {short(name)}"

    @property
    def place(self) -> str:
        """Where it stands, as messages begin: "arm.urdf, line 41, joint 'elbow'"."""
        return f"{self.file}, line {self.line}, {self.owner}"

    @property
    def file_line(self) -> str:
        """The same for messages that name the owner themselves: "arm.urdf, line 41"."""
        return f"{self.file}, line {self.line}"

    def error(self, message: str) -> FormatError:
        """An error about this element, to be raised."""
        return FormatError(f"{self.place}: {message}")

    # Its children

    def all(self, tag: str) -> list[Element]:
        """The children with this tag."""
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str) -> Element | None:
        """The only child with this tag, None if there is none; two would contradict each other."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f"<{self.tag}> has two <{tag}> elements. Keep one.")
        return found[0] if found else None

    def need(self, tag: str, example: str) -> Element:
        """The only child with this tag."""
        found = self.one(tag)
        if found is None:
            raise self.error(f"<{self.tag}> has no <{tag}>. Add one, for example {example}")
        return found

    # Its attributes

    def text(self, name: str, example: str) -> str:
        """An attribute that must be there and say something, without blanks around it."""
        value = self.attributes.get(name, "").strip()
        if not value:
            raise self.error(f'<{self.tag}> has no {name}. Add it, for example {name}="{example}".')
        return value

    def number(self, name: str, unit: str, example: str, largest: float = LARGEST) -> float:
        """An attribute that must be there and be one finite number."""
        return self._number(self.text(name, example), name, unit, example, largest)

    def number_or(
        self, name: str, default: float, unit: str = "a number", example: str = "0.5", largest: float = LARGEST
    ) -> float:
        """An attribute that must be one finite number if it is there."""
        return self.number(name, unit, example, largest) if name in self.attributes else default

    def vector(self, name: str, unit: str, example: str, count: int | None = None) -> tuple[float, ...]:
        """An attribute that must be there and hold `count` finite numbers (any if None), blanks between."""
        words = self.text(name, example).split()
        if count is not None and len(words) != count:
            given = "1 word" if len(words) == 1 else f"{len(words)} words"
            raise self.error(
                f"{self.tag} {name} is {short(self.attributes[name])}, {given} instead of {count} numbers. "
                f'Write {unit} with blanks between, for example {name}="{example}".'
            )
        return tuple(self._number(word, name, unit, example, LARGEST) for word in words)

    def _number(self, word: str, name: str, unit: str, example: str, largest: float) -> float:
        mend = f'Write {unit}, for example {name}="{example}".'
        if not _NUMBER.fullmatch(word):
            finite = "finite " if word.lower().lstrip("+-") in ("nan", "inf", "infinity") else ""
            raise self.error(f"{self.tag} {name} is {short(word)}, not a {finite}number. {mend}")
        value = float(word)
        if math.isinf(value) or abs(value) > largest:
            raise self.error(f"{self.tag} {name} is {short(word)}, too large to be meant. {mend}")
        return value + 0.0  # -0.0 becomes 0.0, so that limits of zero are never the wrong way round


def parse(source: str | bytes, file: str) -> Element:
    """The root element of XML text; messages call its file `file`."""
    if not isinstance(file, str):
        raise FormatError(f"file is {shown(file)}. Give a text, what messages should call the file.")
    if not isinstance(source, (str, bytes)):
        raise FormatError(f"{file}: {shown(source)} is not text. Give the text of the file, or read it by its path.")
    try:
        data = source.encode() if isinstance(source, str) else source
    except UnicodeEncodeError as error:
        raise FormatError(f"{file}: character {error.start} is half of a surrogate pair, not text.") from error
    if len(data) > MAX_BYTES:
        raise FormatError(f"{file} is larger than {MAX_BYTES >> 20} MB, more than any model of a body needs.")
    if not data.strip():
        raise FormatError(f"{file} is empty. Was it saved completely?")
    return _Builder(file, "utf-8" if isinstance(source, str) else None).build(data)


def read(path: str | PathLike[str]) -> Element:
    """The root element of an XML file."""
    path = path_of(path, FormatError, "the path of the file")
    check_file(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from error
    return parse(data, path.name)


def check_file(path: Path) -> None:
    """Raise unless the path is that of a file."""
    try:
        if path.is_dir():
            raise FormatError(f"{path} is a directory. Name the model file in it.")
        if path.is_file():
            return
    except OSError as error:
        raise FormatError(f"{short(str(path))} cannot be read: {error.strerror}.") from error
    raise FormatError(f"there is no file {str(path)!r}. Check the name; relative paths start at {Path.cwd()}.")


def short(value: str, most: int = 60) -> str:
    """A quoted value, cut if it is long: messages are for people."""
    return repr(value if len(value) <= most else value[: most - 3] + "...")


class _Builder:
    """Builds the tree from the events of expat."""

    def __init__(self, file: str, encoding: str | None) -> None:
        self._file = file
        self._root: Element | None = None
        self._open: Element | None = None
        self._depth = self._count = 0
        self._parser = parser = expat.ParserCreate(encoding)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._doctype
        if encoding is None:
            parser.XmlDeclHandler = self._declaration

    def build(self, data: bytes) -> Element:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code) or "unknown reason"
            begins = data.lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n")[:1]
            mend = "Check the brackets, quotes and end tags there." if begins == b"<" else "XML begins with '<'."
            raise FormatError(f"{self._file}, line {error.lineno}: this is not XML: {reason}. {mend}") from error
        assert self._root is not None  # expat has refused text without an element
        return self._root

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self._file, self._parser.CurrentLineNumber, self._open)
        self._depth += 1
        self._count += 1
        if self._depth > MAX_DEPTH:
            raise element.error(f"elements are nested more than {MAX_DEPTH} deep.")
        if self._count > MAX_ELEMENTS:
            raise element.error(f"the file has more than {MAX_ELEMENTS} elements.")
        if self._open is None:
            self._root = element
        else:
            self._open.children.append(element)
        self._open = element

    def _end(self, tag: str) -> None:
        assert self._open is not None
        self._open = self._open.parent
        self._depth -= 1

    def _doctype(self, name: str, system: str | None, public: str | None, internal: bool) -> None:
        raise FormatError(
            f"{self._file}, line {self._parser.CurrentLineNumber}: document types and entities are not read, "
            "for they can pull in other files or swell without end. Remove <!DOCTYPE ...> and write "
            "the values out."
        )

    def _declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ENCODINGS:
            raise FormatError(f"{self._file}: encoding {short(encoding)} is not read. Save the file as UTF-8.")
