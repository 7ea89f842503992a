"""The checkout as data: its sources, its exercises, their dependencies, its files.

``source``      reads the reference solutions; ``practicals`` the released exercises;
``closure``     computes which files a source depends on;
``publication`` reads where a fork is published;
``files``       writes files atomically; ``errors`` name the file, the line and the remedy;
``command``     holds what all commands share;
``jax_options`` says how JAX compiles.
"""
