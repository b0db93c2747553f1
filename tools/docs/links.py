"""Links of the built site: where each leads, and whether anything would be asked of another host."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    ("img", "src"),
    ("script", "src"),
    ("iframe", "src"),
    ("iframe", "data-src"),
    ("link", "href"),
    ("source", "src"),
    ("video", "src"),
}


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.without_alt: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.places.update(given[name] for name in ("id", "name") if name in given)
        for name, value in given.items():
            if (tag, name) in LOADED and given.get("rel") not in ("canonical", "search", "index"):
                self.loads.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)
        if tag == "img" and not given.get("alt"):
            self.without_alt.append(given.get("src", ""))


def broken(html: Path, absent: tuple[str, ...] = ()) -> list[str]:
    """A line for each link that leads nowhere, each picture without words, and each thing loaded from another host."""
    pages = {path: Page(path.read_text()) for path in sorted(html.rglob("*.html")) if "scenes" not in path.parts}
    said = []
    for path, page in pages.items():
        where = path.relative_to(html)
        said += [f"{where}: the picture {source} has no alt text" for source in page.without_alt]
        said += [f"{where}: loads {address} from another host" for address in page.loads if urlsplit(address).netloc]
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not link or (parts.path and any(skip in parts.path for skip in absent)):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                said.append(f"{where}: {link} leads nowhere")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                said.append(f"{where}: there is no {parts.fragment} in {link}")
    return said
