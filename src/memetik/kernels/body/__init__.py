"""The flat form of a body, and its forward kinematics: plain, cached (OFKT), and the Jacobian.

forward                forward kinematics of the whole tree
jacobian               the geometric Jacobian of a frame
ofkt                   the optimised forward kinematics tree: only what changed
records                a row for each motion and each frame
replay                 many queries in one loop, for measurements
"""
