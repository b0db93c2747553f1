"""By hand: a page of `memetik studio` loaded and closed again and again, and what that leaves in the server.

    python -m tests.studio.stress.loads            # 200 loads of the page in headless Chromium, after 300 to warm up
    python -m tests.studio.stress.loads 1000 wolf  # more, of another body; a leak would show as a steady rise
    python -m tests.studio.stress.loads 200 panda sockets   # sooner: the same connections without a browser

Every load is a stranger to the server, which makes a session for each. Threads, child
processes, open files and resident memory of the server are read from /proc before, after every hundred and at the end, each time
when what visitors left behind has been dropped; then SIGTERM, which has to end the server and its worker.
"""

import contextlib
import signal
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from memetik_studio.kept import SECONDS
from tests.browser import launch
from tests.studio.visitor import visitor

ROUND = 100  # loads between two readings
WARM_UP = 300  # loads until the heap has the size that it keeps: 220.4, 221.4, 222.5, 222.7, 222.6 MB after 100 to 500 by sockets
POOL = 4  # threads more of the viewer library's pool, of 32 at most; threads of pages would be one for each load
SETTLE = SECONDS + 3.0  # s until what the last visitor left behind is dropped
QUIET = 0.3  # s without a message, after which a page is complete
ENDING = 5.0  # s after the server, within which its child processes have to end
MEGABYTE = 1 << 20


def children(pid):
    """The processes that a process has started, as far as they run."""
    found = []
    for tasks in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(child) for child in tasks.read_text().split()]
    return found


def runs(pid):
    """Whether a process is still there; one that has ended, and that nobody has asked for its exit code, is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


def usage(pid):
    """Threads, child processes, open files and resident memory [bytes] of a process."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {
        "threads": int(lines["Threads"]),
        "children": len(children(pid)),
        "files": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "memory": int(lines["VmRSS"].split()[0]) * 1024,
    }


@contextlib.contextmanager
def in_browser(url):
    """What loads the page until its panel is there, and closes it."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield lambda: load(browser, url)
        browser.close()


@contextlib.contextmanager
def by_sockets(url):
    """What connects as a page does until nothing more comes for a while, and leaves."""

    def load():
        with visitor(url, f"visitor {time.monotonic_ns()}") as socket, contextlib.suppress(TimeoutError):
            while socket.recv(timeout=QUIET):
                pass

    yield load


def load(browser, url):
    context = browser.new_context(viewport={"width": 900, "height": 120}, user_agent=f"visitor {time.monotonic_ns()}")
    try:
        tab = context.new_page()
        tab.set_default_timeout(120_000)
        tab.goto(url)
        tab.get_by_role("tab", name="Compare").wait_for(state="attached")
    finally:
        context.close()


def said(label, now):
    print(
        f"{label}: {now['threads']} threads, {now['children']} child processes, {now['files']} open files,"
        f" {now['memory'] / MEGABYTE:.1f} MB", flush=True,
    )  # fmt: skip


def main(loads=200, body="panda", way="browser", warm_up=WARM_UP):
    """Print what is left; exit with 1 if that is a child process, a file, threads of pages or a megabyte."""
    server = subprocess.Popen(
        [sys.executable, "-m", "memetik", "studio", body, "--no-open", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    faults, before, after = [], None, None
    try:
        url = server.stdout.readline().split()[2]
        with in_browser(url) if way == "browser" else by_sockets(url) as load_page:
            for done in range(ROUND, warm_up + loads + 1, ROUND):
                begin = time.monotonic()
                for _ in range(ROUND):
                    load_page()
                each = (time.monotonic() - begin) / ROUND
                time.sleep(SETTLE)
                after = usage(server.pid)
                before = after if done <= warm_up else before
                said(f"after {done} loads, {each:.2f} s each", after)
        allowed = {"threads": POOL, "children": 0, "files": 0}
        faults += [f"more {what}" for what in allowed if after[what] > before[what] + allowed[what]]
        if after["memory"] > before["memory"] + MEGABYTE:
            faults.append(f"{(after['memory'] - before['memory']) / MEGABYTE:.1f} MB more")
        own, begin = children(server.pid), time.monotonic()
        server.send_signal(signal.SIGTERM)
        code, seconds = server.wait(timeout=60), time.monotonic() - begin
        deadline = time.monotonic() + ENDING
        while (left := [child for child in own if runs(child)]) and time.monotonic() < deadline:
            time.sleep(0.05)
        print(f"SIGTERM: ended with {code} after {seconds:.2f} s, {len(left)} of {len(own)} child processes left")
        faults += [f"exit code {code}"] * (code != 0) + ["child processes left"] * bool(left)
    finally:
        server.kill()
    print("faults:", "; ".join(faults) or "none")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(*(int(word) if word.isdigit() else word for word in sys.argv[1:])))
