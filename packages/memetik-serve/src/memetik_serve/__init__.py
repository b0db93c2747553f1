"""Answers for other programs: HTTP, WebSocket and ROS around one core of plain requests and replies.

codes     how a request ended, in the numbers of MoveIt
request   Request and Reply, plain data
core      Core: request -> problem -> solution -> reply
repeated  RepeatedPose: the same for one pose, asked for again and again
plain     requests and replies as JSON takes them
"""

from memetik_serve.codes import Code, RequestError
from memetik_serve.core import LONGEST, Core
from memetik_serve.request import Missed, Reply, Request

__all__ = ["LONGEST", "Code", "Core", "Missed", "Reply", "Request", "RequestError"]
