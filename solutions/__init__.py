"""The reference solutions: what a student writes, one package per practical.

What stands between ``### BEGIN SOLUTION`` and ``### END SOLUTION`` is the student's
part; the rest is handed out with the exercise.
"""
