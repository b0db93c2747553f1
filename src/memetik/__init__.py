"""memetik: inverse kinematics for any articulated body, in Python, at native speed."""

from memetik._version import __version__
from memetik.body import OFKT, Body, Chain, Frame, Joint, Link, Mimic, Poses, Shape

__all__ = ["OFKT", "Body", "Chain", "Frame", "Joint", "Link", "Mimic", "Poses", "Shape", "__version__"]
