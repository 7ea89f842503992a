"""Grades a class with nbval: from a folder of notebooks to a grade sheet.

Four rooms, in the order in which a submission goes through them:

``handed_in``  finds the submissions, and takes the answers out of each;
``judging``    runs the answers on inputs drawn for this run, and judges the numbers;
``wall``       stands around every kernel that runs them;
``results``    writes grade sheets, feedback and report.

Who leads them through stands here: ``desk`` is what ``course grade`` calls; ``classroom``
grades many submissions, some at a time, picked up where a killed run stopped; ``bench`` is
where one process grades; ``cluster`` sends them to the workers of a Dask cluster. Everything
that is passed on stands in ``record``, what can be odd in ``flags``, what a class was given in
``handed_out``.

Nothing here imports ``solutions``, and a student's kernel imports nothing of this.
"""
