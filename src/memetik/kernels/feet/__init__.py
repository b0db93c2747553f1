"""Feet on a surface.

soles                  how deep points have sunk into a surface, and where a sole belongs instead
stand                  legs that stand on a surface, over many frames
"""
