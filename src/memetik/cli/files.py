"""Where the commands write."""

from __future__ import annotations

from pathlib import Path

OUT = Path("memetik-out")
