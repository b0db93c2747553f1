"""The robot that the page Start writes down, for pictures and scenes."""

from __future__ import annotations

import re
from pathlib import Path

START = Path(__file__).parents[2] / "docs" / "start" / "index.md"


def arm_urdf() -> str:
    """The text of arm.urdf, as the page has it."""
    found = re.search(r"<robot name=\"arm\">.*?</robot>", START.read_text(), re.DOTALL)
    assert found, "docs/start/index.md has no robot named arm"
    return found[0]
