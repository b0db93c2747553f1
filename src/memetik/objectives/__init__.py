"""What is wanted of a posture, one file for each family of objectives."""

from memetik.objectives.aim import Cone, Direction, LookAt, Side
from memetik.objectives.balance import Balance
from memetik.objectives.custom import Custom, FunctionalRelation
from memetik.objectives.distance import Distance
from memetik.objectives.framed import PoseErrors
from memetik.objectives.loops import close_loops
from memetik.objectives.manipulability import Manipulability
from memetik.objectives.objective import Objective
from memetik.objectives.point_cloud import PointCloud
from memetik.objectives.pose import Orientation, Pose, Position
from memetik.objectives.projection import Projection
from memetik.objectives.regions import Line, MaxDistance, MinDistance, Plane, Touch
from memetik.objectives.self_distance import SelfDistance
from memetik.objectives.springs import AvoidLimits, CenterJoints, Displacement, JointValue
from memetik.objectives.terrain import Ground, HeightField, Hit, Surface, TriangleMesh
from memetik.objectives.torque import GravityTorque

__all__ = [
    "AvoidLimits", "Balance", "CenterJoints", "Cone", "Custom", "Direction", "Displacement", "Distance",
    "FunctionalRelation", "GravityTorque", "Ground", "HeightField", "Hit", "JointValue", "Line", "LookAt", "Manipulability",
    "MaxDistance", "MinDistance", "Objective", "Orientation", "Plane", "PointCloud", "Pose", "PoseErrors", "Position",
    "Projection", "SelfDistance", "Side", "Surface", "Touch", "TriangleMesh", "close_loops",
]  # fmt: skip
