"""What a page owes to those who do not see it, see it badly, or have no mouse: checked in a browser.

Contrast of all text by WCAG 2 (4.5, large text 3), alt texts, names of links and fields, order of headings, language, and whether
every place that the tabulator key stops at shows that it has the focus.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

STOPS = 25  # presses of the tabulator key on a page; the sidebar's links, which all pages share, come early

SCRIPT = (Path(__file__).parent / "access.js").read_text()


def ask(page: Any, what: str) -> Any:
    """What a function of the script says of a page."""
    return page.evaluate(f"{SCRIPT.partition(chr(10))[2].strip()}.{what}()")


def structure(page: Any) -> list[str]:
    """What is wrong with language, headings, names and texts of a page."""
    return list(ask(page, "structure"))


def contrast(page: Any) -> list[str]:
    """Kinds of text that are too pale for their ground, each with its worst."""
    return list(ask(page, "contrast"))


def keyboard(page: Any, stops: int = STOPS) -> list[str]:
    """Go through a page by the tabulator key: every stop is seen, shows the focus, and stands after the one before it."""
    wrong, before = [], -1
    for _ in range(stops):
        page.keyboard.press("Tab")
        stop = ask(page, "focused")
        if stop is None:
            break
        if not stop["shown"]:
            wrong.append(f"does not show the focus: {stop['name']}")
        if not stop["seen"]:
            wrong.append(f"takes the focus and is not seen: {stop['name']}")
        if stop["order"] <= before:
            wrong.append(f"takes the focus out of order: {stop['name']}")
        before = stop["order"]
    if before < 0:
        wrong.append("no place takes the focus")
    return wrong
