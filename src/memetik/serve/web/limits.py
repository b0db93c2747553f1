"""How large, how many, how long: what a server lets strangers ask of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one server allows.

    message: the largest request [bytes]; a scene may have eight times that.
    rate: requests a second from one address; a second's worth may come at once.
    timeout: the longest search [s].
    waiting: searches that may wait for a thread; more are refused at once.
    patience: how long a client may take to send a request or to read an answer [s].
    connections: open at once.
    scenes: kept at once.
    steps: of one track.
    """

    message: int = 2**20
    rate: float = 20_000.0
    timeout: float = 10.0
    waiting: int = 64
    patience: float = 20.0
    connections: int = 1_000
    scenes: int = 64
    steps: int = 10_000
