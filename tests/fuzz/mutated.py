"""Fuzzing of the readers and of the server's requests by mutation, with corpora that are kept:

    python -m tests.fuzz.mutated 1000000            # inputs, shared by all readers
    python -m tests.fuzz.mutated 100000 xacro       # of one reader
    python -m tests.fuzz.mutated 1000 xacro 7       # with another seed

An input is a file of tests/fuzz/corpus/READER after some accidents. A reader may return or raise a MemetikError; anything else, a
warning that is not memetik's, and whatever takes longer than LONGEST is a defect: the input is kept in the corpus, so that the
test of the corpus fails until it is mended, and stays as a test after that.
"""

from __future__ import annotations

import hashlib
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import memetik as mk
from memetik import scenes
from memetik.read import apply_srdf, parse_srdf, parse_urdf, read_xacro
from memetik.read.bvh import read_bvh_body
from memetik.read.gltf import read_gltf_body
from memetik.read.mjcf_bounds import check_model
from memetik.serve import plain
from tests.read.accidents import ACTIONS, mutate
from tests.read.samples import URDF

CORPUS = Path(__file__).parent / "corpus"
LONGEST = 5.0  # s of processor time
MOST = 200_000  # bytes of an input
WORDS = (
    b"${", b"}", b"$(", b"[]", b"()", b"**", b"lambda: 1", b".__class__", b"'", b'"', b"<xacro:if value=", b"nan", b"1e999",
    b"\0", b"\xff", b"{", b"[" * 50, b"-1", b"99999999999999999999", b"for x in range(99)", b"count=", b'<include file="',
    b"../", b"null", b"true",
)  # fmt: skip

_FOLDER = Path(tempfile.mkdtemp(prefix="memetik_fuzz_"))
_ARM = parse_urdf(URDF)


def _file(name: str, data: bytes) -> Path:
    path = _FOLDER / name / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def _urdf(data: bytes) -> None:
    body = parse_urdf(data, soft_limits=True)
    body.forward(body.home)


def _request(data: bytes) -> None:
    plain.check_values(data, 50_000)
    plain.request(plain.loads(data))


# What reads an input, by the folder of its corpus.
READERS: dict[str, Callable[[bytes], object]] = {
    "urdf": _urdf,
    "srdf": lambda data: apply_srdf(_ARM, parse_srdf(data)),
    "xacro": lambda data: read_xacro(_file("model.xacro", data)),
    "mjcf": lambda data: check_model(_file("model.xml", data), _FOLDER),
    "bvh": lambda data: read_bvh_body(_file("clip.bvh", data)),
    "gltf": lambda data: read_gltf_body(_file("figure.gltf", data)),
    "scene": scenes.loads,
    "request": _request,
}


def corpus(reader: str) -> list[Path]:
    """The files of a corpus."""
    return sorted((CORPUS / reader).iterdir())


def mutated(data: bytes, rng: random.Random) -> bytes:
    """An input after some accidents: to its words, or to its bytes."""
    if rng.random() < 0.4:
        steps = [(rng.choice(ACTIONS), rng.randrange(10_000), rng.randrange(10_000)) for _ in range(rng.randint(1, 5))]
        text = data.decode("utf-8", "surrogateescape")
        return mutate(text, steps).encode("utf-8", "surrogatepass")[:MOST] if text else data
    for _ in range(rng.randint(1, 4)):
        at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        end = min(end, at + rng.choice((1, 4, 40, 4000)))
        what = rng.randrange(4)
        if what == 0:
            data = data[:at] + rng.choice(WORDS) + data[at:]
        elif what == 1:
            data = data[:at] + data[end:]
        elif what == 2:
            data = data[:end] + data[at:end] * rng.choice((1, 2, 20)) + data[end:]
        else:
            data = data[:at] + rng.randbytes(min(end - at, 4)) + data[end:]
    return data[:MOST]


def trouble(reader: str, data: bytes) -> str:
    """What is wrong with how a reader takes an input; empty where nothing is."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", mk.MemetikWarning)
        try:
            READERS[reader](data)
        except mk.MemetikError as error:
            if not str(error):
                return "an error that says nothing"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    took = time.process_time() - begin
    return f"{took:.1f} s" if took > LONGEST else ""


def fuzz(reader: str, count: int, seed: int) -> list[str]:
    """What went wrong with so many mutated inputs; each is kept in the corpus."""
    rng = random.Random(f"{reader} {seed}")
    seeds = [path.read_bytes() for path in corpus(reader)]
    found = []
    for _ in range(count):
        data = mutated(rng.choice(seeds), rng)
        wrong = trouble(reader, data)
        if wrong:
            name = f"found_{hashlib.sha256(data).hexdigest()[:16]}"
            (CORPUS / reader / name).write_bytes(data)
            found.append(f"{reader}/{name}: {wrong[:300]}")
    return found


def main() -> int:
    words = sys.argv[1:]
    numbers = [int(word) for word in words if word.isdigit()]
    count, seed = (*numbers, 1_000_000, 0)[:2] if len(numbers) > 1 else ((*numbers, 1_000_000)[0], 0)
    names = [word for word in words if word in READERS] or list(READERS)
    failed = 0
    for name in names:
        begin = time.perf_counter()
        found = fuzz(name, count // len(names), seed)
        failed += len(found)
        print(f"{name}: {count // len(names)} inputs in {time.perf_counter() - begin:.0f} s, {len(found)} escaped")
        print("".join(f"  {line}\n" for line in found[:20]), end="", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
