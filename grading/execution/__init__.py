"""A submission is run and its numbers are compared with what is right.

``expected``  draws a run's inputs and computes the right values, in a process of its own;
``probe``     calls an answer on these inputs and displays its numbers;
``assemble``  puts answers into the pristine notebook, with the probe of each task;
``attempt``   what one pass over such a notebook is given, and what it found;
``runner``    gives a pass a process of its own, and ends it;
``plugin``    lets nbval run the notebook there; ``values`` reads the numbers that come out,
              ``verdicts`` says what they mean;
``grader``    one submission, in as many passes as it needs.
"""
