"""Fuzzing of the readers and of the server's requests by mutation, with corpora that are kept:

    python -m tests.fuzz.mutated 1000000            # inputs, shared by all readers
    python -m tests.fuzz.mutated 100000 xacro       # of one reader
    python -m tests.fuzz.mutated 1000 xacro 7       # with another seed

An input is a file of tests/fuzz/corpus/READER after some accidents; of an archive and of a .glb mostly their content, in a
container that fits again. A reader may return or raise a MemetikError; anything else, a warning that is not memetik's, and
whatever takes longer than LONGEST is a defect: the input is kept in the corpus, so that the test of the corpus fails until it
is mended, and stays as a test after that.

Left out is what other packages parse and SECURITY.md says is for trusted files alone: MuJoCo's own models, USD and meshes.
Shards and kernels are verified by a checksum before anything decodes them (tests/batch/test_restart.py,
tests/kernels/compiler/damage.py).
"""

from __future__ import annotations

import hashlib
import io
import random
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import memetik as mk
from memetik import scenes
from memetik.batch.manifest import read_manifest
from memetik.batch.source import Piece, open_files
from memetik.batch.source import read as read_rows
from memetik.read import apply_srdf, parse_srdf, parse_urdf, read_xacro
from memetik.read.mjcf_bounds import check_model
from memetik.read.shapes import apply_shapes, parse_shapes
from memetik_serve import Core, plain
from memetik_serve.codes import Code
from memetik_serve.ros import convert
from memetik_serve.ros.ros2 import BIO_IK, POSITION_IK
from memetik_serve.ros.types2 import types
from memetik_serve.web.limits import Limits
from memetik_serve.web.paths import Stream, track
from memetik_serve.web.scene_store import SceneStore
from memetik_studio.upload import Uploads
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
_FIGURE = mk.load(CORPUS / "bvh" / "clip.bvh")


def _file(name: str, data: bytes) -> Path:
    path = _FOLDER / name / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def _urdf(data: bytes) -> None:
    body = parse_urdf(data, soft_limits=True)
    body.forward(body.home)


@cache
def _core() -> Core:
    """What answers requests, as the server keeps it, with little time for each."""
    return Core(mk.load("panda"), timeout=0.002)


def _answered(data: bytes, core: Core | None = None) -> None:
    """A request over HTTP: a single one, a track where it has targets, a servo where it has a rate."""
    plain.check_values(data, 50_000)
    given = plain.loads(data)
    core = core or _core()
    if "targets" in given:
        track(core, given, 20, 0.002)
    elif "rate" in given:
        message = given.pop("message", {})
        with closing(Stream(core, given)) as stream:
            for _ in range(min(stream.take(message), 3)):
                stream.tick()
            plain.dumps(stream.state())
    else:
        request = plain.request(given)
        if request.timeout <= 0.01:  # what asks for more is refused by a server that allows no more
            _must_be_known(core.answer(request))


def _must_be_known(reply: Any) -> None:
    """Raise if the reply is that a fault of the program came up."""
    assert reply.code is not Code.FAILURE, reply.message
    plain.dumps(plain.reply(reply, _core().body.joint_names))


def _scene_of_a_server(data: bytes) -> None:
    core = _core()
    scene_store = SceneStore(Limits(timeout=0.002), core.store)
    kept = scene_store.put("s", data)
    try:
        reply = kept.core.answer(kept.request({}))
        assert reply.code is not Code.FAILURE, reply.message
    finally:
        scene_store.drop("s")


def _ros(data: bytes) -> None:
    """A request of ROS 2, of the kind that its first byte says."""
    name, make = (BIO_IK, convert.bio_ik) if data[:1] == b"b" else (POSITION_IK, convert.position_ik)
    message = types("jazzy").read(data[1:], f"{name}_Request")
    core = _core()

    def request() -> Any:
        made = make(core, message.ik_request, {})
        return made if made.timeout <= 0.01 else replace(made, timeout=0.01)

    reply = convert.answer(core, request)
    assert reply.code is not Code.FAILURE, reply.message


def _bag(data: bytes) -> None:
    from memetik_serve.ros import bags

    path = _file("bag.mcap", data).parent
    (path / "metadata.yaml").write_bytes((CORPUS.parent / "bag.yaml").read_bytes())
    bags.read_joint_states(path, _ARM)


def _weights(data: bytes) -> None:
    """Weights, of whichever kind they are."""
    path, wrong = _file("weights.npz", data), None
    for learner in (mk.learn.FeedForward, mk.learn.Elman, mk.learn.ExtremeLearning, mk.learn.SupportVectors):
        try:
            learner.load(path)
            return
        except mk.MemetikError as error:
            wrong = error
    assert wrong is not None
    raise wrong


def _rows(data: bytes) -> None:
    """Targets of a job on files."""
    path = _file("targets", data)
    source, columns = open_files(path), ["x", "y", "z"]
    if not set(columns) <= set(source.schema.names):
        return  # said by who asks for them
    source = source.counted(columns)
    pieces = [Piece(*piece) for piece in source.pieces(3)][:20]
    for _, rows in read_rows(pieces, columns):
        assert rows.num_rows <= 3


def _uploaded(data: bytes) -> None:
    uploads = Uploads()
    with closing(uploads):
        for model in uploads.take("robot.zip", data):
            if model.endswith(".urdf"):
                uploads.settle(model)


# What reads an input, by the folder of its corpus.
READERS: dict[str, Callable[[bytes], object]] = {
    "urdf": _urdf,
    "srdf": lambda data: apply_srdf(_ARM, parse_srdf(data)),
    "xacro": lambda data: read_xacro(_file("model.xacro", data)),
    "mjcf": lambda data: check_model(_file("model.xml", data), _FOLDER),
    "bvh": lambda data: mk.read_motion(_file("clip.bvh", data)),
    "gltf": lambda data: mk.read_motion(_file("figure.gltf", data)),
    "glb": lambda data: mk.read_motion(_file("figure.vrm", data)),
    "csv": lambda data: mk.read_motion(_file("clip.csv", data), body=_ARM),
    "npz": lambda data: mk.read_motion(_file("clip.npz", data), body=_FIGURE),
    "stream": lambda data: mk.motion.read_stream(_file("stream.jsonl", data)),
    "plan": lambda data: mk.motion.RetargetPlan.load(_file("plan.json", data)),
    "shapes": lambda data: apply_shapes(_ARM, parse_shapes(data)),
    "weights": _weights,
    "reachability": lambda data: mk.batch.load_reachability(_file("reach.npz", data)),
    "targets": _rows,
    "manifest": lambda data: read_manifest(_file("manifest.json", data).parent),
    "bag": _bag,
    "upload": _uploaded,
    "scene": scenes.loads,
    "scene_store": _scene_of_a_server,
    "request": _answered,
    "ros": _ros,
}


def corpus(reader: str) -> list[Path]:
    """The files of a corpus."""
    return sorted((CORPUS / reader).iterdir())


def mutated(data: bytes, rng: random.Random) -> bytes:
    """An input after some accidents: to its words, or to its bytes; of a container mostly to what is in it."""
    if data[:4] in (b"PK\3\4", b"glTF") and rng.random() < 0.8:
        try:
            return _repacked(data, rng)[:MOST]
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, NotImplementedError, RuntimeError):
            pass  # damaged already
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


def _repacked(data: bytes, rng: random.Random) -> bytes:
    """A container after accidents to one of its parts, with lengths and checksums that fit again."""
    if data[:4] == b"glTF":
        chunks = list(_chunks(data))
        k = rng.randrange(len(chunks)) if rng.random() < 0.3 else 0
        chunks[k] = chunks[k][0], mutated(chunks[k][1], rng)
        body = b"".join(struct.pack("<I4s", len(each), kind) + each for kind, each in chunks)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {each.filename: archive.read(each) for each in archive.infolist()}
    name = rng.choice(list(parts))
    parts[name] = mutated(parts[name], rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for each, content in parts.items():
            archive.writestr(each, content)
    return out.getvalue()


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = 12
    while at < len(data):
        length, kind = struct.unpack("<I4s", data[at : at + 8])
        yield kind, data[at + 8 : at + 8 + length]
        at += 8 + length


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
        if wrong.endswith(" s"):  # perhaps it was the first to need some kernels, which are compiled by now
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
