"""The checkout as data: its sources, its exercises, their dependencies, its files.

``source``      reads the reference solutions; ``practicals`` the released exercises;
``closure``     computes which files a source depends on;
``files``       writes files atomically; ``errors`` name the file, the line and the remedy;
``jax_options`` says how JAX compiles.
"""
