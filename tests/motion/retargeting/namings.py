"""Skeletons with all the bones, and the names, of the usual files: fingers, twists, ends and hair that no plan needs, too.

A line is a bone and its children, two blanks deeper. `*` stands for both sides.
"""

from itertools import takewhile

import memetik as mk
from memetik_lab.claims.walker import HEIGHT, SHAPE

TREES = {
    "cmu": """
Hips
  *HipJoint:LR
    *UpLeg
      *Leg
        *Foot
          *ToeBase
  LowerBack
    Spine
      Spine1
        Neck
          Neck1
            Head
        *Shoulder
          *Arm
            *ForeArm
              *Hand
                *FingerBase
                  *HandIndex1
                *Thumb:LR
""",
    "lafan": """
Hips
  *UpLeg
    *Leg
      *Foot
        *Toe
  Spine
    Spine1
      Spine2
        Neck
          Head
        *Shoulder
          *Arm
            *ForeArm
              *Hand
""",
    "mixamo": """
mixamorig:Hips
  mixamorig:Spine
    mixamorig:Spine1
      mixamorig:Spine2
        mixamorig:Neck
          mixamorig:Head
            mixamorig:HeadTop_End
            mixamorig:*Eye
        mixamorig:*Shoulder
          mixamorig:*Arm
            mixamorig:*ForeArm
              mixamorig:*Hand
                mixamorig:*HandThumb1
                  mixamorig:*HandThumb2
                mixamorig:*HandIndex1
                  mixamorig:*HandIndex2
  mixamorig:*UpLeg
    mixamorig:*Leg
      mixamorig:*Foot
        mixamorig:*ToeBase
          mixamorig:*Toe_End
""",
    "vroid": """
J_Bip_C_Hips
  J_Bip_C_Spine
    J_Bip_C_Chest
      J_Bip_C_UpperChest
        J_Bip_C_Neck
          J_Bip_C_Head
            J_Sec_Hair1_01
            J_Adj_*_FaceEye:LR
        J_Bip_*_Shoulder:LR
          J_Bip_*_UpperArm:LR
            J_Bip_*_LowerArm:LR
              J_Bip_*_Hand:LR
                J_Bip_*_Thumb1:LR
                J_Bip_*_Index1:LR
  J_Bip_*_UpperLeg:LR
    J_Sec_*_CoatSkirtBack1_01:LR
    J_Bip_*_LowerLeg:LR
      J_Bip_*_Foot:LR
        J_Bip_*_ToeBase:LR
""",
    "vrm": """
hips
  spine
    chest
      upperChest
        neck
          head
            *Eye:leftright
        *Shoulder:leftright
          *UpperArm:leftright
            *LowerArm:leftright
              *Hand:leftright
                *ThumbProximal:leftright
                *IndexProximal:leftright
  *UpperLeg:leftright
    *LowerLeg:leftright
      *Foot:leftright
        *Toes:leftright
""",
}
SIDES = {"": ("Left", "Right"), "LR": ("L", "R"), "leftright": ("left", "right")}

# What the bones that a plan needs are, by the end of their names, and where the others are: a little on from their parent.
PARTS = {
    "upleg": "upper_leg", "upperleg": "upper_leg", "leg": "lower_leg", "lowerleg": "lower_leg", "foot": "foot", "toebase": "toes",
    "toe": "toes", "toes": "toes", "shoulder": "shoulder", "arm": "upper_arm", "upperarm": "upper_arm", "forearm": "lower_arm",
    "lowerarm": "lower_arm", "hand": "hand", "head": "head", "hips": "hips",
}  # fmt: skip


def part_of(name):
    """The part that a bone of these trees is, without its side, or None."""
    end = name.rpartition(":")[2].rpartition("_")[2].lower()
    for side in ("left", "right"):
        end = end.removeprefix(side)
    return PARTS.get(end)


def skeleton(naming):
    """A person in T pose with these bones, 1.75 m tall, and the bones of the parts: {"left_hand": "LeftHand", ...}."""
    places = _places()
    links, joints, parts, at = [], [], {}, {}
    for name, parent, side in _bones(TREES[naming].strip("\n").splitlines()):
        part = part_of(name)
        whole = f"{side}_{part}" if side and part else part
        if whole in places:
            parts[whole] = name
            at[name] = places[whole]
        else:
            step = (0.0, {"left": 0.01, "right": -0.01}.get(side, 0.0), 0.02)
            at[name] = tuple(a + b for a, b in zip(at[parent], step, strict=True)) if parent else (0.0, 0.0, 0.0)
        links.append(mk.build.Link(name))
        if parent:
            offset = [a - b for a, b in zip(at[name], at[parent], strict=True)]
            joints.append(mk.build.Joint(f"{name}_joint", "spherical", parent, name, origin=mk.translation(*offset)))
    return mk.Body(naming, links, joints).with_base("floating"), parts


def _places():
    """Where the walker of the benchmarks has the joints of its parts."""
    places = {"hips": (0.0, 0.0, 0.0)}
    for part, parent, offset in SHAPE[1:]:
        places[part] = tuple(a + HEIGHT * b for a, b in zip(places[parent], offset, strict=True))
    return places


def _bones(lines):
    """(name, parent, side) of every bone, parents first."""
    above = []  # (depth, name by side)
    for line in lines:
        text, _, style = (
            line.strip().partition(":") if not line.strip().startswith("mixamorig") else (line.strip(), "", "")
        )
        depth = sum(1 for _ in takewhile(str.isspace, line)) // 2
        del above[depth:]
        sides = ("left", "right") if "*" in text else (None,)
        if above and len(above[-1]) == 2:
            sides = ("left", "right")
        names = {
            side: text.replace("*", SIDES[style][("left", "right").index(side)]) if side else text for side in sides
        }
        for side, name in names.items():
            parent = (above[-1].get(side) or above[-1].get(None)) if above else None
            yield name, parent, side
        above.append(names)
