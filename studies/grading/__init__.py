"""This grader beside plain nbval, nbgrader and Otter, on the same notebooks and checks.

``material``  what is graded; ``graders`` one class for each grader; ``measure`` seconds and
memory of whatever a grader starts.
"""
