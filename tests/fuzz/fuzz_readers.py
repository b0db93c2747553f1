"""Coverage-guided fuzzing of the readers, by hand: python tests/fuzz/fuzz_readers.py [urdf|srdf] [seconds]

Needs `pip install atheris`. Stops at the first error that is not memetik's own, or at a warning of numpy, and
writes the input that caused it to the current directory. Without a name, the readers share the time.
"""

import multiprocessing
import sys
import tempfile
import warnings
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[2]))

# Numba cannot compile instrumented kernels, so the body comes first and stays as it is.
from memetik.body import Body
from memetik.errors import MemetikError, MemetikWarning

with atheris.instrument_imports(include=["memetik.read"]):
    from memetik.read import apply_srdf, parse_srdf, parse_urdf

from tests.read.accidents import ACTIONS, mutate
from tests.read.samples import SRDF, URDF

ARM = parse_urdf(URDF)
SMALL_URDF = """<robot name="a"><link name="l"/><link name="m"/>
<joint name="j" type="revolute"><parent link="l"/><child link="m"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
SMALL_SRDF = '<robot><group name="g"><chain base_link="base" tip_link="hand"/></group></robot>'
WORDS = (
    "nan",
    "inf",
    "1e999",
    "1e308",
    "-1",
    "0 0 1",
    "<!DOCTYPE",
    "&amp;",
    "mimic",
    "joint",
    "link",
    "group",
    "chain",
)


def read_urdf(data: bytes) -> None:
    body: Body = parse_urdf(data, soft_limits=True)
    body.forward(body.home)


def read_srdf(data: bytes) -> None:
    body = apply_srdf(ARM, parse_srdf(data))
    for name in body.chains:
        body.chain(name)


READERS = {"urdf": (read_urdf, (URDF, SMALL_URDF)), "srdf": (read_srdf, (SRDF, SMALL_SRDF))}


def accidents(data: bytes, text: str) -> bytes:
    """Bytes as orders: each five of them are one accident that befalls the text, so more results are XML."""
    orders = [data[k : k + 5] for k in range(0, len(data) - 4, 5)][:12]
    steps = [
        (
            ACTIONS[order[0] % len(ACTIONS)],
            int.from_bytes(order[1:3], "big"),
            int.from_bytes(order[3:5], "big"),
        )
        for order in orders
    ]
    return mutate(text, steps).encode(errors="replace")


def fuzz(name: str, seconds: int) -> None:
    """Fuzz one reader for some seconds; libFuzzer ends the process."""
    reader, seeds = READERS[name]

    def one_input(data: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", MemetikWarning)
            try:
                reader(accidents(data[1:], seeds[0]) if data[:1] == b"!" else data)
            except MemetikError as error:
                assert str(error), "an error must say something"

    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for k, seed in enumerate(seeds):
            (corpus / str(k)).write_text(seed)
        (corpus / "accidents").write_bytes(b"!" + bytes(range(30)))
        words = Path(folder) / "words"
        words.write_text("".join(f'"{word}"\n' for word in WORDS))
        options = [
            f"-max_total_time={seconds}",
            "-max_len=6000",
            f"-dict={words}",
            "-print_final_stats=1",
            str(corpus),
        ]
        atheris.Setup([sys.argv[0], *options], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    chosen = [argument for argument in sys.argv[1:] if argument in READERS] or list(READERS)
    seconds = next((int(argument) for argument in sys.argv[1:] if argument.isdigit()), 120)
    for name in chosen:
        process = multiprocessing.get_context("fork").Process(target=fuzz, args=(name, seconds // len(chosen)))
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(f"{name}: found an input that escapes (exit code {process.exitcode})")
        print(f"{name}: nothing escaped in {seconds // len(chosen)} s")
