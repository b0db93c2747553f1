"""The humanoid map of a VRM file: which node is which part of a person, in the extension VRM (0.x) or VRMC_vrm (1.0)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from memetik.read.gltf.container import index_of

# VRM 1.0 calls the bones of a thumb metacarpal, proximal and distal; VRM 0.x as those of the other fingers.
THUMB = {"thumb_metacarpal": "thumb_proximal", "thumb_proximal": "thumb_intermediate"}


def humanoid_parts(document: Mapping[str, Any]) -> dict[str, int]:
    """The node of each part, {"left_upper_arm": 7}, named as the VRM humanoid in snake case; empty without a map.

    The bones of a thumb are proximal, intermediate and distal from the wrist, whatever the version.
    """
    extensions = document.get("extensions", {})
    if "VRMC_vrm" in extensions:
        bones = extensions["VRMC_vrm"]["humanoid"]["humanBones"]
        found = {_snake(bone): index_of(each["node"]) for bone, each in bones.items()}
        for side in ("left", "right"):
            if f"{side}_thumb_metacarpal" in found:
                thumb = {old: found.pop(f"{side}_{old}") for old in THUMB if f"{side}_{old}" in found}
                found.update({f"{side}_{THUMB[old]}": node for old, node in thumb.items()})
        return found
    if "VRM" in extensions:
        bones = extensions["VRM"].get("humanoid", {}).get("humanBones", [])
        return {_snake(each["bone"]): index_of(each["node"]) for each in bones if each.get("node", -1) != -1}
    return {}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
