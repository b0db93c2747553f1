"""Body, Link, Joint, Frame: the articulated body, immutable, with its forward kinematics."""

from memetik.body.body import Body
from memetik.body.group import Group
from memetik.body.joint import BASES, Joint, Mimic
from memetik.body.link import Frame, Link, Shape
from memetik.body.loop import CLOSED, Loop
from memetik.body.ofkt import OFKT
from memetik.body.poses import Chain, LinkPoses
from memetik.body.replay import replay
from memetik.body.table import table as body_table

__all__ = [
    "BASES",
    "CLOSED",
    "OFKT",
    "Body",
    "Chain",
    "Frame",
    "Group",
    "Joint",
    "Link",
    "LinkPoses",
    "Loop",
    "Mimic",
    "Shape",
    "body_table",
    "replay",
]
