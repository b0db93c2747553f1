"""The flat form of a body, and its forward kinematics: plain, cached (OFKT), and the Jacobian.

balls                  joints of three turns without limits, stepped through any rotation
forward                forward kinematics of the whole tree
jacobian               the geometric Jacobian of a frame
motion                 one motion: where it takes its frame, and what it does to a point
ofkt                   the optimised forward kinematics tree: only what changed
records                a row for each motion and each frame
replay                 many queries in one loop, for measurements
rows                   forward kinematics and Jacobians of many joint vectors
"""
