"""Numba only: scalars and arrays in, arrays out, no allocation, workspace passed in.

    compiler      how kernels are compiled, cached and called: what reaches into Numba
    runtime       records, random numbers, time, cancellation, threads
    math          poses, small dense linear algebra
    geometry      closest points, hulls, height fields, rays: distances of solids and surfaces
    body          the flat form of a body, forward kinematics, OFKT, Jacobian
    terms         what objectives measure, one file for each kind
    collision     pairs of links that ever meet, motions that are free between two postures
    problem       all terms at one posture, budgets, verification of answers
    search        the flagship: one problem, many rows of one, all its solutions
    contacts      solids that keep apart: looked at last, pushed out, slid along
    tracking      targets over time
    feet          feet on a surface
    servo         a control loop that finds a goal at every tick and keeps all limits
    bio_ik        the thesis's algorithm
    lbfgsb        L-BFGS-B
    stepping      Jacobian and Newton methods
    sweeps        CCD and FABRIK
    evolution     genetic, swarm and differential evolution
    closed_form   closed forms of small arms
    covers        simple solids around the points of a mesh
    learned       networks
    cuda          the same kernels on a graphics card

Residual, error and judgement of a full pose, the rules by which an attempt stalls and ends, and the damping of a step are
functions that numbers, lanes and graphics cards share (search/pose_error.py, search/descent.py). These variants remain, most of
them because their data lie differently; docs/engineering/decisions/kernels.md has what each gains:

    search/pose_descent.py, pose_step.py, verify_pose.py     one full pose in registers, beside any problem (descent.py)
    search/lane_search.py, lane_step.py                      LANES of them at a time
    problem/blocks.py                                        the damped step of several limbs
    cuda/pose.py, cuda/bodies.py, cuda/warp.py               a pose or a body a thread, a problem a warp

A pose is seven numbers (w, x, y, z, px, py, pz): a unit quaternion and a position [m]. Inside kernels it travels as a
tuple; in memory it is a row of a float64 array. See body/records.py for the flat form of a body.
"""
