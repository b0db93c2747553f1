"""How large, how many, how long: what a server lets strangers ask of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What one server allows.

    message: the largest request [bytes]; a scene may have eight times that.
    rate: requests a second from one address; a second's worth may come at once.
    timeout: the longest search [s], with all its attempts.
    waiting: searches that may be under way or wait for a thread, and half of it of one client; more are refused at once.
    patience: how long a client may take to send a request, or to read an answer [s].
    connections: open at once, and half of it of one client.
    unread: requests that are on their way or not answered yet [MB], and half of it of one client.
    memory: compiled problems, scenes and streams that are kept [MB], and half of it of one client. The process needs about
        500 MB besides, and what requests in work take.
    problems: compiled and kept for one client.
    scenes: kept at once.
    streams: servos at once, and half of it of one client.
    links: of the body of a scene.
    pairs: of shapes that a problem keeps apart.
    values: lists and objects in a message; it may have ten times as many numbers and texts.
    steps: of one track.
    """

    message: int = 2**20
    rate: float = 20_000.0
    timeout: float = 10.0
    waiting: int = 64
    patience: float = 20.0
    connections: int = 1_000
    unread: float = 128.0
    memory: float = 512.0
    problems: int = 512
    scenes: int = 64
    streams: int = 64
    links: int = 2_000
    pairs: int = 200_000
    values: int = 50_000
    steps: int = 10_000
