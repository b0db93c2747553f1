"""Bodies made in Python: links and joints by hand, chains, hands, parallel robots and tables of Denavit and Hartenberg."""

from memetik.body import Joint, Link, Loop, Mimic
from memetik.build.builder import BodyBuilder
from memetik.build.chains import planar_chain, serial_chain, snake
from memetik.build.dh import from_dh
from memetik.build.hands import hand
from memetik.build.parallel import delta_robot, five_bar, stewart_platform

__all__ = [
    "BodyBuilder", "Joint", "Link", "Loop", "Mimic", "delta_robot", "five_bar", "from_dh", "hand", "planar_chain",
    "serial_chain", "snake", "stewart_platform",
]  # fmt: skip
