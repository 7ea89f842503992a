"""The checks of the answers: one package per practical, each with a dictionary ``TASKS``.

The oracles are library calls or closed forms, never the course's own solutions.
"""
