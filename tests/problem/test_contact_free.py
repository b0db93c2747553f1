"""A problem without its contacts: the same joints, fewer motions, and the rest as it was."""

import numpy as np
from numpy.testing import assert_array_equal

from memetik import Displacement, Distance, Pose, Problem, SelfDistance, load
from memetik.problem.contact_free import without_contacts


def compiled(*objectives, body=None):
    return Problem(body or load("panda"), list(objectives)).compiled


def test_a_pose_is_left_of_a_pose_among_obstacles():
    body = load("panda").chain("panda_link0", "panda_hand")
    whole = compiled(Pose("panda_hand", np.eye(4)), Distance("panda_link5", [(0.5, 0.0, 0.3, 0.1)]), body=body)
    contact_free = without_contacts(whole)
    alone = compiled(Pose("panda_hand", np.eye(4)), body=body)
    assert contact_free.one_pose
    assert contact_free.residuals == alone.residuals == 6
    assert_array_equal(contact_free.nodes, alone.nodes)
    assert_array_equal(contact_free.frames, alone.frames)
    for name in ("row", "rows", "frame", "scale", "tolerance"):
        assert_array_equal(contact_free.terms[name], alone.terms[name])


def test_joints_that_only_contacts_read_stay_and_move_nothing():
    body = load("valkyrie")
    whole = compiled(SelfDistance(body), Pose("rightPalm", np.eye(4)), body=body)
    contact_free = without_contacts(whole)
    assert contact_free.variables.size == whole.variables.size > contact_free.nodes.size
    alone = compiled(Pose("rightPalm", np.eye(4)), body=body)
    assert contact_free.nodes.size == alone.nodes.size
    assert_array_equal(contact_free.nodes["last"], alone.nodes["last"])
    assert_array_equal(contact_free.nodes["parent"], alone.nodes["parent"])
    moved = contact_free.variables["row_end"] > 0
    assert moved.sum() == alone.variables.size
    assert_array_equal(contact_free.active[moved], alone.active)


def test_none_where_there_is_nothing_to_leave_out_or_nothing_else():
    body = load("panda")
    ball = [(0.5, 0.0, 0.3, 0.1)]
    assert without_contacts(compiled(Pose("panda_hand", np.eye(4)))) is None
    assert without_contacts(compiled(SelfDistance(body), Distance("panda_hand", ball))) is None
    assert without_contacts(compiled(Displacement(), SelfDistance(body))) is None
    assert (
        without_contacts(compiled(Pose("panda_hand", np.eye(4)), Distance("panda_hand", ball, tolerance=None))) is None
    )
