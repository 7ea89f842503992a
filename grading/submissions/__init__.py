"""What was handed in: found, read and checked without running any of it.

``intake``    finds the submissions in whatever a learning platform gives, by its ``names`` and
              among its ``files``;
``answers``   takes a student's answers out of a notebook: ``cells`` reads it, ``matching``
              finds the release's cells in it, ``recovery`` each task's answer, ``statements``
              splits cells, ``excerpts`` chooses what is taken, ``sources`` reads Python
              without running it;
``effects``   tells statements that define from statements that act;
``suspicion`` finds code that a person should look at.
"""
