"""The Jacobian and Newton methods, one step a file, on what they share in base.py."""
