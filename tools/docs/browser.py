"""All pages of the built site in headless Chromium: what they ask of other hosts, whether search works, and how they look."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from tools.docs import access

WIDTHS, SCHEMES = (1280, 420), ("light", "dark")
SHOWN = (
    "index", "start/index", "learn/index", "learn/jacobian", "howto/index", "howto/free_axis", "reference/objectives",
    "benchmarks", "coming_from/pink", "gallery",
)  # fmt: skip
SEARCHES = ("elbow", "FABRIK", "obstacle")  # words of which a result must show something
FIRST_PAGE = 500_000  # bytes that the first page may take, all it loads included
LONGEST = 60_000  # milliseconds that anything may take on a busy machine


def look(html: Path, out: Path) -> int:
    """Open every page, take pictures of some, try the search. Returns 1 and says why where something is wrong."""
    from playwright.sync_api import sync_playwright

    program = next((found for name in ("chromium", "google-chrome", "chrome") if (found := shutil.which(name))), None)
    out.mkdir(parents=True, exist_ok=True)
    handler = functools.partial(Quiet, directory=str(html))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_address[1]}"
    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        pages = sorted(path for path in html.rglob("*.html") if "scenes" not in path.parts)
        page = browser.new_page()
        watch(page, root, wrong)
        for path in pages:
            name = path.relative_to(html).with_suffix("").as_posix()
            page.goto(f"{root}/{name}.html", wait_until="load")
            if name != "search":  # a script of Sphinx gives it its headings, when something is searched for
                wrong += [f"{name}: {each}" for each in access.structure(page)]
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 1000})
                if page.evaluate("document.documentElement.scrollWidth > window.innerWidth + 1"):
                    wrong.append(f"{name} is wider than {width} pixels")
                for scheme in SCHEMES:
                    page.emulate_media(color_scheme=scheme)
                    wrong += [f"{name}, {width} pixels, {scheme}: {each}" for each in access.contrast(page)]
                    if name in SHOWN:
                        page.screenshot(path=out / f"{name.replace('/', '_')}_{width}_{scheme}.png")
                if name in SHOWN:
                    wrong += [f"{name}, {width} pixels: {each}" for each in access.keyboard(page)]
        page.close()
        wrong += first_page(browser, root)
        wrong += searched(browser, root)
        if (html / "scenes").exists():
            wrong += played(browser, root)
        browser.close()
    server.shutdown()
    print(
        *wrong
        or [f"{len(pages)} pages: nothing asked of other hosts, search, contrast and keyboard work, pictures in {out}"],
        sep="\n",
    )
    return 1 if wrong else 0


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves without a line for each request."""

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send a file; a page that was closed takes no more of what it had asked for."""
        with suppress(ConnectionError):
            super().copyfile(source, outputfile)


def watch(page: Any, root: str, wrong: list[str]) -> None:
    """Note what a page asks of other hosts, what it does not get, and what its scripts complain of."""

    def asked(request: Any) -> None:
        if not request.url.startswith((root, "data:", "blob:")):
            wrong.append(f"{page.url} asks for {request.url}")

    def answered(response: Any) -> None:
        if response.status >= 400 and "favicon" not in response.url:
            wrong.append(f"{page.url}: {response.url} is {response.status}")

    page.on("request", asked)
    page.on("response", answered)
    page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))


def played(browser: Any, root: str) -> list[str]:
    """Open a scene of the gallery by keyboard: it is loaded then, and not before, and asks nothing of other hosts."""
    from playwright.sync_api import TimeoutError

    page, wrong, loaded = browser.new_page(), [], []
    watch(page, root, wrong)
    page.on(
        "request",
        lambda request: (
            loaded.append(request.url) if "/scenes/" in request.url and request.url.endswith(".html") else None
        ),
    )
    page.goto(f"{root}/gallery.html", wait_until="load")
    if loaded:
        wrong.append("the gallery loads scenes that nobody has opened")
    page.locator(".scenes summary").first.focus()
    with suppress(TimeoutError), page.expect_request("**/scenes/*.html", timeout=LONGEST):
        page.keyboard.press("Enter")
    page.wait_for_timeout(1_000)  # for a second request, which there must not be
    if len(loaded) != 1:
        wrong.append(f"a scene that is opened is loaded {len(loaded)} times")
    page.close()
    return wrong


def first_page(browser: Any, root: str) -> list[str]:
    """Whether the first page is small enough."""
    page, sizes = browser.new_page(), []
    page.on("response", lambda response: sizes.append(len(response.body())))
    page.goto(f"{root}/index.html", wait_until="networkidle")
    page.close()
    print(f"the first page loads {sum(sizes) / 1e3:.0f} kB in {len(sizes)} requests")
    return [] if sum(sizes) <= FIRST_PAGE else [f"the first page takes {sum(sizes) / 1e3:.0f} kB"]


def searched(browser: Any, root: str) -> list[str]:
    """Type words into the search by keyboard alone, and look for results."""
    from playwright.sync_api import TimeoutError

    wrong = []
    for word in SEARCHES:
        page = browser.new_page()
        page.goto(f"{root}/index.html")
        box = page.locator("input.sidebar-search").first
        box.focus()
        box.type(word)
        box.press("Enter")
        # Results come one after the other, and the text of each after its title.
        result = page.locator("#search-results ul.search li", has_text=word).first
        try:
            result.wait_for(timeout=LONGEST)
        except TimeoutError:
            wrong.append(f"search for {word} shows nothing of it, but: {page.locator('#search-results').inner_text()}")
        page.close()
    return wrong
