"""A benchmark of this grader against plain nbval, nbgrader and Otter.

All grade the same notebooks with the same checks. ``material`` makes the notebooks;
``graders`` has one class for each grader; ``measure`` takes the time and memory of all
processes that a grader starts.
"""
