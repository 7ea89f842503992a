"""Submissions: find, read and inspect them without running any of their code.

``intake``    finds the submissions in a learning platform's download, from its ``files`` and
              their ``names``;
``answers``   extracts a student's answers from a notebook: ``cells`` reads it, ``matching``
              finds the release's cells in it, ``recovery`` each task's answer, ``statements``
              splits cells, ``excerpts`` selects definitions, ``sources`` analyses Python
              without running it;
``labs``      determines the lab that a notebook belongs to;
``effects``   distinguishes statements that define from statements that act;
``suspicion`` finds code that a person should look at;
``winnowing`` computes fingerprints of code from its ``tokens``.
"""
