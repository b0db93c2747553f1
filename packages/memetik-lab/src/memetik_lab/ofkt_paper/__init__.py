"""The experiments of the paper on the optimised forward kinematics tree."""
