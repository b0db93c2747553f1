"""Files -> Body: URDF, SRDF and xacro, skeletons of BVH and glTF; `load` picks the reader."""

from memetik.read.load import load
from memetik.read.mjcf import from_mujoco
from memetik.read.mjcf_bounds import check_model as check_mjcf
from memetik.read.pinocchio import from_pinocchio
from memetik.read.resources import resolve_mesh
from memetik.read.srdf import Srdf, parse_srdf, read_srdf
from memetik.read.srdf import apply as apply_srdf
from memetik.read.untrusted import distrust, distrusted, forget, run_limited
from memetik.read.urdf import parse_urdf, read_urdf
from memetik.read.usd import from_usd
from memetik.read.xacro import read_xacro
from memetik.read.xml import Element
from memetik.read.xml import read as read_xml
from memetik.read.yourdfpy import from_yourdfpy

__all__ = [
    "Element",
    "Srdf",
    "apply_srdf",
    "check_mjcf",
    "distrust",
    "distrusted",
    "forget",
    "from_mujoco",
    "from_pinocchio",
    "from_usd",
    "from_yourdfpy",
    "load",
    "parse_srdf",
    "parse_urdf",
    "read_srdf",
    "read_urdf",
    "read_xacro",
    "read_xml",
    "resolve_mesh",
    "run_limited",
]
