"""Other solvers, one small adapter each, measured in the same process and run as memetik."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from importlib import metadata
from typing import NamedTuple

from memetik.bench.peers.chain import SerialChain, serial_chain
from memetik.bench.peers.peer import Peer, Task

# Adapter, a file of this folder: the package on PyPI that it needs.
PEERS = {"optik": "optik-py", "roboticstoolbox": "roboticstoolbox-python", "eaik": "EAIK"}


class Peers(NamedTuple):
    """The adapters that can be used here, and a sentence for the report on those that can and those that cannot."""

    adapters: tuple[str, ...]
    remarks: tuple[str, ...]

    def build(self, chain: SerialChain, task: Task) -> list[Peer]:
        """Every peer that can take this arm; some come with more than one setting."""
        built: list[Peer] = []
        for name in self.adapters:
            built += importlib.import_module(f"{__name__}.{name}").build(chain, task)
        return built


def find(names: Sequence[str] = tuple(PEERS)) -> Peers:
    """Look which of these peers are installed."""
    present, versions, missing = [], [], []
    for name in names:
        try:
            importlib.import_module(f"{__name__}.{name}")
            versions.append(f"{PEERS[name]} {metadata.version(PEERS[name])}")
            present.append(name)
        except ImportError:  # which metadata.PackageNotFoundError is, too
            missing.append(PEERS[name])
    remarks = [f"Peers: {', '.join(versions)}."] if versions else []
    if missing:
        remarks.append(f'Missing, so not measured: {", ".join(missing)}. Install with: pip install "memetik[peers]"')
    return Peers(tuple(present), tuple(remarks))


__all__ = ["PEERS", "Peer", "Peers", "SerialChain", "Task", "find", "serial_chain"]
