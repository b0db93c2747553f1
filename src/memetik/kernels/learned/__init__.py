"""The networks of learned solvers, and how they read targets and write postures.

elman                  an Elman network
encoding               targets to inputs, outputs to joint values
network                a feed-forward network and RPROP
"""
