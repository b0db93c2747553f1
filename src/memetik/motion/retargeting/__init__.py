"""Motions moved to other bodies.

calibrate              how a skeleton and a body correspond
feet                   feet that stand
figure                 which links are hips, hands, feet ...
plan                   which bone leads which link
report                 how well it went
retarget               the motion of a skeleton on another body
targets                where a plan wants the links to be
"""

from memetik.motion.retargeting.plan import BoneMatch, RetargetPlan
from memetik.motion.retargeting.report import RetargetReport
from memetik.motion.retargeting.retarget import Retargeted, retarget, retarget_plan

__all__ = ["BoneMatch", "RetargetPlan", "RetargetReport", "Retargeted", "retarget", "retarget_plan"]
