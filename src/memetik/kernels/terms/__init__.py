"""What objectives measure: residuals and Jacobians, one file for each family of terms, which its first line describes.

Such a file declares its kinds of terms itself (`declare`). What they share:

callback               calls of users' functions, compiled or in Python
function_pointers      calls of the kernels of terms by address
records                a row for each thing that is measured, and what is known about each kind
targets                targets from Python, checked and converted
"""
