"""What the panels share: how one is built and kept up to date, callbacks that answer people only, and text for the page."""

from __future__ import annotations

import html
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import viser

import memetik as mk
from memetik_studio.session import Session

if TYPE_CHECKING:
    from memetik_studio.page import Page

# A network is trained for each problem, which takes longer than anybody drags; it is for Python.
METHODS = tuple(row for row in mk.methods() if row.name != "learned")
GOOD, BAD, NEITHER = "#2b8a3e", "#c92a2a", "#868e96"


class Panel:
    """One tab of controls."""

    def __init__(self, page: Page, tab: Any) -> None:
        """`tab` is the container of its controls: a context, also for those that are made later."""
        self.page, self.tab, self.gui = page, tab, page.gui
        self._folder: Any = None
        self._bound: list[tuple[Any, Callable[[], Any]]] = []
        with tab:
            self.build()
        self.renew()

    @property
    def session(self) -> Session:
        return self.page.session

    def build(self) -> None:
        """Make the controls, once."""
        raise NotImplementedError

    def renew(self) -> None:
        """The scene has changed: other objectives, joints or settings."""
        for handle, get in self._bound:
            put(handle, get())

    def refresh(self) -> None:
        """The posture has changed: errors and numbers, some times a second."""

    def beat(self) -> float | None:
        """Go on with what plays; the seconds until the next time, None if nothing does."""
        return None

    def bind(self, handle: Any, get: Callable[[], Any], change: Callable[[Any], object]) -> None:
        """Let a control show what `get` finds in the session, and `change` the session when a person changes it."""
        self._bound.append((handle, get))
        on_change(handle, lambda value: self.page.act(lambda: change(value)))

    def replace_folder(self, title: str | None, **options: Any) -> Any:
        """A folder for controls that change with the scene, in place of the one before; none without a title."""
        if self._folder is not None:
            self._folder.remove()
        with self.tab:
            self._folder = self.gui.add_folder(title, **options) if title is not None else None
        return self._folder or nullcontext()

    def add_plot(self, title: str, across: str, height: int, *lines: tuple[str, str], **options: Any) -> Any:
        """A plot of lines, each a label and a colour, over what goes from left to right."""
        series = [viser.uplot.Series(label=label, stroke=color, width=2) for label, color in lines]
        scales = {"x": viser.uplot.Scale(time=False), "y": viser.uplot.Scale(auto=True)}
        nothing = (np.zeros(2),) * (1 + len(lines))
        x = viser.uplot.Series(label=across)
        return self.gui.add_uplot(nothing, (x, *series), scales=scales, height=height, title=title, **options)

    def ask(self, job: Callable[..., Any], then: Callable[[Any, bool], object], *arguments: Any) -> None:
        """Give the worker a job from the start of the scene.

        `then` gets what comes of it, None if the worker ended, and whether the scene is still the same.
        """
        session = self.session
        with session.lock:
            scene, start = session.scene, session.start.copy()

        def done(result: Any) -> None:
            with session.lock:
                then(result, session.scene is scene)

        self.page.work(done, job, scene, start, *arguments)


def on_change(handle: Any, do: Callable[[Any], object]) -> None:
    """Call `do(value)` when a person changes a control; the program's own changes are not echoed."""

    @handle.on_update  # type: ignore[untyped-decorator]
    def _(event: Any) -> None:
        if event.client is not None:
            do(handle.value)


def on_click(handle: Any, do: Callable[[], object]) -> None:
    """Call `do()` when a button is pressed."""

    @handle.on_click  # type: ignore[untyped-decorator]
    def _(event: Any) -> None:
        do()


def escape(text: str) -> str:
    """Text that cannot become markup; names come from files of strangers."""
    return html.escape(text, quote=True)


def note(markup: str) -> str:
    """A line of small text; what comes from people must be escaped."""
    return f'<div style="font-size:0.85em;padding:0 0.8em">{markup}</div>'


def put(handle: Any, value: Any) -> None:
    """Show a value without an echo where it is the same already."""
    if handle.value != value:
        handle.value = value


def write(handle: Any, content: str) -> None:
    """The same for text of the page."""
    if handle.content != content:
        handle.content = content


def stretches(count: int, most: int) -> dict[str, range]:
    """Things in stretches of at most so many, each by its name, such as "1 to 8"; "none" if there is nothing."""
    ends = ((first, min(first + most, count)) for first in range(0, count, most))
    return {f"{first + 1} to {end}": range(first, end) for first, end in ends} or {"none": range(0)}
