"""Grades a class with nbval: from a folder of notebooks to a grade sheet.

In order, one module each:

``intake``       finds the submissions in whatever a learning platform gives, by its ``names``
                 and among its ``files``;
``answers``      takes a student's answers out of a notebook, by id;
``assemble``     puts them into the pristine notebook, with a probe for each task;
``values``       reads the numbers that come out of a probe;
``expected``     draws a run's inputs and computes the right values, in a process of its own;
``sandbox``      what a kernel of a submission can see and use, ``syscalls`` what it cannot ask;
``provisioner``  starts that kernel, or has it forked: ``template`` is the process that it is
                 forked from, ``warm`` its side out here; ``supervisor`` watches it;
``runner``       gives a pass a process of its own, and ends it;
``plugin``       lets nbval run the notebook and compares the numbers that come out;
``grader``       one submission, in as many passes as it needs;
``bench``        where one process grades: sandbox, templates, and the reference, proven;
``classroom``    many submissions, some at a time, picked up where a killed run stopped;
``cluster``      the same on the workers of a Dask cluster;
``roll``         the class as rows and columns, for everything that follows;
``sheets``       the grade sheets; ``feedback`` and ``report`` the pages; ``marking`` the
                 answers in words, ``questions`` what was asked; ``pages`` what the pages
                 share;
``outcome``      all of these in one go; ``release`` the bundle that a class is given.

Everything that is passed on stands in ``record``, what can be odd in ``flags``; ``sources``
reads Python without running it. The arrows run down this list's ends
towards ``record``; nothing here imports ``solutions``, and a student's kernel imports
nothing of this.
"""
