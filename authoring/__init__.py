"""Tools for authors: they make the book, the exercises and the bundles.

``chapter``, ``markdown``   read chapters and translate MyST for Jupyter;
``exercises``, ``running``  generate the exercise notebooks and run them solved;
``questions``               reads the questions to answer in words;
``release``, ``nbgrader``   write the bundle for a class, and a course folder for nbgrader;
``sphinx_ext``              shows sources in the book, ``strip_unused_assets`` keeps its pages small.
"""
