"""What objectives measure, one file for each kind of term: its residuals and its Jacobian.

aim                    an axis along a direction or to a point
balance                the centre of mass over a polygon
custom                 a user's function
distance               solids that keep apart
pose                   position and orientation of a frame
projection             a ray from a frame to a surface
records                a row for each thing that is measured
region                 near or far from a point, above a plane
springs                joints pulled to a value or into an interval
targets                targets from Python, checked and converted
"""
