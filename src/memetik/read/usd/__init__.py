"""USD stages with the schemas of UsdPhysics -> Body."""

from memetik.read.usd.reader import from_usd, read_usd

__all__ = ["from_usd", "read_usd"]
