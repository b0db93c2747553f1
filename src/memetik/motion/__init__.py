"""Everything over time."""

from memetik.motion.track import Track, track

__all__ = ["Track", "track"]
