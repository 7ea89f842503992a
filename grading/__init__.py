"""Grade a class with nbval: from a folder of notebooks to a grade sheet.

Four packages, in the order in which they process a submission:

``submissions``  finds the submissions and extracts each student's answers;
``execution``    runs the answers on inputs drawn for this run and judges the numbers;
``sandbox``      isolates every kernel that runs them;
``reports``      writes grade sheets, feedback and the class report.

The modules here connect them. ``app`` implements ``course grade``; ``classroom`` grades many
submissions in parallel and resumes a run that was killed; ``worker`` grades within one
process; ``cluster`` sends submissions to the workers of a Dask cluster. ``record`` defines the
data that they exchange, ``flags`` everything that can be unusual about a submission; ``faults``
keeps what a run has found to be wrong with the course itself.

Nothing here imports ``solutions``, and a student's kernel imports nothing from ``grading``.
"""
