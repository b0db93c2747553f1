"""Bundled bodies, written for this project: NAME.urdf with simple shapes, NAME.srdf with chains and home."""

from __future__ import annotations

from pathlib import Path

from memetik.errors import known

__all__ = ["DESCRIPTIONS", "names", "path"]

DESCRIPTIONS: dict[str, str] = {
    "ur5": "Universal Robots UR5, industrial arm, 6 joints",
    "m10ia": "Fanuc M-10iA, industrial arm, 6 joints",
    "iiwa14": "KUKA LBR iiwa 14 R820, collaborative arm, 7 joints",
    "kr120": "KUKA KR 120 R2500 pro, heavy industrial arm, 6 joints",
    "panda": "Franka Emika Panda, collaborative arm, 7 joints and a gripper",
    "pr2": "Willow Garage PR2, two arms on a lifting torso and a rolling base",
    "baxter": "Rethink Robotics Baxter, two 7-joint arms and a head",
    "valkyrie": "NASA Valkyrie, full-size humanoid with hands",
    "shadow_hand": "Shadow Dexterous Hand, right, with coupled finger joints",
    "nao": "SoftBank Robotics NAO H25, small humanoid",
    "scara": "SCARA arm, two turns and a plunge",
    "h1": "Unitree H1, full-size humanoid",
    "g1": "Unitree G1, humanoid of 1.3 m, 29 joints",
    "go2": "Unitree Go2, quadruped",
    "mannequin": "artist's wooden figure of human proportions, 42 joints",
    "kyle": "humanoid robot character with five-fingered hands, 78 joints",
    "wolf": "wolf with spine, neck and tail, 58 joints",
}


def names() -> tuple[str, ...]:
    """The names that `load` knows."""
    return tuple(DESCRIPTIONS)


def path(name: str) -> Path:
    """The URDF file of a bundled body; its SRDF file stands beside it."""
    return Path(__file__).with_name(f"{known(name, DESCRIPTIONS, 'bundled body')}.urdf")
