"""Motions moved to other bodies.

bones                  bones beside the parts of a humanoid
calibrate              how a skeleton and a body correspond
copied                 joints that copy rotations
feet                   feet that stand
fingers                fingers that both have
figure                 which links are hips, hands, feet ...
job                    a clip on its way to another body
many                   clips by the hundred, on all cores or on a graphics card
plan                   which bone leads which link
report                 how well it went
retarget               the motion of a skeleton on another body
soles                  where soles are, and how that is known
stance                 T-pose, A-pose, heading, height
stretch                more time for frames that are too fast
structure              limbs by structure alone
targets                where a plan wants the links to be
"""

from memetik.motion.retargeting.job import Retargeted
from memetik.motion.retargeting.plan import BoneMatch, RetargetPlan
from memetik.motion.retargeting.report import RetargetReport
from memetik.motion.retargeting.retarget import retarget, retarget_each, retarget_plan

__all__ = ["BoneMatch", "RetargetPlan", "RetargetReport", "Retargeted", "retarget", "retarget_each", "retarget_plan"]
