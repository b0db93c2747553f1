"""Code: how a request ended, in the numbers of MoveIt's MoveItErrorCodes."""

from __future__ import annotations

import enum

import memetik as mk


class Code(enum.IntEnum):
    """The codes of moveit_msgs/MoveItErrorCodes that inverse kinematics can end with."""

    SUCCESS = 1
    TIMED_OUT = -6  # time ended the search; more of it may find a posture
    INVALID_GROUP_NAME = -15
    INVALID_GOAL_CONSTRAINTS = -16  # an objective that cannot be one
    INVALID_ROBOT_STATE = -17
    INVALID_LINK_NAME = -18
    INVALID_OBJECT_NAME = -19  # a robot description that is not served here
    FRAME_TRANSFORM_FAILURE = -21
    COLLISION_CHECKING_UNAVAILABLE = -22  # the links have no shapes
    NO_IK_SOLUTION = -31
    FAILURE = 99999  # a fault of the program

    @property
    def is_answer(self) -> bool:
        """Whether the request was understood and solved, however that ended; otherwise the request is at fault, or we are."""
        return self in (Code.SUCCESS, Code.TIMED_OUT, Code.NO_IK_SOLUTION)


class RequestError(mk.errors.ProblemError):
    """A request that cannot be answered, with the code that says why."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


def code_of(error: mk.MemetikError) -> Code:
    """The code that stands for an error while objectives are made and solved."""
    if isinstance(error, RequestError):
        return error.code
    if isinstance(error, mk.errors.UnknownNameError) and error.what == "link":
        return Code.INVALID_LINK_NAME
    return Code.INVALID_GOAL_CONSTRAINTS
