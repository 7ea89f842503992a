"""Tools for authors: they build the book, the exercises and the release bundles.

``chapter``, ``markdown``   read chapters and translate MyST for Jupyter;
``exercises``, ``running``  generate the exercise notebooks and run them solved;
``questions``               reads the written questions and their model answers;
``new_task``                writes the skeleton of a new task;
``release``, ``nbgrader``   write the bundle for a class, and a course folder for nbgrader;
``sphinx_ext``              shows sources in the book's pages;
``execute_ahead``           executes chapters side by side;
``strip_unused_assets``     reduces the size of the built pages;
``early_paint``             lets browsers paint them before their scripts have run.
"""
