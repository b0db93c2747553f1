"""Expand the macros of a xacro file: a tree of elements in, another one out, with no Python of the file's own.

What a file may do is bounded: the number and depth of elements, the files it includes, which have to lie in the folders of the
model, and its expressions, which are arithmetic and nothing else (expression.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from keyword import iskeyword
from pathlib import Path
from typing import Any

from memetik.errors import FormatError, MemetikError, UnknownNameError, said
from memetik.read import xml
from memetik.read.xacro.expression import evaluate
from memetik.read.xacro.files import Files, Source
from memetik.read.xacro.functions import Arguments, functions, resolve_extension
from memetik.read.xacro.scope import Macro, Scope
from memetik.read.xacro.values import MAX_TEXT, LimitError, UntrustedError, Work, symbols
from memetik.read.xml import Element

MAX_NESTED = 100  # macros, conditions and files within each other
TRUST = "If you trust the file, let it run as Python: mk.load(..., trust=True), or --trust on the command line."

_PARTS = re.compile(r"(\$\$+(?=[{(]))|\$\{([^}]*)\}|\$\(([^)]*)\)|([^$]+|\$[^{($]+|\$\Z)")
_VALUE = r"\$\{.*?\}|\$\(.*?\)|(?:'.*?'|\".*?\"|[^\s'\"]+)+|"
_PARAMETER = re.compile(r"^\s*([^\s:=]+?)\s*:?=\s*(\^\|?)?(" + _VALUE + r")(?:\s+|$)(.*)", re.DOTALL)


def expand(file: Path, arguments: Mapping[str, str], roots: Iterable[Path]) -> Element:
    """The root element of a xacro file with all macros expanded."""
    files = Files(file, roots)
    return _Expander(files, Arguments(arguments)).expand(files.main)


class _Expander:
    """Expands one file with what it includes."""

    def __init__(self, files: Files, arguments: Arguments) -> None:
        self._files, self._arguments, self._work = files, arguments, Work()
        self._given = tuple(arguments)
        self._sources: list[Source] = []
        self._elements = self._nested = 0
        self._place = files.main.path.name  # of what is being expanded, for messages

    def expand(self, source: Source) -> Element:
        base = Scope(names={**symbols(), **functions(self._arguments, self._load_yaml, self._path_of)})
        base.evaluate = self._text
        root = self._files.element(source, self._work)
        made = Element(root.tag, {}, root.file, root.line)
        scope = Scope(base)
        self._sources.append(source)
        try:
            self._attributes(root, made, scope)
            self._children(root.children, Scope(), scope, made)
        except RecursionError:
            raise root.error("its macros or expressions are nested too deep.") from None
        except LimitError as error:
            raise FormatError(f"{self._place}: {error}. {TRUST}") from None
        for name in self._given:
            if name not in self._arguments.asked:
                raise UnknownNameError("argument", name, self._arguments.asked, source.path.name)
        return made

    # ---- Elements --------------------------------------------------------------------------------------------------

    def _children(self, elements: Iterable[Element], macros: Scope, scope: Scope, parent: Element) -> None:
        """Expand elements, one after the other, into the children of a parent."""
        self._nested += 1
        for element in elements:
            if self._nested > MAX_NESTED:
                raise element.error(f"macros and conditions are nested more than {MAX_NESTED} deep.")
            self._place = element.place
            self._work.add(20)
            kind = element.tag.removeprefix("xacro:")
            handle = getattr(self, f"_on_{kind}", None) if element.tag.startswith("xacro:") else None
            if handle is not None:
                handle(element, macros, scope, parent)
            elif element.tag.startswith("xacro:"):
                self._call(kind, element, macros, scope, parent)
            else:
                self._plain(element.tag, element, macros, scope, parent)
        self._nested -= 1

    def _plain(self, tag: str, element: Element, macros: Scope, scope: Scope, parent: Element) -> None:
        self._elements += 1
        if self._elements > xml.MAX_ELEMENTS:
            raise element.error(f"the file expands to more than {xml.MAX_ELEMENTS} elements.")
        made = Element(tag, {}, element.file, element.line, parent)
        parent.children.append(made)
        self._attributes(element, made, scope)
        self._children(element.children, macros, scope, made)

    def _attributes(self, element: Element, made: Element, scope: Scope) -> None:
        for name, value in element.attributes.items():
            if not name.startswith(("xacro:", "xmlns:xacro")):
                made.attributes[name] = self._string(value, element, scope)

    def _on_if(self, element: Element, macros: Scope, scope: Scope, parent: Element, *, wanted: bool = True) -> None:
        if self._truth(self._needed(element, "value"), element, scope) is wanted:
            self._children(element.children, macros, scope, parent)

    def _on_unless(self, element: Element, macros: Scope, scope: Scope, parent: Element) -> None:
        self._on_if(element, macros, scope, parent, wanted=False)

    def _on_arg(self, element: Element, macros: Scope, scope: Scope, parent: Element) -> None:
        name, default = self._needed(element, "name"), self._needed(element, "default")
        if not self._arguments.has(name):
            self._arguments[name] = self._string(default, element, scope)

    def _on_element(self, element: Element, macros: Scope, scope: Scope, parent: Element) -> None:
        tag = self._string(self._needed(element, "xacro:name"), element, scope)
        attributes = {name: value for name, value in element.attributes.items() if name != "xacro:name"}
        renamed = Element(tag, attributes, element.file, element.line, element.parent)
        renamed.children = element.children
        self._children([renamed], macros, scope, parent)

    def _on_attribute(self, element: Element, macros: Scope, scope: Scope, parent: Element) -> None:
        name = self._string(self._needed(element, "name"), element, scope)
        parent.attributes[name] = self._string(self._needed(element, "value"), element, scope)

    def _on_insert_block(self, element: Element, macros: Scope, scope: Scope, parent: Element) -> None:
        name = self._needed(element, "name")
        if f"**{name}" in scope:
            self._children(scope[f"**{name}"].children, macros, scope, parent)
        elif f"*{name}" in scope:
            self._children([scope[f"*{name}"]], macros, scope, parent)
        else:
            raise element.error(f"there is no block {name!r}.")

    def _on_include(self, element: Element, macros: Scope, scope: Scope, parent: Element) -> None:
        name = self._string(self._needed(element, "filename"), element, scope)
        optional = self._truth(element.attributes.get("optional", "false"), element, scope)
        space = element.attributes.get("ns")
        if space is not None:
            space = self._string(space, element, scope)
            inner = Scope(is_namespace=True)
            macros.set(space, inner)
            scope.set(space, Scope(scope, is_namespace=True))
            macros, scope = inner, scope[space]
        for source in self._files.find(name, self._sources[-1], element, optional=optional):
            self._sources.append(source)
            self._children(self._files.element(source, self._work).children, macros, scope, parent)
            self._sources.pop()

    def _on_property(self, element: Element, macros: Scope, scope: Scope, parent: Element) -> None:
        given = element.attributes
        name = self._string(self._needed(element, "name"), element, scope)
        if not name.isidentifier() or iskeyword(name) or name.startswith("__"):
            raise element.error(f"the property {xml.short(name)} needs a name of letters, digits and _.")
        removed = self._truth(given.get("remove", "false"), element, scope)
        if sum(("value" in given, "default" in given, removed)) > 1:
            raise element.error("a property has one of value, default and remove.")
        if removed or ("default" in given and name in scope):
            if removed:
                scope.remove(name)
            return
        value: Any = given.get("value", given.get("default"))
        if value is None:
            name, value = f"**{name}", element
        lazy = self._truth(given.get("lazy_eval", "true"), element, scope)
        target, where = scope, given.get("scope")
        if where == "global":
            target, lazy = scope.top(), False
        elif where == "parent" and scope.parent is not None:
            target, lazy = scope.parent, False
            while not scope.is_namespace and target.is_namespace and target.parent is not None:
                target = target.parent
        if not lazy and isinstance(value, str):
            value = self._evaluated(value, element, scope)
        target.set(name, value, lazy=lazy)

    # ---- Macros ----------------------------------------------------------------------------------------------------

    def _on_macro(self, element: Element, macros: Scope, scope: Scope, parent: Element) -> None:
        macro = Macro(element)
        name = self._needed(element, "name").removeprefix("xacro:")
        if name == "call" or "." in name:
            raise element.error(f"a macro cannot be called {name!r}.")
        left = element.attributes.get("params", "")
        while left.strip():
            found = _PARAMETER.match(left)
            if found is None:
                parameter, left = [*left.split(None, 1), ""][:2]
            else:
                parameter, forward, default, left = found.groups()
                macro.defaults[parameter] = (parameter if forward else None, default or None)
            macro.parameters.append(parameter)
        macros.set(name, macro)

    def _on_call(self, element: Element, macros: Scope, scope: Scope, parent: Element) -> None:
        name = self._string(self._needed(element, "macro"), element, scope)
        self._call(name, element, macros, scope, parent, but="macro")

    def _call(
        self, full: str, element: Element, macros: Scope, scope: Scope, parent: Element, *, but: str = ""
    ) -> None:
        """Expand a call of a macro; its attributes are the parameters, but for one that names it."""
        *spaces, name = [full] if full in macros else full.split(".")
        outer, around = macros, scope
        for space in spaces:
            outer, around = outer.get(space, Scope()), around.get(space, Scope())
        macro = outer.get(name) if isinstance(outer, Scope) else None
        if not isinstance(macro, Macro):
            raise element.error(f"there is no macro {full!r}.")
        inner = Scope(around)
        missing = list(macro.parameters)
        for key, value in element.attributes.items():
            if key == but:
                continue
            if key not in missing:
                raise element.error(f"the macro {full!r} has no parameter {key!r}.")
            missing.remove(key)
            inner.set(key, self._evaluated(value, element, scope))
        held = Element(element.tag, {}, element.file, element.line)
        self._children(element.children, macros, scope, held)
        blocks = iter(held.children)
        for parameter in [each for each in missing if each.startswith("*")]:
            block = next(blocks, None)
            if block is None:
                raise element.error(f"the macro {full!r} needs an element for its block {parameter!r}.")
            inner.set(parameter, block)
            missing.remove(parameter)
        if next(blocks, None) is not None:
            raise element.error(f"the macro {full!r} has no use for so many elements.")
        for parameter in missing:
            inner.set(parameter, self._default(macro, parameter, element, scope))
        self._children(macro.body.children, Scope(outer), inner, parent)

    def _default(self, macro: Macro, parameter: str, element: Element, scope: Scope) -> Any:
        forward, default = macro.defaults.get(parameter, (None, None))
        if forward is not None and forward in scope:
            return self._name(forward, element, scope)
        if default is None:
            raise element.error(f"the parameter {parameter!r} is missing.")
        return self._evaluated(default, element, scope)

    # ---- Texts -----------------------------------------------------------------------------------------------------

    def _needed(self, element: Element, name: str) -> str:
        if name not in element.attributes:
            raise element.error(f"<{element.tag}> has no {name}.")
        return element.attributes[name]

    def _string(self, text: str, element: Element, scope: Scope) -> str:
        """A text with its expressions evaluated."""
        value = str(self._evaluated(text, element, scope))
        if len(value) > MAX_TEXT or not _is_text(value):
            raise element.error(f"{xml.short(text)} makes a text that cannot be in a file.")
        return value

    def _truth(self, text: str, element: Element, scope: Scope) -> bool:
        value = self._evaluated(text, element, scope)
        if not isinstance(value, str) or value in ("true", "True", "false", "False"):
            return value not in ("false", "False") and bool(value)
        try:
            return bool(int(value))
        except ValueError:
            raise element.error(f"{xml.short(text)} is {xml.short(value)}, neither true nor false.") from None

    def _name(self, name: str, element: Element, scope: Scope) -> Any:
        return self._guarded(lambda: scope[name], name, element)

    def _evaluated(self, text: str, element: Element, scope: Scope) -> Any:
        if "$" not in text:
            return text
        return self._guarded(lambda: self._text(text, scope), text, element)

    def _guarded(self, work: Any, text: str, element: Element) -> Any:
        """What `work` returns; whatever an expression raises says where it stands."""
        try:
            return work()
        except (MemetikError, LimitError):
            raise
        except UntrustedError as error:
            raise element.error(f"{xml.short(text)}: {error} without trust. {TRUST}") from None
        except RecursionError:
            raise element.error(f"{xml.short(text)} is nested too deep.") from None
        except Exception as error:  # an expression may raise anything that arithmetic can
            raise element.error(f"{xml.short(text)} cannot be evaluated: {said(error)}.") from None

    def _text(self, text: str, scope: Scope) -> Any:
        """The value of a text: that of its only expression, or all parts put together."""
        self._work.add(1 + len(text) // 100)
        parts: list[Any] = []
        at = 0
        while at < len(text):
            found = _PARTS.match(text, at)
            if found is None:
                raise ValueError(f"there is no end to {xml.short(text[at:])}")
            dollars, expression, extension, plain = found.groups()
            if dollars is not None:
                end = found.end() + 1
                parts.append(text[at + 1 : end])
                at = end
                continue
            at = found.end()
            if expression is not None:
                parts.append(evaluate(str(self._text(expression, scope)), scope, self._work))
            elif extension is not None:
                inner = str(self._text(extension, scope))
                parts.append(resolve_extension(inner, self._arguments, scope, self._work))
            else:
                parts.append(plain)
        if len(parts) == 1:
            return parts[0]
        return self._work.checked("".join(map(str, parts)))

    # ---- Files -----------------------------------------------------------------------------------------------------

    def _load_yaml(self, name: str) -> Any:
        return self._files.yaml(name, self._sources[-1], self._work)

    def _path_of(self, name: str) -> str:
        return str(self._sources[-1].path.parent / name)


def _is_text(value: str) -> bool:
    """Whether a text could stand in an XML file."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return all(c >= " " or c in "\t\r\n" for c in value)
