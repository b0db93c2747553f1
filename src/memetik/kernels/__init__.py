"""Numba only: scalars and arrays in, arrays out, no allocation, workspace passed in.

    compiler      how kernels are compiled, cached and called; time, signals, threads, random numbers
    math          poses, small dense linear algebra
    body          the flat form of a body, forward kinematics, OFKT, Jacobian
    terms         what objectives measure, one file for each kind; terms/geometry for solids and surfaces
    collision     pairs of links that ever meet, motions that are free between two postures
    problem       all terms at one posture, budgets, verification of answers
    memetic       the flagship: search, refinement, paths, batches
    bio_ik        the thesis's algorithm
    lbfgsb        L-BFGS-B
    stepping      Jacobian and Newton methods
    sweeps        CCD and FABRIK
    evolution     genetic, swarm and differential evolution
    closed_form   closed forms of small arms
    learned       networks
    cuda          the same kernels on a graphics card

A pose is seven numbers (w, x, y, z, px, py, pz): a unit quaternion and a position [m]. Inside kernels it travels as a
tuple; in memory it is a row of a float64 array. See body/records.py for the flat form of a body.
"""
