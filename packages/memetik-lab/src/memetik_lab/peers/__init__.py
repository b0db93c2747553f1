"""Other solvers, one small adapter each, measured in the same process and run as memetik."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from importlib import metadata
from typing import NamedTuple

from memetik_lab.peers.chain import SerialChain, serial_chain
from memetik_lab.queries import Peer, Task

# Adapter, a file of this folder: the package on PyPI that it needs.
FAST = {"optik": "optik-py", "trac_ik": "pytracik", "roboticstoolbox": "roboticstoolbox-python", "eaik": "EAIK"}
# Local solvers, with the restarts that their users write around them.
LOCAL = {
    "pinocchio": "pin",
    "pink": "pin-pink",
    "mink": "mink",
    "placo": "placo",
    "pybullet": "pybullet",
    "pykdl": "PyKDL",  # what PyPI has of it does not build; systems that have ROS or Orocos bring it along
    "ikpy": "ikpy",
}
PEERS = {**FAST, **LOCAL}


class Peers(NamedTuple):
    """The adapters that can be used here, and a sentence for the report on those that can and those that cannot."""

    adapters: tuple[str, ...]
    remarks: tuple[str, ...]

    def build(self, chain: SerialChain, task: Task) -> list[Peer]:
        """Every peer that can take this arm; some come with more than one setting."""
        return [peer for name in self.adapters for peer in build(name, chain, task)]


def build(name: str, chain: SerialChain, task: Task) -> list[Peer]:
    """What an adapter makes for an arm: its one solver, or what its function `build` makes if it has one."""
    module = importlib.import_module(f"{__name__}.{name}")
    if hasattr(module, "build"):
        made: list[Peer] = module.build(chain, task)
        return made
    return [module.Adapter(chain, task)]


def find(names: Sequence[str] = tuple(PEERS)) -> Peers:
    """Look which of these peers are installed."""
    present, versions, missing = [], [], []
    for name in names:
        try:
            importlib.import_module(f"{__name__}.{name}")
        except Exception:  # one that is installed but broken must not cost the others their results
            missing.append(PEERS[name])
        else:
            versions.append(f"{PEERS[name]} {_version(PEERS[name])}")
            present.append(name)
    remarks = [f"Peers: {', '.join(versions)}."] if versions else []
    if missing:
        remarks.append(
            f'Not importable, so not measured: {", ".join(missing)}. Install with: pip install "memetik[peers]"'
        )
    return Peers(tuple(present), tuple(remarks))


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "of the system"


__all__ = ["FAST", "LOCAL", "PEERS", "Peer", "Peers", "SerialChain", "Task", "build", "find", "serial_chain"]
