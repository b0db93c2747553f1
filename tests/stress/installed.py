"""Does a wheel with compiled kernels keep its word? Install it into a fresh environment and solve there, with empty folders:

    python -m tests.stress.installed [WHEEL]          # builds one first, unless given

Every process begins with an empty home and an empty cache. Nothing of memetik may be compiled: in the README's example, by Bio
IK, and in all that `memetik warm --all` does, but for what is copied into functions of users, which no wheel can have. With
damaged, foreign and missing files, and where nothing can be written, it still solves. Wall and processor times are printed;
the first run after an installation also reads every file from disk.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.kernels.compiler.damage import damage  # noqa: E402

LISTEN = """
import sys
from numba.core import event
compiled = set()
class Compilations(event.Listener):
    def on_start(self, happening):
        function = happening.data["dispatcher"].py_func
        compiled.add(f"{function.__module__}.{function.__qualname__}")
    def on_end(self, happening):
        pass
event.register("numba:compile", Compilations())
"""
SAY = """
import json
ours = sorted(name for name in compiled if name.startswith("memetik.") and "<locals>" not in name and "<lambda>" not in name)
print(json.dumps({"success": bool(solution.success), "q": solution.q.tobytes().hex(), "compiled": ours}))
"""
EXAMPLE = """
import memetik as mk
body = mk.load("panda")
str(body)
hand = body.frame("panda_hand", offset=(0, 0, 0.10))
reach = mk.Position(hand, target=(0.5, 0.1, 0.4), tolerance=1e-4)
face = mk.Orientation(hand, target=mk.euler(180, 0, 0, degrees=True), tolerance=1e-3)
calm = mk.Displacement(weight=0.01)
problem = mk.Problem(body, [reach, face, calm], lock={"panda_finger_joint1": 0.04})
solution = mk.solve(problem, start=body.home, method=METHOD)
str(solution), solution.explain()
reach.target = (0.4, 0.2, 0.5)
solution = mk.solve(problem, start=solution.q, method=METHOD)
mk.draw(body, solution.q, "hand.svg", targets=[reach.target])
"""
ALL = """
import memetik as mk
from memetik import warm
warmed = warm.warm(warm.everything())
solution = mk.solve(warm.guided()[0])
"""


COPIED = {  # into functions of users, and a function in their place
    "memetik.kernels.math.pose.load", "memetik.kernels.terms.custom.frame_view", "memetik.kernels.terms.custom.joint_value",
    "memetik.kernels.terms.value.rank", "memetik.warm._square",
}  # fmt: skip


class Installed:
    """A fresh environment with the wheel."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.folder, self.python = folder, folder / "venv" / "bin" / "python"
        subprocess.run(["uv", "venv", "-q", "-p", sys.executable, folder / "venv"], check=True)
        install = ["uv", "pip", "install", "-q", "--compile-bytecode", "--python", self.python, wheel]
        subprocess.run(install, check=True)
        (self.kernels,) = (folder / "venv").rglob("memetik/kernels/prebuilt")

    def run(self, code: str, **environment: str) -> tuple[dict[str, Any], str]:
        """What a process with an empty home and cache answers, and what it took in words."""
        with tempfile.TemporaryDirectory() as empty:
            kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
            places = {"HOME": empty, "NUMBA_CACHE_DIR": f"{empty}/cache", "XDG_CACHE_HOME": f"{empty}/xdg"}
            before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            done = subprocess.run(
                [self.python, "-c", code], env={**kept, **places, **environment}, cwd=empty, capture_output=True, text=True
            )  # fmt: skip
            wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(done.stderr)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        told = f"   stderr: {done.stderr.strip()}" if done.stderr.strip() else ""
        return json.loads(done.stdout.splitlines()[-1]), f"{wall:.2f} s wall, {spent:.2f} s processor{told}"


def example(method: str) -> str:
    return LISTEN + EXAMPLE.replace("METHOD", repr(method)) + SAY


def main() -> None:
    with tempfile.TemporaryDirectory() as work:
        if sys.argv[1:]:
            wheel = Path(sys.argv[1]).resolve()
        else:
            subprocess.run([sys.executable, ROOT / "tools" / "wheel.py", "--out", work], check=True)
            (wheel,) = Path(work).glob("*.whl")
        place = Installed(wheel, Path(work, "installed"))
        files = sorted(place.kernels.iterdir())
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(files)} files of kernels, "
              f"{sum(path.stat().st_size for path in files) / 1e6:.1f} MB")  # fmt: skip
        answers = {}
        for method in ("memetic", "bioik"):
            for _ in range(3):
                answers[method], took = place.run(example(method))
                print(f"{method:10} {took}", flush=True)
            assert answers[method]["success"] and answers[method]["compiled"] == [], answers[method]
        found, took = place.run(LISTEN + ALL + SAY)
        print(f"everything {took}; compiled: {found['compiled']}", flush=True)
        assert set(found["compiled"]) <= COPIED
        file = Path(work, "file")
        file.touch()
        nowhere = dict.fromkeys(("HOME", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"), f"{file}/below")
        found, took = place.run(example("memetic"), **nowhere)
        print(f"nowhere to write: {took}", flush=True)
        assert found == answers["memetic"]
        spoil(place, answers["memetic"])
    print("all is as it should be")


def spoil(place: Installed, right: dict[str, Any]) -> None:
    """The README's example after all kinds of damage."""
    whole = place.kernels.with_name("whole")
    shutil.copytree(place.kernels, whole)
    draw = random.Random(0)
    manifest = json.loads((whole / "manifest.json").read_text())

    def damaged() -> None:
        for _ in range(300):
            damage(sorted(path for path in place.kernels.iterdir() if path.is_file() and path.stat().st_size), draw)

    def foreign() -> None:
        (place.kernels / "manifest.json").write_text(json.dumps({**manifest, "numba": "0.1"}))

    def empty() -> None:
        for path in place.kernels.glob("*.nb?"):
            path.write_bytes(b"")

    def read_only() -> None:
        for path in place.kernels.iterdir():
            path.chmod(0o444)

    for act in (read_only, damaged, foreign, empty):
        act()
        found, took = place.run(example("memetic"))
        print(f"{act.__name__}: {took}; {len(found['compiled'])} compiled", flush=True)
        assert found["success"] and (act is not read_only or found == right)
        shutil.rmtree(place.kernels)
        shutil.copytree(whole, place.kernels)


if __name__ == "__main__":
    main()
