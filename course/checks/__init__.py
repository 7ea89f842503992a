"""What judges an answer: one module per practical, each with a table ``TASKS``.

The oracles are library calls or closed forms, never the course's own solutions.
"""
