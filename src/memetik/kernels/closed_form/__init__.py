"""Closed-form solutions of small arms, and the check of what closed forms offer.

arms                   a planar arm, and an arm of shoulder and elbow
filter_candidates      which candidates are solutions
subproblems            the subproblems of Paden and Kahan
"""
