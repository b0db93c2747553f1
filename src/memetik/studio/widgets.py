"""What the panels share: callbacks that answer people only, and text for the page."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any, Protocol

from numpy.typing import ArrayLike

import memetik as mk
from memetik.scenes import Scene
from memetik.studio.session import Session

# A network is trained for each problem, which takes longer than anybody drags; it is for Python.
METHODS = tuple(row for row in mk.methods() if row.name != "learned")


class Desk(Protocol):
    """What a panel sees of the page it is on."""

    session: Session

    @property
    def gui(self) -> Any:
        """The controls of this client."""

    def act(self, action: Callable[[], object]) -> bool:
        """Do something to the session, show the result, or the message if it fails; whether it went well."""

    def tell(self, title: str, body: str) -> None:
        """Show a notification."""

    def download(self, name: str, content: str) -> None:
        """Send a file."""

    def work(
        self, then: Callable[[Any], None], job: Callable[..., Any], scene: Scene, q: ArrayLike, *arguments: Any
    ) -> None:
        """Give the worker a job about a scene; `then` gets what comes of it, None if nothing did."""

    def wake(self) -> None:
        """Let the pulse look at once: something moves."""


class Panel:
    """One tab of controls."""

    def __init__(self, desk: Desk, tab: Any) -> None:
        """`tab` is the container of its controls: a context, also for those that are made later."""
        self.desk, self.tab = desk, tab
        self.gui = desk.gui
        with tab:
            self.build()
        self.renew()

    @property
    def session(self) -> Session:
        return self.desk.session

    def build(self) -> None:
        """Make the controls, once."""
        raise NotImplementedError

    def renew(self) -> None:
        """The scene has changed: other objectives, joints or settings."""

    def refresh(self) -> None:
        """The posture has changed: errors and numbers, some times a second."""

    def beat(self) -> float | None:
        """Go on with what plays; the seconds until the next time, None if nothing does."""
        return None


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
