"""Execution: run a submission and compare its numbers with the right ones.

A *pass* runs one assembled notebook once, in a new kernel, and judges some of its tasks. A
submission takes one pass, or several if its answers may have affected one another.

``expected``  draws a run's inputs and computes the right values, in a process of its own;
``examples``  has public examples that show what a class did wrong, for the pages;
``probe``     calls an answer on these inputs and displays its numbers;
``assemble``  puts answers into the released notebook, with the probe of each task;
``passes``    defines the input and the result of a pass;
``runner``    runs each pass in a process of its own, and ends it;
``plugin``    lets nbval run the notebook there; ``values`` reads the resulting numbers,
              ``verdicts`` judges them, ``sketch`` summarises wrong ones;
``grader``    grades one submission, in as many passes as it needs.
"""
