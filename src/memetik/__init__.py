"""memetik: inverse kinematics for any articulated body, in Python, at native speed."""

import lazy_loader

from memetik._version import __version__ as __version__

# The public names are listed in __init__.pyi. Each is loaded at its first use: the compiler alone takes a third of a second,
# and a program that only prints its help should not wait for it.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
